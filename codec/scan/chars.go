package scan

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// IsWord reports whether c is an ASCII letter, a digit or an underscore.
func IsWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsSpace reports whether c is a space or a tab.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' }

// IsHex reports whether c is a hex digit.
func IsHex(c byte) bool { return HexValue[c] < 16 }

// HexValue holds the value of each hex digit, and NotHex for other bytes. A table keeps plain hex at memory speed.
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

// NotHex marks bytes that are not hex digits in HexValue.
const NotHex = 0xff

// ByteOrderMark may begin a UTF-8 text.
const ByteOrderMark = "\ufeff"

// Quote quotes user text for a message, shortened and without control characters.
func Quote(s string) string {
	const most = 24
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s[:min(len(s), 4*most)])[:most]) + "…"
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(s, "\ufffd"))
}

// StartsLikeText returns head without a leading byte order mark and white space.
func StartsLikeText(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), " \t\r\n")
}
