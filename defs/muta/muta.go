package muta

import (
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Parse reads a set of definitions. Of the options it uses Constants.
//
// Files named *.def, *.txt or without an ending are read. The messages come in the order of file names, and in a file in its own
// order, in which ids count; schema.Link is left to the caller. The schema is usable whatever the diagnostics say: a message with
// errors is Broken and has what could be understood. A constant without a value is an error that breaks nothing: the limits
// that need it are symbolic.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := &schema.Schema{Codes: o.Codes}
	var diags diag.List
	groups := map[string]source.Span{}
	for _, f := range definitions(files) {
		t := parseTree(f)
		l := newLowerer(t, o, groups)
		s.Messages = append(s.Messages, l.lower()...)
		diags = append(append(diags, t.diags...), l.diags...)
	}
	diags.Sort()
	return s, diags
}

// definitions picks the files that are read, sorted by name.
func definitions(files []*source.File) []*source.File {
	var out []*source.File
	for _, f := range files {
		base := f.Name[strings.LastIndexByte(f.Name, '/')+1:]
		if !strings.Contains(base, ".") || strings.HasSuffix(base, ".def") || strings.HasSuffix(base, ".txt") {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *source.File) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// IsHeader reports whether a line is the header of a record, for telling these definitions from others.
func IsHeader(line string) bool {
	word, _, ok := strings.Cut(line, ":")
	return ok && kindOf(word) != otherRecord
}
