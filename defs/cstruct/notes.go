package cstruct

import (
	"slices"
	"strings"

	"wirebench/defs/source"
	"wirebench/defs/text"
)

// annotations are the words in comments that have a meaning, with what they say.
var annotations = map[string]string{
	"opcode": "The code of the message that is this struct, a number or a name; at a field, that it is the code. At an enum, that its names are the codes of the structs of these names.",
	"group":  "The group of the codes: of a struct, or of all codes of an enum.",
	"dir":    "The direction, c2s or s2c: of a struct, of all codes of an enum, or of a namespace.",
	"length": "The field is the size of the message in bytes.",
	"count":  "The number of elements of the array at the end, an expression of earlier fields: @count items.",
	"show":   "The member of the union that is shown.",
	"when":   "The condition under which the member of the union is the one that is there, an expression of earlier fields: @when kind == 2.",
	"text":   "The array is text, in an encoding: @text utf-8. Without one it is that of the option.",
	"bytes":  "The array of char is bytes, not text.",
	"endian": "The byte order of the field, or of the fields of the struct: big or little.",
}

// notes returns what the comments of a declaration say: those before its first token, and those after its last one on the same line.
func (u *unit) notes(p *parser, first, last int) (n notes) {
	if first >= len(p.toks) {
		return n
	}
	t := &p.toks[first]
	line := -1
	if first > 0 && p.toks[first-1].at.File == t.at.File {
		line = p.toks[first-1].at.File.Position(p.toks[first-1].at.End).Line
	}
	own := t.at.Pos().Line
	var run []source.Span
	for i := len(t.before) - 1; i >= 0 && last >= 0; i-- {
		c := t.before[i]
		from, to := c.Pos().Line, c.File.Position(c.End).Line
		if c.File != t.at.File || from == line || to < own-1 {
			break
		}
		run, own = append(run, c), from
	}
	slices.Reverse(run)
	if last+1 < len(p.toks) && last >= 0 {
		l := &p.toks[last]
		for _, c := range p.toks[last+1].before {
			if c.File == l.at.File && c.Pos().Line == l.at.File.Position(l.at.End).Line {
				run = append(run, c)
			}
		}
	}
	for _, c := range run {
		n.read(c)
	}
	return n
}

// notes are the comment of a declaration: text, and annotations "@word value".
type notes struct {
	doc   string
	words []annotation
}

// annotation is an @word in a comment.
type annotation struct{ name, value source.Span }

// add appends other notes.
func (n *notes) add(o notes) {
	if o.doc != "" && n.doc != "" {
		n.doc += "\n"
	}
	n.doc += o.doc
	n.words = append(n.words, o.words...)
}

// find returns the value of an annotation.
func (n *notes) find(word string) (at source.Span, ok bool) {
	for _, a := range n.words {
		if a.name.Text() == "@"+word {
			return a.value, true
		}
	}
	return source.Span{}, false
}

// read adds a comment.
func (n *notes) read(c source.Span) {
	var lines []string
	words := c.Text()
	for from := 0; from < len(words); {
		to := from + strings.IndexByte(words[from:]+"\n", '\n')
		start, end := from, to
		if from == 0 {
			for start += 2; start < end && strings.IndexByte("/*!<", words[start]) >= 0; start++ {
			}
		} else {
			if s, _ := space.Trim(words[start:end]); s < end-start && words[start+s] == '*' {
				start += s + 1
			} else if strings.HasPrefix(words[start+s:end], "//") {
				start += s + 2
			}
			for start < end && words[start] == '*' {
				start++
			}
		}
		if to >= len(words) && words[1] == '*' {
			end = max(start, len(strings.TrimRight(strings.TrimSuffix(words[:end], "*/"), "*")))
		}
		from = to + 1
		if line := n.line(space.Trimmed(c.Sub(min(start, end), end))); line != "" || len(lines) > 0 {
			lines = append(lines, line)
		}
	}
	doc := strings.TrimRight(strings.Join(lines, "\n"), "\n ")
	if strings.Trim(doc, "0123456789abcdefABCDEFx()+-? ") == "" && len(doc) < 16 { // the offset of a field
		return
	}
	if n.doc != "" && doc != "" {
		n.doc += "\n"
	}
	n.doc += doc
}

// line cuts the annotations from a line of a comment.
func (n *notes) line(at source.Span) string {
	words := at.Text()
	for i := len(words) - 1; i >= 0; i-- {
		if words[i] != '@' || i > 0 && !text.IsBlank(words[i-1]) {
			continue
		}
		end := i + 1
		for end < len(words) && text.IsNameByte(words[end]) {
			end++
		}
		if _, known := annotations[words[i+1:end]]; known {
			n.words = append([]annotation{{at.Sub(i, end), space.Trimmed(at.Sub(end, len(words)))}}, n.words...)
			at = space.Trimmed(at.Sub(0, i))
			words = at.Text()
			i = len(words)
		}
	}
	return text.Printable(words)
}

// space is white space: only ASCII.
var space text.Space
