package runtime

//lint:file-ignore ST1012 the names are those of the emitted package

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Incomplete means that more bytes could complete the message. Nothing was read.
var Incomplete = errors.New("incomplete message")

// Illegal means that the message is invalid, regardless of further bytes. Nothing was read.
var Illegal = errors.New("illegal message")

// Message is implemented by all messages.
type Message interface {
	// ReadBinary reads the message at the start of data and returns its size in bytes. It does not retain data. The error is Incomplete or
	// Illegal, or wraps one of them; the contents of the message are then undefined.
	ReadBinary(data []byte) (n int, err error)
	// AppendBinary appends the bytes of the message to dst. After an error it returns dst unchanged.
	AppendBinary(dst []byte) ([]byte, error)
}

// Hex is bytes, as hex in JSON.
type Hex []byte

func (b Hex) MarshalJSON() ([]byte, error) { return toHex(b), nil }

func (b *Hex) UnmarshalJSON(text []byte) error {
	some, err := unhex(text)
	if err == nil && some != nil {
		*b = some
	}
	return err
}

func toHex(b []byte) []byte { return []byte(`"` + hex.EncodeToString(b) + `"`) }

// unhex is the inverse of toHex. It returns nil for null.
func unhex(text []byte) ([]byte, error) {
	var s *string
	if err := json.Unmarshal(text, &s); err != nil || s == nil {
		return nil, err
	}
	return hex.DecodeString(*s)
}

// Uint8s is a list of numbers, also in JSON, where []uint8 would be text.
type Uint8s []uint8

func (l Uint8s) MarshalJSON() ([]byte, error) {
	wide := make([]uint16, len(l))
	for i, n := range l {
		wide[i] = uint16(n)
	}
	return json.Marshal(wide)
}

func (l *Uint8s) UnmarshalJSON(text []byte) error {
	var elems []json.RawMessage
	if err := json.Unmarshal(text, &elems); err != nil || elems == nil {
		return err
	}
	list := make(Uint8s, len(elems))
	for i, e := range elems {
		if err := json.Unmarshal(e, &list[i]); err != nil {
			return err
		}
	}
	*l = list
	return nil
}

// decode16 decodes UTF-16LE. A lone surrogate becomes the three bytes of its UTF-8 form, so that it is preserved.
func decode16(b []byte) string {
	s := make([]byte, 0, 128) // not on the heap
	for i := 0; i+1 < len(b); i += 2 {
		c := rune(b[i]) | rune(b[i+1])<<8
		if c < 0x80 {
			s = append(s, byte(c))
			continue
		}
		if c >= 0xd800 && c < 0xdc00 && i+3 < len(b) {
			if low := rune(b[i+2]) | rune(b[i+3])<<8; low >= 0xdc00 && low < 0xe000 {
				c = (c-0xd800)<<10 + (low - 0xdc00) + 0x10000
				i += 2
			}
		}
		if c >= 0xd800 && c < 0xe000 {
			s = append(s, 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f, 0x80|byte(c)&0x3f)
		} else {
			s = utf8.AppendRune(s, c)
		}
	}
	return string(s)
}

// next16 returns the character at a position, and the position after it. Invalid UTF-8 becomes U+FFFD, lone surrogates are those of decode16.
func next16(s string, i int) (c rune, after int) {
	c, n := utf8.DecodeRuneInString(s[i:])
	if c == utf8.RuneError && n == 1 && i+2 < len(s) && s[i] == 0xed && s[i+1]&0xe0 == 0xa0 && s[i+2]&0xc0 == 0x80 {
		c, n = 0xd000|rune(s[i+1]&0x3f)<<6|rune(s[i+2]&0x3f), 3
	}
	return c, i + n
}

// append16 is the inverse of decode16, units16 the number of its units.
func append16(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		if s[i] < 0x80 {
			b = append(b, s[i], 0)
			i++
			continue
		}
		var c rune
		if c, i = next16(s, i); c >= 0x10000 {
			c -= 0x10000
			high := 0xd800 + c>>10
			b = append(b, byte(high), byte(high>>8))
			c = 0xdc00 + c&0x3ff
		}
		b = append(b, byte(c), byte(c>>8))
	}
	return b
}

func units16(s string) (n int) {
	for i := 0; i < len(s); n++ {
		var c rune
		if c, i = next16(s, i); c >= 0x10000 {
			n++
		}
	}
	return n
}

// swap16 changes the order of the bytes of units.
func swap16(b []byte) []byte {
	for i := 0; i+1 < len(b); i += 2 {
		b[i], b[i+1] = b[i+1], b[i]
	}
	return b
}

// decodeLatin1 decodes characters of one byte each.
func decodeLatin1(b []byte) string {
	s := make([]byte, 0, 128)
	for _, c := range b {
		s = utf8.AppendRune(s, rune(c))
	}
	return string(s)
}

// appendLatin1 is the inverse of decodeLatin1. It also returns the first character that does not fit a byte, or 0.
func appendLatin1(b []byte, s string) (out []byte, wide rune) {
	for _, c := range s {
		if c > 0xff && wide == 0 {
			wide = c
		}
		b = append(b, byte(c))
	}
	return b, wide
}

func mask(bits int) uint64 { return 1<<bits - 1 } // a shift by 64 gives 0

// load reads an integer of any width, at off bits after the start of b.
func load(b []byte, off, width int, big bool) (v uint64) {
	if off%8 == 0 {
		switch b = b[off/8:]; {
		case width == 8:
			return uint64(b[0])
		case width == 16 && !big:
			return uint64(binary.LittleEndian.Uint16(b))
		case width == 32 && !big:
			return uint64(binary.LittleEndian.Uint32(b))
		case width == 64 && !big:
			return binary.LittleEndian.Uint64(b)
		case width == 16:
			return uint64(binary.BigEndian.Uint16(b))
		case width == 32:
			return uint64(binary.BigEndian.Uint32(b))
		case width == 64:
			return binary.BigEndian.Uint64(b)
		}
		off = 0
	}
	for i := 0; i < width; {
		at := off + i
		n := min(8-at%8, width-i)
		if big { // from the most significant bit on
			v = v<<n | uint64(b[at/8])>>(8-at%8-n)&mask(n)
		} else {
			v |= uint64(b[at/8]) >> (at % 8) & mask(n) << i
		}
		i += n
	}
	return v
}

// store writes an integer into zeros.
func store(b []byte, off, width int, big bool, v uint64) {
	if off%8 == 0 && width%8 == 0 {
		b = b[off/8 : (off+width)/8]
		switch {
		case width == 16 && !big:
			binary.LittleEndian.PutUint16(b, uint16(v))
			return
		case width == 32 && !big:
			binary.LittleEndian.PutUint32(b, uint32(v))
			return
		case !big:
			for i := range b {
				b[i] = byte(v >> (8 * i))
			}
			return
		}
		for i := range b {
			b[i] = byte(v >> (width - 8 - 8*i))
		}
		return
	}
	for i := 0; i < width; {
		at := off + i
		n := min(8-at%8, width-i)
		if big {
			b[at/8] |= byte(v >> (width - i - n) & mask(n) << (8 - at%8 - n))
		} else {
			b[at/8] |= byte(v >> i & mask(n) << (at % 8))
		}
		i += n
	}
}

// bit returns a boolean as a number.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
