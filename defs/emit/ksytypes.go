package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// ksyMessage is one message as a type, with all types inside it.
type ksyMessage struct {
	m         *schema.Message
	id        string
	names     *ksyNames // of types and enumerations
	top       *ksyType
	types     []*ksyType
	enums     yamlMap
	byEnum    map[*schema.Enum]string
	written   map[*schema.Enum]string // the message that has the names of an enumeration with many values
	byRef     map[*schema.Struct]*ksyType
	bitfields map[*schema.Bitfield]string
	after     map[*schema.Struct]int // see bitsAfter
	wire      *wire.Message
	least     map[*schema.Field]int64 // bits of the smallest element of a list
	losses    losses
	lost      map[Loss]bool // the same
}

// ksyType is one type under construction.
type ksyType struct {
	id, doc   string
	params    []yamlMap
	seq       []yamlMap
	instances yamlMap
	bigBits   bool // bits are taken from the most significant one on

	names  *ksyNames
	ids    map[*schema.Field]string // the identifier of a field
	paths  map[*schema.Field]string // its name in the definition
	raw    map[*schema.Field]string // expression for a number as it travels
	count  map[*schema.Field]string
	offset map[*schema.Field]string
	next   string // of a chained element
	bit    int    // bits of a byte that is begun
	when   string // condition for what is added
}

func newKsyType(id string) *ksyType {
	return &ksyType{
		id: id, names: newKsyNames(), ids: map[*schema.Field]string{}, paths: map[*schema.Field]string{}, raw: map[*schema.Field]string{},
		count: map[*schema.Field]string{}, offset: map[*schema.Field]string{},
	}
}

// newKsyMessage says why the message cannot be expressed, if it cannot.
func newKsyMessage(m *schema.Message, enums map[*schema.Enum]string) (k *ksyMessage, why string) {
	why = try(m, func(laid *wire.Message) {
		k = &ksyMessage{
			m: m, wire: laid, least: map[*schema.Field]int64{}, id: ksyID(typeName(m)), names: newKsyNames(),
			byEnum: map[*schema.Enum]string{}, written: enums, byRef: map[*schema.Struct]*ksyType{}, bitfields: map[*schema.Bitfield]string{},
			after: map[*schema.Struct]int{}, lost: map[Loss]bool{},
		}
		for f, part := range contents(laid) {
			if part.Kind == wire.List {
				k.least[laid.Fields[f].Schema] = part.Elem.Min.Bits
			}
		}
		k.names.take(k.id)
		k.top = newKsyType(k.id)
		k.top.doc = k.about()
		k.body(k.top, m.Body)
	})
	return k, why
}

// lose notes a loss once.
func (k *ksyMessage) lose(field, format string, args ...any) {
	k.losses.lose(k.m, field, format, args...)
	n := len(k.losses) - 1
	if last := k.losses[n]; k.lost[last] {
		k.losses = k.losses[:n]
	} else {
		k.lost[last] = true
	}
}

// about says what the message is and where it comes from.
func (k *ksyMessage) about() string {
	m := k.m
	var b strings.Builder
	if m.Doc != "" {
		b.WriteString(m.Doc + "\n\n")
	}
	b.WriteString("Made by wirebench from the definition of " + messageName(m))
	if m.Span.File != nil && m.Span.File.Name != "" {
		b.WriteString(", " + m.Span.File.Name)
	}
	b.WriteString(".")
	switch m.Key.Dir {
	case schema.ToServer:
		b.WriteString(" Sent to the server.")
	case schema.ToClient:
		b.WriteString(" Sent to the client.")
	}
	if m.HasKey {
		b.WriteString(" Its code is " + codeText(m.Key.Code) + ".")
	}
	return b.String()
}

// yaml is the message's type.
func (k *ksyMessage) yaml() yamlMap {
	out := k.top.yaml()
	types := yamlMap{}
	for _, t := range k.types {
		types = append(types, yamlPair{t.id, t.yaml()})
	}
	if len(types) > 0 {
		out = append(out, yamlPair{"types", types})
	}
	if len(k.enums) > 0 {
		out = append(out, yamlPair{"enums", k.enums})
	}
	return out
}

