package subspace

import (
	"path"
	"slices"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules compile definitions. They use the option "encoding".
//
// Only files named *.def or *.txt, or without an extension, are read. Messages are in the order of file names, and within a file in the
// order of the text. A message with errors is Broken and has the valid parts of its definition.
var Rules = build.Rules{
	Reads: func(name string) bool {
		switch path.Ext(name) {
		case ".def", ".txt", "":
			return true
		}
		return false
	},
	Parse: func(f *source.File) build.Tree { return parseTree(f) },
	Lower: func(parsed build.Tree, o schema.Options, _ *build.Among) build.Lowered {
		t := parsed.(*tree)
		l := lowerer{tree: t, encoding: o.Encoding()}
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

// Parse compiles a set of definitions with Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// Names returns nil: files are independent of each other.
func (t *tree) Names() []string { return nil }
