package scan

import "fmt"

// HexLine parses the bytes of one message from a line of hex digits; blanks are ignored. An empty line is a message without bytes. The
// error contains the column, from 1, of the first character that is not hex.
func HexLine(line string) ([]byte, error) {
	return AppendHexLine(make([]byte, 0, len(line)/2), []byte(line))
}

// AppendHexLine appends the result of HexLine to dst.
func AppendHexLine(dst, line []byte) ([]byte, error) {
	at, first := 0, len(dst)
	for at+1 < len(line) { // most lines are pairs of digits
		if line[at] == ' ' {
			at++
			continue
		}
		hi, lo := hexDigit[line[at]], hexDigit[line[at+1]]
		if hi|lo >= 16 {
			break
		}
		dst = append(dst, hi<<4|lo)
		at += 2
	}
	digits, half := 2*(len(dst)-first), 0
	for col, c := range string(line[at:]) {
		v := -1
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\ufeff' && at+col == 0:
			continue
		case c < 0x80:
			v = int(int8(hexDigit[c]))
		}
		if v < 0 {
			return nil, fmt.Errorf("column %d: %q is not a hex digit", len([]rune(string(line[:at+col])))+1, c)
		}
		if digits++; digits%2 == 1 {
			half = v
			continue
		}
		dst = append(dst, byte(half<<4|v))
	}
	if digits%2 == 1 {
		return nil, fmt.Errorf("an odd number of hex digits (%d)", digits)
	}
	return dst, nil
}

// hexDigit maps bytes to hex digits, and other bytes to 0xff.
var hexDigit = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range byte(16) {
		t["0123456789abcdef"[i]], t["0123456789ABCDEF"[i]] = i, i
	}
	return t
}()
