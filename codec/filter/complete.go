package filter

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// Option is a completion.
type Option struct {
	Text string `json:"text" doc:"replaces the text before the caret"`
	Kind string `json:"kind" enum:"frame,message,group,field,value,function,operator,word" doc:"kind of the option"`
	Doc  string `json:"doc,omitempty" doc:"one line"`
}

// maxOptions is the maximum number of options.
const maxOptions = 100

// Complete returns the completions at caret, a byte offset in the text. An option replaces the text from start to caret; options that begin
// with that text come first. Values seen in frames are not included.
func Complete(text string, caret int, env Env) (start int, options []Option) {
	caret = min(max(caret, 0), len(text))
	if caret > MaxText {
		return caret, nil
	}
	before := text[:caret]
	start = wordStart(before)
	if start > 0 && strings.IndexByte("~$@", before[start-1]) >= 0 {
		start--
	}
	p := &completer{compiler: newCompiler(env), word: before[start:]}
	p.tokens(before[:start])
	if p.open && !p.inText(before) {
		return caret, nil
	}
	if p.open {
		p.values()
		p.all = slices.DeleteFunc(p.all, func(o Option) bool { return o.Text[0] != '"' })
		return p.from, p.best()
	}
	if p.word != "" && isDigit(p.word[0]) {
		return start, nil // names start with a letter
	}
	p.offer()
	return start, p.best()
}

// Compared returns the path that is compared with the value at caret, or "" if there is none. The value extends from start to the caret.
// Callers use it to offer values seen in frames, which Complete does not know.
func Compared(text string, caret int) (path string, start int) {
	caret = min(max(caret, 0), len(text))
	if caret > MaxText {
		return "", caret
	}
	before := text[:caret]
	start = wordStart(before)
	p := &completer{word: before[start:]}
	p.tokens(before[:start])
	if p.open {
		if !p.inText(before) {
			return "", caret
		}
		start = p.from
	}
	if p.subject == nil || !p.takesValue() {
		return "", caret
	}
	return p.subject.String(), start
}

// takesValue reports whether a value follows the last token.
func (p *completer) takesValue() bool {
	_, compares := opNames[p.last.text]
	return (p.last.kind == tSign || isKeyword(p.last.text)) && (compares || p.last.text == "{" || p.last.text == "," || p.last.text == "..")
}

// inText makes the contents of an unclosed text the word, if a value is expected there.
func (p *completer) inText(before string) bool {
	if p.from >= len(before) || before[p.from] != '"' || !p.takesValue() {
		return false
	}
	p.word = before[p.from:]
	return true
}

// wordStart returns the start of the path or name at the end of the text.
func wordStart(text string) int {
	start := len(text)
	for start > 0 && isPathByte(text[start-1]) && !strings.HasSuffix(text[:start], "..") {
		start--
	}
	return start
}

func isPathByte(c byte) bool {
	return isNameByte(c) || strings.IndexByte(".*?[]#", c) >= 0
}

// completer collects options.
type completer struct {
	*compiler
	word    string   // text before the caret to complete
	last    token    // before it
	subject *node    // left side of a comparison
	open    bool     // inside a text
	from    int      // start of the text
	calls   []string // functions around the caret, "" for parentheses
	all     []Option
}

// tokens reads the text before the word: the last token, and the subject of a comparison.
func (p *completer) tokens(before string) {
	s := &parser{scanner: scanner{text: before}}
	var subject *node
	inSet := false
	for {
		t := s.next()
		if t.kind == tBad {
			p.open, p.from = true, t.start
			return
		}
		if t.kind == tEnd {
			break
		}
		if t.kind == tText {
			p.last = t
			continue
		}
		_, compares := opNames[t.text]
		switch {
		case t.kind == tName && !isKeyword(t.text) || t.kind == tSign && (t.text == "." || t.text == "@"):
			s.tok, s.failed = t, false
			if n := s.path(); !s.failed {
				if !inSet && !(p.last.kind == tSign && opNames[p.last.text] != relation{}) {
					subject = n
				}
				s.at = n.end
				t.kind, t.text, t.end = tName, before[n.start:n.end], n.end
			} else {
				p.open, p.from = true, len(before)
				return
			}
		case compares, t.text == "in", t.text == "contains", t.text == "matches", t.text == "~":
			p.subject = subject
		case t.kind == tSign && t.text == "(":
			name := ""
			if _, ok := functions[p.last.text]; ok && p.last.kind == tName {
				name = p.last.text
			}
			p.calls = append(p.calls, name)
		case t.kind == tSign && t.text == ")":
			p.calls = p.calls[:max(len(p.calls)-1, 0)]
		case t.kind == tSign && t.text == "{":
			inSet = true
		case t.kind == tSign && t.text == "}":
			inSet = false
			p.subject = nil
		case t.kind == tSign && (t.text == "&&" || t.text == "||" || t.text == "!"), t.text == "and", t.text == "or":
			p.subject, subject = nil, nil
		}
		p.last = t
	}
}

