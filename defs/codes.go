package defs

import (
	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// CodeMaps describes the files in which a dialect keeps the codes of messages, apart from their definitions.
type CodeMaps struct {
	Is   func(name string) bool // by the name of a file
	Read func(f *source.File) (map[string]uint32, diag.List)
}

// codeMapsOf returns the row whose dialect has a file of that name, nil if none has.
func codeMapsOf(name string) *CodeMaps {
	for _, d := range Dialects {
		if d.Codes != nil && d.Codes.Is(name) {
			return d.Codes
		}
	}
	return nil
}

// IsCodeMap reports whether a file is a map from message names to codes, by its name.
func IsCodeMap(name string) bool { return codeMapsOf(name) != nil }

// ParseCodeMap reads a map from message names to codes; a file with another name is read as a map of the first dialect that has maps. What
// it returns is usable whatever the diagnostics say.
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

// ParseConstants reads values of named numbers, as the first dialect writes them that has constants.
func ParseConstants(f *source.File) (map[string]string, diag.List) {
	for _, d := range Dialects {
		if d.Constants != nil {
			return d.Constants(f)
		}
	}
	return nil, nil
}
