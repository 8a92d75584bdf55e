package cstruct

import (
	"path"
	"slices"
	"strings"

	"wirebench/defs/source"
	"wirebench/defs/text"
)

// macro is a #define.
type macro struct {
	at     source.Span
	call   bool // has parameters
	params []string
	body   []token
	pasted bool // has # or ##, which are not read
}

// condition is an #if.
type condition struct {
	at           source.Span
	live         bool // this part is read
	done         bool // a part was read
	outer, final bool // what is around is read; #else was seen
}

// preprocessor makes the tokens of a file, and of those that it includes.
type preprocessor struct {
	u       *unit
	macros  map[string]*macro
	once    map[*source.File]bool
	out     []token
	pack    int
	packs   []packed
	open    []*source.File // files that are being read
	warned  map[string]bool
	uses    int  // of macros
	stopped bool // too many tokens
}

// packed is a saved value of #pragma pack.
type packed struct {
	name  string
	value int
}

// read appends the tokens of a file.
func (p *preprocessor) read(t *tree) {
	if p.once[t.file] || slices.Contains(p.open, t.file) {
		return
	}
	p.open = append(p.open, t.file)
	defer func() { p.open = p.open[:len(p.open)-1] }()
	var conds []condition
	live := func() bool { return len(conds) == 0 || conds[len(conds)-1].live }
	toks := t.tokens[:len(t.tokens)-1]
	for i := 0; i < len(toks) && !p.stopped; {
		from := i
		if toks[i].first && toks[i].is("#") {
			for i++; i < len(toks) && !toks[i].first; i++ {
			}
			conds = p.directive(toks[from:i], conds, live())
			continue
		}
		for i < len(toks) && !(toks[i].first && toks[i].is("#")) {
			i++
		}
		if live() {
			p.emit(p.expand(toks[from:i], nil))
		}
	}
	for _, c := range conds {
		p.u.report(notClosed(c.at, "#if"))
	}
	last := t.tokens[len(t.tokens)-1] // its comments may follow the last declaration
	last.kind, last.text, last.pack = signToken, ";", p.pack
	p.out = append(p.out, last)
}

func (p *preprocessor) emit(toks []token) {
	for _, t := range toks {
		t.pack = p.pack
		p.out = append(p.out, t)
	}
	if len(p.out) > maxTokens {
		p.stop(p.out[len(p.out)-1].at)
	}
}

func (p *preprocessor) stop(at source.Span) {
	if !p.stopped {
		p.u.report(tooManyTokens(at))
	}
	p.stopped = true
}

// directive reads a line that starts with "#".
func (p *preprocessor) directive(line []token, conds []condition, live bool) []condition {
	if len(line) < 2 {
		return conds
	}
	name, rest := line[1], line[2:]
	top := func() *condition {
		if len(conds) == 0 {
			p.u.report(unexpected(name, "there is no #if before it"))
			return &condition{}
		}
		return &conds[len(conds)-1]
	}
	switch name.text {
	case "if", "ifdef", "ifndef":
		c := condition{at: span(line), outer: live}
		if live {
			c.live = p.condition(name, rest)
			c.done = c.live
		}
		return append(conds, c)
	case "elif":
		c := top()
		c.live = c.outer && !c.done && !c.final && p.condition(name, rest)
		c.done = c.done || c.live
		return conds
	case "else":
		c := top()
		c.live = c.outer && !c.done && !c.final
		c.done, c.final = true, true
		return conds
	case "endif":
		if top(); len(conds) > 0 {
			conds = conds[:len(conds)-1]
		}
		return conds
	}
	if !live {
		return conds
	}
	switch name.text {
	case "define":
		p.define(line, rest)
	case "undef":
		if len(rest) > 0 {
			delete(p.macros, rest[0].text)
		}
	case "include", "include_next", "import":
		p.include(line, rest)
	case "pragma":
		p.pragma(line, rest)
	case "error":
		p.u.report(errorDirective(span(line)))
	case "warning", "line", "ident", "region", "endregion":
	default:
		p.u.report(unexpected(name, "it is no directive of C"))
	}
	return conds
}

// span returns the text from the first of some tokens to the last.
func span(toks []token) source.Span {
	return source.Span{File: toks[0].at.File, Start: toks[0].at.Start, End: max(toks[0].at.End, toks[len(toks)-1].at.End)}
}

