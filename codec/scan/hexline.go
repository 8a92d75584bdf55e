package scan

import "fmt"

// HexLine reads the bytes of one message from one line of hex digits; blanks may stand anywhere. An empty line is a message of
// no bytes. The error says at which column, counted from 1, what is not hex.
func HexLine(line string) ([]byte, error) {
	out := make([]byte, 0, len(line)/2)
	digits, half := 0, 0
	for col, c := range line {
		v := -1
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\ufeff' && col == 0:
			continue
		case c >= '0' && c <= '9':
			v = int(c - '0')
		case c >= 'a' && c <= 'f':
			v = int(c-'a') + 10
		case c >= 'A' && c <= 'F':
			v = int(c-'A') + 10
		}
		if v < 0 {
			return nil, fmt.Errorf("column %d: %q is not a hex digit", len([]rune(line[:col]))+1, c)
		}
		if digits++; digits%2 == 1 {
			half = v
			continue
		}
		out = append(out, byte(half<<4|v))
	}
	if digits%2 == 1 {
		return nil, fmt.Errorf("an odd number of hex digits (%d)", digits)
	}
	return out, nil
}
