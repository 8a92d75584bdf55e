package paste

import (
	"strings"

	"wirebench/codec/scan"
)

// Literals of bytes in source code. The spellings of all languages are read alike, since few mean different things in two of them: a leading
// zero is octal in some, which a list tells by its language (list.go).

// numberEnd returns the end of the number at s[i:], with its sign, prefix and suffix; i if there is none.
func numberEnd(s string, i int) int {
	k := i
	if k < len(s) && (s[k] == '-' || s[k] == '+') {
		k++
	}
	if k >= len(s) {
		return i
	}
	at := func(n int) byte {
		if k+n < len(s) {
			return s[k+n]
		}
		return 0
	}
	switch c := s[k]; {
	case scan.IsDigit(c):
		end := wordEnd(s, k)
		if end < len(s) && s[end] == '#' && end-k <= 2 && end+1 < len(s) && scan.IsHex(s[end+1]) { // Erlang, Ada: 16#26, 16#26#
			if end = wordEnd(s, end+1); end < len(s) && s[end] == '#' {
				end++
			}
		} else if end+1 < len(s) && s[end] == '\'' && strings.IndexByte("hHdDbBoOuUiI", s[end+1]) >= 0 { // Verilog 8'h26, Nim 0x26'u8
			if n := wordEnd(s, end+1); n-end > 2 && (n == len(s) || s[n] != '\'') {
				end = n
			}
		}
		return end
	case k > i:
	case c == '$' && scan.IsHex(at(1)) && hexRun(s, k+1) == wordEnd(s, k+1)-k-1, c == '#' && (at(1) == '$' || at(1)|0x20 == 'x') && scan.IsHex(at(2)):
		return wordEnd(s, k+2)
	case c == '&' && at(1)|0x20 == 'h' && scan.IsHex(at(2)):
		return wordEnd(s, k+2)
	case c == '#' && scan.IsHex(at(1)) && scan.IsHex(at(2)) && (at(3) == ',' || at(3) == ')' || at(3) == ']' || at(3) == '}'):
		return k + 3
	}
	return i
}

// byteValue parses a number of source code. octal means that it has a leading zero, which only some languages read as octal.
func byteValue(s string) (v byte, octal, ok bool) {
	n, octal, ok := numberValue(s)
	return byte(n), octal, ok && n >= -128 && n <= 255
}

// numberValue is byteValue for numbers of up to 32 bits.
func numberValue(s string) (v int64, octal, ok bool) {
	s, negative := strings.CutPrefix(s, "-")
	s = strings.TrimPrefix(s, "+")
	if s == "" {
		return 0, false, false
	}
	base := int64(10)
	hash, last := strings.IndexByte(s, '#'), len(s)-1
	switch {
	case hash > 0:
		n, end := readNumber(s, 0, 10)
		if end != hash || n < 2 || n > 16 {
			return 0, false, false
		}
		s, base = strings.TrimSuffix(s[hash+1:], "#"), int64(n)
	case last > 0 && s[last]|0x20 == 'h' && hexRun(s, 0) == last: // assembler: 26h
		s, base = s[:last], 16
	default:
		mark := 0
		if mark, base = baseMark(s); mark == 0 && len(s) > 1 && s[0] == '0' && scan.IsDigit(s[1]) {
			octal = true
		}
		s = s[mark:]
	}
	i := 0
	for ; i < len(s); i++ {
		if s[i] == '_' {
			continue
		}
		d := int64(scan.HexValue[s[i]])
		if d >= base {
			break
		}
		if v = v*base + d; v > 1<<32 {
			return 0, octal, false
		}
	}
	if i == 0 || !numberSuffix(s[i:]) {
		return 0, octal, false
	}
	if negative {
		v = -v
	}
	return v, octal, true
}

// baseMarks are the marks of a base before digits; 8'h and its like are Verilog's.
var baseMarks = []struct {
	mark string
	base int64
}{
	{"0x", 16}, {"0b", 2}, {"0o", 8}, {"$", 16}, {"&h", 16}, {"#x", 16}, {"#$", 16}, {"#", 16}, {"8'h", 16}, {"8'd", 10}, {"8'b", 2}, {"8'o", 8},
}

// baseMark returns the length of the mark at the start of a number, 0 if there is none, and the base.
func baseMark(s string) (n int, base int64) {
	if strings.IndexByte("0$&#8", s[0]) >= 0 {
		for _, m := range baseMarks {
			if n = len(m.mark); len(s) > n && strings.EqualFold(s[:n], m.mark) {
				return n, m.base
			}
		}
	}
	return 0, 10
}

// numberSuffix reports whether s is a valid suffix of a number: its type, in C, Rust, F#, Nim and others.
func numberSuffix(s string) bool {
	switch strings.ToLower(strings.TrimLeft(s, "_'")) {
	case "", "u", "l", "ul", "lu", "ull", "u8", "i8", "uy", "y", "s", "uc", "ub", "h", "byte", "c_uchar":
		return true
	}
	return false
}

// isByteName reports whether a function or type of this name is of bytes.
func isByteName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range [...]string{"byte", "int8", "u8", "char", "i8", "octet"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "ord" || name == "chr" || name == "raw"
}

