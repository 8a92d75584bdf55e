package protodef

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules compile definitions. Files named *.json, *.yml and *.yaml are read, except for package.json and lock files. Messages are in the order of the file.
var Rules = build.Rules{
	Reads: IsFile,
	Parse: func(f *source.File) build.Tree { return parseTree(f) },
	Lower: func(parsed build.Tree, _ schema.Options, among *build.Among) build.Lowered {
		t := parsed.(*tree)
		if t.entries == nil {
			return lowerValue(t, t.diags)
		}
		if len(among.Named(importKey(t.file.Name))) > 0 {
			return build.Lowered{Diagnostics: t.diags} // its types are part of other files
		}
		y := yamlFile{among: among, file: t.file}
		whole := &tree{file: t.file, root: y.value(t.entries)}
		return lowerValue(whole, append(slices.Clip(t.diags), y.diags...))
	},
	Codes: true,
}

// lowerValue compiles the messages of a file.
func lowerValue(t *tree, diags diag.List) build.Lowered {
	l := newLowerer(t)
	messages := l.lower()
	return build.Lowered{Messages: messages, Diagnostics: append(slices.Clip(diags), l.diags...)}
}

// Parse compiles a set of definitions with Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// IsFile reports whether a file of this name may hold definitions.
func IsFile(name string) bool {
	base := path.Base(name)
	return isYAML(base) || strings.EqualFold(path.Ext(base), ".json") && base != "package.json" && base != "deprecated.json" && !strings.HasSuffix(base, "-lock.json")
}

// Frames returns the start of messages whose codes are varints, as in published definitions.
func Frames() []*schema.Message {
	code := numberNamed("varint")
	return []*schema.Message{{Name: "frame", Version: 1, Body: &schema.Struct{Wire: []schema.Item{{Kind: schema.Code, Bits: code.Bits, Num: code}}}}}
}

// IsLine reports whether a line is characteristic of the language: an argument, a type with arguments, or a native one.
func IsLine(line string) bool { return typeLine.MatchString(line) }

var typeLine = regexp.MustCompile(`^\s*("(compareTo|countType|mappings)":|("\w+": *)?\["(container|switch|mapper)"|("\w+": *)?\["(` + composites + `)", *[\[{]|"(container|switch|mapper)",|"\w+": *"native")`)

// tree is the parse tree of one file.
type tree struct {
	file  *source.File
	root  *node // nil if the file is not JSON
	diags diag.List

	entries *yamlEntry // of a file in YAML

	comments bool // it has comments
}

// Names returns the keys of the file and of those that it imports. JSON files do not use each other.
func (t *tree) Names() []string {
	if t.entries == nil {
		return nil
	}
	names := []string{fileKey(t.file.Name)}
	for _, name := range imports(t.file, t.entries) {
		names = append(names, importKey(name))
	}
	return names
}

func parseTree(f *source.File) *tree {
	t := &tree{file: f}
	if isYAML(f.Name) {
		p := yamlParser{file: f}
		t.entries = p.parse()
		t.diags = p.diags
		return t
	}
	p := jsonParser{file: f, text: f.Text}
	if root, ok := p.document(); ok {
		t.root = root
	}
	t.diags, t.comments = p.diags, p.comments
	return t
}
