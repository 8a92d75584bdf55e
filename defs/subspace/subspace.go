package subspace

import (
	"path"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Parse reads a set of definitions. It uses no options.
//
// Only files named *.def or *.txt, or without an ending, are read. The messages come in the order of the files' names, and within
// a file as they stand; schema.Link is left to the caller. The schema is usable whatever the diagnostics say: a message with
// errors is Broken and has what could be understood.
func Parse(files []*source.File, _ schema.Options) (*schema.Schema, diag.List) {
	var read []*source.File
	for _, f := range files {
		switch path.Ext(f.Name) {
		case ".def", ".txt", "":
			read = append(read, f)
		}
	}
	slices.SortStableFunc(read, func(a, b *source.File) int { return strings.Compare(a.Name, b.Name) })
	s := &schema.Schema{}
	var diags diag.List
	seen := map[identity]*schema.Message{}
	for _, f := range read {
		t := parseTree(f)
		l := lowerer{tree: t}
		l.file()
		diags = append(append(diags, t.diags...), l.diags...)
		for _, m := range l.messages {
			id := identity{m.Name, m.Key, m.HasKey}
			if first := seen[id]; first != nil {
				diags.Add(sameDefinition(m, first))
				continue
			}
			seen[id] = m
			s.Messages = append(s.Messages, m)
		}
	}
	diags.Sort()
	return s, diags
}

// identity is what tells messages apart.
type identity struct {
	name   string
	key    schema.Key
	hasKey bool
}