func (t *ksyType) yaml() yamlMap {
	out := yamlMap{}
	if t.bigBits {
		out = append(out, yamlPair{"meta", yamlMap{{"bit-endian", "be"}}})
	}
	if t.doc != "" {
		out = append(out, yamlPair{"doc", t.doc})
	}
	if len(t.params) > 0 {
		out = append(out, yamlPair{"params", t.params})
	}
	if len(t.seq) > 0 {
		out = append(out, yamlPair{"seq", t.seq})
	}
	if len(t.instances) > 0 {
		out = append(out, yamlPair{"instances", t.instances})
	}
	return out
}

// bind gives identifiers to fields that stand in the type, and to those of groups that have no bytes of their own.
func (t *ksyType) bind(fields []*schema.Field, prefix, path string) {
	for _, f := range fields {
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 && len(g.Struct.Variants) == 0 && len(g.Struct.Fields) > 0 {
			t.bind(g.Struct.Fields, prefix+f.Name+"_", path+f.Name+".")
			continue
		}
		want := prefix + f.Name
		if want == "" {
			want = "value"
		}
		t.ids[f], t.paths[f] = t.names.take(want), path+f.Name
	}
}

func (k *ksyMessage) body(t *ksyType, s *schema.Struct) {
	t.bind(s.Fields, "", "")
	for i := range s.Wire {
		if i >= len(s.Wire)-s.Optional && t.bit == 0 {
			t.when = "not _io.eof"
		}
		k.item(t, &s.Wire[i])
	}
	t.when = ""
	if t.bit != 0 {
		fail("a part of it fills %d bits more than whole bytes", t.bit)
	}
	k.variants(t, s)
}

// add appends an attribute.
func (t *ksyType) add(a yamlMap) {
	if t.when != "" {
		a = append(a, yamlPair{"if", t.when})
	}
	t.seq = append(t.seq, a)
}

// take adds the bits of a number.
func (t *ksyType) take(bits int) {
	t.bit = (t.bit + bits) % 8
}

// aligned checks that something that is not bits starts at a whole byte.
func (t *ksyType) aligned(what string) {
	if t.bit != 0 {
		fail("%s does not start at a whole byte", what)
	}
}

// book adds a number that no field shows.
func (t *ksyType) book(want, doc string, it *schema.Item, valid yamlMap) string {
	id := t.names.take(want)
	if it.Bits < 2 || it.Bits > 32 {
		fail("%s has %d bits", it.Kind, it.Bits)
	}
	a := yamlMap{{"id", id}, {"type", t.number("u", it.Bits, it.Order, id)}}
	if len(valid) > 0 {
		a = append(a, yamlPair{"valid", valid})
	}
	if doc != "" {
		a = append(a, yamlPair{"doc", doc})
	}
	t.take(it.Bits)
	t.add(a)
	return id
}

func (k *ksyMessage) item(t *ksyType, it *schema.Item) {
	switch it.Kind {
	case schema.Value:
		k.value(t, it.Field)
	case schema.Weave:
		for _, f := range it.Weave {
			k.value(t, f)
		}
	case schema.Count:
		e, unit := extentOf(it.Field.Type)
		want, doc := "num_", "How many "+t.path(it.Field)+" there are."
		switch {
		case unit == 1:
			want, doc = "len_", "Bytes of "+t.path(it.Field)+"."
		case unit == 2:
			doc = "Code units of " + t.path(it.Field) + ", two bytes each."
		}
		t.count[it.Field] = t.book(want+t.name(it.Field), doc, it, k.limits(t.path(it.Field), e.Min, e.Max, schema.Unsigned))
	case schema.Offset:
		k.lose("", "offsets and chains are followed wherever they lead: into the header, or back to an element that was read")
		t.offset[it.Field] = t.book("ofs_"+t.name(it.Field), "Where "+t.path(it.Field)+" starts, in bytes from the start of the message.", it, nil)
	case schema.Here:
		t.book("here", "Where this element starts, in bytes from the start of the message.", it, nil)
	case schema.Next:
		t.next = t.book("next", "Where the next element starts, 0 in the last one.", it, nil)
	case schema.Length:
		t.book("length", "Bytes of the whole message.", it, nil)
	case schema.Code:
		t.book("code", "", it, nil)
	case schema.Counter:
		t.book("counter", "Running number of the message.", it, nil)
	case schema.Check:
		if it.Sum != nil {
			k.lose("", "the checksum is read, not checked")
		}
		t.book("checksum", "", it, nil)
	case schema.Const:
		t.aligned("a constant")
		var bytes []string
		for _, b := range it.Bytes {
			bytes = append(bytes, fmt.Sprintf("0x%02x", b))
		}
		t.take(8 * len(it.Bytes))
		t.add(yamlMap{{"id", t.names.take("constant")}, {"contents", yamlRaw("[" + strings.Join(bytes, ", ") + "]")}})
	case schema.Pad:
		t.pad(it.Bits)
	default:
		fail("it has an item of an unknown kind")
	}
}