func isKeyword(word string) bool {
	for _, k := range keywords {
		if k == word {
			return true
		}
	}
	return false
}

func (p *completer) add(text, kind, doc string) {
	doc, _, _ = strings.Cut(doc, "\n")
	p.all = append(p.all, Option{text, kind, doc})
}

// offer adds the options at the caret.
func (p *completer) offer() {
	sign := p.last.kind == tSign || isKeyword(p.last.text)
	switch {
	case strings.HasPrefix(p.word, "~"):
		for name, a := range aliases {
			p.add("~"+name, "word", a.doc)
		}
		return
	case strings.HasPrefix(p.word, "$") && !strings.Contains(p.word, "."):
		for name, value := range p.env.Values {
			p.add("$"+name, "value", clip(value))
		}
		if p.env.Selected != nil {
			p.add("$sel.", "value", "a field of the selected frame")
		}
		return
	case strings.Contains(p.word, "."):
		p.fields()
		p.foreignWords()
		return
	case len(p.calls) > 0 && p.calls[len(p.calls)-1] != "" && p.last.kind == tSign && p.last.text != ")" && p.last.text != "]":
		p.arguments(p.calls[len(p.calls)-1])
		return
	case p.takesValue():
		if p.values() {
			return
		}
	case p.last.text == "in" && sign:
		p.add("{", "operator", "a set: {1, 2, 5..10}")
		return
	case p.last.text == "not" && p.subject == nil && sign:
	case p.last.kind != tEnd && (!sign || p.last.text == ")" || p.last.text == "}" || p.last.text == "]"):
		p.operators()
		return
	}
	p.names()
}

// operators adds the tokens that may follow a value.
func (p *completer) operators() {
	for _, o := range [...]struct{ text, doc string }{
		{"==", "equal; any of several values"},
		{"!=", "present, and no value is equal"},
		{">", "greater"},
		{">=", "greater or equal"},
		{"<", "less"},
		{"<=", "less or equal"},
		{"contains", "contains text or bytes"},
		{"~", "matches a regular expression"},
		{"in", "one of a set"},
		{"not in", "present, and no value is in a set"},
		{"&&", "and"},
		{"||", "or"},
	} {
		p.add(o.text, "operator", o.doc)
	}
}

// values adds the named values of the subject. It returns false if there are none.
func (p *completer) values() bool {
	if p.subject == nil {
		return false
	}
	info := p.classify(p.subject)
	switch {
	case info.kind == pathFrame && info.field == ffName:
		for _, m := range p.messages {
			p.add(quote(m.Name), "value", m.Doc)
		}
		return true
	case info.kind == pathFrame && info.field == ffOp, info.kind == pathLayer && info.layer.Codes, info.kind == pathCode:
		for _, m := range p.messages {
			if m.HasKey && (info.kind == pathFrame || m.Key.Group == p.subject.parts[0].name) {
				p.add(m.Name, "value", strconv.FormatUint(uint64(m.Key.Code), 10))
			}
		}
		return len(p.all) > 0
	case info.kind == pathFrame && frameInfo[info.field].class == cWord:
		for _, w := range frameInfo[info.field].words {
			if w != "" {
				p.add(w, "value", "")
			}
		}
		return true
	case info.kind == pathFrame && frameInfo[info.field].class == cBool:
		p.add("true", "value", "")
		p.add("false", "value", "")
		return true
	case info.kind != pathInFields:
		return false
	}
	for _, m := range p.messages {
		p.columns, p.message, p.at, p.forms = map[string]bool{}, m, &node{kind: nCompare, kids: []*node{p.subject}}, nil
		for again := true; again; again = p.nextForms() {
			if f, out := p.field(p.subject, false); out == fine {
				p.valuesOfType(f.t)
			}
		}
		if len(p.all) > maxOptions {
			break
		}
	}
	return len(p.all) > 0
}

