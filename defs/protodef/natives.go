package protodef

import "wirebench/defs/schema"

// numberType is a type of number that the language has.
type numberType struct {
	name, doc, size string
	number          schema.Number
}

// numbers are the types of numbers. The names with l in front are little-endian.
var numbers = func() (out []numberType) {
	add := func(name, doc, size string, n schema.Number) {
		out = append(out, numberType{name, doc, size, n})
	}
	for _, order := range [...]schema.Order{schema.Big, schema.Little} {
		prefix, of := "", ", big-endian."
		if order == schema.Little {
			prefix, of = "l", ", little-endian."
		}
		for _, bits := range [...]int{8, 16, 24, 32, 40, 48, 56, 64} {
			size := map[bool]string{true: "1 byte", false: itoa(bits/8) + " bytes"}[bits == 8]
			if bits == 8 && prefix != "" {
				of = "."
			}
			add(prefix+"i"+itoa(bits), "Signed integer"+of, size, schema.Number{Bits: bits, Kind: schema.Signed, Order: order})
			add(prefix+"u"+itoa(bits), "Unsigned integer"+of, size, schema.Number{Bits: bits, Order: order})
		}
		for _, bits := range [...]int{16, 32, 64} {
			add(prefix+"f"+itoa(bits), "Floating-point number"+of, itoa(bits/8)+" bytes", schema.Number{Bits: bits, Kind: schema.Float, Order: order})
		}
		add(prefix+"int", "Unsigned integer of as many bytes as its argument"+of, "", schema.Number{Bits: 32, Order: order})
	}
	add("bool", "True or false.", "1 byte", schema.Number{Bits: 8, Kind: schema.Bool})
	add("varint", "Signed integer in groups of seven bits.", "1 to 5 bytes", schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.LEB128})
	add("varlong", "Signed integer in groups of seven bits.", "1 to 10 bytes", schema.Number{Bits: 64, Kind: schema.Signed, Var: schema.LEB128})
	add("varint64", "Unsigned integer in groups of seven bits.", "1 to 10 bytes", schema.Number{Bits: 64, Var: schema.LEB128})
	add("varint128", "Unsigned integer in groups of seven bits, of up to 128 bits; of up to 64 where other fields depend on it.", "1 to 19 bytes", schema.Number{Bits: 64, Var: schema.Long})
	add("zigzag32", "Signed integer with the sign in the lowest bit, in groups of seven bits.", "1 to 5 bytes", schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.ZigZag})
	add("zigzag64", "Signed integer with the sign in the lowest bit, in groups of seven bits.", "1 to 10 bytes", schema.Number{Bits: 64, Kind: schema.Signed, Var: schema.ZigZag})
	add("sleb32", "Signed integer in groups of seven bits, sign-extended from the last one (DWARF).", "1 to 5 bytes", schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.SLEB128})
	add("sleb64", "Signed integer in groups of seven bits, sign-extended from the last one (DWARF).", "1 to 10 bytes", schema.Number{Bits: 64, Kind: schema.Signed, Var: schema.SLEB128})
	add("varintbe", "Unsigned integer in groups of seven bits, the most significant first (MIDI).", "1 to 5 bytes", schema.Number{Bits: 32, Var: schema.VLQ})
	add("varintbe64", "Unsigned integer in groups of seven bits, the most significant first.", "1 to 10 bytes", schema.Number{Bits: 64, Var: schema.VLQ})
	add("byterot", "An angle in degrees: 256 are a turn.", "1 byte", schema.Number{Bits: 8, Scale: 360.0 / 256})
	return out
}()

// numberNamed returns the number of a name, nil if there is none.
func numberNamed(name string) *schema.Number {
	for i := range numbers {
		if numbers[i].name == name {
			n := numbers[i].number
			return &n
		}
	}
	return nil
}

