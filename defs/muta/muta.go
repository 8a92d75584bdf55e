package muta

import (
	"slices"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules read definitions. Of the options they use Constants.
//
// Files named *.def, *.txt or without an ending are read. The messages come in the order of file names, and in a file in its own
// order, in which ids count. A message with errors is Broken and has what could be understood. A constant without a value is an
// error that breaks nothing: the limits that need it are symbolic.
var Rules = build.Rules{
	Reads: func(name string) bool {
		base := name[strings.LastIndexByte(name, '/')+1:]
		return !strings.Contains(base, ".") || strings.HasSuffix(base, ".def") || strings.HasSuffix(base, ".txt")
	},
	Parse: func(f *source.File) build.Tree { return parseTree(f) },
	Lower: func(parsed build.Tree, o schema.Options, among *build.Among) build.Lowered {
		t := parsed.(*tree)
		l := newLowerer(t, o, among)
		messages := l.lower()
		return build.Lowered{Messages: messages, Diagnostics: append(slices.Clip(t.diags), l.diags...)}
	},
	Codes: true,
}

// Parse reads a set of definitions by Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// Names are the groups of a file: of several files with a group of one name the first has it.
func (t *tree) Names() []string {
	var names []string
	for i := range t.records {
		if r := &t.records[i]; r.isGroup() && !slices.Contains(names, r.key) {
			names = append(names, r.key)
		}
	}
	return names
}

// isGroup reports whether a record is that of a group with a name.
func (r *record) isGroup() bool { return r.kind == groupRecord && r.name.Text() != "" }

// elsewhere is where another file has a group of this name, no place if this file is the first one that has it.
func (l *lowerer) elsewhere(name string) source.Span {
	owner := l.among.Named(name)[0]
	if owner.Source == l.tree.file {
		return source.Span{}
	}
	first := l.among.Tree(owner).(*tree)
	i := slices.IndexFunc(first.records, func(r record) bool { return r.isGroup() && r.key == name })
	return first.records[i].name
}

// IsHeader reports whether a line is the header of a record, for telling these definitions from others.
func IsHeader(line string) bool {
	word, _, ok := strings.Cut(line, ":")
	return ok && kindOf(word) != otherRecord
}
