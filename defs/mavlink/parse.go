package mavlink

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Limits of a file.
const (
	maxMistakes = 100
	maxDepth    = 64
	maxElements = 1 << 18
)

// tree is the parse tree of one file.
type tree struct {
	file     *source.File
	includes []source.Span // the names
	messages []message
	enums    []enum
	diags    diag.List
}

// Names returns the names by which other files find this one: its own, as that of an include, and those of its enums.
func (t *tree) Names() []string {
	names := []string{fileKey(t.file.Name)}
	for i := range t.enums {
		names = append(names, enumKey(t.enums[i].name))
	}
	return names
}

func fileKey(name string) string { return "file " + path.Base(name) }
func enumKey(name string) string { return "enum " + name }

type message struct {
	id     uint32
	name   string
	doc    string
	fields []field
	bad    bool // an attribute is wrong
	into   int  // the end of what is before its fields: its tag, or its description
	bare   bool // it has no description
	nameAt source.Span
	all    source.Span // from its tag to its end
}

type field struct {
	name      string
	typ       string
	enum      string
	doc       string
	extension bool
	at        source.Span
	nameAt    source.Span
	typeAt    source.Span
	enumAt    source.Span
}

type enum struct {
	name    string
	bitmask bool
	entries []entry
	at      source.Span
}

type entry struct {
	name  string
	value uint64
	at    source.Span
}

// parser reads the elements of a file.
type parser struct {
	*tree
	open      []string // names of the elements around the position
	words     []string // of the texts of the elements of open
	message   *message
	field     *field
	enum      *enum
	extension bool
	elements  int
}

