package subspace

import (
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/text"
)

// typeKind is the kind of a type.
type typeKind uint8

const (
	noType typeKind = iota
	unsignedType
	signedType
	floatType
	boolType
	textType
	cstrType
	bytesType
	nestedType
	padType
	constType
)

// typeWord is a word that starts a row with a type.
type typeWord struct {
	name string
	is   typeKind
	size string // for editors
	doc  string
}

// types are the words of types. Those of numbers are only examples: any width from 1 to 64 bits is valid.
var types = []typeWord{
	{"u8", unsignedType, "1 byte", "A number from 0 to 255; any width from 1 to 64 bits may be written: u5."},
	{"u16", unsignedType, "2 bytes", "A number from 0 to 65535; u16be is big-endian."},
	{"u32", unsignedType, "4 bytes", "A number from 0 to 4294967295."},
	{"u64", unsignedType, "8 bytes", "An unsigned number of 64 bits."},
	{"i8", signedType, "1 byte", "A number from -128 to 127; any width from 1 to 64 bits may be written: i12."},
	{"i16", signedType, "2 bytes", "A number from -32768 to 32767; i16be is big-endian."},
	{"i32", signedType, "4 bytes", "A number from -2147483648 to 2147483647."},
	{"i64", signedType, "8 bytes", "A signed number of 64 bits."},
	{"f32", floatType, "4 bytes", "A floating-point number of 32 bits."},
	{"f64", floatType, "8 bytes", "A floating-point number of 64 bits."},
	{"bool", boolType, "size of the row", "A boolean, false if all bits are 0."},
	{"text", textType, "size of the row", "Latin-1 text of a fixed size, where a zero ends it, or up to the end."},
	{"cstr", cstrType, "1 byte or more", "Zero-terminated Latin-1 text."},
	{"bytes", bytesType, "size of the row", "Opaque bytes."},
	{"nested", nestedType, "size of the row", "The bytes of a nested packet."},
	{"pad", padType, "size of the row", "Padding bits."},
	{"const", constType, "size of the row", "Constant bytes: \"const 0x1234\" is 34 12."},
}

// rowType is the type of a row as written.
type rowType struct {
	is      typeKind
	bits    int // numbers
	big     bool
	isArray bool
	length  string // of an array: a number, the name of a row, or ""
	meant   string // the type word to use in place of an alternative spelling
}

// readType parses a type. ok is false if the word is not a type; wrong describes the error of an invalid type.
func readType(word string) (t rowType, wrong string, ok bool) {
	base, inner, isArray := strings.Cut(word, "[")
	if isArray {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok || strings.Contains(inner, "[") {
			if _, _, ok := readType(base); ok {
				return t, "it needs one pair of brackets: u16[4], u16[] or u16[count]", true
			}
			return t, "", false
		}
		t.isArray, t.length = true, inner
	}
	for _, w := range types {
		if w.name == base && w.is > floatType {
			t.is = w.is
		}
	}
	if t.is == noType {
		if wrong, ok = t.number(base); !ok || wrong != "" {
			return t, wrong, ok
		}
	}
	switch {
	case t.isArray && (t.is == padType || t.is == constType || t.is == textType || t.is == bytesType || t.is == nestedType):
		return t, `consecutive values are numbers or cstr; use a sentence: "names repeat from offset 4, 2 times"`, true
	case t.isArray && t.length != "" && !isDigits(t.length) && !text.IsName(t.length):
		return t, "brackets contain a number or the name of a row", true
	}
	return t, "", true
}

// number parses the name of a type of numbers.
func (t *rowType) number(base string) (wrong string, ok bool) {
	name, digits := base, ""
	if i := strings.IndexAny(base, "0123456789"); i > 0 {
		name, digits = base[:i], base[i:]
	}
	digits, t.big = strings.CutSuffix(digits, "be")
	digits, isLittle := strings.CutSuffix(digits, "le")
	digits, isC := strings.CutSuffix(digits, "_t")
	bits, err := strconv.Atoi(digits)
	if err != nil || !isDigits(digits) {
		return "", false
	}
	letter := name
	switch name {
	case "u", "i", "f":
	case "uint":
		letter = "u"
	case "int", "s", "sint":
		letter = "i"
	case "float":
		letter = "f"
	default:
		return "", false
	}
	t.is, t.bits = map[string]typeKind{"u": unsignedType, "i": signedType, "f": floatType}[letter], bits
	if letter != name || isLittle || isC {
		t.meant = letter + digits
		if t.big {
			t.meant += "be"
		}
	}
	switch {
	case t.is == floatType && bits != 32 && bits != 64:
		return "floating-point numbers are f32 and f64", true
	case bits < 1 || bits > 64:
		return "numbers have from 1 to 64 bits", true
	case t.big && bits%8 != 0:
		return "a big-endian number is whole bytes", true
	}
	return "", true
}

// isTypeWord reports whether a word is a type, possibly an invalid one.
func isTypeWord(word string) bool {
	_, _, ok := readType(word)
	return ok
}

// scalar returns the type of a number of that many bits.
func (t rowType) scalar(bits int, order schema.Order) *schema.Number {
	n := &schema.Number{Bits: bits, Order: order}
	if t.big {
		n.Order = schema.Big
	}
	if bits <= 8 || bits%8 != 0 {
		n.Order = schema.Little
	}
	switch t.is {
	case signedType:
		n.Kind = schema.Signed
	case floatType:
		n.Kind = schema.Float
	case boolType:
		n.Kind = schema.Bool
	}
	return n
}

// hexNumber parses a number such as 0x0E.
func hexNumber(s string) (n uint64, ok bool) {
	if len(s) < 3 || len(s) > 18 || s[0] != '0' || s[1]|0x20 != 'x' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:], 16, 64)
	return n, err == nil
}

// maxName is the maximum length of a name made from a sentence.
const maxName = 48

// asName makes a name from words, with "_" in place of other characters. It returns "" if there are no letters or digits.
func asName(words string) string {
	var b strings.Builder
	for _, c := range []byte(words) {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteByte(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "_")
	if len(name) > maxName {
		name = name[:maxName]
		if i := strings.LastIndexByte(name, '_'); i > 0 {
			name = name[:i]
		}
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}
