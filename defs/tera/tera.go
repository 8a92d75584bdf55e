package tera

import (
	"cmp"
	"slices"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules compile definitions. They use Options, and the codes of the schema's options.
//
// Only files named *.def are read. Messages are sorted by name and version. A message with errors is Broken and has the valid parts of
// its definition.
var Rules = build.Rules{
	Reads: func(name string) bool { return strings.HasSuffix(name, ".def") },
	Parse: func(f *source.File) build.Tree { return parseTree(f) },
	Lower: lower,
	Compare: func(a, b *schema.Message) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	},
	Choose: choose,
	Finish: finish,
	Codes:  true,
}

// Parse compiles a set of definitions with Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// lower compiles the message of a file. A file whose name is not NAME.VERSION.def has no message and is for inclusion.
func lower(parsed build.Tree, o schema.Options, among *build.Among) build.Lowered {
	t := parsed.(*tree)
	name, ok := ParseFileName(t.file.Name)
	if !ok {
		return build.Lowered{Diagnostics: t.diags, Unused: diag.List{badFileName(t.file)}}
	}
	l := lowerers.Get().(*lowerer)
	defer lowerers.Put(l)
	l.begin(optionsOf(o), among)
	m := l.message(t, name)
	return build.Lowered{Messages: []*schema.Message{m}, Diagnostics: append(slices.Clip(t.diags), l.diags...)}
}

// choose returns the message of the current platform, or else the first one without a platform.
func choose(same []*schema.Message, o schema.Options) (best *schema.Message, diags diag.List) {
	first := make(map[string]*source.File, 1) // by platform
	for _, m := range same {
		f := m.Span.File
		name, _ := ParseFileName(f.Name)
		switch {
		case first[name.Platform] != nil:
			diags.Add(sameDefinition(f, first[name.Platform]))
			continue
		case name.Platform == "" && best == nil, name.Platform != "" && name.Platform == o.Values["platform"]:
			best = m
		}
		first[name.Platform] = f
	}
	return best, diags
}

// finish suggests a file for a missing @include.
func finish(d diag.Diagnostic, near func(word string) string) diag.Diagnostic {
	if d.Code == codeMissingInclude {
		return missingInclude(d.Span, near(baseName(d.Span.Text())))
	}
	return d
}

// Names returns the base name, by which @include finds the file.
func (t *tree) Names() []string { return []string{baseName(t.file.Name)} }

// included finds a file by its base name, preferring the folder of from. It returns nil if there is none.
func (l *lowerer) included(name string, from *source.File) *tree {
	files := l.among.Named(baseName(name))
	if len(files) == 0 {
		return nil
	}
	chosen := files[0]
	folder := strings.TrimSuffix(from.Name, baseName(from.Name))
	for _, f := range files {
		if f.Source.Name == folder+baseName(name) {
			chosen = f
			break
		}
	}
	l.among.Use(chosen)
	return l.among.Tree(chosen).(*tree)
}
