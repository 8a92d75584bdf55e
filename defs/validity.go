package defs

import (
	"maps"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// ValidityFile describes the file of a dialect with the versions of the game that definitions are valid for.
type ValidityFile struct {
	Is   func(name string) bool // reports whether a file has the name
	Read func(f *source.File) (map[string]map[int]schema.Validity, diag.List)

	// Rename returns the text with another name for a message.
	Rename func(f *source.File, from, to string) string
}

func validityOf(name string) *ValidityFile {
	for _, d := range Dialects {
		if d.Validity != nil && d.Validity.Is(name) {
			return d.Validity
		}
	}
	return nil
}

// IsValidity reports whether a file of this name has the versions of the game that definitions are valid for.
func IsValidity(name string) bool { return validityOf(name) != nil }

// ParseValidity reads such files. Of several entries for a definition the first one applies.
func ParseValidity(files []*source.File) (all map[string]map[int]schema.Validity, diags diag.List) {
	for _, f := range files {
		v := validityOf(f.Name)
		if v == nil {
			continue
		}
		found, ds := v.Read(f)
		diags = append(diags, ds...)
		if all == nil {
			all = map[string]map[int]schema.Validity{}
		}
		for name, versions := range found {
			maps.Copy(versions, all[name])
			all[name] = versions
		}
	}
	return all, diags
}
