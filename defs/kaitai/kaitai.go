package kaitai

import (
	"path"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules compile formats, files named *.ksy. A file has one message. They use Options.Codes.
var Rules = build.Rules{
	Reads: IsFile,
	Parse: func(f *source.File) build.Tree { return parseTree(f) },
	Lower: func(parsed build.Tree, o schema.Options, among *build.Among) build.Lowered {
		t := parsed.(*tree)
		l := newLowerer(t, among)
		messages := l.lower()
		for _, m := range messages {
			m.Key.Code, m.HasKey = o.Codes[m.Name]
		}
		return build.Lowered{Messages: messages, Diagnostics: append(t.diags[:len(t.diags):len(t.diags)], l.diags...)}
	},
	Codes: true,
}

// Parse compiles a set of formats with Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// IsFile reports whether a file of this name is a format.
func IsFile(name string) bool { return strings.EqualFold(path.Ext(name), ".ksy") }

// IsLine reports whether a line is characteristic of formats.
func IsLine(line string) bool {
	line = strings.TrimSpace(line)
	return line == "meta:" || line == "seq:" || line == "instances:" || strings.HasPrefix(line, "repeat-expr:") || strings.HasPrefix(line, "switch-on:")
}

// fileKey returns the path of a file without its extension.
func fileKey(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.TrimSuffix(name, path.Ext(name))), "/")
}

// fileBase returns the name of a file without its extension.
func fileBase(name string) string { return path.Base(fileKey(name)) }

// Names returns the name of the file, by which imports find it.
func (t *tree) Names() []string { return []string{fileBase(t.file.Name)} }

// imported returns the file of an import: a path relative to this file, or one from a folder of all formats, which begins with a slash.
func (l *lowerer) imported(from *tree, i importOf) *tree {
	var found []*tree
	whole := fileKey(path.Join(path.Dir("/"+from.file.Name), i.path+".ksy"))
	if strings.HasPrefix(i.path, "/") {
		whole = fileKey(i.path + ".ksy")
	}
	for _, f := range l.among.Named(path.Base(i.path)) {
		k := fileKey(f.Source.Name)
		if k == whole {
			return l.among.Tree(f).(*tree)
		}
		if strings.HasPrefix(i.path, "/") && strings.HasSuffix("/"+k, "/"+whole) {
			found = append(found, l.among.Tree(f).(*tree))
		}
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		l.report(unknownImport(i.span, i.path))
	default:
		l.report(ambiguousImport(i.span, i.path))
	}
	return nil
}
