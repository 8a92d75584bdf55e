package muta

import (
	"slices"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules compile definitions. They use Options.Constants and the option "encoding".
//
// Files named *.def, *.txt or without an extension are read. Messages are in the order of file names, and within a file in the order of
// their ids. A message with errors is Broken and has the valid parts of its definition. A constant without a value is an error that does
// not make messages broken: limits that depend on it are symbolic.
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

// Parse compiles a set of definitions with Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// Names returns the groups of a file. If several files have a group of the same name, it belongs to the first.
func (t *tree) Names() []string {
	var names []string
	for i := range t.records {
		if r := &t.records[i]; r.isGroup() && !slices.Contains(names, r.key) {
			names = append(names, r.key)
		}
	}
	return names
}

// isGroup reports whether a record is a named group.
func (r *record) isGroup() bool { return r.kind == groupRecord && r.name.Text() != "" }

// elsewhere returns the position of a group of this name in an earlier file, or the zero Span if this file has the first one.
func (l *lowerer) elsewhere(name string) source.Span {
	owner := l.among.Named(name)[0]
	if owner.Source == l.tree.file {
		return source.Span{}
	}
	first := l.among.Tree(owner).(*tree)
	i := slices.IndexFunc(first.records, func(r record) bool { return r.isGroup() && r.key == name })
	return first.records[i].name
}

// IsHeader reports whether a line is the header of a record, to detect the language.
func IsHeader(line string) bool {
	word, _, ok := strings.Cut(line, ":")
	return ok && kindOf(word) != otherRecord
}
