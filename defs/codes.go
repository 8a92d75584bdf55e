package defs

import (
	"path"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// IsCodeMap reports whether a file is a map from message names to codes, by its name: *.map, apart from maps of other numbers.
func IsCodeMap(name string) bool {
	kind, _, ok := tera.ParseMapName(name)
	return path.Ext(name) == ".map" && (!ok || kind == tera.OpcodeMap)
}

// ParseCodeMap reads a map from message names to codes. What it returns is usable whatever the diagnostics say.
func ParseCodeMap(f *source.File) (map[string]uint32, diag.List) { return tera.ParseMap(f) }
