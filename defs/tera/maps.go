package tera

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// maxMapLines limits the lines of a map file. A code has 16 bits, so more lines are never useful.
const maxMapLines = 1 << 17

// ParseMap parses a map file, of opcodes or system messages: lines NAME CODE or NAME = CODE, "#" starts a comment. Codes are decimal, 0 to
// 65535. If a name is repeated, the last line applies. Malformed lines are skipped, and parsing ends after too many of them. The map is
// usable even if there are diagnostics.
func ParseMap(f *source.File) (map[string]uint32, diag.List) {
	var diags diag.List
	lines := f.NumLines()
	if lines > maxMapLines {
		diags.Add(text.TooManyLines(f.Line(maxMapLines+1), maxMapLines))
		lines = maxMapLines
	}
	codes := make(map[string]uint32, lines)
	nameAt := make(map[string]source.Span, lines)
	codeAt := make(map[uint32]source.Span, lines)
	for n := 1; n <= lines; n++ {
		name, code, ok := mapLine(f.Line(n))
		if name.IsZero() {
			continue
		}
		if len(diags) >= maxMistakes {
			diags.Add(text.TooManyMistakes(name))
			break
		}
		if !ok {
			diags.Add(badMapLine(name))
			continue
		}
		value, ok := number(code.Text())
		if !ok || value > 0xFFFF {
			diags.Add(badMapCode(code))
			continue
		}
		key := name.Text()
		if first, ok := nameAt[key]; ok {
			diags.Add(mapNameTwice(name, first))
			if old := codes[key]; codeAt[old] == first {
				delete(codeAt, old)
			}
		}
		if first, ok := codeAt[uint32(value)]; ok && first.Text() != key {
			diags.Add(mapCodeTwice(code, first))
		} else {
			codeAt[uint32(value)] = name
		}
		codes[key], nameAt[key] = uint32(value), name
	}
	return codes, diags
}

// mapLine splits a line into name and code. The name is the zero Span if the line is empty; if the line is malformed, ok is false and name
// is the whole line.
func mapLine(line source.Span) (name, code source.Span, ok bool) {
	text := line.Text()
	if hash := strings.IndexByte(text, '#'); hash >= 0 {
		text = text[:hash]
	}
	start, end := space.Trim(text)
	if start == end {
		return source.Span{}, source.Span{}, false
	}
	whole := line.Sub(start, end)
	text = text[start:end]
	i := 0
	for i < len(text) && text[i] != '=' && space.Width(text[i:]) == 0 {
		i++
	}
	j := i + space.Skip(text[i:])
	if j < len(text) && text[j] == '=' {
		j++
		j += space.Skip(text[j:])
	}
	if i == 0 || j == i || j == len(text) || !oneWord(text[j:]) {
		return whole, source.Span{}, false
	}
	return whole.Sub(0, i), whole.Sub(j, len(text)), true
}

// oneWord reports whether s contains no white space.
func oneWord(s string) bool {
	for i := range len(s) {
		if space.Width(s[i:]) > 0 {
			return false
		}
	}
	return true
}