func (p *preprocessor) define(line, rest []token) {
	if len(rest) == 0 || rest[0].kind != wordToken {
		p.u.report(malformed(span(line), "a #define has a name: \"#define SIZE 16\""))
		return
	}
	m := &macro{at: rest[0].at, body: rest[1:]}
	if len(m.body) > 0 && m.body[0].is("(") && m.body[0].at.Start == rest[0].at.End {
		m.call = true
		i := 1
		for ; i < len(m.body) && !m.body[i].is(")"); i++ {
			if m.body[i].kind == wordToken || m.body[i].is("...") {
				m.params = append(m.params, strings.Replace(m.body[i].text, "...", "__VA_ARGS__", 1))
			}
		}
		m.body = m.body[min(i+1, len(m.body)):]
	}
	m.pasted = slices.ContainsFunc(m.body, func(t token) bool { return t.is("#") || t.is("##") })
	p.macros[rest[0].text] = m
}

// defined evaluates "defined X" and "defined(X)", and functions of the preprocessor that are false here.
func (p *preprocessor) defined(toks []token) (out []token) {
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		switch {
		case t.is("defined"):
			name := ""
			switch {
			case i+1 < len(toks) && toks[i+1].kind == wordToken:
				name, i = toks[i+1].text, i+1
			case i+3 < len(toks) && toks[i+1].is("("):
				name, i = toks[i+2].text, i+3
			}
			t.kind, t.text = numberToken, "0"
			if p.macros[name] != nil {
				t.text = "1"
			}
		case strings.HasPrefix(t.text, "__has_") && i+1 < len(toks) && toks[i+1].is("("):
			for depth := 0; i+1 < len(toks); {
				if i++; toks[i].is("(") {
					depth++
				} else if toks[i].is(")") {
					if depth--; depth == 0 {
						break
					}
				}
			}
			t.kind, t.text = numberToken, "0"
		}
		out = append(out, t)
	}
	return out
}

// condition evaluates an #if or #elif. Names without a value are 0, as in C; that is said, once for each.
func (p *preprocessor) condition(name token, rest []token) bool {
	if len(rest) == 0 {
		p.u.report(malformed(name.at, "a condition follows"))
		return false
	}
	if name.text == "ifdef" || name.text == "ifndef" {
		return (p.macros[rest[0].text] != nil) == (name.text == "ifdef")
	}
	toks := p.expand(p.defined(rest), nil)
	e := &parser{u: p.u, toks: toks}
	x := e.expr(0)
	if x == nil || e.i < len(toks) {
		p.u.report(malformed(span(rest), "a condition is an expression of numbers and of names that have #define"))
		return false
	}
	v, bad := p.u.evaluate(x, env{macro: true, zero: func(n *expr) {
		if word := n.name(); !p.warned[word] && word != "true" && word != "false" {
			p.warned[word] = true
			p.u.report(undefinedName(n.at, word))
		}
	}})
	if bad != nil {
		p.u.report(*bad)
	}
	return v != 0
}

// expand replaces the macros in some tokens. hidden are those that are being expanded.
func (p *preprocessor) expand(in []token, hidden []string) (out []token) {
	for i := 0; i < len(in) && !p.stopped; {
		t := in[i]
		m := p.macros[t.text]
		if t.kind != wordToken || m == nil || slices.Contains(hidden, t.text) {
			out = append(out, t)
			i++
			continue
		}
		next := i + 1
		var args [][]token
		if m.call {
			n := 0
			if args, n = arguments(in[next:]); n == 0 {
				out = append(out, t)
				i++
				continue
			}
			next += n
		}
		if m.pasted {
			p.u.report(pastingMacro(t.at, m.at))
			i = next
			continue
		}
		if p.uses++; len(hidden) > maxDepth || p.uses > maxUses {
			p.stop(t.at)
			return out
		}
		from := len(out)
		out = append(out, p.expand(p.substitute(m, args, t.at, hidden), append(slices.Clip(hidden), t.text))...)
		if len(out) > from {
			out[from].before, out[from].first = t.before, t.first
		}
		if len(out) > maxTokens {
			p.stop(t.at)
		}
		i = next
	}
	return out
}

// arguments returns the arguments of a macro, and the number of tokens up to its closing parenthesis; 0 if there are none.
func arguments(in []token) (args [][]token, n int) {
	if len(in) == 0 || !in[0].is("(") {
		return nil, 0
	}
	depth, from := 0, 1
	for i := range in {
		switch t := &in[i]; {
		case t.is("(") || t.is("{") || t.is("["):
			depth++
		case t.is(")") || t.is("}") || t.is("]"):
			if depth--; depth == 0 {
				return append(args, in[from:i]), i + 1
			}
		case t.is(",") && depth == 1:
			args = append(args, in[from:i])
			from = i + 1
		}
	}
	return nil, 0
}

