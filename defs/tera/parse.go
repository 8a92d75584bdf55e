package tera

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// parser turns the lines of one file into a tree. It accepts every well-formed line; lowering checks the words, so that an error does not
// hide others.
type parser struct {
	tree *tree
	code source.Span // the current line, without comment, trimmed
	text string      // code.Text()
}

// parseTree parses a file.
func parseTree(f *source.File) *tree {
	t := &tree{file: f}
	p := parser{tree: t}
	n := f.NumLines()
	if n > text.MaxLines {
		p.report(text.TooManyLines(f.Line(text.MaxLines+1), text.MaxLines))
		t.cut, n = true, text.MaxLines
	}
	t.lines = make([]line, n)
	for i := range t.lines {
		p.line(&t.lines[i], f.Line(i+1))
	}
	return t
}

// report adds a diagnostic, up to maxMistakes.
func (p *parser) report(d diag.Diagnostic) {
	t := p.tree
	t.broken = t.broken || d.Severity == diag.Error
	text.Add(&t.diags, d, maxMistakes)
}

// bad reports an error that makes the whole line malformed.
func (p *parser) bad(ln *line, d diag.Diagnostic) {
	ln.kind = badLine
	p.report(d)
}

// line parses one line.
func (p *parser) line(ln *line, whole source.Span) {
	words := whole.Text()
	start, end := space.Trim(words)
	ln.indented = start > 0 && words[:start] != text.BOM
	ln.span = whole.Sub(start, end)
	switch {
	case start == end:
		return
	case end-start > text.MaxLine:
		p.bad(ln, text.LineTooLong(ln.span))
		return
	}
	codeEnd, control := end, -1
	for i := start; i < end; i++ {
		if c := words[i]; c == '#' {
			ln.comment = whole.Sub(i, end)
			codeEnd = i
			break
		} else if control < 0 && (c < '\t' || c > '\r' && c < ' ' || c == 0x7f) {
			control = i
		}
	}
	_, n := space.Trim(words[start:codeEnd])
	if n == 0 {
		ln.kind = commentLine
		return
	}
	p.code = whole.Sub(start, start+n)
	p.text = words[start : start+n]
	if control >= 0 {
		p.bad(ln, text.ControlCharacter(whole.Sub(control, control+1)))
		return
	}
	p.words(ln)
}

// words parses the part before the comment: dashes, a type, a name.
func (p *parser) words(ln *line) {
	i := 0
	for i < len(p.text) && p.text[i] == '-' {
		ln.depth++
		i++
		i += space.Skip(p.text[i:])
	}
	if i == len(p.text) {
		p.bad(ln, onlyDashes(p.code))
		return
	}
	if ln.depth > maxDepth {
		p.bad(ln, tooDeep(p.code.Sub(0, i), ln.depth))
		return
	}
	if p.foreign(ln, i) {
		return
	}
	first := p.text[i : i+space.Word(p.text[i:])]
	if first == "@include" {
		p.include(ln, i+len(first))
		return
	}
	if first[0] == '@' {
		p.bad(ln, unknownDirective(p.code.Sub(i, i+len(first))))
		return
	}
	ln.opens = strings.HasPrefix(first, "array") || strings.HasPrefix(first, "object")
	i, ok := p.typ(&ln.typ, i, 0)
	if !ok {
		ln.kind = badLine
		return
	}
	switch ln.typ.name.Text() {
	case "ref", "offset":
		ln.kind = refLine
	case "count":
		ln.kind = countLine
	default:
		ln.kind = fieldLine
	}
	p.name(ln, i)
}

// include parses the part after "@include".
func (p *parser) include(ln *line, i int) {
	ln.kind = includeLine
	if ln.depth > 0 {
		p.bad(ln, nestedInclude(p.code))
		return
	}
	i += space.Skip(p.text[i:])
	n := space.Word(p.text[i:])
	switch {
	case n == 0:
		p.bad(ln, includeNothing(p.code))
	case i+n < len(p.text):
		p.bad(ln, tooManyWords(p.rest(i+n), "@include has one file name"))
	default:
		ln.name = p.code.Sub(i, i+n)
	}
}

// rest returns the rest of the line after byte i and white space.
func (p *parser) rest(i int) source.Span {
	return p.code.Sub(i+space.Skip(p.text[i:]), len(p.text))
}

