package subspace

import (
	"path"
	"slices"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules read definitions. They use no options.
//
// Only files named *.def or *.txt, or without an ending, are read. The messages come in the order of the files' names, and within
// a file as they stand. A message with errors is Broken and has what could be understood.
var Rules = build.Rules{
	Reads: func(name string) bool {
		switch path.Ext(name) {
		case ".def", ".txt", "":
			return true
		}
		return false
	},
	Parse: func(f *source.File) build.Tree { return parseTree(f) },
	Lower: func(parsed build.Tree, _ schema.Options, _ *build.Among) build.Lowered {
		t := parsed.(*tree)
		l := lowerer{tree: t}
		l.file()
		return build.Lowered{Messages: l.messages, Diagnostics: append(slices.Clip(t.diags), l.diags...)}
	},
	Choose: func(same []*schema.Message, _ schema.Options) (*schema.Message, diag.List) {
		var diags diag.List
		for _, m := range same[1:] {
			diags.Add(sameDefinition(m, same[0]))
		}
		return same[0], diags
	},
}

// Parse reads a set of definitions by Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// Names are none: a file says nothing about others.
func (t *tree) Names() []string { return nil }
