package protodef

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// isYAML reports whether a file of this name is in the form of the npm package protodef-yaml. It looks like YAML, but is not: the text of a
// key may be followed by lines that belong to it. It is read line by line here.
func isYAML(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yml" || ext == ".yaml"
}

// yamlEntry is a line with the lines inside it.
type yamlEntry struct {
	key   key
	item  bool   // "- value", without a key
	value string // without comments
	at    source.Span
	flow  *node // a value in brackets
	in    []*yamlEntry
	empty bool // neither a value nor lines inside, not even comments
}

// yamlParser parses lines into entries.
type yamlParser struct {
	file  *source.File
	diags diag.List
	nodes int
}

// level is an entry that is open for lines that are indented more.
type level struct {
	indent int
	entry  *yamlEntry
}

func (p *yamlParser) fail(at source.Span, message, help string) {
	text.Add(&p.diags, text.Mistake("not-yaml", at, message, help), maxMistakes)
}

// parse returns an entry with all lines of the file.
func (p *yamlParser) parse() *yamlEntry {
	root := &yamlEntry{}
	open := []level{{-1, root}}
	s := p.file.Text
	at := len(s) - len(strings.TrimPrefix(s, "\ufeff"))
	var above []string // lines of a comment
	for at < len(s) {
		start := at
		end := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			end = at + i
		}
		at = min(end+1, len(s))
		indent, start := indentation(s, start, end)
		for end > start && strings.IndexByte(" \t\r", s[end-1]) >= 0 {
			end--
		}
		switch {
		case start == end || s[start:end] == "---":
			above = nil
			continue
		case s[start] == '#':
			above = append(above, strings.TrimSpace(strings.TrimLeft(s[start:end], "#")))
			continue
		}
		e := p.line(start, end)
		if e == nil {
			continue
		}
		if len(above) > 0 {
			e.key.doc, above = strings.Join(above, "\n"), nil
		}
		if p.nodes++; p.nodes > maxNodes || len(open) > maxNesting {
			p.fail(e.at, "the file is too large, or nested too deeply", "split the file")
			break
		}
		if next, _ := indentation(s, at, len(s)); e.value == "" && !e.item && next <= indent {
			e.empty = true
		}
		if next := p.flow(e); next > end {
			at = next
			if i := strings.IndexByte(s[at:], '\n'); i >= 0 { // the rest of the line is a comment
				at += i + 1
			} else {
				at = len(s)
			}
		}
		for len(open) > 1 {
			top := open[len(open)-1]
			if top.indent < indent || e.item && top.indent == indent && !top.entry.item {
				break
			}
			open = open[:len(open)-1]
		}
		up := open[len(open)-1].entry
		if up.flow != nil || up.item || up != root && !up.opens() && up.key.text[0] != '!' {
			p.fail(e.start(), "this line is indented more than a value before it", "a type has lines inside it if its own line ends in \":\", \"?\", \"=>\" or \"[]\" and a count")
			continue
		}
		up.in = append(up.in, e)
		open = append(open, level{indent, e})
	}
	return root
}

// indentation returns the indentation of a line and the offset of its text. A tab counts as four spaces.
func indentation(s string, start, end int) (indent, at int) {
	for ; start < end && (s[start] == ' ' || s[start] == '\t'); start++ {
		if indent++; s[start] == '\t' {
			indent += 3
		}
	}
	return indent, start
}

// start returns the place of the key, or of an element.
func (e *yamlEntry) start() source.Span {
	if e.item {
		return e.at
	}
	return e.key.span
}

// opens reports whether lines inside an entry belong to it.
func (e *yamlEntry) opens() bool {
	return e.value == "" || strings.HasSuffix(e.value, "?") || strings.Contains(e.value, "=>") || strings.HasPrefix(e.value, "[]")
}