// name parses the part after the type: the name, its default, its versions.
func (p *parser) name(ln *line, i int) {
	gap := space.Skip(p.text[i:])
	n := space.Word(p.text[i+gap:])
	switch {
	case n == 0:
		p.bad(ln, missingName(p.code.Sub(0, i), ln.typ.text()))
		return
	case gap == 0:
		p.bad(ln, missingSpace(p.code.Sub(i, i+n)))
		return
	case p.text[i+gap] == '<' || p.text[i+gap] == '[':
		p.bad(ln, spaceInType(p.code.Sub(i, i+gap), p.text[i+gap:i+gap+1]))
		return
	}
	i += gap
	ln.name = p.code.Sub(i, i+n)
	if eq := strings.IndexByte(p.text[i:i+n], '='); eq > 0 && eq < n-1 {
		ln.value = p.code.Sub(i+eq+1, i+n)
		ln.name = p.code.Sub(i, i+eq)
	}
	if end := i + n; end < len(p.text) {
		versions := p.rest(end)
		if words := versions.Text(); words[0] != '^' || !oneWord(words) {
			p.bad(ln, tooManyWords(versions, "a line has a type and a name"))
			return
		}
		ln.versions = versions
		p.versions(ln)
	}
	ln.key = ln.name.Text()
	if !isName(ln.key, ln.kind != fieldLine) {
		p.report(badName(ln.name, ln.kind != fieldLine))
		ln.key, ln.odd = text.CleanName(ln.key), true
	}
}

// versions parses "^from-to". An invalid range is treated as all versions.
func (p *parser) versions(ln *line) {
	from, to, hasTo := strings.Cut(ln.versions.Text()[1:], "-")
	ln.to = newest
	var err error
	if ln.from, err = ParsePatch(from); err == nil && hasTo {
		ln.to, err = ParsePatch(to)
	}
	switch {
	case err != nil:
		p.report(badVersions(ln.versions))
		ln.from, ln.to = 0, newest
	case ln.to <= ln.from:
		p.report(noVersions(ln.versions))
	}
}

// exists reports whether a line applies to a patch; patch 0 is the newest.
func (ln *line) exists(patch int) bool {
	if ln.versions.IsZero() {
		return true
	}
	if patch == 0 {
		patch = newest
	}
	// A missing upper bound is later than every patch, including the newest.
	return patch >= ln.from && (patch < ln.to || ln.to == newest)
}

// typ parses a type at i and returns its end. It reports errors.
func (p *parser) typ(t *typeExpr, i, depth int) (end int, ok bool) {
	start := i
	for i < len(p.text) && !endsTypeName(p.text, i) {
		i++
	}
	t.name = p.code.Sub(start, i)
	switch {
	case i == start:
		p.report(malformedType(p.code.Sub(start, min(start+1, len(p.text))), "a type is expected here"))
		return i, false
	case depth > maxDepth:
		p.report(malformedType(t.name, "types are nested too deeply"))
		return i, false
	}
	if i < len(p.text) && p.text[i] == '<' {
		open := i
		i++
		i += space.Skip(p.text[i:])
		t.elem = new(typeExpr)
		if i, ok = p.typ(t.elem, i, depth+1); !ok {
			return i, false
		}
		i += space.Skip(p.text[i:])
		if i == len(p.text) || p.text[i] != '>' {
			p.report(malformedType(p.code.Sub(open, open+1), `"<" has no ">"`))
			return i, false
		}
		i++
		t.subtype = p.code.Sub(open, i)
	}
	open := i
	for i < len(p.text) && p.text[i] == '[' {
		if i, ok = p.brackets(t, i); !ok {
			return i, false
		}
		t.brackets = p.code.Sub(open, i)
	}
	t.span = p.code.Sub(start, i)
	return i, true
}

// endsTypeName reports whether the name of a type ends before byte i.
func endsTypeName(s string, i int) bool {
	switch s[i] {
	case '<', '>', '[', ']', ',':
		return true
	}
	return space.Width(s[i:]) > 0
}

// brackets parses "[5]" or "[flag, flag]" at i.
func (p *parser) brackets(t *typeExpr, i int) (end int, ok bool) {
	n := strings.IndexByte(p.text[i:], ']')
	if n < 0 {
		p.report(malformedType(p.code.Sub(i, i+1), `"[" has no "]"`))
		return i, false
	}
	at := i + 1
	for part := range strings.SplitSeq(p.text[i+1:i+n], ",") {
		from, to := space.Trim(part)
		word := p.code.Sub(at+from, at+to)
		at += len(part) + 1
		switch text := word.Text(); {
		case text == "" || !oneWord(text):
			p.report(malformedType(p.code.Sub(i, i+n+1), "brackets contain a number, or words separated by commas"))
			return i, false
		case len(t.sizes) == maxDepth:
			p.report(malformedType(word, "types are nested too deeply"))
			return i, false
		case text[0] >= '0' && text[0] <= '9':
			t.sizes = append(t.sizes, word)
		default:
			t.flags = append(t.flags, word)
		}
	}
	return i + n + 1, true
}

// isName reports whether a name is valid in paths: letters, digits and "_", not starting with a digit. The name of a ref may contain dots.
func isName(s string, dotted bool) bool {
	first := true
	for i := range len(s) {
		switch {
		case dotted && s[i] == '.' && !first:
			first = true
			continue
		case !text.IsNameByte(s[i]), first && s[i] <= '9':
			return false
		}
		first = false
	}
	return !first
}
