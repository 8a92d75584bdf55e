package cstruct

import (
	"slices"
	"strings"

	"wirebench/defs/schema"
)

// model is the sizes of the types of a platform.
type model struct {
	name          string
	long, pointer int      // bytes
	wide          int      // of wchar_t
	defines       []string // macros of its compilers
}

// models are the data models, the first one is the default.
var models = []model{
	{name: "lp64", long: 8, pointer: 8, wide: 4, defines: []string{"__GNUC__=13", "__LP64__=1", "_LP64=1", "__x86_64__=1", "__linux__=1"}},
	{name: "llp64", long: 4, pointer: 8, wide: 2, defines: []string{"_WIN32=1", "_WIN64=1", "_M_X64=100", "_MSC_VER=1900"}},
	{name: "ilp32", long: 4, pointer: 4, wide: 4, defines: []string{"__GNUC__=13", "__ILP32__=1", "__linux__=1"}},
}

// DataModel is the option of the sizes of types.
var DataModel = schema.Option{
	Name: "data-model", Title: "Sizes of C types", Default: models[0].name, Values: []string{models[1].name, models[2].name},
	Doc: "lp64 has long and pointers of 8 bytes (Linux, macOS), llp64 long of 4 (Windows), ilp32 both of 4",
}

// Endian is the option of the byte order.
var Endian = schema.Option{
	Name: "endian", Title: "Byte order", Default: "little", Values: []string{"big"},
	Doc: "byte order of numbers whose type does not say it: little or big",
}

// typeKind is the kind of a type.
type typeKind uint8

const (
	integerKind typeKind = iota
	boolKind
	charKind // a character, of which an array is text
	byteKind // an unsigned character, of which an array is bytes
	floatKind
	pointerKind
	opaqueKind // shown as bytes
	voidKind
	structKind
	arrayKind
)

// typ is a type with its size.
type typ struct {
	kind        typeKind
	size, align int // bytes
	signed      bool
	ordered     bool // has its own byte order
	order       schema.Order
	enum        *enum
	shape       *shape
	elem        *typ
	n           int // elements; -1: as many as there are
	name        string
}

func (t *typ) isInteger() bool {
	return t.kind == integerKind || t.kind == charKind || t.kind == byteKind || t.kind == boolKind
}

// unsized reports whether an array has no number of elements.
func (t *typ) unsized() bool { return t.kind == arrayKind && t.n < 0 }

// builtin is a type that needs no definition.
type builtin struct {
	names  string
	kind   typeKind
	size   int // bytes; 0: depends on the data model
	signed bool
	doc    string
}