// pad skips bits.
func (t *ksyType) pad(bits int) {
	if t.bit == 0 && bits%8 == 0 {
		if bits > 0 {
			t.add(yamlMap{{"id", t.names.take("padding")}, {"size", strconv.Itoa(bits / 8)}})
			t.take(bits)
		}
		return
	}
	for bits > 0 {
		n := min(bits, 32)
		t.add(yamlMap{{"id", t.names.take("padding")}, {"type", "b" + strconv.Itoa(n)}})
		t.take(n)
		bits -= n
	}
}

// name is the identifier of a field, for the names of what describes it.
func (t *ksyType) name(f *schema.Field) string {
	if id, ok := t.ids[f]; ok {
		return id
	}
	fail("the field %q is described in a place where it is not known", f.Name)
	return ""
}

// path is how text for people calls a field.
func (t *ksyType) path(f *schema.Field) string {
	if p := t.paths[f]; p != "" {
		return p
	}
	return "the value"
}

// extentOf is the extent of contents and the bytes of a unit, 0 for a list.
func extentOf(t schema.Type) (schema.Extent, int) {
	switch t := t.(type) {
	case *schema.Text:
		return t.Extent, t.Charset.Unit()
	case *schema.Blob:
		return t.Extent, 1
	case *schema.List:
		return t.Extent, 0
	}
	fail("a count is of something that has no units")
	return schema.Extent{}, 0
}

// limits is what "valid" says of a range. A constant without a value is left out.
func (k *ksyMessage) limits(path string, lo, hi *schema.Limit, kind schema.NumKind) yamlMap {
	var out yamlMap
	for _, l := range []struct {
		key   string
		limit *schema.Limit
	}{{"min", lo}, {"max", hi}} {
		switch {
		case l.limit == nil:
		case l.limit.Const != "":
			k.lose(path, "the constant %s has no value; the limit is not checked", l.limit.Const)
		default:
			out = append(out, yamlPair{l.key, yamlQuoted(limitText(l.limit, kind))})
		}
	}
	return out
}

// limitText is a limit as a number.
func limitText(l *schema.Limit, kind schema.NumKind) string {
	switch kind {
	case schema.Signed:
		return strconv.FormatInt(l.Int, 10)
	case schema.Float:
		return ksyFloat(l.Float)
	}
	return strconv.FormatUint(l.Uint, 10)
}

// ksyFloat has a point, so that it is no integer, and no exponent.
func ksyFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// ksyInt is the type of an integer or a float of 8, 16, 32 or 64 bits.
func ksyInt(kind string, bits int, order schema.Order) string {
	s := kind + strconv.Itoa(bits/8)
	if order == schema.Big && bits > 8 {
		s += "be"
	}
	return s
}

// number is the type of a number where the type stands: of bytes, or of bits.
func (t *ksyType) number(kind string, bits int, order schema.Order, name string) string {
	if order == schema.Big && (bits%8 != 0 || t.bit != 0) {
		fail("the big-endian number %q is not whole bytes", name)
	}
	if t.bit == 0 && isNative(bits) {
		return ksyInt(kind, bits, order)
	}
	s := "b" + strconv.Itoa(bits)
	if order == schema.Big {
		s += "be"
	}
	return s
}

func isNative(bits int) bool { return bits == 8 || bits == 16 || bits == 32 || bits == 64 }

