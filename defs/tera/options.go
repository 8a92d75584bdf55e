package tera

import (
	"strconv"

	"wirebench/defs/schema"
)

// Options are the options of the dialect.
var Options = []schema.Option{
	{
		Name: "patch", Title: "Game version", Doc: "game version N or N.NN that definitions depend on (default: newest)",
		Read: func(value string) (string, error) {
			n, err := ParsePatch(value)
			if err != nil || n == 0 {
				return "", err
			}
			return FormatPatch(n), nil
		},
		Tries: patchesOf,
	},
	{Name: "skillid", Title: "Bytes of a skillid", Kind: schema.NumberOption, Doc: "bytes of a skillid, 4 or 8 (default: by patch)", Default: "0", Values: []string{"4", "8"}},
	{Name: "angle", Title: "Angles", Doc: "how angles are encoded: round or truncate", Default: "round", Values: []string{"round", "truncate"}},
	{Name: "platform", Title: "Platform", Doc: "platform, pc, console or classic, whose definitions are used", Values: []string{"pc", "console", "classic"}},
	{Name: "integrity", Title: "Header with a checksum", Kind: schema.SwitchOption, Doc: "client messages have the 12-byte header with counter and checksum", Default: "false", Values: []string{"true"}},
}

// options are the parsed values of Options.
type options struct {
	patch     int // major × 100 + minor; 0 = newest
	platform  string
	integrity bool // client messages have a header with a sequence number and a checksum
	truncate  bool // encoding truncates angles towards zero
	skillBits int  // 32 or 64; 0 = determined by patch
	codes     map[string]uint32
	validity  map[string]map[int]schema.Validity
}

func optionsOf(o schema.Options) options {
	patch, _ := ParsePatch(o.Values["patch"])
	skillBytes, _ := strconv.Atoi(o.Values["skillid"])
	return options{
		patch: patch, platform: o.Values["platform"], integrity: o.Values["integrity"] == "true",
		truncate: o.Values["angle"] == "truncate", skillBits: skillBytes * 8, codes: o.Codes, validity: o.Validity,
	}
}
