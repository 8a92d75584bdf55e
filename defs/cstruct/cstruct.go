package cstruct

import (
	"path"
	"slices"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules compile headers. They use Options.Codes, Options.Constants and the options "endian", "data-model" and "encoding".
//
// Files named *.h, *.hpp, *.hh, *.hxx and *.inc are read. A struct with errors is a Broken message, which has the fields before the first
// error.
var Rules = build.Rules{
	Reads: IsFile,
	Parse: func(f *source.File) build.Tree { return parseTree(f) },
	Lower: func(parsed build.Tree, o schema.Options, among *build.Among) build.Lowered {
		t := parsed.(*tree)
		u := newUnit(t, among)
		u.options = o
		if o.Values[Endian.Name] == "big" {
			u.order = schema.Big
		}
		if i := slices.IndexFunc(models, func(m model) bool { return m.name == o.Values[DataModel.Name] }); i >= 0 {
			u.model = models[i]
		}
		u.diags = slices.Clone(t.diags)
		for _, d := range u.model.defines {
			name, value, _ := strings.Cut(d, "=")
			u.define(name, value)
		}
		for _, name := range keys(o.Constants) {
			u.define(name, o.Constants[name])
		}
		u.read(t)
		return build.Lowered{Messages: u.lower(), Diagnostics: u.diags}
	},
	Codes: true,
}

// Parse compiles a set of headers with Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// IsFile reports whether a file of this name may hold definitions.
func IsFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".h", ".hpp", ".hh", ".hxx", ".inc":
		return true
	}
	return false
}

// Format returns the text as it is: headers have formatters of their own, with styles that projects choose.
func Format(f *source.File) (string, diag.List) { return f.Text, parseTree(f).diags }