// parse parses a file. What precedes a mistake of the XML is kept.
func parse(f *source.File) *tree {
	p := parser{tree: &tree{file: f}}
	d := xml.NewDecoder(strings.NewReader(f.Text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // names are ASCII in all that occur
	for {
		from := int(d.InputOffset())
		token, err := d.RawToken()
		to := int(d.InputOffset())
		if err != nil {
			var syntax *xml.SyntaxError
			switch at := p.place(to, to); {
			case errors.As(err, &syntax):
				p.report(badXML(at, syntax.Msg))
			case !errors.Is(err, io.EOF):
				p.report(badXML(at, err.Error()))
			case len(p.open) > 0:
				p.report(notClosed(at, p.open[len(p.open)-1]))
			}
			p.finish()
			return p.tree
		}
		switch x := token.(type) {
		case xml.StartElement:
			if p.elements++; p.elements > maxElements || len(p.open) == maxDepth {
				p.report(text.TooManyMistakes(p.place(from, to)))
				p.finish()
				return p.tree
			}
			p.open, p.words = append(p.open, x.Name.Local), append(p.words, "")
			p.begin(&x, p.place(from, to))
		case xml.EndElement:
			if n := len(p.open); n == 0 || p.open[n-1] != x.Name.Local {
				p.report(wrongEnd(p.place(from, to), x.Name.Local, p.open))
				p.finish()
				return p.tree
			}
			p.end(from, to)
		case xml.CharData:
			if n := len(p.words); n > 0 && len(p.words[n-1]) < text.MaxLine {
				p.words[n-1] += string(x)
			}
		}
	}
}

func (p *parser) place(from, to int) source.Span {
	n := len(p.file.Text)
	return source.Span{File: p.file, Start: min(from, n), End: min(to, n)}
}

func (p *parser) report(d diag.Diagnostic) { text.Add(&p.diags, d, maxMistakes) }

// finish takes what the end of the file, or a mistake, has cut.
func (p *parser) finish() {
	if p.message != nil {
		p.message.bad = true
		p.messages = append(p.messages, *p.message)
	}
	if p.enum != nil {
		p.enums = append(p.enums, *p.enum)
	}
	p.message, p.enum = nil, nil
	p.diags.Sort()
}

// attribute returns the value of an attribute and its place, the tag if it is missing.
func attribute(x *xml.StartElement, tag source.Span, name string) (value string, at source.Span) {
	for _, a := range x.Attr {
		if a.Name.Local != name || a.Name.Space != "" {
			continue
		}
		s := tag.Text()
		for from := 0; ; {
			i := strings.Index(s[from:], name)
			if i < 0 {
				return a.Value, tag
			}
			from += i + len(name)
			rest := strings.TrimLeft(s[from:], " \t\r\n")
			if !strings.ContainsRune(" \t\r\n", rune(s[from-len(name)-1])) || !strings.HasPrefix(rest, "=") {
				continue
			}
			rest = strings.TrimLeft(rest[1:], " \t\r\n")
			if rest == "" || rest[0] != '"' && rest[0] != '\'' {
				return a.Value, tag
			}
			start := len(s) - len(rest) + 1
			return a.Value, tag.Sub(start, start+max(strings.IndexByte(rest[1:], rest[0]), 0))
		}
	}
	return "", tag
}

// about are the attributes of a field that are said in its documentation.
var about = []struct{ name, words string }{
	{"units", "in "},
	{"invalid", "none: "},
	{"default", "default: "},
	{"multiplier", "times "},
	{"minValue", "from "},
	{"maxValue", "up to "},
	{"increment", "in steps of "},
	{"display", "display: "},
	{"print_format", "print format: "},
}

// inside reports whether the element that has just begun is directly inside elements of these names, the innermost last.
func (p *parser) inside(names ...string) bool {
	at := len(p.open) - 1 - len(names)
	if at < 0 {
		return false
	}
	for i, n := range names {
		if p.open[at+i] != n {
			return false
		}
	}
	return true
}

// begin takes a start tag.
func (p *parser) begin(x *xml.StartElement, tag source.Span) {
	switch name := x.Name.Local; {
	case len(p.open) == 1:
		if name != "mavlink" {
			p.report(notMAVLink(tag, name))
		}
	case name == "message" && p.message == nil && p.inside("messages"):
		m := &message{into: tag.End, bare: true, all: tag}
		m.name, m.nameAt = attribute(x, tag, "name")
		id, idAt := attribute(x, tag, "id")
		if !text.IsName(m.name) {
			p.report(badName(m.nameAt, "message", m.name))
			m.bad = true
		}
		n, err := strconv.ParseUint(id, 0, 24)
		if m.id = uint32(n); err != nil {
			p.report(badID(idAt, id))
			m.bad = true
		}
		p.message, p.extension = m, false
	case name == "extensions" && p.message != nil:
		p.extension = true
	case name == "field" && p.message != nil && p.inside("message"):
		f := &field{at: tag, extension: p.extension}
		f.name, f.nameAt = attribute(x, tag, "name")
		f.typ, f.typeAt = attribute(x, tag, "type")
		f.enum, f.enumAt = attribute(x, tag, "enum")
		for _, a := range about {
			if v, _ := attribute(x, tag, a.name); v != "" {
				f.doc = joined(f.doc, a.words+strings.Trim(v, "[]"), ", ")
			}
		}
		if v, _ := attribute(x, tag, "instance"); v == "true" {
			f.doc = joined(f.doc, "tells instances apart", ", ")
		}
		p.field = f
	case name == "enum" && p.enum == nil && p.inside("enums"):
		e := &enum{at: tag}
		e.name, e.at = attribute(x, tag, "name")
		bitmask, _ := attribute(x, tag, "bitmask")
		e.bitmask = bitmask == "true" || bitmask == "1"
		if !text.IsName(e.name) {
			p.report(badName(e.at, "enum", e.name))
		}
		p.enum = e
	case name == "entry" && p.enum != nil && p.inside("enum"):
		p.entry(x, tag)
	case name == "deprecated", name == "superseded":
		p.replaced(x, tag, name)
	case name == "wip" && p.message != nil:
		p.note("In work: it may change.")
	}
}

// entry takes an entry of an enum.
func (p *parser) entry(x *xml.StartElement, tag source.Span) {
	e := entry{}
	if e.name, e.at = attribute(x, tag, "name"); !text.IsName(e.name) {
		p.report(badName(e.at, "entry", e.name))
		return
	}
	switch value, at := attribute(x, tag, "value"); {
	case value == "":
		for _, other := range p.enum.entries {
			e.value = max(e.value, other.value+1)
		}
	default:
		var ok bool
		if e.value, ok = number(value); !ok {
			p.report(badValue(at, value))
			return
		}
	}
	p.enum.entries = append(p.enum.entries, e)
}

// number returns the value of an entry.
func number(s string) (v uint64, ok bool) {
	s = strings.TrimSpace(s)
	if base, power, is := strings.Cut(s, "**"); is {
		b, err := strconv.ParseUint(strings.TrimSpace(base), 10, 8)
		n, err2 := strconv.ParseUint(strings.TrimSpace(power), 10, 6)
		if v = 1; err != nil || err2 != nil {
			return 0, false
		}
		for range n {
			if b > 0 && v > math.MaxUint64/b {
				return 0, false
			}
			v *= b
		}
		return v, true
	}
	if strings.HasPrefix(s, "-") {
		n, err := strconv.ParseInt(s, 0, 64)
		return uint64(n), err == nil
	}
	if trimmed := strings.TrimLeft(s, "0"); len(trimmed) < len(s) && (trimmed == "" || trimmed[0] >= '1' && trimmed[0] <= '9') {
		s = "0" + trimmed // no octal
		if trimmed != "" {
			s = trimmed
		}
	}
	v, err := strconv.ParseUint(s, 0, 64)
	return v, err == nil && !strings.Contains(s, "_")
}

// replaced notes that something should not be used any more.
func (p *parser) replaced(x *xml.StartElement, tag source.Span, word string) {
	if p.message == nil {
		return
	}
	s := strings.ToUpper(word[:1]) + word[1:]
	if since, _ := attribute(x, tag, "since"); since != "" {
		s += " since " + since
	}
	if by, _ := attribute(x, tag, "replaced_by"); by != "" {
		s += ", replaced by " + by
	}
	p.note(s + ".")
}

// note adds a sentence to the documentation of the field or the message around the position.
func (p *parser) note(s string) {
	if p.field != nil {
		p.field.doc = joined(p.field.doc, s, " ")
	} else {
		p.message.doc = joined(p.message.doc, s, " ")
	}
}

// end takes an end tag, from an offset to another one.
func (p *parser) end(from, to int) {
	n := len(p.open) - 1
	name, words := p.open[n], strings.Join(strings.Fields(p.words[n]), " ")
	switch {
	case name == "include" && n == 1:
		inner := p.file.Text[:from]
		start := strings.LastIndexByte(inner, '>') + 1
		at := p.place(start, from)
		lead := len(at.Text()) - len(strings.TrimLeft(at.Text(), " \t\r\n"))
		if file := strings.TrimSpace(at.Text()); file != "" {
			p.includes = append(p.includes, at.Sub(lead, lead+len(file)))
		}
	case name == "description" && p.message != nil && n > 0 && p.open[n-1] == "message":
		p.message.doc = joined(words, p.message.doc, " ")
		p.message.into, p.message.bare = min(to, len(p.file.Text)), false
	case name == "field" && p.field != nil:
		f := p.field
		f.at.End = min(to, len(p.file.Text))
		if f.doc != "" {
			f.doc = "(" + f.doc + ")"
		}
		f.doc = joined(words, f.doc, " ")
		p.message.fields = append(p.message.fields, *f)
		p.field = nil
	case name == "message" && p.message != nil && p.openOf("message") == n:
		p.message.all.End = min(to, len(p.file.Text))
		p.messages = append(p.messages, *p.message)
		p.message = nil
	case name == "enum" && p.enum != nil:
		p.enums = append(p.enums, *p.enum)
		p.enum = nil
	}
	p.open, p.words = p.open[:n], p.words[:n]
}

// openOf returns the depth of the first element of a name around the position.
func (p *parser) openOf(name string) int {
	for i, n := range p.open {
		if n == name {
			return i
		}
	}
	return -1
}

func joined(a, b, between string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + between + b
}
