package mavlink

import (
	"path"
	"regexp"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Rules compile definitions. Files named *.xml are read. Messages are in the order of the file.
var Rules = build.Rules{
	Reads: IsFile,
	Parse: func(f *source.File) build.Tree { return parse(f) },
	Lower: func(parsed build.Tree, o schema.Options, among *build.Among) build.Lowered {
		l := lowerer{tree: parsed.(*tree), among: among, encoding: o.Encoding(), merged: map[string]*enum{}}
		messages := l.lower()
		l.diags.Sort()
		return build.Lowered{Messages: messages, Diagnostics: l.diags}
	},
}

// Parse compiles a set of definitions with Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// IsFile reports whether a file of this name may hold definitions.
func IsFile(name string) bool { return strings.EqualFold(path.Ext(name), ".xml") }

// IsText reports whether a text is a definition: its first element is mavlink. It looks at the start of long texts only.
func IsText(s string) bool {
	return start.MatchString(strings.TrimPrefix(s[:min(len(s), maxDetect)], text.BOM))
}

// maxDetect is the number of bytes that IsText examines.
const maxDetect = 64 << 10

var start = regexp.MustCompile(`(?s)^\s*(<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<mavlink[\s/>]`)

// IsLine reports whether a line is characteristic of the language.
func IsLine(line string) bool { return typicalLine.MatchString(line) }

var typicalLine = regexp.MustCompile(`^\s*(<mavlink>|<message id="\d+" name="\w+">|<field (\w+="[^"]*" )*type="(uint8_t|u?int(8|16|32|64)_t|float|double|char)\b)`)

// Format returns a file without white space at the ends of its lines. It is idempotent.
func Format(f *source.File) (string, diag.List) {
	return text.TrimLines(f.Text), parse(f).diags
}
