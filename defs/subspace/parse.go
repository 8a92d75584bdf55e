package subspace

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// parser turns the lines of one file into a tree. It accepts every well-formed line; lowering checks the words, so that an error does not
// hide others.
type parser struct {
	tree    *tree
	inTable bool // there is a title above
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
		p.line(i)
	}
	return t
}

// report adds a diagnostic, up to maxMistakes.
func (p *parser) report(d diag.Diagnostic) {
	text.Add(&p.tree.diags, d, maxMistakes)
}

// bad reports an error that makes the whole line malformed.
func (p *parser) bad(ln *line, d diag.Diagnostic) {
	ln.kind = badLine
	p.report(d)
}

// space is white space, and the invisible characters of pasted text: byte order marks and zero-width spaces.
var space text.Space = isSpace

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' }

// content returns line n (1-based) without surrounding white space.
func content(f *source.File, n int) source.Span {
	return space.Trimmed(f.Line(n))
}

// cutComment splits a line at the start of a comment: a "#" at the start of a word.
func cutComment(s source.Span) (code, comment source.Span) {
	text := s.Text()
	for i := 0; i < len(text); i++ {
		if text[i] != '#' {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); i == 0 || isSpace(before) {
			return space.Trimmed(s.Sub(0, i)), s.Sub(i, len(text))
		}
	}
	return s, source.Span{}
}

// line parses line i+1.
func (p *parser) line(i int) {
	ln := &p.tree.lines[i]
	ln.span = content(p.tree.file, i+1)
	words := ln.span.Text()
	switch {
	case words == "":
		return
	case len(words) > text.MaxLine:
		p.bad(ln, text.LineTooLong(ln.span))
		return
	}
	code, comment := cutComment(ln.span)
	if code.Start == code.End {
		ln.kind, ln.comment = commentLine, comment
		return
	}
	switch {
	case isHeader(code):
		ln.kind, ln.comment = headerLine, comment
		if !p.inTable {
			p.bad(ln, headerWithoutTitle(code))
		}
	case isCode(code):
		ln.kind, ln.comment = titleLine, comment
		ln.code, _ = space.CutWord(code)
		_, name := space.CutWord(code)
		p.title(ln, name)
	case isRow(code):
		ln.comment = comment
		p.row(ln, code)
	case i+1 < len(p.tree.lines) && isHeader(withoutComment(content(p.tree.file, i+2))):
		ln.kind, ln.comment = titleLine, comment
		p.title(ln, code)
	case p.directive(ln, code):
		ln.comment = comment
	default:
		p.text(i, ln, code, comment)
	}
}

func withoutComment(s source.Span) source.Span {
	code, _ := cutComment(s)
	return code
}

// isHeader reports whether a line is "offset size comment" or "field length description", where the last word is arbitrary or missing.
func isHeader(code source.Span) bool {
	words := strings.Fields(strings.ToLower(code.Text()))
	return len(words) >= 2 && len(words) <= 5 && (words[0] == "offset" || words[0] == "field") && (words[1] == "size" || words[1] == "length")
}

// isCode reports whether a line starts with a number such as 0x0E.
func isCode(code source.Span) bool {
	word, _ := space.CutWord(code)
	_, ok := hexNumber(word.Text())
	return ok
}

// isRow reports whether a line starts with an offset and a size.
func isRow(code source.Span) bool {
	offset, rest := space.CutWord(code)
	size, _ := space.CutWord(rest)
	return isOffset(offset.Text()) && isSize(size.Text())
}

// isOffset reports whether a word is a number of bytes, of bytes and bits, or "?".
func isOffset(s string) bool {
	whole, bit, ok := strings.Cut(s, ".")
	return s == "?" || isDigits(whole) && (!ok || isDigits(bit))
}

