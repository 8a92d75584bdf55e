package defs

import (
	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// CodeMaps describes the files of a dialect that map message names to codes, separate from the definitions.
type CodeMaps struct {
	Is   func(name string) bool // reports whether a file of this name is a code map
	Read func(f *source.File) (map[string]uint32, diag.List)
}

// codeMapsOf returns the CodeMaps of the dialect that has code maps of that file name, nil if there is none.
func codeMapsOf(name string) *CodeMaps {
	for _, d := range Dialects {
		if d.Codes != nil && d.Codes.Is(name) {
			return d.Codes
		}
	}
	return nil
}

// IsCodeMap reports whether a file of this name is a map from message names to codes.
func IsCodeMap(name string) bool { return codeMapsOf(name) != nil }

// ParseCodeMap reads a map from message names to codes. If no dialect recognizes the file name, the first dialect with code maps reads
// the file. The codes are usable even if there are diagnostics.
func ParseCodeMap(f *source.File) (codes map[string]uint32, diags diag.List) {
	maps := codeMapsOf(f.Name)
	for i := 0; maps == nil && i < len(Dialects); i++ {
		maps = Dialects[i].Codes
	}
	if maps == nil {
		return nil, nil
	}
	return maps.Read(f)
}

// ParseConstants reads the values of constants in the syntax of the first dialect that has constants.
func ParseConstants(f *source.File) (map[string]string, diag.List) {
	for _, d := range Dialects {
		if d.Constants != nil {
			return d.Constants(f)
		}
	}
	return nil, nil
}