func (k *ksyMessage) value(t *ksyType, f *schema.Field) {
	switch typ := f.Type.(type) {
	case *schema.Number:
		k.numberField(t, f, typ)
	case *schema.Bitfield:
		t.aligned(strconv.Quote(f.Name))
		if len(typ.Forms) == 0 || typ.Bits%8 != 0 || typ.Bits < 8 || typ.Bits > 64 {
			fail("the bitfield %q has %d bits", f.Name, typ.Bits)
		}
		t.add(t.named(f, yamlMap{{"type", k.bitfieldType(f, typ)}, {"size", strconv.Itoa(typ.Bits / 8)}}))
		t.take(typ.Bits)
	case *schema.Group:
		k.group(t, f, typ.Struct)
	case *schema.Text, *schema.Blob, *schema.List:
		if t.offset[f] == "" {
			t.aligned(strconv.Quote(f.Name))
		}
		k.content(t, f)
	default:
		fail("the field %q has no type", f.Name)
	}
}

// named puts a field's names around an attribute.
func (t *ksyType) named(f *schema.Field, a yamlMap) yamlMap {
	a = append(yamlMap{{"id", t.name(f)}, {"-orig-id", yamlQuoted(t.paths[f])}}, a...)
	if f.Doc != "" {
		a = append(a, yamlPair{"doc", f.Doc})
	}
	return a
}

func (k *ksyMessage) numberField(t *ksyType, f *schema.Field, n *schema.Number) {
	if n.Bits < 1 || n.Bits > 64 {
		fail("the number %q has %d bits", f.Name, n.Bits)
	}
	id, path := t.name(f), t.path(f)
	defer t.take(n.Bits)
	native := t.bit == 0 && isNative(n.Bits)
	kind := "u"
	switch n.Kind {
	case schema.Float:
		if !native || n.Bits < 32 {
			fail("the float %q does not start at a whole byte", f.Name)
		}
		kind = "f"
	case schema.Signed:
		kind = "s"
	}
	odd := n.Kind == schema.Signed && !native // of bits without a sign
	half := n.Bits > 32 && !native            // of more bits than JavaScript reads at once
	enum := ""
	if n.Enum != nil && n.Scale == 0 && n.Kind != schema.Bool && n.Kind != schema.Float {
		enum = k.enum(path, n, f.Name)
	}
	valid := k.limits(path, n.Min, n.Max, n.Kind)
	if !odd && !half && n.Scale == 0 && (n.Bits > 1 && n.Kind != schema.Bool || n.Bits == 1 && n.Kind == schema.Bool) {
		a := yamlMap{{"type", t.number(kind, n.Bits, n.Order, f.Name)}}
		t.raw[f] = id
		if enum != "" {
			a = append(a, yamlPair{"enum", enum})
			t.raw[f] += ".to_i"
			valid = validExpr(valid, "_.to_i")
		}
		if n.Kind == schema.Bool {
			valid, t.raw[f] = nil, id+".to_i"
		}
		if len(valid) > 0 {
			a = append(a, yamlPair{"valid", valid})
		}
		t.add(t.named(f, a))
		return
	}
	when := t.when
	if when != "" { // the instance has to know whether it was there
		has := t.names.take("has_" + id)
		t.instances = append(t.instances, yamlPair{has, yamlMap{{"value", when}}})
		t.when = has
	}
	raw := ""
	switch {
	case half:
		lo, hi := t.names.take(id+"_lo"), t.names.take(id+"_hi")
		first, second := yamlMap{{"id", lo}, {"type", "b32"}}, yamlMap{{"id", hi}, {"type", "b" + strconv.Itoa(n.Bits-32)}}
		raw = fmt.Sprintf("%s * 4294967296 + %s", hi, lo)
		switch {
		case n.Order == schema.Big:
			t.number("u", n.Bits, n.Order, f.Name) // whole bytes
			first[1].value, second[1].value = "b32be", fmt.Sprintf("b%dbe", n.Bits-32)
			first, second = second, first
		case n.Bits == 33:
			raw = fmt.Sprintf("%s.to_i * 4294967296 + %s", hi, lo)
		}
		if len(valid) > 0 {
			k.lose(path, "the range of a number of %d bits is not checked", n.Bits)
		}
		t.add(first)
		t.add(second)
	default:
		own := t.names.take(id + "_raw")
		raw = own
		if n.Bits == 1 {
			raw += ".to_i"
		}
		unsigned := "u"
		if native {
			unsigned = kind
		}
		a := yamlMap{{"id", own}, {"type", t.number(unsigned, n.Bits, n.Order, f.Name)}}
		switch {
		case odd:
			valid = validExpr(valid, "("+signedText("_", n.Bits)+")")
		case n.Bits == 1:
			valid = nil // it is 0 or 1
		}
		if len(valid) > 0 {
			a = append(a, yamlPair{"valid", valid})
		}
		t.add(a)
	}
	t.raw[f] = "(" + raw + ")"
	value := raw
	if odd {
		value = signedText(raw, n.Bits)
		if n.Bits == 1 {
			value = "-" + raw
		} else if half {
			value = signedText("("+raw+")", n.Bits)
		}
	}
	switch {
	case n.Kind == schema.Bool:
		value = raw + " != 0"
	case n.Scale != 0:
		value = fmt.Sprintf("%s * %s", parens(value), ksyFloat(n.Scale))
	}
	a := yamlMap{{"value", value}}
	if enum != "" {
		a = append(a, yamlPair{"enum", enum})
	}
	if when != "" {
		a = append(a, yamlPair{"if", t.when})
		t.when = when
	}
	t.instances = append(t.instances, yamlPair{id, t.named(f, a)[1:]})
}