// natives are the types other than numbers that programs implement in code, and that are known here.
var natives = map[string]func(l *lowerer) lowered{
	"void":       func(*lowerer) lowered { return lowered{} },
	"UUID":       func(*lowerer) lowered { return uuid() },
	"uuid":       func(*lowerer) lowered { return uuid() },
	"restBuffer": func(*lowerer) lowered { return lowered{typ: &schema.Blob{Extent: schema.Extent{Size: schema.ToEnd}}} },
	"cstring": func(*lowerer) lowered {
		return lowered{typ: &schema.Text{Charset: schema.UTF8, Extent: schema.Extent{Size: schema.Terminated}}}
	},
	"ipAddress":       func(*lowerer) lowered { return lowered{typ: &schema.Number{Bits: 32, Order: schema.Big}} },
	"nbt":             func(l *lowerer) lowered { return l.tags(bigTags).root(true, false) },
	"anonymousNbt":    func(l *lowerer) lowered { return l.tags(bigTags).root(false, false) },
	"optionalNbt":     func(l *lowerer) lowered { return l.tags(bigTags).root(true, true) },
	"anonOptionalNbt": func(l *lowerer) lowered { return l.tags(bigTags).root(false, true) },
	"lnbt":            func(l *lowerer) lowered { return l.tags(littleTags).root(true, true) },
	"nbtLoop":         func(l *lowerer) lowered { return l.tags(varTags).loop() },
	"compressedNbt": func(l *lowerer) lowered {
		s := &schema.Struct{}
		attach(s, "", l.tags(bigTags).root(true, false), nowhere)
		return lowered{
			typ:    &schema.Group{Struct: s, Bare: true, Sized: true, Null: true, Packed: schema.Gzip},
			before: []schema.Item{{Kind: schema.Bytes, Num: numberNamed("i16")}},
		}
	},
}

func uuid() lowered {
	return lowered{typ: &schema.Blob{UUID: true, Extent: schema.Extent{Size: schema.Fixed, N: 16}}}
}

// counted returns contents after their number of units.
func counted(t schema.Type, n *schema.Number) lowered {
	return lowered{typ: t, before: []schema.Item{{Kind: schema.Count, Num: n}}}
}

// A named tag tree (NBT) is a tree of tags: a byte with the type, a name, and a value. Lists have one type for all elements, and no names.
// The types and the encodings are those of the npm package prismarine-nbt: big-endian, little-endian, and little-endian with integers of
// variable size.

// tagForm is an encoding of tags.
type tagForm uint8

const (
	bigTags tagForm = iota
	littleTags
	varTags
)

// The types of tags, by number.
var tagTypes = [...]string{
	"end", "byte", "short", "int", "long", "float", "double", "byteArray", "string", "list", "compound", "intArray", "longArray",
}

// tagSet is the structs of one encoding.
type tagSet struct {
	form tagForm
	tag  *schema.Struct // a type, a name and a value
	list *schema.Struct // a type, a count and elements
	enum *schema.Enum

	roots [2][2]*schema.Struct // see root
}

// tags returns the structs of an encoding, which are made once.
func (l *lowerer) tags(f tagForm) *tagSet {
	if s := l.tagSets[f]; s != nil {
		return s
	}
	s := &tagSet{form: f, tag: &schema.Struct{}, list: &schema.Struct{}, enum: &schema.Enum{Name: "nbtMapper", Shown: true}}
	l.tagSets[f] = s
	for i, name := range tagTypes {
		s.enum.Values = append(s.enum.Values, schema.EnumValue{Name: name, Value: uint64(i)})
	}
	kind := attach(s.tag, "type", lowered{typ: s.kind(), text: "i8"}, nowhere)
	attach(s.tag, "name", s.text(), nowhere)
	attach(s.tag, "value", s.value(kind), nowhere)
	kind = attach(s.list, "type", lowered{typ: s.kind(), text: "i8"}, nowhere)
	c := &schema.Choice{On: schema.RefTo(kind)}
	for i := range tagTypes {
		var elem *schema.Struct
		bare := true
		switch v := s.single(i); {
		case v.typ != nil:
			elem = &schema.Struct{}
			attach(elem, "", v, nowhere)
		default:
			elem, bare = &schema.Struct{}, false
		}
		body := &schema.Struct{}
		attach(body, "", lowered{
			typ:    &schema.List{Elem: elem, Bare: bare, Extent: schema.Extent{Size: schema.Counted}},
			before: []schema.Item{{Kind: schema.Count, Num: s.count()}}, text: "array",
		}, nowhere)
		c.Cases = append(c.Cases, schema.Alternative{Value: uint64(i), Name: tagTypes[i], Body: body, Bare: true})
	}
	attach(s.list, "value", lowered{typ: c, text: "array"}, nowhere)
	return s
}

func (s *tagSet) kind() *schema.Number {
	return &schema.Number{Bits: 8, Kind: schema.Signed, Enum: s.enum}
}

