package protobuf

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

// Rules compile definitions. Files named *.proto are read. Messages are in the order of the file. They use Options.Codes.
var Rules = build.Rules{
	Reads: IsFile,
	Parse: func(f *source.File) build.Tree { return parse(f) },
	Lower: func(parsed build.Tree, o schema.Options, among *build.Among) build.Lowered {
		l := newLowerer(parsed.(*tree), among)
		messages := l.lower()
		for _, m := range messages {
			m.Key.Code, m.HasKey = o.Codes[m.Name]
		}
		l.diags.Sort()
		return build.Lowered{Messages: messages, Diagnostics: l.diags}
	},
	Codes: true,
}

// Parse compiles a set of definitions with Rules.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	s := build.New(&Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// IsFile reports whether a file of this name may hold definitions.
func IsFile(name string) bool { return strings.EqualFold(path.Ext(name), ".proto") }

// IsText reports whether a text is a definition: it has a statement that only these have at the start of a line. It looks at the start of
// long texts only.
func IsText(s string) bool { return statement.MatchString(s[:min(len(s), maxDetect)]) }

// maxDetect is the number of bytes that IsText examines.
const maxDetect = 64 << 10

var statement = regexp.MustCompile(`(?m)^\s*(syntax\s*=\s*["']proto[23]["']\s*;|edition\s*=\s*["']\d+["']\s*;|package\s+[\w.]+\s*;|import\s+((public|weak)\s+)?["'][^"'\n]*\.proto["']\s*;|(message|extend|service)\s+[\w.]+\s*\{|enum\s+\w+\s*\{\s*(//[^\n]*\s+)*(option\s|\w+\s*=\s*[-\w]+\s*(\[[^\]]*\])?\s*;)|(optional|required|repeated)\s+[\w.]+\s+\w+\s*=\s*\d+\s*[;\[])`)

// IsLine reports whether a line is characteristic of the language.
func IsLine(line string) bool { return typicalLine.MatchString(line) }

var typicalLine = regexp.MustCompile(`^\s*(syntax\s*=\s*["']proto[23]["']\s*;|edition\s*=\s*["']\d+["']|message\s+\w+\s*\{\s*\}?\s*$|((optional|required|repeated)\s+)?(map\s*<.*>|[a-zA-Z_][\w.]*)\s+\w+\s*=\s*\d+\s*(\[.*\]\s*)?;)`)

// Format returns a file without white space at the ends of its lines. It is idempotent.
func Format(f *source.File) (string, diag.List) {
	return text.TrimLines(f.Text), parse(f).diags
}