// substitute returns the body of a macro with its arguments, at the place of its use.
func (p *preprocessor) substitute(m *macro, args [][]token, at source.Span, hidden []string) (out []token) {
	for _, t := range m.body {
		if k := slices.Index(m.params, t.text); m.call && k >= 0 && t.kind == wordToken {
			for ; k < len(args); k++ {
				out = append(out, p.expand(args[k], hidden)...)
				if t.text != "__VA_ARGS__" || k == len(args)-1 {
					break
				}
				out = append(out, token{kind: signToken, text: ",", at: at})
			}
		} else {
			out = append(out, token{kind: t.kind, text: t.text, at: at})
		}
		if len(out) > maxTokens {
			p.stop(at)
			return nil
		}
	}
	return out
}

// include reads another file of the project. Headers of the system are known in part: the names of their types are built in.
func (p *preprocessor) include(line, rest []token) {
	from, at := "", span(line)
	switch {
	case len(rest) > 0 && rest[0].kind == stringToken:
		from = strings.Trim(rest[0].text, `"`)
	case len(rest) > 1 && rest[0].is("<"):
		words := at.File.Text[rest[0].at.End:rest[len(rest)-1].at.End]
		from, _, _ = strings.Cut(words, ">")
	}
	if from = strings.ReplaceAll(strings.TrimSpace(from), "\\", "/"); from == "" {
		p.u.report(malformed(at, `the name of a file follows: #include "types.h"`))
		return
	}
	t := p.u.fileNamed(from, at.File)
	switch {
	case t == nil:
		if !standard(from) {
			p.u.report(missingFile(at, from))
		}
	case len(p.open) > maxDepth:
		p.stop(at)
	default:
		p.read(t)
	}
}

// standard reports whether a header is one of those of compilers and systems, which define nothing of the project.
func standard(name string) bool {
	dir, base := path.Split(name)
	switch dir {
	case "sys/", "linux/", "arpa/", "netinet/", "asm/", "net/", "boost/", "bits/":
		return true
	}
	if !strings.Contains(base, ".") {
		return true // of C++
	}
	return dir == "" && slices.Contains(strings.Fields("stdint.h stddef.h stdbool.h stdlib.h stdio.h string.h inttypes.h limits.h time.h ctype.h math.h assert.h "+
		"errno.h float.h wchar.h uchar.h stdalign.h stdarg.h unistd.h endian.h byteswap.h windows.h winsock2.h windef.h basetsd.h"), strings.ToLower(base))
}

// pragma reads a #pragma: pack and once are known.
func (p *preprocessor) pragma(line, rest []token) {
	switch {
	case len(rest) == 0:
	case rest[0].is("once"):
		p.once[line[0].at.File] = true
	case rest[0].is("pack"):
		p.packing(line, rest[1:])
	case rest[0].is("scalar_storage_order"), rest[0].is("ms_struct"), rest[0].is("options"):
		p.u.report(unknownPragma(span(line)))
	}
}

// packing reads "#pragma pack(...)": a number, push and pop, or nothing.
func (p *preprocessor) packing(line, rest []token) {
	var words []token
	for _, t := range p.expand(rest, nil) {
		if t.kind == wordToken || t.kind == numberToken {
			words = append(words, t)
		}
	}
	name, value := "", -1
	verb := ""
	for i, t := range words {
		n, ok := integer(t.text)
		switch {
		case t.kind == numberToken && ok && (n == 0 || n == 1 || n == 2 || n == 4 || n == 8 || n == 16):
			value = int(n)
		case i == 0 && (t.text == "push" || t.text == "pop"):
			verb = t.text
		case t.kind == wordToken && verb != "":
			name = t.text
		default:
			p.u.report(malformed(span(line), `the forms are "#pragma pack(push, 1)", "#pragma pack(pop)", "#pragma pack(1)" and "#pragma pack()"`))
			return
		}
	}
	switch verb {
	case "":
		p.pack = max(value, 0)
		return
	case "push":
		p.packs = append(p.packs, packed{name, p.pack})
	case "pop":
		i := len(p.packs) - 1
		for name != "" && i >= 0 && p.packs[i].name != name {
			i--
		}
		if i < 0 {
			p.u.report(text.Doubt(codeMalformed, span(line), "there is no #pragma pack(push) before it", "it has no effect"))
			return
		}
		p.pack, p.packs = p.packs[i].value, p.packs[:i]
	}
	if value >= 0 {
		p.pack = value
	}
}