// builtins are the types of the language and of its headers, and short names that are common in headers. Definitions of the project come first.
var builtins = []builtin{
	{"char", charKind, 1, true, "A character; an array of them is text, up to the first zero byte."},
	{"char8_t", charKind, 1, false, "A character of UTF-8."},
	{"bool, _Bool", boolKind, 1, false, "A byte that is 0 or 1."},
	{"uint8_t, uint8, u8, __u8, u_int8_t, UINT8, unsigned char, uchar, u_char, UCHAR, BYTE, byte, std::byte, U8, Uint8, Byte, ubyte", byteKind, 1, false, "A byte; an array of them is bytes."},
	{"int8_t, int8, s8, i8, __s8, INT8, signed char, sbyte, S8, Sint8, int_least8_t", integerKind, 1, true, "A signed integer of 8 bits."},
	{"uint_least8_t, BOOLEAN", integerKind, 1, false, "An unsigned integer of 8 bits."},
	{"uint16_t, uint16, u16, __u16, u_int16_t, UINT16, unsigned short, ushort, u_short, USHORT, WORD, U16, Uint16, uint_least16_t", integerKind, 2, false, "An unsigned integer of 16 bits."},
	{"int16_t, int16, s16, i16, __s16, INT16, short, SHORT, S16, Sint16, int_least16_t", integerKind, 2, true, "A signed integer of 16 bits."},
	{"uint32_t, uint32, u32, __u32, u_int32_t, UINT32, unsigned int, unsigned, uint, u_int, UINT, DWORD, ULONG, U32, Uint32, DWORD32, ULONG32, uint_least32_t, char32_t", integerKind, 4, false, "An unsigned integer of 32 bits."},
	{"int32_t, int32, s32, i32, __s32, INT32, int, INT, LONG, BOOL, S32, Sint32, LONG32, int_least32_t", integerKind, 4, true, "A signed integer of 32 bits."},
	{"uint64_t, uint64, u64, __u64, u_int64_t, UINT64, unsigned long long, QWORD, ULONGLONG, U64, Uint64, DWORD64, ULONG64, uint_least64_t, uintmax_t, DWORDLONG", integerKind, 8, false, "An unsigned integer of 64 bits."},
	{"int64_t, int64, s64, i64, __s64, INT64, long long, LONGLONG, S64, Sint64, LONG64, int_least64_t, intmax_t", integerKind, 8, true, "A signed integer of 64 bits."},
	{"unsigned long, ulong, u_long, size_t, std::size_t, uintptr_t, SIZE_T, UINT_PTR, ULONG_PTR, DWORD_PTR, uint_fast16_t, uint_fast32_t", integerKind, 0, false, "An unsigned integer of the size of the data model."},
	{"long, ssize_t, intptr_t, ptrdiff_t, time_t, off_t, INT_PTR, LONG_PTR, int_fast16_t, int_fast32_t", integerKind, 0, true, "A signed integer of the size of the data model."},
	{"float, FLOAT, float32, float32_t, f32, _Float32", floatKind, 4, false, "A floating-point number of 32 bits."},
	{"double, DOUBLE, float64, float64_t, f64, _Float64", floatKind, 8, false, "A floating-point number of 64 bits."},
	{"_Float16", floatKind, 2, false, "A floating-point number of 16 bits."},
	{"long double, __int128, unsigned __int128", opaqueKind, 16, false, "16 bytes, which are shown as they are."},
	{"char16_t, WCHAR", charKind, 2, false, "A code unit of UTF-16; an array of them is text."},
	{"wchar_t", charKind, 0, false, "A character of 4 bytes, or with the data model llp64 of 2: then an array is text in UTF-16."},
	{"void", voidKind, 0, false, "Nothing; only pointers to it have a size."},
	{"__int8", integerKind, 1, true, ""},
	{"__int16", integerKind, 2, true, ""},
	{"__int32", integerKind, 4, true, ""},
	{"__int64", integerKind, 8, true, ""},
	{"unsigned __int8", byteKind, 1, false, ""},
	{"unsigned __int16", integerKind, 2, false, ""},
	{"unsigned __int32", integerKind, 4, false, ""},
	{"unsigned __int64", integerKind, 8, false, ""},
}

// ordered are prefixes of integers whose names have a byte order: be16, be32_t, __be32, le16, u32be.
var orderedNames = func() map[string]*typ {
	out := map[string]*typ{}
	for _, o := range []struct {
		word  string
		order schema.Order
	}{{"le", schema.Little}, {"be", schema.Big}} {
		for _, n := range []struct {
			bits string
			size int
		}{{"16", 2}, {"32", 4}, {"64", 8}} {
			for _, s := range []struct {
				sign   string
				signed bool
			}{{"", false}, {"u", false}, {"s", true}, {"i", true}, {"int", true}, {"uint", false}} {
				t := &typ{kind: integerKind, size: n.size, align: n.size, signed: s.signed, ordered: true, order: o.order}
				forms := []string{o.word + s.sign + n.bits, "__" + o.word + s.sign + n.bits, o.word + "_" + s.sign + n.bits, o.word + "_" + s.sign + n.bits + "_t", o.word + s.sign + n.bits + "_t"}
				if s.sign != "" {
					forms = append(forms, s.sign+n.bits+o.word, s.sign+n.bits+"_"+o.word, s.sign+n.bits+o.word+"_t")
				}
				for _, f := range forms {
					if out[f] == nil {
						out[f] = t
					}
				}
			}
		}
	}
	return out
}()

// builtinTypes are the builtins by name.
var builtinTypes = func() map[string]*builtin {
	out := map[string]*builtin{}
	for i := range builtins {
		for _, name := range strings.Split(builtins[i].names, ", ") {
			out[name] = &builtins[i]
		}
	}
	return out
}()

func builtinNames() []string {
	names := append(keys(builtinTypes), keys(orderedNames)...)
	return slices.DeleteFunc(names, func(s string) bool { return strings.HasPrefix(s, "__") })
}