// valuesOfType adds the named values of a type.
func (p *completer) valuesOfType(t ty) {
	switch {
	case t.class == cBool:
		p.add("true", "value", "")
		p.add("false", "value", "")
	case t.num != nil && t.num.Enum != nil:
		for _, v := range t.num.Enum.Values {
			word := v.Name
			if !isWord(word) {
				word = quote(word)
			}
			p.add(word, "value", t.num.Decimal(v.Value))
		}
	}
}

// names adds the names that may start a condition.
func (p *completer) names() {
	for f := range ffOfDay {
		doc := frameInfo[f].doc
		if f == ffBuild {
			v, ok := p.env.Values["build"]
			if !ok {
				continue // it would be rejected
			}
			doc += ": " + clip(v)
		}
		p.add(frameInfo[f].name, "frame", doc)
	}
	if p.word != "" {
		p.foreignWords()
	}
	for _, m := range p.messages {
		p.add(m.Name, "message", m.Doc)
	}
	for g := range p.groups {
		p.add(g, "group", "messages of this group")
	}
	for _, name := range slices.Sorted(maps.Keys(p.codes())) {
		if !p.messageNames[name] {
			p.add(name, "message", "without a definition")
		}
	}
	for name, f := range functions {
		p.add(name+"(", "function", f.doc)
	}
	p.add("not", "word", "the opposite")
	p.add("any", "word", "one of several values is enough")
	p.add("all", "word", "every one of several values")
}

// foreignWords adds the words of Wireshark that are not refused.
func (p *completer) foreignWords() {
	for i := range wordTable {
		if w := &wordTable[i]; w.Why == "" {
			p.add(w.Name, "word", "as in Wireshark: "+w.Means())
		}
	}
}

// arguments adds what a function takes: properties of the frame, fields at any depth, and other functions.
func (p *completer) arguments(function string) {
	takes := []class{cBytes} // those that read numbers
	switch function {
	case "max", "min":
		takes = []class{cNumber, cSpan, cTime}
	case "abs":
		takes = []class{cNumber, cSpan}
	case "string":
		takes = []class{cNumber}
	case "hex":
		takes = []class{cNumber, cBytes}
	case "lower", "upper", "utf16", "utf8":
		takes = []class{cText}
	case "len":
		takes = []class{cText, cBytes, cList}
	case "count":
		takes = []class{cNumber, cBool, cText, cBytes, cList, cGroup}
	}
	for f := range ffOfDay {
		countable := f == ffVia || f == ffFrom
		address := function == "string" && (f == ffIP || f == ffSrcIP || f == ffDstIP)
		if about := &frameInfo[f]; function == "count" && countable || function != "count" && (slices.Contains(takes, about.class) || address) && f != ffBuild {
			p.add(about.name, "frame", about.doc)
		}
	}
	for _, m := range p.shapes {
		eachField(m.Body, func(f *schema.Field, of string) {
			if t, _ := typeOf(f); slices.Contains(takes, t.class) {
				p.structField(".", f, strings.TrimSuffix(m.Name+"."+of, "."))
			}
		})
	}
	if p.word != "" {
		p.foreignWords()
	}
	for name, f := range functions {
		p.add(name+"(", "function", f.doc)
	}
}

