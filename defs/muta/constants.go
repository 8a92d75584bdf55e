package muta

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// ParseConstants parses constants: lines NAME=VALUE, lines "#define NAME VALUE" as in a C header, or both. A VALUE is a number, or an
// expression of numbers and other names of the same text. C comments are ignored, as are other lines that start with "#". If a name is
// repeated, the last line applies.
//
// The values are integers in decimal, or floats, in the form of schema.Options.Constants. A malformed line is an error, and only that line
// is ignored. A #define of anything other than a number is a warning, except for an empty one, which is an include guard.
func ParseConstants(f *source.File) (map[string]string, diag.List) {
	var diags diag.List
	c := newConstants(nil)
	lines := f.NumLines()
	if lines > text.MaxLines {
		text.Add(&diags, text.TooManyLines(f.Line(text.MaxLines+1), text.MaxLines), maxMistakes)
		lines = text.MaxLines
	}
	var order []string
	inComment := false
	started := false // a line was not blank
	for n := 1; n <= lines; n++ {
		whole := f.Line(n)
		if !started {
			whole = withoutBOM(whole)
			start, end := space.Trim(whole.Text())
			started = start < end
		}
		if len(whole.Text()) > text.MaxLine {
			text.Add(&diags, text.LineTooLong(whole), maxMistakes)
			continue
		}
		var words string
		words, inComment = withoutComments(whole.Text(), inComment)
		start, end := space.Trim(words)
		if start == end {
			continue
		}
		at, words := whole.Sub(start, end), words[start:end]
		entry, found, d := constantLine(at, words)
		switch {
		case d != nil:
			text.Add(&diags, *d, maxMistakes)
			continue
		case !found:
			continue
		}
		name := entry.name.Text()
		if first, ok := c.entries[name]; !ok {
			order = append(order, name)
		} else if first.value != entry.value {
			text.Add(&diags, constantTwice(entry.name, first.name), maxMistakes)
		}
		c.entries[name] = entry
	}
	out := make(map[string]string, len(order))
	for _, name := range order {
		e := c.entries[name]
		switch n, err := c.lookup(name); {
		case err == nil:
			out[name] = n.String()
		case e.define:
			text.Add(&diags, skippedDefine(e.name, e.value, err), maxMistakes)
		default:
			text.Add(&diags, badConstant(e.at, name, e.value, err), maxMistakes)
		}
	}
	diags.Sort()
	return out, diags
}

// constantLine parses a line whose comments are blanked. If the line defines nothing and is not an error, found is false and d is nil.
func constantLine(at source.Span, words string) (e constant, found bool, d *diag.Diagnostic) {
	wrong := func(d diag.Diagnostic) (constant, bool, *diag.Diagnostic) { return constant{}, false, &d }
	if words[0] == '#' {
		rest := strings.TrimLeft(words[1:], " \t")
		rest, ok := strings.CutPrefix(rest, "define")
		if !ok || rest == "" || !text.IsBlank(rest[0]) {
			return constant{}, false, nil
		}
		from := len(words) - len(rest)
		start, end := space.Trim(rest)
		from, to := from+start, from+end
		if from >= to {
			return constant{}, false, nil
		}
		i := from
		for i < to && text.IsNameByte(words[i]) {
			i++
		}
		name := at.Sub(from, i)
		switch {
		case i == from || !text.IsName(name.Text()):
			return wrong(badConstantLine(at))
		case i < to && words[i] == '(':
			return wrong(macro(name))
		case i < to && !text.IsBlank(words[i]):
			return wrong(badConstantLine(at))
		}
		value := words[i:to]
		start, _ = space.Trim(value)
		if value = value[start:]; value == "" {
			return constant{}, false, nil
		}
		return constant{name: name, at: at.Sub(to-len(value), to), value: value, define: true}, true, nil
	}
	left, right, ok := strings.Cut(words, "=")
	if !ok {
		return wrong(badConstantLine(at))
	}
	start, end := space.Trim(left)
	name := at.Sub(start, end)
	if !text.IsName(name.Text()) {
		return wrong(badName(name))
	}
	from := len(left) + 1
	start, end = space.Trim(right)
	value := constant{name: name, at: at.Sub(from+start, from+end), value: right[start:end]}
	if value.value == "" {
		return wrong(noValue(at, name.Text()))
	}
	return value, true, nil
}

// withoutComments returns a line with spaces in place of C comments, so that offsets do not change. inComment reports whether the line
// starts inside a comment, still whether the next one does.
func withoutComments(text string, inComment bool) (out string, still bool) {
	if !inComment && !strings.Contains(text, "//") && !strings.Contains(text, "/*") {
		return text, false
	}
	b := []byte(text)
	for i := 0; i < len(b); {
		next := ""
		if i+1 < len(b) {
			next = text[i : i+2]
		}
		switch {
		case inComment && next == "*/":
			b[i], b[i+1] = ' ', ' '
			inComment = false
			i += 2
		case inComment:
			b[i] = ' '
			i++
		case next == "//":
			for ; i < len(b); i++ {
				b[i] = ' '
			}
		case next == "/*":
			b[i], b[i+1] = ' ', ' '
			inComment = true
			i += 2
		default:
			i++
		}
	}
	return string(b), inComment
}

// constants computes the values of constants by name.
type constants struct {
	given   map[string]string // from the options; takes precedence
	entries map[string]constant
	done    map[string]resolved
	depth   int
}

// constant is a definition of a constant.
type constant struct {
	name, at source.Span // at: of the value
	value    string
	define   bool // a #define, which may be other than a number
}

// resolved is the result of a lookup.
type resolved struct {
	value number
	err   error
}

func newConstants(given map[string]string) *constants {
	return &constants{given: given, entries: map[string]constant{}, done: map[string]resolved{}}
}

// lookup computes the value of a name. The error is missing if the constant, or one that it depends on, has no value.
func (c *constants) lookup(name string) (number, error) {
	const most = 64 // depth of dependencies
	if r, ok := c.done[name]; ok {
		return r.value, r.err
	}
	text, ok := c.given[name]
	if !ok {
		e, found := c.entries[name]
		if !found {
			return number{}, missing{name}
		}
		text = e.value
	}
	if c.depth >= most {
		return number{}, errCycle
	}
	c.done[name] = resolved{err: errCycle}
	c.depth++
	n, err := evaluate(text, c.lookup)
	c.depth--
	c.done[name] = resolved{n, err}
	return n, err
}
