package emit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// tongue is the methods of a programming language about values. They return expressions.
type tongue interface {
	dot(base, name string) string          // a member
	mask(v uint64) string                  // a constant of 64 bits
	partNames(t *schema.Bitfield) []string // the identifiers of the parts of a bitfield
}

// prints is the words and templates of a language.
type prints struct {
	code    string // term for the code of a message
	typ     string // suffix of the name of a type
	remark  string // a comment line, for Sprintf
	equal   string // operator
	test    string // $cond, after "if"
	comment string // $text, on one line
}

// teller writes the types of a language.
type teller struct {
	code
	plan    *plan
	tongue  tongue
	say     *prints
	top     *names
	types   map[*record]string
	fields  map[*member]string
	parts   map[*record]string // names of the members with the number of optional parts
	choices map[*record]string
	enums   map[*schema.Enum]string // where the names of values were written, if they are many
}

func newTeller(p *plan, say *prints, reserved []string) teller {
	return teller{
		plan: p, say: say, top: newNames(false, reserved...), types: map[*record]string{}, fields: map[*member]string{},
		parts: map[*record]string{}, choices: map[*record]string{}, enums: map[*schema.Enum]string{},
	}
}

// native reports whether an item is an aligned number of 8, 16, 32 or 64 bits, and returns its byte order.
func (it *item) native() (order string, ok bool) {
	return map[bool]string{true: "Big", false: "Little"}[it.order == schema.Big], it.off%8 == 0 && isNative(it.bits)
}

func where(it *item) string {
	return fmt.Sprintf("%d, %d, %v", it.off, it.bits, it.order == schema.Big)
}

// branch is one of several alternatives.
type branch struct {
	cond, comment string
	body          func()
}

// branches writes alternatives. total: the last one is unconditional.
func (w *teller) branches(list []branch, total bool) {
	if len(list) == 1 && total {
		list[0].body()
		return
	}
	for i, b := range list {
		v := vars{"cond": b.cond, "text": b.comment}
		word := map[bool]string{true: "if ", false: "} else if "}[i == 0]
		head := word + expand(w.say.test, v) + " {"
		if b.comment != "" {
			head += expand(w.say.comment, v)
		}
		if total && i == len(list)-1 {
			head = strings.TrimSuffix(word, "if ") + "{"
		}
		w.open("%s", head)
		b.body()
		w.depth--
	}
	w.line("}")
}

// lengthIs returns the condition of an alternative that depends on the size.
func (w *teller) lengthIs(ch *wire.Case, size string) string {
	switch {
	case ch.Max == 0 && ch.Min == 0:
		return "true"
	case ch.Max == 0:
		return fmt.Sprintf("%s >= %d", size, ch.Min)
	case ch.Max == ch.Min:
		return fmt.Sprintf("%s %s %d", size, w.say.equal, ch.Min)
	}
	return fmt.Sprintf("%s >= %d && %s <= %d", size, ch.Min, size, ch.Max)
}

// partsOf calls a function for all parts of a form, in the order of the names, with their expressions in the target.
func (w *teller) partsOf(t *schema.Bitfield, f *schema.Form, base string, call func(name, place string, p schema.Part)) {
	for k, name := range w.tongue.partNames(t) {
		var part schema.Part // without bits, if the form does not have it
		if p := f.Part(t.Names[k]); p != nil {
			part = *p
		}
		call(t.Names[k], w.tongue.dot(base, name), part)
	}
}

// formIs returns the condition that a form applies to bits.
func (w *teller) formIs(f *schema.Form, bits string) string {
	return fmt.Sprintf("(%s & %s) %s %s", bits, w.tongue.mask(f.Mask), w.say.equal, w.tongue.mask(f.Match))
}

// maskOf returns a mask of bits, 0 for no bits.
func maskOf(bits int) uint64 {
	if bits == 0 {
		return 0
	}
	return schema.Mask(bits)
}

// wide returns the width of the smallest common integer type with at least that many bits.
func wide(bits int) int {
	for _, n := range []int{8, 16, 32} {
		if bits <= n {
			return n
		}
	}
	return 64
}