// validExpr turns a range into an expression about another form of the value.
func validExpr(valid yamlMap, value string) yamlMap {
	var parts []string
	for _, p := range valid {
		op := " >= "
		if p.key == "max" {
			op = " <= "
		}
		parts = append(parts, value+op+string(p.value.(yamlQuoted)))
	}
	if len(parts) == 0 {
		return nil
	}
	return yamlMap{{"expr", strings.Join(parts, " and ")}}
}

// signedText reads bits as two's complement.
func signedText(raw string, bits int) string {
	half := uint64(1) << (bits - 1)
	if bits == 64 {
		return fmt.Sprintf("%s >= %d ? %s - %d - %d : %s", raw, half, raw, half, half, raw)
	}
	return fmt.Sprintf("%s >= %d ? %s - %d : %s", raw, half, raw, half*2, raw)
}

// enum declares the names of a number's values.
func (k *ksyMessage) enum(path string, n *schema.Number, field string) string {
	if id := k.byEnum[n.Enum]; id != "" {
		return id
	}
	if first := k.written[n.Enum]; first != "" {
		k.lose(path, "the names of its values are left out: they are many, and %s has them", first)
		return ""
	}
	if len(n.Enum.Values) > manyValues {
		k.written[n.Enum] = messageName(k.m)
	}
	values := yamlMap{}
	seen := map[uint64]bool{}
	names := newKsyNames()
	for _, v := range n.Enum.Values {
		text := n.Decimal(v.Value)
		switch {
		case seen[v.Value]:
			k.lose(path, "%s is a second name of the value %s; it is left out", v.Name, text)
			continue
		case len(text) > 15:
			k.lose(path, "the value of %s is too large for the name of a value", v.Name)
			continue
		}
		seen[v.Value] = true
		values = append(values, yamlPair{text, yamlMap{{"id", names.take(v.Name)}, {"-orig-id", yamlQuoted(v.Name)}}})
	}
	if len(values) == 0 {
		return ""
	}
	want := n.Enum.Name
	if want == "" {
		want = field
	}
	id := k.names.take(want)
	k.byEnum[n.Enum] = id
	k.enums = append(k.enums, yamlPair{id, values})
	return id
}

// bitsAfter is by how many bits a struct goes beyond whole bytes.
func (k *ksyMessage) bitsAfter(s *schema.Struct) int {
	if n, ok := k.after[s]; ok {
		return n
	}
	bits := 0
	for i := range s.Wire {
		it := &s.Wire[i]
		if it.Kind != schema.Value {
			bits += it.Bits % 8
			continue
		}
		switch t := it.Field.Type.(type) {
		case *schema.Number:
			bits += t.Bits % 8
		case *schema.Group:
			bits += k.bitsAfter(t.Struct)
		}
	}
	k.after[s] = bits % 8
	return bits % 8
}

