package emit

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// try calls do with the wire layout of a message. If that fails, or the message has features that the target does not support, the message is
// omitted, which is a loss.
func (l *losses) try(m *schema.Message, known features, do func(*wire.Message)) (ok bool) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case impossible:
			l.lose(m, "", e.format+isOmitted, e.args...)
			ok = false
		default:
			panic(e)
		}
	}()
	if m.Broken || m.Body == nil {
		fail("the definition has errors")
	}
	ok = true
	laid, err := wire.Compile(m)
	if err != nil {
		fail("%s", strings.TrimPrefix(err.Error(), "compile "+m.Name+": "))
	}
	for _, u := range laid.Features() {
		if !known.has(u.Feature) {
			why := omitted[u.Feature]
			*l = append(*l, loss{m: m, field: laid.Label(u.Field), kind: why, text: why})
			ok = false
		}
	}
	if ok {
		do(laid)
	}
	return ok
}

type impossible struct {
	format string
	args   []any
}

// fail omits the current message of try.
func fail(format string, args ...any) { panic(impossible{format, args}) }

// all yields parts and those inside them, the outer ones first.
func all(parts []wire.Part) iter.Seq[*wire.Part] {
	return func(yield func(*wire.Part) bool) { inner(parts, yield) }
}

func inner(parts []wire.Part, yield func(*wire.Part) bool) bool {
	for i := range parts {
		p := &parts[i]
		if !yield(p) || !inner(p.Lists, yield) || p.Body != nil && !inner(p.Body.Parts, yield) || p.Elem != nil && !inner(p.Elem.Parts, yield) {
			return false
		}
		for k := range p.Cases {
			if !inner(p.Cases[k].Body.Parts, yield) {
				return false
			}
		}
	}
	return true
}

// contents returns the parts of text, bytes and lists of variable size, by field.
func contents(m *wire.Message) map[int]*wire.Part {
	out := map[int]*wire.Part{}
	for p := range all(m.Body.Parts) {
		if p.Kind == wire.Text || p.Kind == wire.Blob || p.Kind == wire.List {
			out[p.Field] = p
		}
	}
	return out
}

// unit returns the minimum size of a unit of contents in bytes, as an expression.
func unit(p *wire.Part) string {
	if p.Kind == wire.List {
		return byteSum(p.Elem.Min)
	}
	return strconv.Itoa(p.Unit)
}

// byteSum returns a size in bytes, as a C expression if it contains constants without a value.
func byteSum(s wire.Sum) string {
	out := strconv.FormatInt(min((s.Bits+7)/8, math.MaxUint32), 10)
	for _, t := range s.Terms {
		times := strconv.FormatInt(t.Times, 10)
		if t.Const != "" {
			times = "(uint64_t)" + t.Const
		}
		out += " + " + times + " * (" + byteSum(t.Of) + ")"
	}
	return out
}

// short truncates a text that is repeated in the output.
func short(text string) string {
	const most = 120 // bytes
	if len(text) <= most {
		return text
	}
	for i := range text {
		if i > most {
			return text[:i] + fmt.Sprintf("… (%d bytes)", len(text))
		}
	}
	return text
}
