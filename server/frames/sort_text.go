package frames

import (
	"unicode"
	"unicode/utf8"
)

// appendSortText appends a text such that comparing bytes gives a natural order: case is ignored, and numbers in the text are compared by
// value. It appends at most most bytes, none of them 0.
func appendSortText(dst, text []byte, most int) []byte {
	end := len(dst) + most
	for i := 0; i < len(text) && len(dst) < end; {
		switch c := text[i]; {
		case c == '0' && i+1 < len(text) && text[i+1]|0x20 == 'x': // hex keeps all its digits
			dst, i = append(dst, '0', 'x'), i+2
			for ; i < len(text) && len(dst) < end && isHex(text[i]); i++ {
				dst = append(dst, text[i]|0x20) // digits have this bit set
			}
		case c >= '0' && c <= '9':
			k := i
			for k < len(text) && text[k] >= '0' && text[k] <= '9' {
				k++
			}
			for i < k-1 && text[i] == '0' {
				i++
			}
			// A number with more digits is larger, so the number of digits comes first.
			dst = append(dst, '0', byte(min(k-i, 255)))
			dst = append(dst, text[i:min(k, i+most)]...)
			i = k
		case c >= 'A' && c <= 'Z':
			dst = append(dst, c+'a'-'A')
			i++
		case c == 0:
			dst = append(dst, 1)
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n <= 1 {
				dst = append(dst, c)
			} else {
				dst = utf8.AppendRune(dst, unicode.ToLower(r))
			}
			i += n
		}
	}
	return dst[:min(len(dst), end)]
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
