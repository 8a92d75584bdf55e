package scan

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

func IsWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

func IsSpace(c byte) bool { return c == ' ' || c == '\t' }

func IsHex(c byte) bool { return HexValue[c] < 16 }

// HexValue is the value of a hex digit, notHex for other characters.
var HexValue = func() (v [256]byte) {
	for i := range v {
		v[i] = NotHex
	}
	for i := byte(0); i < 10; i++ {
		v['0'+i] = i
	}
	for i := byte(0); i < 6; i++ {
		v['a'+i], v['A'+i] = 10+i, 10+i
	}
	return v
}()

const NotHex = 0xff

const ByteOrderMark = "\ufeff"

// Quote quotes what a user wrote, shortened and free of control characters.
func Quote(s string) string {
	const most = 24
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s[:min(len(s), 4*most)])[:most]) + "…"
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(s, "\ufffd"))
}

// StartsLikeText is head without what may stand before a text: white space, and a byte order mark.
func StartsLikeText(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), " \t\r\n")
}
