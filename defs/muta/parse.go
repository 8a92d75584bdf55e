package muta

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// parser turns the lines of one file into a tree. It accepts every well-formed line; lowering checks the words, so that an error does not
// hide others.
type parser struct {
	started bool // a line was not blank
	tree    *tree
	record  *record // the current record; nil before the first header, and after a malformed header
	opened  bool    // a header was found, possibly malformed
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
		p.line(i, f.Line(i+1))
	}
	return t
}

// report adds a diagnostic, up to maxMistakes.
func (p *parser) report(d diag.Diagnostic) {
	if d.Severity == diag.Error && p.record != nil {
		p.record.broken = true
	}
	text.Add(&p.tree.diags, d, maxMistakes)
}

// bad reports an error that makes the whole line malformed.
func (p *parser) bad(ln *line, d diag.Diagnostic) {
	ln.kind = badLine
	p.report(d)
}

// withoutBOM returns the first line that is not blank without byte order marks at its start, even after white space: formatting removes
// blank lines and white space, which would move them to the start.
func withoutBOM(line source.Span) source.Span {
	for {
		start, end := space.Trim(line.Text())
		if !strings.HasPrefix(line.Text()[start:end], text.BOM) {
			return line
		}
		line = line.Sub(start+len(text.BOM), line.End-line.Start)
	}
}

// line parses one line.
func (p *parser) line(i int, whole source.Span) {
	ln := &p.tree.lines[i]
	if !p.started {
		whole = withoutBOM(whole)
	}
	ln.span = space.Trimmed(whole)
	words := ln.span.Text()
	p.started = p.started || words != ""
	ln.indented = p.opened && ln.span.Start > whole.Start
	switch {
	case words == "":
		return
	case len(words) > text.MaxLine:
		p.bad(ln, text.LineTooLong(ln.span))
		return
	case words[0] == '#':
		ln.kind = commentLine
		return
	}
	if p.foreign(ln, whole.Text()[:ln.span.Start-whole.Start]) {
		return
	}
	equals, colon := strings.IndexByte(words, '='), strings.IndexByte(words, ':')
	switch {
	case colon >= 0 && (equals < 0 || colon < equals):
		p.header(i, colon)
	case equals > 0:
		p.attr(i, equals)
	case equals == 0:
		p.bad(ln, noKey(ln.span))
	default:
		if !ln.indented {
			p.lostHeader(i)
		}
		if p.record != nil && p.record.kind == enumRecord && ln.indented && text.IsName(words) {
			p.bad(ln, bareEnumName(ln.span))
			return
		}
		p.bad(ln, malformedLine(ln.span))
	}
}

// lostHeader begins a record after a malformed line that is not indented. If the line has a kind and a name, it is that record, so that the
// ids of later packets do not change; otherwise the following lines belong to an unknown record.
func (p *parser) lostHeader(i int) {
	p.record, p.opened = nil, true
	span := p.tree.lines[i].span
	words := span.Text()
	end := 0
	for end < len(words) && text.IsNameByte(words[end]) {
		end++
	}
	kind, name := kindOf(words[:end]), space.Trimmed(span.Sub(end, len(words)))
	if kind != otherRecord && text.IsName(name.Text()) {
		p.begin(record{kind: kind, line: i, name: name, key: name.Text()})
	}
}

// begin opens a record.
func (p *parser) begin(r record) {
	p.tree.records = append(p.tree.records, r)
	p.record = &p.tree.records[len(p.tree.records)-1]
}

// header parses a line "kind: name".
func (p *parser) header(i, colon int) {
	ln := &p.tree.lines[i]
	words := ln.span.Text()
	ln.key, ln.value = space.Trimmed(ln.span.Sub(0, colon)), space.Trimmed(ln.span.Sub(colon+1, len(words)))
	kind := kindOf(ln.key.Text())
	if ln.indented && kind == otherRecord {
		p.bad(ln, colonForEquals(ln.span, colon))
		return
	}
	p.record, p.opened = nil, true
	if !text.IsName(ln.key.Text()) {
		p.bad(ln, malformedLine(ln.span))
		return
	}
	ln.kind = headerLine
	if kind != otherRecord && kind != includeRecord {
		ln.cutComment()
	}
	p.begin(record{kind: kind, line: i, name: ln.value, key: text.CleanName(ln.value.Text())})
	if ln.indented {
		p.report(indentedHeader(p.tree.file.Line(i+1), ln.span))
	}
	switch {
	case kind == otherRecord:
		p.report(unknownKind(ln.key))
	case kind == includeRecord:
	case !ln.comment.IsZero():
		p.report(commentAfterValue(ln))
	case ln.value.Text() == "":
		p.report(noRecordName(ln.key))
	case !text.IsName(ln.value.Text()):
		p.report(badName(ln.value))
	}
}

// cutComment splits a comment from the value.
func (ln *line) cutComment() {
	text := ln.value.Text()
	if hash := strings.IndexByte(text, '#'); hash >= 0 {
		ln.value, ln.comment = space.Trimmed(ln.value.Sub(0, hash)), ln.value.Sub(hash, len(text))
	}
}

