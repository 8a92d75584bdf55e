package filter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/defs/schema"
)

// class is the comparison class of values.
type class uint8

const (
	cNone class = iota
	cNumber
	cBool
	cText
	cBytes
	cTime // nanoseconds since 1970
	cSpan // seconds
	cWord // one of a few words
	cList
	cGroup
)

func (c class) String() string {
	return [...]string{"nothing", "a number", "true or false", "text", "bytes", "a time", "a time span", "a word", "a list", "a group of fields"}[c]
}

// ty is the type of an expression.
type ty struct {
	class   class
	num     *schema.Number // of a field
	words   []string       // cWord
	free    bool           // text in which a bare word is the text itself
	ofDay   bool           // cTime: only the time of day
	field   bool           // a field of a message
	codes   bool           // cNumber: codes of messages, which may be written as their names
	group   string         // codes: of this group only, "" = of all
	address bool           // cText: of IP addresses
	uuid    bool           // cText: of a UUID, with lower-case digits
	label   string         // for mistakes
}

// says describes the type in words, with the name of the field.
func (t ty) says() string {
	s := t.class.String()
	if t.num != nil && t.num.Enum != nil {
		s = "a number with names"
	}
	if t.label == "" {
		return "this is " + s
	}
	return strconv.Quote(t.label) + " is " + s
}

// functionInfo describes a function.
type functionInfo struct {
	args, most int
	doc        string
	read       reader // for functions that read and write numbers
}

// functions by name. Those with a size convert numbers to bytes and bytes to numbers.
var functions = map[string]functionInfo{
	"len":      {1, 1, "characters of a text, bytes, or elements of a list", reader{}},
	"count":    {1, 1, "number of occurrences of the field, or of elements of the list", reader{}},
	"lower":    {1, 1, "text in lower case", reader{}},
	"upper":    {1, 1, "text in upper case", reader{}},
	"max":      {1, maxDepth, "greatest of the values of all arguments, numbers or times; an argument without a value does not count", reader{}},
	"min":      {1, maxDepth, "least of the values of all arguments, numbers or times; an argument without a value does not count", reader{}},
	"abs":      {1, 1, "a number without its sign", reader{}},
	"string":   {1, 1, "the decimal digits of an integer, or an address as text", reader{}},
	"hex":      {1, 1, "a number or bytes as hex text", reader{}},
	"utf16":    {1, 1, "bytes of a text in UTF-16, little-endian", reader{}},
	"utf8":     {1, 1, "bytes of a text in UTF-8", reader{}},
	"u8":       {1, 1, "one byte: a number as bytes, or bytes as a number", reader{size: 1}},
	"u16le":    {1, 1, "two bytes: a number as bytes, or bytes as a number", reader{size: 2}},
	"u16be":    {1, 1, "two bytes, most significant first", reader{size: 2, big: true}},
	"u32le":    {1, 1, "four bytes: a number as bytes, or bytes as a number", reader{size: 4}},
	"u32be":    {1, 1, "four bytes, most significant first", reader{size: 4, big: true}},
	"u64le":    {1, 1, "eight bytes: a number as bytes, or bytes as a number", reader{size: 8}},
	"u64be":    {1, 1, "eight bytes, most significant first", reader{size: 8, big: true}},
	"i8":       {1, 1, "one byte with a sign", reader{size: 1, signed: true}},
	"i16le":    {1, 1, "two bytes with a sign", reader{size: 2, signed: true}},
	"i16be":    {1, 1, "two bytes with a sign, most significant first", reader{size: 2, signed: true, big: true}},
	"i32le":    {1, 1, "four bytes with a sign", reader{size: 4, signed: true}},
	"i32be":    {1, 1, "four bytes with a sign, most significant first", reader{size: 4, signed: true, big: true}},
	"i64le":    {1, 1, "eight bytes with a sign", reader{size: 8, signed: true}},
	"i64be":    {1, 1, "eight bytes with a sign, most significant first", reader{size: 8, signed: true, big: true}},
	"varint":   {1, 1, "7 bits a byte, the least significant first, as in Protocol Buffers: a number as bytes, or bytes as a number", reader{size: 10, of: schema.LEB128}},
	"varintbe": {1, 1, "7 bits a byte, the most significant first", reader{size: 10, of: schema.VLQ}},
	"zigzag":   {1, 1, "7 bits a byte, the least significant first, with the sign in the lowest bit", reader{size: 10, of: schema.ZigZag, signed: true}},
	"f32":      {1, 2, "four bytes of a float; the second number is the tolerance", reader{size: 4, float: true}},
	"f32be":    {1, 2, "four bytes of a float, most significant first", reader{size: 4, float: true, big: true}},
	"f64":      {1, 2, "eight bytes of a float; the second number is the tolerance", reader{size: 8, float: true}},
	"f64be":    {1, 2, "eight bytes of a float, most significant first", reader{size: 8, float: true, big: true}},
}