// builtinNamed returns the type of a name that needs no definition; nil if there is none.
func (u *unit) builtinNamed(name string) *typ {
	if t := orderedNames[name]; t != nil {
		return t
	}
	b := builtinTypes[strings.TrimPrefix(name, "::")]
	if b == nil {
		if b = builtinTypes[strings.TrimPrefix(name, "std::")]; b == nil {
			return nil
		}
	}
	t := &typ{kind: b.kind, size: b.size, align: b.size, signed: b.signed, name: name}
	if b.size == 0 && b.kind != voidKind {
		switch {
		case b.kind == charKind:
			t.size = u.model.wide
		case name == "long" || name == "unsigned long" || name == "ulong" || name == "u_long":
			t.size = u.model.long
		case name == "time_t" || name == "off_t":
			t.size = 8
			if u.model.pointer == 4 {
				t.size = 4
			}
		default:
			t.size = u.model.pointer
		}
		t.align = t.size
	}
	return t
}

// pointerType is a pointer.
func (u *unit) pointerType() *typ {
	return &typ{kind: pointerKind, size: u.model.pointer, align: u.model.pointer}
}

// resolve returns the type of an expression; nil if it has none, which has been reported.
func (u *unit) resolve(x *typeExpr, e env) *typ {
	if e.depth++; e.depth > maxDepth {
		u.report(tooDeep(x.at))
		return nil
	}
	if x.pointer {
		return u.pointerType()
	}
	switch {
	case x.prim != "":
		t := u.builtinNamed(x.prim)
		if t == nil {
			u.report(unknownType(x.at, x.prim))
		}
		return t
	case x.def != nil:
		return u.defined(x.def, x, e)
	case len(x.path) == 0:
		d := notConstant(x.at, "is no type")
		u.report(d)
		return nil
	}
	name := strings.Join(x.path, "::")
	if b, ok := e.params[name]; ok && !b.isNumber {
		return b.typ
	}
	if name == "std::array" && len(x.args) == 2 {
		t := u.resolve(x.args[0], e)
		if t == nil || x.args[1].value == nil {
			return nil
		}
		n, bad := u.evaluate(x.args[1].value, e)
		if bad != nil {
			u.report(*bad)
			return nil
		}
		return u.array(t, n, x)
	}
	d := u.typeNamed(x.path, e.scope)
	if d == nil {
		if t := u.builtinNamed(name); t != nil {
			return t
		}
		if x.path[0] != "std" && u.load(x.path, e.scope) {
			d = u.typeNamed(x.path, e.scope)
		}
	}
	if d == nil {
		u.report(u.meant(unknownType(x.at, name), x.at, name, u.typeNames()))
		return nil
	}
	return u.defined(d, x, e)
}

// array returns the type of an array; nil if it is too large.
func (u *unit) array(t *typ, n int64, x *typeExpr) *typ {
	if n < 0 || n > maxMessage || t.size > 0 && n > maxMessage/int64(t.size) {
		u.report(badSize(x.at, n))
		return nil
	}
	if t.size > 0 && t.align > t.size {
		u.report(badElement(x.at))
		return nil
	}
	return &typ{kind: arrayKind, elem: t, n: int(n), size: int(n) * t.size, align: t.align, name: t.name}
}

// defined returns the type of a definition.
func (u *unit) defined(d *typeDef, x *typeExpr, e env) *typ {
	switch {
	case d.record != nil:
		r := d.record
		params, key, ok := u.bind(r.params, x, e)
		if !ok {
			return nil
		}
		s := u.shapeOf(r, params, key, x, e.depth)
		if s == nil {
			return nil
		}
		return &typ{kind: structKind, size: s.size, align: s.align, shape: s, name: s.name}
	case d.enum != nil:
		return u.enumType(d.enum, e.depth)
	}
	params, _, ok := u.bind(d.params, x, e)
	if !ok {
		return nil
	}
	in := env{scope: d.scope, params: params, depth: e.depth}
	t := u.resolve(d.alias, in)
	if t == nil {
		return nil
	}
	return u.declared(t, &d.of, in, x, false)
}

// declared returns the type of a declarator. The array of a member may have no number of elements, and attributes are those of the member.
func (u *unit) declared(t *typ, d *declarator, e env, x *typeExpr, member bool) *typ {
	if d.pointer {
		t = u.pointerType()
	}
	for i := len(d.dims) - 1; i >= 0; i-- {
		if d.dims[i] == nil {
			if i > 0 || !member {
				u.report(noSize(x.at))
				return nil
			}
			t = &typ{kind: arrayKind, elem: t, n: -1, align: t.align, name: t.name}
			break
		}
		n, bad := u.evaluate(d.dims[i], e)
		if bad != nil {
			u.report(*bad)
			return nil
		}
		if n < 0 || n > maxMessage {
			u.report(badSize(d.dims[i].at, n))
			return nil
		}
		if t = u.array(t, n, x); t == nil {
			return nil
		}
	}
	if align := u.alignment(d.attrs.align, e, true); align > 0 && !member {
		copied := *t
		copied.align = align
		t = &copied
	}
	return t
}