// isSize reports whether a word is a number of bytes, of bits, or "?".
func isSize(s string) bool {
	return s == "?" || isDigits(strings.TrimSuffix(s, "b"))
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// title parses the name of a packet and the remark after it.
func (p *parser) title(ln *line, name source.Span) {
	p.inTable = true
	if c := controlAt(ln.span.Text()); c >= 0 {
		p.report(text.ControlCharacter(ln.span.Sub(c, c+1)))
		ln.bad = true
	}
	ln.name = name
	if i := strings.IndexByte(name.Text(), '('); i >= 0 {
		ln.name, ln.remark = space.Trimmed(name.Sub(0, i)), name.Sub(i, len(name.Text()))
	}
	if ln.name.Start == ln.name.End {
		ln.name = source.Span{}
	}
}

// controlAt returns the index of the first control character other than white space, or -1.
func controlAt(text string) int {
	return strings.IndexFunc(text, func(r rune) bool { return r < 0x20 && !unicode.IsSpace(r) || r == 0x7f })
}

// row parses a line of a table.
func (p *parser) row(ln *line, code source.Span) {
	var rest source.Span
	ln.offset, rest = space.CutWord(code)
	ln.size, ln.rest = space.CutWord(rest)
	ln.kind = rowLine
	if c := controlAt(code.Text()); c >= 0 {
		p.bad(ln, text.ControlCharacter(code.Sub(c, c+1)))
	} else if !p.inTable {
		p.bad(ln, rowWithoutTitle(code))
	}
}

// directive parses "direction s2c" and "group biller".
func (p *parser) directive(ln *line, code source.Span) bool {
	word, rest := space.CutWord(code)
	value, more := space.CutWord(rest)
	if more.Start != more.End {
		return false
	}
	switch strings.ToLower(word.Text()) {
	case "c2s", "s2c":
		if value.Start != value.End {
			return false
		}
		ln.kind, ln.word = directionLine, word
	case directionWord:
		ln.kind, ln.word = directionLine, value
		if value.Start == value.End {
			p.bad(ln, missingValue(word, "s2c"))
		} else if _, ok := directions[strings.ToLower(value.Text())]; !ok {
			p.bad(ln, unknownDirection(value))
		}
	case groupWord:
		ln.kind, ln.word = groupLine, value
		if value.Start == value.End {
			p.bad(ln, missingValue(word, "biller"))
		} else if !text.IsName(value.Text()) {
			p.bad(ln, badGroup(value))
		}
	default:
		return false
	}
	return true
}

// text parses a line of text.
func (p *parser) text(i int, ln *line, code, comment source.Span) {
	below := i > 0 && p.belowTable(i-1)
	says := understand(code)
	first, rest := space.CutWord(code)
	second, _ := space.CutWord(rest)
	if says.kind == nothing && below {
		if meant := meantRow(code.Text()); meant != "" {
			p.bad(ln, text.Foreign(codeMalformedRow, code, meant, "a row has an offset, a size, a type and a name"))
			return
		}
	}
	switch {
	case says.kind == byteOrder:
		ln.kind, ln.says, ln.comment = sentenceLine, says, comment
	case says.kind != nothing && p.inTable:
		ln.kind, ln.says, ln.comment = sentenceLine, says, comment
	case says.kind != nothing:
		p.bad(ln, sentenceWithoutTable(code))
	case isOffset(first.Text()) && (below || p.inTable && isTypeWord(second.Text())):
		ln.offset = first
		p.bad(ln, malformedRow(code, second))
	case below:
		ln.kind = docLine
		if asksForMore(code.Text()) {
			p.report(unclearSentence(ln.span))
		}
	default:
		ln.kind = proseLine
	}
}

// belowTable reports whether text directly below lines[i] belongs to its packet: comments do not interrupt a table.
func (p *parser) belowTable(i int) bool {
	for i >= 0 && p.tree.lines[i].kind == commentLine {
		i--
	}
	return i >= 0 && p.inTable && p.tree.lines[i].kind.belongs()
}
