package envelope

import (
	"fmt"
	"strconv"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// AddSize returns the text of an envelope with the size in bytes of the messages of a code in the table of codes of a direction. ok is false if
// the text has mistakes, several such tables or none, or a size of the code.
func AddSize(f *source.File, way int, code uint64, size int) (out string, ok bool) {
	if _, diags := Parse(f); diags.HasErrors() {
		return "", false
	}
	lines := readLines(f, func(diag.Diagnostic) {})
	at := -1
	for i := range lines {
		if !lines[i].isTable(way) {
			continue
		}
		if at >= 0 {
			return "", false
		}
		at = i
	}
	if at < 0 {
		return "", false
	}
	before := func(ln *line) string { return f.Text[ln.span.Start-ln.indent : ln.span.Start] }
	last, indent := at, before(&lines[at])+indentation
	for i := at + 1; i < len(lines) && (lines[i].table || len(lines[i].tokens) == 0); i++ {
		if !lines[i].table {
			continue
		}
		first := lines[i].tokens[0].text
		if first == "other" {
			break
		}
		if n, err := strconv.ParseUint(first, 0, 64); err == nil && n == code {
			return "", false
		}
		last, indent = i, before(&lines[i])
	}
	end := f.Line(last + 1).End
	out = f.Text[:end] + fmt.Sprintf("\n%s%d = %d", indent, code, size) + f.Text[end:]
	_, diags := Parse(source.New(f.Name, out))
	return out, !diags.HasErrors()
}

// isTable reports whether a line begins a table of codes of a direction.
func (ln *line) isTable(way int) bool {
	if len(ln.tokens) < 3 || ln.isRule() || ln.tokens[0].quoted || ln.tokens[0].text != "frame" {
		return false
	}
	at := 1
	for i, dir := range [...]schema.Dir{schema.ToServer, schema.ToClient} {
		if ln.tokens[1].text == dirWord(dir) {
			if at = 2; i != way {
				return false
			}
		}
	}
	return ln.tokens[at].text == "codes"
}