// fields adds the names that may follow a path that ends in a dot.
func (p *completer) fields() {
	cut := strings.LastIndexByte(p.word, '.')
	lead := p.word[:cut+1]
	if lead == "." {
		for _, m := range p.shapes {
			eachField(m.Body, func(f *schema.Field, of string) {
				if of != "" {
					of = m.Name + "." + of
				} else {
					of = m.Name
				}
				p.structField(lead, f, of)
			})
		}
		return
	}
	if strings.HasPrefix(lead, "$") {
		if x := p.env.Selected; lead == "$sel." && x != nil && x.shape() != nil && x.shape().Body != nil {
			p.structFields(lead, x.shape().Body, x.shape().Name)
		}
		return
	}
	s := &parser{scanner: scanner{text: p.word[:cut]}}
	s.tok = token{kind: tName}
	n := s.path()
	if s.failed || n.end != cut {
		return
	}
	head := &n.parts[0]
	if len(n.parts) == 1 && p.groups[head.name] {
		for _, m := range p.messages {
			if m.Key.Group == head.name {
				p.add(lead+m.Name, "message", m.Doc)
				if m.Body != nil {
					p.structFields(lead, m.Body, m.Name)
				}
			}
		}
		if head.name != p.layers.Group {
			p.add(lead+"type", "field", "code of the message")
		}
	}
	if len(n.parts) == 1 && head.name == p.layers.Group && p.groups[head.name] {
		for _, l := range p.layers.Fields {
			p.add(lead+l.Name, "field", l.Doc)
		}
	}
	for _, m := range p.shapes {
		if len(p.all) > 50*maxOptions {
			return
		}
		rest, ok := p.inMessage(n.parts, m)
		if len(n.parts) == 1 && head.matches(m.Name) {
			rest, ok = nil, true
		}
		if !ok || m.Body == nil || len(rest) == 0 && len(n.parts) > 1 {
			continue
		}
		if len(rest) == 0 {
			if head.matches(m.Name) {
				p.structFields(lead, m.Body, m.Name)
			}
			continue
		}
		if len(rest) == 1 && rest[0].name == m.Name && head.name == m.Key.Group {
			p.structFields(lead, m.Body, m.Name)
			continue
		}
		if !mentions(n, rest, m) {
			continue
		}
		prog := p.program(m)
		if prog == nil {
			continue
		}
		// The error for an impossible name lists the known names at its position.
		if _, why := p.resolve(n, append(slices.Clone(rest), part{name: "\x00"}), prog, false); why != nil && why.part == len(rest) {
			for _, name := range why.known {
				p.add(lead+name, "field", m.Name)
			}
		}
	}
}

func (p *completer) structFields(lead string, s *schema.Struct, of string) {
	for f := range s.Members() {
		if f.Name != "" && f.Same == nil {
			p.structField(lead, f, of)
		}
	}
}

func (p *completer) structField(lead string, f *schema.Field, of string) {
	doc := f.TypeText
	if f.Doc != "" {
		doc += ": " + f.Doc
	} else if of != "" {
		doc += " in " + of
	}
	p.add(lead+f.Name, "field", doc)
}

// isWord reports whether the name of a value needs no quotes.
func isWord(name string) bool {
	for i := range len(name) {
		if !isNameByte(name[i]) || i == 0 && !isNameStart(name[0]) {
			return false
		}
	}
	_, frame := frameFields[name]
	return name != "" && !frame && !isKeyword(name)
}

// best returns the options that match the word: those that begin with it, then those that contain it, in alphabetical order.
func (p *completer) best() []Option {
	low := strings.TrimPrefix(strings.ToLower(p.word), `"`)
	rank := func(o Option) int {
		text := strings.TrimPrefix(strings.ToLower(o.Text), `"`)
		switch {
		case strings.HasPrefix(text, low):
			return 0
		case strings.Contains(text, low):
			return 1
		}
		return 2
	}
	kinds := map[string]int{"value": 0, "frame": 1, "field": 2, "message": 3, "group": 4, "word": 5, "function": 6, "operator": 7}
	var out []Option
	for _, o := range p.all {
		if rank(o) < 2 {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b Option) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		if d := kinds[a.Kind] - kinds[b.Kind]; d != 0 {
			return d
		}
		if a.Kind == "operator" {
			return 0
		}
		return strings.Compare(a.Text, b.Text)
	})
	if len(out) == 0 && strings.Contains(p.word, ".") { // a slip
		names := make([]string, len(p.all))
		for i, o := range p.all {
			names[i] = o.Text
		}
		if near := diag.Nearest(p.word, names); near != "" {
			out = append(out, p.all[slices.Index(names, near)])
		}
	}
	out = slices.CompactFunc(out, func(a, b Option) bool { return a.Text == b.Text && a.Kind == b.Kind })
	return out[:min(len(out), maxOptions)]
}
