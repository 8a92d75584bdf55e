package defs

import (
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// CodeMaps describes the files of a dialect that map message names to codes, separate from the definitions.
type CodeMaps struct {
	Is   func(name string) bool // reports whether a file of this name is a code map
	Read func(f *source.File) (map[string]uint32, diag.List)

	// Set returns the text in which names have codes, with all other lines as they are. If other names have these codes they lose them with
	// take; else one of them is returned with its code, and the text is unchanged.
	Set func(f *source.File, codes []schema.GivenCode, take bool) (text string, other schema.GivenCode)

	// Rename returns the text in which a name is replaced by one that the map does not have.
	Rename func(f *source.File, from, to string) string

	// Options returns the values of options that go with a map: the version of the game. versions is the text of the file of the name
	// Versions, which lists the versions of builds; nil if there is none.
	Options  func(f *source.File, versions []byte) map[string]string
	Versions string

	// Build returns the build that a map is for, "" if its name does not tell it. NameOf is the inverse.
	Build  func(name string) string
	NameOf func(build string) string

	Max uint32 // the highest code
	New string // name of the first map of a library
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