// line parses a line; nil if it is not an entry.
func (p *yamlParser) line(start, end int) *yamlEntry {
	s := p.file.Text
	span := func(from, to int) source.Span { return source.Span{File: p.file, Start: from, End: to} }
	e := &yamlEntry{at: span(start, end)}
	if s[start] == '-' && (start+1 == end || s[start+1] == ' ') {
		e.item = true
		e.value, e.at = p.value(min(start+2, end), end)
		return e
	}
	colon := -1
	if c := s[start]; c == '"' || c == '\'' {
		if i := strings.IndexByte(s[start+1:end], c); i >= 0 && start+i+2 < end && s[start+i+2] == ':' {
			colon = start + i + 2
		}
	} else if i := strings.Index(s[start:end], ": "); i >= 0 {
		colon = start + i
	} else if s[end-1] == ':' {
		colon = end - 1
	} else if i := keyBeforeComment.FindStringIndex(s[start:end]); i != nil {
		colon = start + i[1] - 1
	}
	if colon <= start {
		p.fail(e.at, text.Quote(s[start:end])+" has no \":\"", "a field is written as \"name: type\"")
		return nil
	}
	name := strings.TrimRight(s[start:colon], " ")
	e.key = key{text: unquoted(name), span: span(start, start+len(name))}
	if e.key.text == "" {
		p.fail(e.at, "a name is missing before \":\"", "a field is written as \"name: type\"")
		return nil
	}
	e.value, e.at = p.value(colon+1, end)
	if rest := strings.TrimSpace(s[e.at.End:end]); strings.HasPrefix(rest, "#") {
		e.key.doc = strings.TrimSpace(strings.TrimLeft(rest, "#"))
	}
	return e
}

// keyBeforeComment matches a key without a value, before a comment.
var keyBeforeComment = regexp.MustCompile(`^[^#]*?:`)

// value returns the value at the end of a line, without the comment after it.
func (p *yamlParser) value(from, to int) (string, source.Span) {
	s := p.file.Text
	for from < to && (s[from] == ' ' || s[from] == '\t') {
		from++
	}
	if from < to && s[from] != '"' && s[from] != '\'' && s[from] != '[' && s[from] != '{' || strings.HasPrefix(s[from:to], "[]") {
		if i := strings.Index(s[from:to], " #"); i >= 0 {
			to = from + i
		}
		if s[from:max(from, to)] != "" && s[from] == '#' {
			to = from
		}
	}
	if from < to && (s[from] == '"' || s[from] == '\'') {
		if i := strings.IndexByte(s[from+1:to], s[from]); i >= 0 && strings.HasPrefix(strings.TrimLeft(s[from+i+2:to], " \t"), "#") {
			to = from + i + 2
		}
	}
	for to > from && (s[to-1] == ' ' || s[to-1] == '\t') {
		to--
	}
	return s[from:to], source.Span{File: p.file, Start: from, End: to}
}

// flow parses a value in brackets, which may continue on further lines, and returns the offset of its end.
func (p *yamlParser) flow(e *yamlEntry) (end int) {
	at := e.at.Start
	quoted := strings.HasPrefix(e.value, "'[")
	if quoted {
		at++
	}
	if strings.HasPrefix(e.value, "[]") || !quoted && !strings.HasPrefix(e.value, "[") && !strings.HasPrefix(e.value, "{") || strings.HasPrefix(e.key.text, "!") {
		return 0
	}
	j := jsonParser{file: p.file, text: p.file.Text, at: at, flow: true, nodes: p.nodes}
	found, ok := j.value(0)
	if e.flow = found; !ok {
		e.flow = word("void", e.at) // a mistake is reported
	}
	p.nodes = j.nodes
	for _, d := range j.diags {
		text.Add(&p.diags, d, maxMistakes)
	}
	if quoted {
		return 0 // on this line
	}
	return j.at
}

// word reads a word of a value in brackets.
func (p *jsonParser) word() string {
	start := p.at
	if c := p.text[p.at]; c == '\'' {
		if i := strings.IndexByte(p.text[p.at+1:], c); i >= 0 {
			p.at += i + 2
			return p.text[start:p.at]
		}
	}
	for p.at < len(p.text) && strings.IndexByte(",:]}[{\n", p.text[p.at]) < 0 {
		p.at++
	}
	return strings.TrimRight(p.text[start:p.at], " \t\r")
}

// unquoted returns a text without the quotes around it.
func unquoted(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// scalar returns the value that a word stands for.
func scalar(s string, at source.Span) *node {
	n := &node{kind: stringNode, text: unquoted(s), span: at}
	if n.text != s {
		return n
	}
	switch s {
	case "true", "false":
		n.kind = boolNode
	case "null", "~", "":
		n.kind = nullNode
	default:
		if len(s) > 2 && s[0] == '0' && strings.IndexByte("xob", s[1]) >= 0 {
			if v, err := strconv.ParseInt(s, 0, 64); err == nil {
				n.kind, n.text = numberNode, strconv.FormatInt(v, 10)
			}
			return n
		}
		if _, err := strconv.ParseFloat(s, 64); err == nil && s[0] != 'n' && s[0] != 'i' && s[0] != 'N' && s[0] != 'I' {
			n.kind = numberNode
		}
	}
	return n
}
