package tera

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
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

// SetCodes returns the text of a map file in which names have codes. All other lines stay as they are, with their line breaks. The line of a
// new name looks like its neighbor's; it is put in order if the file is sorted by name or by code, else at the end. If a name is given twice,
// the last code applies. Names that have a code of another one, and get none themselves, are removed with take; without it one of them is
// returned as other with its code, and nothing is changed. Two names can exchange their codes.
func SetCodes(f *source.File, given []schema.GivenCode, take bool) (text string, other schema.GivenCode) {
	lines := strings.SplitAfter(f.Text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	codes, owners := map[string]uint32{}, map[uint32]string{}
	for _, g := range given {
		codes[g.Name] = g.Code
	}
	for _, g := range given {
		if codes[g.Name] != g.Code {
			continue
		}
		if owner, ok := owners[g.Code]; ok && owner != g.Name {
			if !take {
				return f.Text, schema.GivenCode{Name: owner, Code: g.Code}
			}
			delete(codes, owner)
		}
		owners[g.Code] = g.Name
	}

	var all []mapEntry
	at := map[string]int{} // index in all of the last line of a name, which applies
	for i := range lines {
		line := f.Line(i + 1)
		word, number, ok := mapLine(line)
		if word.IsZero() || !ok {
			continue
		}
		at[word.Text()] = len(all)
		all = append(all, mapEntry{line: i, name: word.Text(), start: number.Start - line.Start, end: number.End - line.Start, between: f.Text[word.End:number.Start], code: codeOf(number)})
	}
	for i := range all {
		e := &all[i]
		line, owner := lines[e.line], ""
		if e.code >= 0 {
			owner = owners[uint32(e.code)]
		}
		code, isGiven := codes[e.name]
		switch {
		case isGiven && at[e.name] == i:
			lines[e.line] = line[:e.start] + strconv.FormatUint(uint64(code), 10) + line[e.end:]
			e.code = int64(code)
		case owner == "" || owner == e.name || isGiven:
		case take:
			lines[e.line] = ""
		default:
			return f.Text, schema.GivenCode{Name: e.name, Code: uint32(e.code)}
		}
	}
	byName := slices.IsSortedFunc(all, func(a, b mapEntry) int { return strings.Compare(a.name, b.name) })
	byCode := slices.IsSortedFunc(all, func(a, b mapEntry) int { return cmp.Compare(a.code, b.code) })
	for _, g := range given {
		if _, known := at[g.Name]; known || codes[g.Name] != g.Code || owners[g.Code] != g.Name {
			continue
		}
		after := len(all) - 1 // the entry after which the new one is put
		for len(all) > 1 && after >= 0 && (byName && all[after].name > g.Name || !byName && byCode && all[after].code > int64(g.Code)) {
			after--
		}
		where, between := len(lines), " "
		if len(all) > 0 {
			where, between = all[max(after, 0)].line, all[max(after, 0)].between
			if after >= 0 {
				where++
			}
		}
		lines = insertLine(lines, where, g.Name+between+strconv.FormatUint(uint64(g.Code), 10))
		for i := after + 1; i < len(all); i++ {
			all[i].line++
		}
		all = slices.Insert(all, after+1, mapEntry{line: where, name: g.Name, between: between, code: int64(g.Code)})
		at[g.Name] = after + 1
	}
	return strings.Join(lines, ""), schema.GivenCode{}
}

// mapEntry is a line of a map: a name, and where its code is.
type mapEntry struct {
	line       int // index
	name       string
	between    string // the text between name and code
	start, end int    // of the code in the line
	code       int64  // -1 if it is malformed
}

func codeOf(s source.Span) int64 {
	n, ok := number(s.Text())
	if !ok {
		return -1
	}
	return int64(n)
}

// insertLine inserts a line before the one with an index. It ends as its neighbor does; a last line without a line break remains the last
// without one.
func insertLine(lines []string, at int, line string) []string {
	const bom = "\ufeff"
	ending := "\n"
	if len(lines) > 0 && strings.HasSuffix(lines[max(at-1, 0)], "\r\n") || len(lines) > 1 && strings.HasSuffix(lines[0], "\r\n") {
		ending = "\r\n"
	}
	switch {
	case at > 0 && lines[at-1] != "" && !strings.HasSuffix(lines[at-1], "\n"):
		lines[at-1] += ending
	case at == 0 && len(lines) > 0 && strings.HasPrefix(lines[0], bom):
		lines[0] = strings.TrimPrefix(lines[0], bom)
		line = bom + line + ending
	default:
		line += ending
	}
	return slices.Insert(lines, at, line)
}

// RenameInMap returns the text of a map file in which a name is replaced by another one that the map does not have. Everything else stays as
// it is, the order of the lines as well, so that renaming back restores the text.
func RenameInMap(f *source.File, from, to string) string {
	var b strings.Builder
	end := 0
	for n := 1; n <= f.NumLines(); n++ {
		if name, _, ok := mapLine(f.Line(n)); ok && name.Text() == from {
			b.WriteString(f.Text[end:name.Start])
			b.WriteString(to)
			end = name.End
		}
	}
	b.WriteString(f.Text[end:])
	return b.String()
}