// group adds a group: as a type, or in place where it shares bytes with what is beside it.
func (k *ksyMessage) group(t *ksyType, f *schema.Field, s *schema.Struct) {
	if len(s.Wire) == 0 && len(s.Variants) == 0 {
		return // its fields stand in this type
	}
	if t.bit != 0 || k.bitsAfter(s) != 0 {
		t.bind(s.Fields, t.name(f)+"_", t.paths[f]+".")
		for i := range s.Wire {
			k.item(t, &s.Wire[i])
		}
		return
	}
	want := s.Name
	if want == "" && isName(f.TypeText) {
		want = f.TypeText
	}
	if want == "" {
		want = t.name(f)
	}
	inner := k.structType(s, want)
	t.add(t.named(f, yamlMap{{"type", inner.id}}))
	for field, raw := range inner.raw {
		if t.ids[field] == "" {
			t.raw[field] = t.name(f) + "." + strings.Trim(raw, "()")
		}
	}
}

// structType is the type of a struct inside the message.
func (k *ksyMessage) structType(s *schema.Struct, want string) *ksyType {
	if t := k.byRef[s]; t != nil {
		return t
	}
	t := newKsyType(k.names.take(want))
	k.types = append(k.types, t)
	k.body(t, s)
	k.byRef[s] = t
	return t
}

// content adds text, bytes or a list.
func (k *ksyMessage) content(t *ksyType, f *schema.Field) {
	var a yamlMap
	e, unit := extentOf(f.Type)
	units := ""
	switch e.Size {
	case schema.Fixed:
		units = strconv.Itoa(max(e.N, 0))
	case schema.Counted:
		if units = t.count[f]; units == "" {
			fail("%q has no count before it", f.Name)
		}
	}
	bytes := units
	if unit == 2 && e.Size == schema.Fixed {
		bytes = strconv.Itoa(2 * max(e.N, 0))
	} else if unit == 2 && units != "" {
		bytes += " * 2"
	}
	when := ""
	switch typ := f.Type.(type) {
	case *schema.Text:
		a = textAttr(typ, bytes)
		if e.Size == schema.Terminated && t.offset[f] != "" {
			when = t.offset[f] + " != 0"
		}
	case *schema.Blob:
		if typ.Nested {
			k.lose(t.path(f), "the message inside is shown as bytes")
		}
		a = yamlMap{{"size", bytes}}
		if bytes == "" {
			a = yamlMap{{"size-eos", yamlTrue}}
		}
	case *schema.List:
		a = k.listAttr(t, f, typ, units)
	}
	if e.Size == schema.Counted && t.offset[f] != "" {
		when = t.count[f] + " != 0" // the offset of nothing may be anything
	}
	l, isList := f.Type.(*schema.List)
	if t.offset[f] == "" || isList && l.Linked {
		t.add(t.named(f, a))
		return
	}
	a = append(yamlMap{{"pos", t.offset[f]}}, a...)
	if when != "" {
		a = append(a, yamlPair{"if", when})
	}
	t.instances = append(t.instances, yamlPair{t.name(f), t.named(f, a)[1:]})
}

// textAttr is an attribute of text.
func textAttr(typ *schema.Text, bytes string) yamlMap {
	set := map[schema.Charset]string{schema.UTF16LE: "UTF-16LE", schema.Latin1: "ISO-8859-1", schema.UTF8: "UTF-8"}[typ.Charset]
	var a yamlMap
	switch {
	case typ.Size == schema.Terminated:
		a = yamlMap{{"type", "strz"}}
	case typ.Size == schema.Fixed && typ.Min == nil:
		a = yamlMap{{"type", "strz"}, {"size", bytes}}
	case bytes != "":
		a = yamlMap{{"type", "str"}, {"size", bytes}}
	case typ.Charset.Unit() == 2:
		a = yamlMap{{"type", "str"}, {"size", "(_io.size - _io.pos) / 2 * 2"}}
	default:
		a = yamlMap{{"type", "str"}, {"size-eos", yamlTrue}}
	}
	return append(a, yamlPair{"encoding", set})
}

