package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/transform"

	"wirebench/defs/source"
)

// Charset is a character encoding.
type Charset uint8

// The character encodings with code of their own, followed by those of the table. UTF-16 may contain lone surrogates; in Latin1 every byte is
// the code point of its value.
const (
	UTF16LE Charset = iota
	Latin1
	UTF8
	UTF16BE
	firstTable
)

// tableCharset is an encoding in which bytes below 0x80 are ASCII.
type tableCharset struct {
	names    []string // the first one is shown
	encoding encoding.Encoding
}

var charsets = func() []tableCharset {
	one := func(m *charmap.Charmap, names ...string) tableCharset { return tableCharset{names, m} }
	return []tableCharset{
		one(charmap.Windows1250, "windows-1250", "cp1250"),
		one(charmap.Windows1251, "windows-1251", "cp1251"),
		one(charmap.Windows1252, "windows-1252", "cp1252"),
		one(charmap.Windows1253, "windows-1253", "cp1253"),
		one(charmap.Windows1254, "windows-1254", "cp1254"),
		one(charmap.Windows1255, "windows-1255", "cp1255"),
		one(charmap.Windows1256, "windows-1256", "cp1256"),
		one(charmap.Windows1257, "windows-1257", "cp1257"),
		one(charmap.Windows1258, "windows-1258", "cp1258"),
		one(charmap.Windows874, "windows-874", "cp874"),
		one(charmap.ISO8859_2, "iso-8859-2", "latin2"),
		one(charmap.ISO8859_3, "iso-8859-3", "latin3"),
		one(charmap.ISO8859_4, "iso-8859-4", "latin4"),
		one(charmap.ISO8859_5, "iso-8859-5"),
		one(charmap.ISO8859_6, "iso-8859-6"),
		one(charmap.ISO8859_7, "iso-8859-7"),
		one(charmap.ISO8859_8, "iso-8859-8"),
		one(charmap.ISO8859_9, "iso-8859-9", "latin5"),
		one(charmap.ISO8859_10, "iso-8859-10", "latin6"),
		one(charmap.ISO8859_13, "iso-8859-13"),
		one(charmap.ISO8859_14, "iso-8859-14"),
		one(charmap.ISO8859_15, "iso-8859-15", "latin9"),
		one(charmap.ISO8859_16, "iso-8859-16"),
		one(charmap.KOI8R, "koi8-r"),
		one(charmap.KOI8U, "koi8-u"),
		one(charmap.CodePage437, "ibm437", "cp437"),
		one(charmap.CodePage850, "ibm850", "cp850"),
		one(charmap.CodePage852, "ibm852", "cp852"),
		one(charmap.CodePage855, "ibm855", "cp855"),
		one(charmap.CodePage858, "ibm858", "cp858"),
		one(charmap.CodePage866, "ibm866", "cp866"),
		one(charmap.Macintosh, "macintosh"),
		one(charmap.MacintoshCyrillic, "x-mac-cyrillic"),
		{[]string{"shift_jis", "shift-jis", "sjis", "cp932"}, japanese.ShiftJIS},
		{[]string{"euc-jp"}, japanese.EUCJP},
		{[]string{"euc-kr", "cp949"}, korean.EUCKR},
		{[]string{"gbk", "gb2312", "cp936"}, simplifiedchinese.GBK},
		{[]string{"gb18030"}, simplifiedchinese.GB18030},
		{[]string{"big5", "cp950"}, traditionalchinese.Big5},
	}
}()

// CharsetNamed returns the encoding of a name, in any case.
func CharsetNamed(name string) (c Charset, ok bool) {
	name = strings.ToLower(name)
	switch name {
	case "utf-8", "utf8", "ascii", "us-ascii":
		return UTF8, true
	case "utf-16le", "utf16le", "ucs2", "ucs-2", "utf-16", "utf16":
		return UTF16LE, true
	case "utf-16be", "utf16be":
		return UTF16BE, true
	case "latin1", "iso-8859-1", "binary":
		return Latin1, true
	}
	for i := range charsets {
		if slices.Contains(charsets[i].names, name) {
			return firstTable + Charset(i), true
		}
	}
	return 0, false
}

