package mavlink

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// maxPayload is the number of bytes of the largest message.
const maxPayload = 255

// lowerer compiles the messages of a file.
type lowerer struct {
	*tree
	among    *build.Among
	encoding schema.Charset
	merged   map[string]*enum // by name; nil: there is none
	diags    diag.List
}

func (l *lowerer) report(d diag.Diagnostic) { text.Add(&l.diags, d, maxMistakes) }

func (l *lowerer) lower() (out []*schema.Message) {
	l.diags = slices.Clone(l.tree.diags)
	for _, at := range l.includes {
		switch found := l.among.Named(fileKey(at.Text())); {
		case len(found) == 0:
			l.report(missingInclude(at))
		default:
			l.among.Use(found[0])
		}
	}
	for i := range l.messages {
		if m := &l.messages[i]; m.name != "" {
			out = append(out, l.message(m))
		}
	}
	return out
}

// laid is a field with its place in the order of the wire.
type laid struct {
	*field
	scalar
	n     int // elements of an array; 0: none
	lower *schema.Field
}

// message compiles a message.
func (l *lowerer) message(m *message) *schema.Message {
	out := &schema.Message{
		Name: m.name, Version: 1, Key: schema.Key{Code: m.id}, HasKey: !m.bad, Doc: m.doc, Span: m.nameAt, Text: m.all, Broken: m.bad, Body: &schema.Struct{Name: m.name},
	}
	var base, extensions []laid
	named := map[string]source.Span{}
	size := 0
	for i := range m.fields {
		f := &m.fields[i]
		x, ok := l.field(f)
		if first, again := named[f.name]; again && ok {
			l.report(sameField(f.nameAt, first, f.name))
			ok = false
		}
		if !ok {
			out.Broken = true
			continue
		}
		named[f.name] = f.nameAt
		size += x.size * max(x.n, 1)
		out.Body.Fields = append(out.Body.Fields, x.lower)
		if f.extension {
			extensions = append(extensions, x)
		} else {
			base = append(base, x)
		}
	}
	if size > maxPayload {
		l.report(tooLong(m.nameAt, m.name, size))
		out.Broken = true
	}
	slices.SortStableFunc(base, func(a, b laid) int { return cmp.Compare(b.size, a.size) })
	for _, x := range append(base, extensions...) {
		out.Body.Wire = append(out.Body.Wire, schema.Item{Kind: schema.Value, Field: x.lower})
	}
	out.Body.Optional = len(extensions)
	out.Extra = []byte{extra(m.name, base)}
	return out
}

// extra returns the byte that tells versions of a message apart.
func extra(name string, base []laid) byte {
	crc := uint16(0xFFFF) // CRC-16/MCRF4XX
	add := func(s string) {
		for i := range len(s) {
			t := s[i] ^ byte(crc)
			t ^= t << 4
			crc = crc>>8 ^ uint16(t)<<8 ^ uint16(t)<<3 ^ uint16(t)>>4
		}
	}
	add(name + " ")
	for _, x := range base {
		add(x.scalar.name + " " + x.field.name + " ")
		if x.n > 0 {
			add(string([]byte{byte(x.n)}))
		}
	}
	return byte(crc) ^ byte(crc>>8)
}

// field compiles a field.
func (l *lowerer) field(f *field) (x laid, ok bool) {
	x = laid{field: f}
	if !text.IsName(f.name) {
		l.report(badName(f.nameAt, "field", f.name))
		return x, false
	}
	name, length, array := strings.Cut(f.typ, "[")
	if array {
		n, err := strconv.Atoi(strings.TrimSuffix(length, "]"))
		if x.n = n; err != nil || n < 1 || n > maxPayload || !strings.HasSuffix(length, "]") {
			l.report(badLength(f.typeAt, strings.TrimSuffix(length, "]")))
			return x, false
		}
	}
	if x.scalar, ok = scalarNamed(name); !ok || name == versionType && array {
		l.report(unknownType(f.typeAt, f.typ, nearType(f.typ)))
		return x, false
	}
	x.lower = &schema.Field{Name: f.name, TypeText: f.typ, Doc: f.doc, Span: f.at}
	if f.enum != "" {
		x.lower.TypeText += " " + f.enum
	}
	one := l.scalar(f, x.scalar)
	switch {
	case x.scalar.name == "char":
		x.lower.Type = &schema.Text{Charset: l.encoding, Extent: schema.Extent{Size: schema.Fixed, N: max(x.n, 1)}}
	case !array:
		x.lower.Type = one
	case x.scalar.name == "uint8_t" && f.enum == "" && !strings.HasPrefix(f.doc, "in "):
		x.lower.Type = &schema.Blob{Extent: schema.Extent{Size: schema.Fixed, N: x.n}}
	default:
		elem := &schema.Field{Type: one, TypeText: x.scalar.name, Span: f.at}
		x.lower.Type = &schema.List{
			Bare: true, Extent: schema.Extent{Size: schema.Fixed, N: x.n},
			Elem: &schema.Struct{Fields: []*schema.Field{elem}, Wire: []schema.Item{{Kind: schema.Value, Field: elem}}},
		}
	}
	return x, true
}

// scalar returns the type of a number.
func (l *lowerer) scalar(f *field, s scalar) schema.Type {
	n := &schema.Number{Bits: 8 * s.size, Kind: s.kind}
	if f.enum == "" || s.kind == schema.Float || s.name == "char" {
		return n
	}
	e := l.enumNamed(f.enum)
	switch {
	case e == nil:
		l.report(unknownEnum(f.enumAt, f.enum))
		return n
	case e.bitmask:
		if b := flags(e, n.Bits); len(b.Names) > 0 {
			return b
		}
		return n
	}
	named := &schema.Enum{Name: e.name, Shown: true}
	seen := map[uint64]bool{}
	for _, x := range e.entries {
		v := x.value & schema.Mask(n.Bits)
		if v != x.value && (s.kind != schema.Signed || int64(x.value) >= 0 || int64(x.value) < -1<<(n.Bits-1)) || seen[v] {
			continue
		}
		seen[v] = true
		named.Values = append(named.Values, schema.EnumValue{Name: x.name, Value: v})
	}
	if len(named.Values) > 0 {
		n.Enum = named
	}
	return n
}

// flags returns the type of a number whose bits have names.
func flags(e *enum, size int) *schema.Bitfield {
	b := &schema.Bitfield{Bits: size, All: "_value", Forms: make([]schema.Form, 1)}
	form := &b.Forms[0]
	for _, x := range e.entries {
		if x.value == 0 || x.value&^schema.Mask(size) != 0 || form.Part(x.name) != nil {
			continue
		}
		part := schema.Part{Name: x.name, Shift: bits.TrailingZeros64(x.value), Bits: 1, Kind: schema.Bool}
		if x.value&(x.value-1) != 0 {
			part.Mask = x.value
		}
		b.Names = append(b.Names, x.name)
		form.Parts = append(form.Parts, part)
	}
	return b
}

// enumNamed returns the enum of a name, with the entries of all files; nil if there is none.
func (l *lowerer) enumNamed(name string) *enum {
	e, known := l.merged[name]
	if known {
		return e
	}
	for _, f := range l.among.Named(enumKey(name)) {
		t := l.tree
		if f.Source != l.file {
			t = l.among.Tree(f).(*tree)
		}
		for i := range t.enums {
			if x := &t.enums[i]; x.name == name {
				if e == nil {
					e = &enum{name: name, at: x.at}
				}
				e.bitmask = e.bitmask || x.bitmask
				e.entries = append(e.entries, x.entries...)
			}
		}
	}
	l.merged[name] = e
	return e
}