// listAttr is an attribute of many elements.
func (k *ksyMessage) listAttr(t *ksyType, f *schema.Field, l *schema.List, units string) yamlMap {
	if l.Size == schema.Terminated {
		fail("the list %q is ended by a zero", f.Name)
	}
	repeat := yamlMap{{"repeat", "expr"}, {"repeat-expr", units}}
	if l.Size == schema.ToEnd {
		repeat = yamlMap{{"repeat", "eos"}}
	}
	elem, ok := k.byRef[l.Elem], false
	if elem == nil {
		want := l.Elem.Name
		if want == "" {
			want = t.name(f) + "_element"
		}
		elem = newKsyType("")
		at := len(k.types)
		k.types = append(k.types, elem)
		if !l.Bare || l.Linked { // others may need no type, and then no name
			elem.id = k.names.take(want)
		}
		k.body(elem, l.Elem)
		if l.Bare && !l.Linked && len(elem.seq) == 1 && len(elem.instances) == 0 && !elem.seq[0].has("if") && !elem.seq[0].has("repeat") {
			k.types = slices.Delete(k.types, at, at+1)
			ok = true
		} else if elem.id == "" {
			elem.id = k.names.take(want)
		}
		if !ok {
			k.byRef[l.Elem] = elem
		}
	}
	if least := k.least[f]; l.Size == schema.ToEnd && least > 8 {
		k.lose(f.Name, "bytes at the end that are less than an element are an error")
	} else if l.Size == schema.ToEnd && least == 0 {
		fail("the elements of %q may have no bytes", f.Name)
	}
	if ok {
		var a yamlMap
		for _, p := range elem.seq[0] {
			if p.key != "id" && p.key != "-orig-id" && p.key != "doc" {
				a = append(a, p)
			}
		}
		return append(a, repeat...)
	}
	if !l.Linked {
		return append(yamlMap{{"type", elem.id}}, repeat...)
	}
	if t.offset[f] == "" || units == "" || elem.next == "" {
		fail("the chained list %q has no count, no offset or no next", f.Name)
	}
	entry := newKsyType(k.names.take(t.name(f) + "_entry"))
	entry.doc = "Takes no bytes: it knows where an element of " + t.path(f) + " is."
	entry.params = []yamlMap{{{"id", "index"}, {"type", "s4"}}}
	entry.instances = yamlMap{
		{"ofs_element", yamlMap{{"value", fmt.Sprintf("index == 0 ? _parent.%s : _parent.%s[index - 1].element.%s", t.offset[f], t.name(f), elem.next)}}},
		{"element", yamlMap{{"pos", "ofs_element"}, {"type", elem.id}}},
	}
	k.types = append(k.types, entry)
	return append(yamlMap{{"type", entry.id + "(_index)"}}, repeat...)
}

// variants adds the alternatives at the end of a struct as one attribute of several types.
func (k *ksyMessage) variants(t *ksyType, s *schema.Struct) {
	if len(s.Variants) == 0 {
		return
	}
	cases := yamlMap{}
	on, byLength := "", ""
	seen := map[string]bool{}
	for i, v := range s.Variants {
		if (v.Field == nil) != (s.Variants[0].Field == nil) || v.Field != s.Variants[0].Field {
			fail("alternative %d is chosen in another way than the first", i+1)
		}
		key := strconv.Itoa(i + 1)
		if v.Field != nil {
			n, ok := v.Field.Type.(*schema.Number)
			if !ok || n.Kind == schema.Float || t.raw[v.Field] == "" {
				fail("alternatives are chosen by %q, which is not a whole number before them", v.Field.Name)
			}
			on = t.raw[v.Field]
			key = strconv.FormatUint(v.Value, 10)
			if n.Kind == schema.Signed && t.raw[v.Field][0] != '(' {
				key = n.Decimal(v.Value)
			}
		} else {
			byLength += fmt.Sprintf("_io.size >= %d", max(v.MinLen, 0))
			if v.MaxLen > 0 {
				byLength += fmt.Sprintf(" and _io.size <= %d", v.MaxLen)
			}
			byLength += fmt.Sprintf(" ? %d : (", i+1)
		}
		if v.Body == nil || seen[key] {
			seen[key] = true
			continue
		}
		seen[key] = true
		want := v.Body.Name
		if want == "" {
			want = t.id + "_alternative_" + strconv.Itoa(i+1)
		}
		inner := k.structType(v.Body, want)
		cases = append(cases, yamlPair{key, inner.id})
	}
	if len(cases) == 0 {
		return
	}
	if byLength != "" {
		on = t.names.take("which_alternative")
		t.instances = append(t.instances, yamlPair{on, yamlMap{{"value", byLength + "0" + strings.Repeat(")", len(s.Variants))}}})
	}
	t.add(yamlMap{{"id", t.names.take("alternative")}, {"type", yamlMap{{"switch-on", on}, {"cases", cases}}}})
}