// exact reports whether a fixed text always has all its characters, possibly zeros.
func exact(t *schema.Text) bool {
	return t.Min != nil && t.Min.Const == "" && t.Min.Uint == uint64(t.N)
}

// floatText returns a float that round-trips.
func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// bounds returns the legal range of the number of units; none is the text of a missing upper bound.
func bounds(e schema.Extent, none string) (lo, hi string) {
	lo, hi = "0", none
	if e.Min != nil {
		lo = strconv.FormatUint(e.Min.Uint, 10)
	}
	if e.Max != nil {
		hi = strconv.FormatUint(e.Max.Uint, 10)
	}
	return lo, hi
}

// limits returns the condition that v is within the limits of a number, "" if it has none. Integers have a suffix.
func limits(n *schema.Number, v, suffix string, float func(float64) string) string {
	var parts []string
	limit := func(l *schema.Limit, op string, all uint64) {
		text := ""
		switch {
		case l == nil || n.Kind != schema.Float && n.Kind != schema.Signed && l.Uint == all:
			return
		case n.Kind == schema.Float:
			text = float(l.Float)
		case n.Kind == schema.Signed:
			text = strconv.FormatInt(l.Int, 10) + suffix
		default:
			text = strconv.FormatUint(l.Uint, 10) + suffix
		}
		parts = append(parts, v+" "+op+" "+text)
	}
	limit(n.Min, ">=", 0)
	limit(n.Max, "<=", math.MaxUint64)
	return strings.Join(parts, " && ")
}

// bitfieldNames returns the identifiers of the parts of a bitfield.
func bitfieldNames(t *schema.Bitfield, style func(string) string, taken ...string) []string {
	own := newNames(false, taken...)
	var out []string
	for _, name := range t.Names {
		out = append(out, own.take(style(name)))
	}
	return out
}

// bitfieldPart returns the maximum width of a part, and whether it is a boolean.
func bitfieldPart(t *schema.Bitfield, name string) (bits int, truth bool) {
	for _, f := range t.Forms {
		for _, p := range f.Parts {
			if p.Name == name {
				bits, truth = max(bits, p.Bits, p.Ones), p.Kind == schema.Bool
			}
		}
	}
	return max(bits, 1), truth
}

// words returns the comment of a member: its type, its condition, its meaning.
func (w *teller) words(r *record, m *member) string {
	var words []string
	if m.field != nil && m.field.TypeText != "" {
		words = append(words, m.field.TypeText)
	}
	if m.part > 0 && w.parts[r] != "" {
		words = append(words, fmt.Sprintf("present if %s is %d or more", w.parts[r], m.part))
	}
	if m.alt {
		words = append(words, "in some alternatives")
	}
	if m.isBook {
		words = append(words, map[schema.ItemKind]string{
			schema.Code: "the " + w.say.code + " of the message", schema.Counter: "sequence number of the message", schema.Check: "checksum, copied from the wire",
			schema.Present: "what decides which alternative is written where the bytes before it do not",
		}[m.book])
	}
	if m.field != nil && m.field.Doc != "" {
		words = append(words, m.field.Doc)
	}
	return oneLine(strings.Join(words, ": "))
}

// named writes the named values of a record's numbers. Those of an enumeration with many values are written once.
func (w *teller) named(r *record, write func(m *member, n *schema.Number, place string)) {
	for _, m := range r.members {
		n, ok := m.typ.(*schema.Number)
		if !ok || n.Enum == nil || len(n.Enum.Values) == 0 || n.Kind == schema.Float || n.Kind == schema.Bool || n.Scale != 0 {
			continue
		}
		place := oneLine(w.tongue.dot(w.types[r]+w.say.typ, w.fields[m]))
		if first := w.enums[n.Enum]; first != "" {
			w.line(w.say.remark, fmt.Sprintf("The named values of %s are those of %s.", place, first))
		} else {
			write(m, n, place)
			if len(n.Enum.Values) > manyValues {
				w.enums[n.Enum] = place
			}
		}
		w.line("")
	}
}

// manyValues is the maximum number of values of an enumeration that is repeated for each field.
const manyValues = 32
