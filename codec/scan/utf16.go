package scan

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF-16 with a byte order mark, as written by redirection in Windows shells.

// UTF16Order returns the byte order indicated by a byte order mark at the start of head, or nil if there is none.
func UTF16Order(head []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return binary.LittleEndian
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return binary.BigEndian
	}
	return nil
}

// AppendUTF8 appends the UTF-16 text b to out as UTF-8. Invalid units, and an odd byte at the end, become U+FFFD.
func AppendUTF8(out, b []byte, order binary.ByteOrder) []byte {
	for len(b) >= 2 {
		r := rune(order.Uint16(b))
		b = b[2:]
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if len(b) >= 2 {
				pair = utf16.DecodeRune(r, rune(order.Uint16(b)))
			}
			if r = pair; pair != utf8.RuneError {
				b = b[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	if len(b) > 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}

// UTF16 is a reader that converts UTF-16 to UTF-8.
type UTF16 struct {
	in    *Input
	order binary.ByteOrder
	begun bool
	out   []byte
	rest  []byte // unread bytes of out
}

// NewUTF16 returns a reader of the UTF-16 text in, which starts with its byte order mark.
func NewUTF16(in *Input, order binary.ByteOrder) *UTF16 {
	return &UTF16{in: in, order: order}
}

func (u *UTF16) Read(p []byte) (int, error) {
	if !u.begun {
		u.in.Skip(2)
		u.begun = true
	}
	if len(u.rest) == 0 {
		b := u.in.Peek(32 << 10)
		if len(b) == 0 {
			return u.in.Read(nil)
		}
		n := len(b)
		if n == 32<<10 { // more may follow: an incomplete pair waits for its other half
			if last := u.order.Uint16(b[n-2:]); last >= 0xd800 && last < 0xdc00 {
				n -= 2
			}
		}
		u.out = AppendUTF8(u.out[:0], b[:n], u.order)
		u.rest = u.out
		u.in.Skip(int64(n))
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}