// castEnd returns the end of the cast at s[i:], "(byte)" or "(unsigned char)"; 0 if there is none.
func castEnd(s string, i int) int {
	for k := i + 1; k < len(s) && k < i+40; k++ {
		switch c := s[k]; {
		case c == ')' && k > i+1:
			return k + 1
		case c != ' ' && c != ':' && c != '_' && (!scan.IsWord(c) || k == i+1 && scan.IsDigit(c)):
			return 0
		}
	}
	return 0
}

// element is one byte of a list as it is written.
type element struct {
	value  byte
	end    int    // of its text
	digits string // of a number without a cast, as written
	octal  bool   // it has a leading zero
	marked bool   // it is in hex with a prefix, a character, or has a cast: counts and coordinates are not
	hex    bool   // it is in hex with a mark
	bad    bool   // a number that is not a byte
}

// readElement reads the element at s[i:]: a number or a character, in casts, with suffixes.
func readElement(t *pasted, i int) (x element, ok bool) {
	s := t.s
	var ends [4]byte // of calls around it
	calls := 0
	for {
		if i >= len(s) {
			return x, false
		}
		if s[i] == '(' {
			end := castEnd(s, i)
			if end == 0 {
				return x, false
			}
			i, x.marked = skipSpaces(s, end), true
			continue
		}
		if !scan.IsWord(s[i]) || scan.IsDigit(s[i]) {
			break
		}
		end := wordEnd(s, i)
		for end+2 < len(s) && s[end] == ':' && s[end+1] == ':' || end+1 < len(s) && s[end] == '.' && scan.IsWord(s[end+1]) {
			end = wordEnd(s, end+2) // std::byte
		}
		name := s[i:end]
		if end < len(s) && s[end] == '\'' && len(name) <= 2 { // b'A', L'A'
			i = end
			break
		}
		if end < len(s) && s[end] == '<' { // static_cast<char>(1)
			n := strings.IndexByte(s[end:min(len(s), end+40)], '>')
			if n < 0 {
				return x, false
			}
			name, end = s[end:end+n], end+n+1
		}
		if end >= len(s) || s[end] != '(' && s[end] != '{' || calls == len(ends) || !isByteName(name) {
			break // bare hex, perhaps
		}
		ends[calls] = closing[s[end]]
		calls++
		i, x.marked = skipSpaces(s, end+1), true
	}
	if s[i] == '\'' {
		kind, end := stringEnd(s[:min(len(s), i+16)], i)
		if kind != codeString {
			return x, false
		}
		out, _, e := appendUnescaped(nil, t, i+1, end-1, escapesC)
		if e != nil || len(out) != 1 {
			return x, false
		}
		x.value, x.end, x.marked = out[0], end, true
	} else {
		x.end = numberEnd(s, i)
		if x.end == i {
			if x.end = wordEnd(s, i); x.end == i || hexRun(s, i) < min(x.end-i, 2) {
				return x, false
			}
		}
		digits := s[i:x.end]
		if scan.IsHex(digits[0]) && !scan.IsDigit(digits[0]) && digits[len(digits)-1]|0x20 != 'h' && len(digits) > 2 {
			return x, false // a name
		}
		var fits bool
		x.value, x.octal, fits = byteValue(digits)
		x.bad = !fits
		if strings.IndexByte("$&#", digits[0]) >= 0 || len(digits) > 2 && (digits[1]|0x20 == 'x' || strings.ContainsAny(digits, "#'") || digits[len(digits)-1]|0x20 == 'h') {
			x.marked = true
		}
		if !x.marked {
			x.digits = digits
		}
		x.hex = strings.IndexByte("$&", digits[0]) >= 0 || strings.HasPrefix(digits, "16#") || len(digits) > 2 && (digits[1]|0x20 == 'x' || digits[len(digits)-1]|0x20 == 'h')
	}
	x.end = suffixEnd(s, x.end)
	for calls--; calls >= 0; calls-- {
		if x.end = skipSpaces(s, x.end); x.end >= len(s) || s[x.end] != ends[calls] {
			return x, false
		}
		x.end = suffixEnd(s, x.end+1)
	}
	return x, true
}

// suffixEnd returns the end of the conversions after an element: .toByte(), as u8.
func suffixEnd(s string, i int) int {
	for {
		switch {
		case i+1 < len(s) && s[i] == '.':
			end := wordEnd(s, i+1)
			if !isByteName(s[i+1 : end]) {
				return i
			}
			if i = end; strings.HasPrefix(s[i:], "()") {
				i += 2
			}
		case strings.HasPrefix(s[i:], " as "):
			end := wordEnd(s, i+4)
			if !isByteName(s[i+4 : end]) {
				return i
			}
			i = end
		default:
			return i
		}
	}
}

// readNumber reads at most 17 digits at s[i:] and returns their end: callers reject values of more than 64 bits.
func readNumber(s string, i int, base uint64) (value uint64, next int) {
	for most := i + 17; i < len(s) && i < most; i++ {
		d := uint64(scan.HexValue[s[i]])
		if d >= base {
			break
		}
		value = value*base + d
	}
	return value, i
}