// Encoding is the option of dialects whose texts have one byte per code unit, in an encoding that definitions need not name. No value
// changes what the bytes of a message explain.
var Encoding = Option{
	Name: "encoding", Title: "Encoding of text", Doc: "encoding of text that does not name one: latin1, utf-8, windows-1251, shift_jis ...", Default: "latin1",
	Values: byteCharsets(),
	Read: func(value string) (string, error) {
		c, err := ByteCharset(value)
		return c.name(), err
	},
	Tries: func(*source.File) []string { return nil },
}

// byteCharsets returns the names of the encodings with one byte per code unit, the default first.
func byteCharsets() []string {
	names := []string{Latin1.name(), UTF8.name()}
	for i := range charsets {
		names = append(names, charsets[i].names[0])
	}
	return names
}

// ByteCharset returns the encoding of a name, which must have one byte per code unit.
func ByteCharset(name string) (Charset, error) {
	c, ok := CharsetNamed(name)
	switch {
	case !ok:
		return Latin1, fmt.Errorf("unknown encoding; for example %s", strings.Join(byteCharsets()[:8], ", "))
	case c.Unit() != 1:
		return Latin1, fmt.Errorf("%s has two bytes per code unit; these texts have one", c.name())
	}
	return c, nil
}

// Encoding returns the encoding of text that does not name one.
func (o Options) Encoding() Charset {
	c, err := ByteCharset(o.Values[Encoding.Name])
	if err != nil {
		return Latin1
	}
	return c
}

// CharsetNames returns the names of all encodings, one of each.
func CharsetNames() []string {
	names := []string{UTF8.name(), UTF16LE.name(), UTF16BE.name(), Latin1.name()}
	for i := range charsets {
		names = append(names, charsets[i].names[0])
	}
	return names
}

// name returns the name of the encoding in settings.
func (c Charset) name() string {
	if c >= firstTable {
		return c.String()
	}
	return [...]string{"utf-16le", "latin1", "utf-8", "utf-16be"}[c]
}

// String returns a name of the encoding.
func (c Charset) String() string {
	if c >= firstTable {
		return charsets[c-firstTable].names[0]
	}
	return [...]string{"utf16le", "latin1", "utf8", "utf16be"}[c]
}

// Unit returns the number of bytes of one code unit.
func (c Charset) Unit() int {
	if c == UTF16LE || c == UTF16BE {
		return 2
	}
	return 1
}

// Table reports whether Next and Append are for the encoding.
func (c Charset) Table() bool { return c >= firstTable }

// Next reads a character of an encoding of the table. A byte that is not part of one is the low surrogate U+DC00 + byte.
func (c Charset) Next(b []byte) (r rune, n int) {
	if b[0] < 0x80 {
		return rune(b[0]), 1
	}
	t := &charsets[c-firstTable]
	if m, ok := t.encoding.(*charmap.Charmap); ok {
		if r = m.DecodeByte(b[0]); r == utf8.RuneError {
			r = 0xdc00 | rune(b[0])
		}
		return r, 1
	}
	var out, back [16]byte
	for n = 2; n <= min(4, len(b)); n++ {
		k, _, err := t.encoding.NewDecoder().Transform(out[:], b[:n], true)
		if err != nil {
			continue
		}
		r, size := utf8.DecodeRune(out[:k])
		if r == utf8.RuneError || size != k {
			continue
		}
		// Only characters that are written as the same bytes are shown as such, so that texts do not change.
		if k, _, err = t.encoding.NewEncoder().Transform(back[:], out[:k], true); err == nil && string(back[:k]) == string(b[:n]) {
			return r, n
		}
	}
	return 0xdc00 | rune(b[0]), 1
}

// Append appends a character in an encoding of the table. ok is false if the encoding does not have it.
func (c Charset) Append(dst []byte, r rune) (_ []byte, ok bool) {
	switch {
	case r < 0x80:
		return append(dst, byte(r)), true
	case r >= 0xdc80 && r <= 0xdcff:
		return append(dst, byte(r)), true
	}
	t := &charsets[c-firstTable]
	if m, is := t.encoding.(*charmap.Charmap); is {
		b, ok := m.EncodeRune(r)
		return append(dst, b), ok
	}
	out, _, err := transform.Bytes(t.encoding.NewEncoder(), utf8.AppendRune(nil, r))
	return append(dst, out...), err == nil
}