// attr parses a line "key = value".
func (p *parser) attr(i, equals int) {
	ln := &p.tree.lines[i]
	words := ln.span.Text()
	ln.kind = attrLine
	ln.key, ln.value = space.Trimmed(ln.span.Sub(0, equals)), space.Trimmed(ln.span.Sub(equals+1, len(words)))
	if !p.opened {
		p.bad(ln, noRecord(ln.span))
		return
	}
	if !ln.indented {
		p.report(noIndent(ln.span))
	}
	if p.record == nil {
		return
	}
	p.record.attrs = append(p.record.attrs, i)
	key := ln.key.Text()
	kind := p.record.kind
	if kind == otherRecord || kind == includeRecord {
		return
	}
	if ln.cutComment(); !ln.comment.IsZero() {
		p.report(commentAfterValue(ln))
	}
	if !isDirective(key) && (kind == packetRecord || kind == structRecord) {
		v := valueParser{p: p, at: ln.value, text: ln.value.Text()}
		ln.readable = v.read(&ln.field, ln)
	}
	if !text.IsName(key) {
		p.report(badName(ln.key))
	}
}

// valueParser parses the value of a field.
type valueParser struct {
	p    *parser
	at   source.Span
	text string
	i    int // byte of text
}

// read parses the whole value. If it returns false, the reason was reported.
func (v *valueParser) read(e *fieldExpr, ln *line) bool {
	if v.text == "" {
		v.p.report(noType(ln.span))
		return false
	}
	var ok bool
	if e.typ, ok = v.word("a type"); !ok {
		return false
	}
	var misplaced source.Span
	order := 0
	for {
		v.space()
		if v.i == len(v.text) {
			break
		}
		start, at := v.i, 0
		switch v.text[v.i] {
		case '[':
			at, ok = 1, v.list('[', ']', "range", &e.ranges, &e.lo, &e.hi)
		case '<':
			at, ok = 2, v.length(e)
		case '{':
			at, ok = 3, v.list('{', '}', "number of elements", &e.limits, &e.min, &e.max)
		default:
			v.p.report(tooMuch(v.at.Sub(v.i, len(v.text)), e.typ))
			return false
		}
		if !ok {
			return false
		}
		if at < order && misplaced.IsZero() {
			misplaced = v.at.Sub(start, v.i)
		}
		order = max(order, at)
	}
	if !e.ranges.IsZero() && e.lo.IsZero() && !e.encoded() {
		v.p.report(oneBound(e))
		return false
	}
	if !misplaced.IsZero() {
		v.p.report(suffixOrder(misplaced, v.at, e))
	}
	return true
}

func (v *valueParser) space() {
	for v.i < len(v.text) && text.IsBlank(v.text[v.i]) {
		v.i++
	}
}

// word parses a name or a number.
func (v *valueParser) word(what string) (source.Span, bool) {
	v.space()
	start := v.i
	for v.i < len(v.text) && (text.IsNameByte(v.text[v.i]) || strings.IndexByte("+-.", v.text[v.i]) >= 0) {
		v.i++
	}
	if v.i > start {
		return v.at.Sub(start, v.i), true
	}
	end := start
	for end < len(v.text) && !text.IsBlank(v.text[end]) && strings.IndexByte("[]<>{},", v.text[end]) < 0 {
		end++
	}
	if end == start {
		end = min(start+1, len(v.text))
	}
	v.p.report(expected(v.at.Sub(start, end), what))
	return source.Span{}, false
}

// closes parses a closing bracket.
func (v *valueParser) closes(bracket byte, open source.Span) bool {
	v.space()
	if v.i < len(v.text) && v.text[v.i] == bracket {
		v.i++
		return true
	}
	if v.i < len(v.text) {
		v.p.report(expected(v.at.Sub(v.i, v.i+1), `"`+string(bracket)+`"`))
	} else {
		v.p.report(notClosed(open, bracket))
	}
	return false
}

// list parses "[b]" or "[a, b]", with any brackets. a is zero if it is missing.
func (v *valueParser) list(opening, closing byte, what string, all, a, b *source.Span) bool {
	start := v.i
	if !all.IsZero() {
		v.p.report(twice(v.at.Sub(start, start+1), what))
		return false
	}
	v.i++
	var ok bool
	if *b, ok = v.word("a number or a constant"); !ok {
		return false
	}
	if v.space(); v.i < len(v.text) && v.text[v.i] == ',' {
		v.i++
		*a = *b
		if *b, ok = v.word("a number or a constant"); !ok {
			return false
		}
	}
	if !v.closes(closing, v.at.Sub(start, start+1)) {
		return false
	}
	*all = v.at.Sub(start, v.i)
	return true
}

// length parses "<type>".
func (v *valueParser) length(e *fieldExpr) bool {
	start := v.i
	if !e.length.IsZero() {
		v.p.report(twice(v.at.Sub(start, start+1), "type of a length"))
		return false
	}
	v.i++
	var ok bool
	if e.length, ok = v.word("a type"); !ok {
		return false
	}
	return v.closes('>', v.at.Sub(start, start+1))
}