func (s *tagSet) number(bits int, kind schema.NumKind) *schema.Number {
	n := &schema.Number{Bits: bits, Kind: kind, Order: schema.Big}
	if s.form != bigTags {
		n.Order = schema.Little
	}
	return n
}

// integer returns the type of an integer: in the form with variable sizes, one of at least 32 bits is such.
func (s *tagSet) integer(bits int) *schema.Number {
	n := s.number(bits, schema.Signed)
	if s.form == varTags && bits >= 32 {
		n.Var = schema.ZigZag
	}
	return n
}

func (s *tagSet) count() *schema.Number { return s.integer(32) }

func (s *tagSet) text() lowered {
	n := s.number(16, schema.Unsigned)
	if s.form == varTags {
		n = &schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.LEB128}
	}
	out := counted(&schema.Text{Charset: schema.UTF8, Extent: schema.Extent{Size: schema.Counted}}, n)
	out.text = "string"
	return out
}

func (s *tagSet) array(bits int) lowered {
	elem := &schema.Struct{}
	attach(elem, "", lowered{typ: s.number(bits, schema.Signed), text: "i" + itoa(bits)}, nowhere)
	out := counted(&schema.List{Elem: elem, Bare: true, Extent: schema.Extent{Size: schema.Counted}}, s.count())
	out.text = "array<i" + itoa(bits) + ">"
	return out
}

// single returns the type of the value of a tag.
func (s *tagSet) single(kind int) lowered {
	out := lowered{text: tagTypes[kind]}
	switch tagTypes[kind] {
	case "byte":
		out.typ = s.integer(8)
	case "short":
		out.typ = s.integer(16)
	case "int":
		out.typ = s.integer(32)
	case "long":
		out.typ = s.integer(64)
	case "float":
		out.typ = s.number(32, schema.Float)
	case "double":
		out.typ = s.number(64, schema.Float)
	case "byteArray":
		return s.array(8)
	case "string":
		return s.text()
	case "list":
		out.typ = &schema.Group{Struct: s.list, Own: true}
	case "compound":
		elem := &schema.Struct{}
		attach(elem, "", lowered{typ: &schema.Group{Struct: s.tag, Own: true}, text: "tag"}, nowhere)
		out.typ = &schema.List{Elem: elem, Bare: true, Keyed: "name", Extent: schema.Extent{Size: schema.Until}}
	case "intArray":
		return s.array(32)
	case "longArray":
		return s.array(64)
	}
	return out
}

// value returns the type of the value that a type of tag selects.
func (s *tagSet) value(kind *schema.Field) lowered {
	c := &schema.Choice{On: schema.RefTo(kind)}
	for i := range tagTypes {
		v := s.single(i)
		if v.typ == nil {
			continue
		}
		body := &schema.Struct{}
		attach(body, "", v, nowhere)
		c.Cases = append(c.Cases, schema.Alternative{Value: uint64(i), Name: tagTypes[i], Body: body, Bare: true})
	}
	return lowered{typ: c, text: "nbtSwitch"}
}

func btoi(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

// root returns the type of a tree, whose struct is made once. If it is optional, a type of end has neither name nor value.
func (s *tagSet) root(named, optional bool) lowered {
	if named && !optional {
		return lowered{typ: &schema.Group{Struct: s.tag, Own: true}}
	}
	made := &s.roots[btoi(named)][btoi(optional)]
	if *made != nil {
		return lowered{typ: &schema.Group{Struct: *made}}
	}
	st := &schema.Struct{}
	*made = st
	kind := attach(st, "type", lowered{typ: s.kind(), text: "i8"}, nowhere)
	switch {
	case !named:
		attach(st, "value", s.value(kind), nowhere)
	default:
		body := &schema.Struct{}
		attach(body, "name", s.text(), nowhere)
		attach(body, "value", s.value(kind), nowhere)
		attach(st, "", lowered{typ: &schema.Choice{On: schema.RefTo(kind), Anon: true, Cases: []schema.Alternative{
			{Value: 0, Name: tagTypes[0]}, {Else: true, Body: body},
		}}}, nowhere)
	}
	return lowered{typ: &schema.Group{Struct: st}}
}

// loop returns the type of trees up to a zero byte.
func (s *tagSet) loop() lowered {
	elem := &schema.Struct{}
	attach(elem, "", lowered{typ: &schema.Group{Struct: s.tag, Own: true}, text: "nbt"}, nowhere)
	return lowered{typ: &schema.List{Elem: elem, Bare: true, Extent: schema.Extent{Size: schema.Until}}}
}