// alignment returns the alignment of attributes in bytes, 0 if there is none: the largest one, of a type the last one, as in GCC.
func (u *unit) alignment(of []*expr, e env, ofType bool) (align int) {
	for _, x := range of {
		n := int64(16)
		if x != nil {
			v, bad := u.evaluate(x, e)
			if bad != nil {
				u.report(*bad)
				continue
			}
			if n = v; n < 0 || n > 1<<16 || n&(n-1) != 0 {
				u.report(badAlignment(x.at, n))
				continue
			}
		}
		if align = max(align, int(n)); ofType {
			align = int(n)
		}
	}
	return align
}

// bind returns the arguments of a template by the names of its parameters, and a text that identifies them.
func (u *unit) bind(params []string, x *typeExpr, e env) (map[string]binding, string, bool) {
	if params == nil {
		return nil, "", true
	}
	if len(params) != len(x.args) {
		u.report(templateArguments(x.at, len(params)))
		return nil, "", false
	}
	out := map[string]binding{}
	var key strings.Builder
	for i, a := range x.args {
		b := u.argument(a, e)
		if b == nil {
			return nil, "", false
		}
		out[params[i]] = *b
		if b.isNumber {
			key.WriteString("," + itoa(b.n))
		} else {
			key.WriteString("," + b.typ.name + ":" + itoa(int64(b.typ.size)) + ":" + itoa(int64(b.typ.align)) + ":" + itoa(int64(b.typ.kind)))
		}
	}
	return out, key.String(), true
}

// argument returns the value of an argument of a template: a number, or a type.
func (u *unit) argument(a *typeExpr, e env) *binding {
	if a.value != nil {
		number := len(a.path) == 0
		if b, ok := e.params[a.value.name()]; ok && a.value.op == "name" {
			return &b
		}
		var code *constant
		if a.value.op == "name" {
			if c := u.constantNamed(a.value.path, e.scope); c != nil {
				code, number = c, true
			} else if u.pp.macros[a.value.name()] != nil {
				number = true
			}
		}
		if number {
			n, bad := u.evaluate(a.value, e)
			if bad != nil {
				u.report(*bad)
				return nil
			}
			if code != nil && code.enum == nil {
				code = nil
			}
			return &binding{isNumber: true, n: n, code: code}
		}
	}
	t := u.resolve(a, e)
	if t == nil {
		return nil
	}
	return &binding{typ: t}
}

// enumType returns the integer of an enum: as GCC chooses it, if the definition does not say.
func (u *unit) enumType(e *enum, depth int) *typ {
	if e.kind != nil {
		return e.kind
	}
	name := e.name
	scope := u.root
	if e.typeDef != nil {
		scope = e.typeDef.scope
	}
	if e.typ != nil {
		t := u.resolve(e.typ, env{scope: scope, depth: depth})
		if t == nil || !t.isInteger() {
			return nil
		}
		copied := *t
		copied.kind, copied.enum, copied.name = integerKind, e, name
		e.kind = &copied
		return e.kind
	}
	low, high := int64(0), int64(0)
	for _, c := range e.values {
		v, bad := u.constant(c, depth)
		if bad != nil {
			u.report(*bad)
			return nil
		}
		low, high = min(low, v), max(high, v)
	}
	size := 4
	fits := func(bits int) bool {
		if low < 0 {
			return low >= -1<<(bits-1) && high < 1<<(bits-1)
		}
		return bits == 64 || high < 1<<bits
	}
	if e.packed {
		for size = 1; size < 8 && !fits(8*size); size *= 2 {
		}
	} else if !fits(32) {
		size = 8
	}
	e.kind = &typ{kind: integerKind, size: size, align: size, signed: low < 0, enum: e, name: name}
	return e.kind
}

// enumOf returns the names of the values of an enum.
func (u *unit) enumOf(e *enum, t *typ) *schema.Enum {
	out := &schema.Enum{Name: e.name}
	for _, c := range e.values {
		if v, bad := u.constant(c, 0); bad == nil {
			if t.size < 8 {
				v &= 1<<(8*t.size) - 1
			}
			out.Values = append(out.Values, schema.EnumValue{Name: c.name, Value: uint64(v)})
		}
	}
	return out
}