var functionNames = slices.Sorted(maps.Keys(functions))

// typeOf returns the type of a field of a message, and the conversion of its bits to a value.
func typeOf(f *schema.Field) (ty, *conv) {
	t := ty{field: true}
	switch x := f.Type.(type) {
	case *schema.Number:
		if x.Var == schema.Long {
			t.class = cText
			return t, &conv{kind: convLong}
		}
		c := &conv{bits: uint(x.Bits), scale: x.Scale, add: x.Add}
		t.class, t.num = cNumber, x
		switch x.Kind {
		case schema.Signed:
			c.kind = convInt
		case schema.Bool:
			c.kind, c.scale, t.class = convBool, 0, cBool
		case schema.Float:
			c.kind = convFloat
		}
		if x.Scale != 0 && t.class == cBool {
			t.class = cNumber
		}
		return t, c
	case *schema.Bitfield:
		if x.Var == schema.Long {
			t.class = cText
			return t, &conv{kind: convLong}
		}
		t.class = cNumber
		return t, &conv{kind: convUint}
	case *schema.Text:
		t.class = cText
		return t, &conv{kind: convText}
	case *schema.Blob:
		if x.UUID {
			t.class, t.uuid = cText, true
			return t, &conv{kind: convUUID}
		}
		t.class = cBytes
		return t, &conv{kind: convBytes}
	case *schema.List:
		t.class = cList
		return t, &conv{kind: convUnits}
	}
	t.class = cGroup
	return t, nil
}

// Accepted forms of times, among them those that Wireshark shows. All are UTC.
var (
	dateForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly, "Jan 2, 2006 15:04:05", "Jan 2, 2006 15:04:05 -0700", "Jan 2, 2006 15:04", "Jan 2, 2006"}
	dayForms  = []string{"15:04:05", "15:04"}
)

// parseTime parses a time, or a time of day, as nanoseconds.
func parseTime(s string) (ns int64, ofDay, ok bool) {
	s = strings.Join(strings.Fields(s), " ")
	for _, zone := range [...]string{" UTC", " GMT"} {
		s = strings.TrimSuffix(s, zone)
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, s); err == nil {
			if y := t.Year(); y < 1700 || y > 2200 { // out of range
				return 0, false, false
			}
			return t.UnixNano(), false, true
		}
	}
	for _, form := range dayForms {
		if t, err := time.Parse(form, s); err == nil {
			midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
			return int64(t.Sub(midnight)), true, true
		}
	}
	return 0, false, false
}

// enumValue returns the value of an enum name.
func enumValue(n *schema.Number, name string) (value, bool) {
	for _, v := range n.Enum.Values {
		if v.Name == name {
			_, c := typeOf(&schema.Field{Type: n})
			c.scale = 0
			return c.number(v.Value), true
		}
	}
	return value{}, false
}

func enumNames(n *schema.Number) []string {
	out := make([]string, 0, len(n.Enum.Values))
	for _, v := range n.Enum.Values {
		out = append(out, v.Name)
	}
	return out
}

// oneOfThese returns the help that lists a few words.
func oneOfThese(word string, words []string) string {
	if help := didYouMean(word, words); help != "" {
		return help
	}
	if len(words) > 0 && words[0] == "" {
		words = words[1:]
	}
	if len(words) > 12 {
		return fmt.Sprintf("one of %s, ...", strings.Join(words[:12], ", "))
	}
	return "one of " + strings.Join(words, ", ")
}
