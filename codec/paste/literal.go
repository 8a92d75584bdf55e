package paste

import (
	"regexp"
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// Literals of bytes in source code. The spellings of all languages are read alike, since few mean different things in two of them: a leading
// zero is octal in some, which a list tells by its language (list.go).

// readLiteral reads the number at s[i:].
func readLiteral(s string, i int) element {
	x := element{end: i}
	k := i
	if k < len(s) && (s[k] == '-' || s[k] == '+') {
		k++
	}
	if k == len(s) {
		return x
	}
	from, base := baseMark(s, k)
	to := wordEnd(s, from)
	end := to
	x.hex = base == 16
	switch c := s[k]; {
	case !scan.IsDigit(c):
		if k > i || from == k || c == '$' && hexRun(s, from) < to-from || c == '#' && from == k+1 && (to != k+3 || to == len(s) || strings.IndexByte(",)]}", s[to]) < 0) {
			return element{end: i}
		}
	case s[to-1]|0x20 == 'h' && to-1 > k && hexRun(s, k) == to-1-k: // assembler: 26h
		from, base, to, x.hex = k, 16, to-1, true
	case from > k:
	case to < len(s) && s[to] == '#' && to-k <= 2 && to+1 < len(s) && scan.IsHex(s[to+1]): // Erlang, Ada: 16#26, 16#26#
		n, digits := readNumber(s, k, 10)
		if base = int64(n); digits != to || n < 2 || n > 16 {
			base = 0
		}
		x.hex = base == 16
		from = to + 1
		to = wordEnd(s, from)
		if end = to; to < len(s) && s[to] == '#' {
			end++
		}
	default:
		x.octal = to-k > 1 && c == '0' && scan.IsDigit(s[k+1])
	}
	if end+1 < len(s) && s[end] == '\'' && strings.IndexByte("hHdDbBoOuUiI", s[end+1]) >= 0 { // Nim: 0x26'u8
		if n := wordEnd(s, end+1); n-end > 2 && (n == len(s) || s[n] != '\'') {
			end, to = n, n
		}
	}
	n := from
	for ; n < to && (s[n] == '_' || int64(scan.HexValue[s[n]]) < base) && x.value <= 1<<32; n++ {
		if s[n] != '_' {
			x.value = x.value*base + int64(scan.HexValue[s[n]])
		}
	}
	x.ok = n > from && x.value <= 1<<32 && isSuffix(s[n:to])
	if s[i] == '-' {
		x.value = -x.value
	}
	x.end = end
	return x
}

// readBare is readLiteral for numbers that may be hex without a mark, with a letter at the start: ff, ffh.
func readBare(s string, i int) element {
	x := readLiteral(s, i)
	if x.end > i {
		return x
	}
	end := wordEnd(s, i)
	switch n := hexRun(s, i); {
	case n > 0 && n == end-i-1 && s[end-1]|0x20 == 'h':
		v, _ := readNumber(s, i, 16)
		x = element{end: end, value: int64(v), hex: true, ok: n < 9}
	case n == end-i && n <= 2:
		x.end = end
	}
	return x
}

// isByte reports whether it is a byte, with or without sign.
func (x *element) isByte() bool { return x.ok && x.value >= -128 && x.value <= 255 }

// baseMarks are the marks of a base before digits; 8'h and its like are Verilog's.
var baseMarks = []struct {
	mark string
	base int64
}{
	{"0x", 16}, {"0b", 2}, {"0o", 8}, {"$", 16}, {"&h", 16}, {"#x", 16}, {"#$", 16}, {"#", 16}, {"8'h", 16}, {"8'd", 10}, {"8'b", 2}, {"8'o", 8},
}

// baseMark returns the start of the digits of the number at s[i:], and their base.
func baseMark(s string, i int) (from int, base int64) {
	if strings.IndexByte("0$&#8", s[i]) >= 0 {
		for _, m := range baseMarks {
			if n := i + len(m.mark); len(s) > n && strings.EqualFold(s[i:n], m.mark) && (scan.IsHex(s[n]) || scan.IsDigit(s[i])) {
				return n, m.base
			}
		}
	}
	return i, 10
}

// isSuffix reports whether s is a valid suffix of a number: its type, in C, Rust, F#, Nim and others.
func isSuffix(s string) bool {
	switch strings.ToLower(strings.TrimLeft(s, "_'")) {
	case "", "u", "l", "ul", "lu", "ull", "u8", "i8", "uy", "y", "s", "uc", "ub", "h", "byte", "c_uchar":
		return true
	}
	return false
}

// isByteName reports whether a function or type of this name is of bytes.
func isByteName(name string) bool {
	name = strings.ToLower(name)
	return name == "ord" || name == "chr" || name == "raw" ||
		slices.ContainsFunc([]string{"byte", "int8", "u8", "char", "i8", "octet"}, func(part string) bool { return strings.Contains(name, part) })
}

// cast matches a conversion: "(byte)" or "(unsigned char)".
var cast = regexp.MustCompile(`^\([A-Za-z_ :][\w :]{0,38}\)`)

// element is a number of a list as it is written, with its sign, prefix, suffix and casts.
type element struct {
	value  int64
	end    int    // of its text; the start if there is none
	ok     bool   // it has at most 32 bits
	digits string // of a number without a cast, as written
	octal  bool   // it has a leading zero, which only some languages read as octal
	marked bool   // it is in hex with a prefix, a character, or has a cast: counts and coordinates are not
	hex    bool   // it is in hex with a mark
}

// maxElement bounds the casts and calls around a byte.
const maxElement = 4

// readElement reads the element at s[i:]: a number or a character, in casts, with suffixes.
func readElement(t *pasted, i int) (x element, ok bool) { return elementIn(t, i, maxElement) }

// elementIn is readElement with at most depth casts and calls.
func elementIn(t *pasted, i, depth int) (x element, ok bool) {
	s := t.s
	if i >= len(s) {
		return x, false
	}
	if s[i] == '(' {
		n := len(cast.FindString(s[i:min(len(s), i+40)]))
		if n == 0 || depth == 0 {
			return x, false
		}
		x, ok = elementIn(t, skipSpaces(s, i+n), depth-1)
		x.marked, x.digits = true, ""
		return x, ok
	}
	if scan.IsWord(s[i]) && !scan.IsDigit(s[i]) {
		end := wordEnd(s, i)
		for end+2 < len(s) && s[end] == ':' && s[end+1] == ':' || end+1 < len(s) && s[end] == '.' && scan.IsWord(s[end+1]) {
			end = wordEnd(s, end+2) // std::byte
		}
		name := s[i:end]
		if end < len(s) && s[end] == '<' { // static_cast<char>(1)
			n := strings.IndexByte(s[end:min(len(s), end+40)], '>')
			if n < 0 {
				return x, false
			}
			name, end = s[end:end+n], end+n+1
		}
		switch {
		case end < len(s) && s[end] == '\'' && len(name) <= 2: // b'A', L'A'
			i = end
		case end < len(s) && (s[end] == '(' || s[end] == '{') && depth > 0 && isByteName(name):
			x, ok = elementIn(t, skipSpaces(s, end+1), depth-1)
			if x.end = skipSpaces(s, x.end); !ok || x.end == len(s) || s[x.end] != closing[s[end]] {
				return x, false
			}
			x.end, x.marked, x.digits = suffixEnd(s, x.end+1), true, ""
			return x, true
		} // else bare hex, perhaps
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
		return element{value: int64(out[0]), end: suffixEnd(s, end), ok: true, marked: true}, true
	}
	if x = readBare(s, i); x.end == i {
		return x, false
	}
	digits := s[i:x.end]
	if x.marked = x.hex || len(digits) > 2 && strings.ContainsAny(digits, "#'"); !x.marked {
		x.digits = digits
	}
	x.end = suffixEnd(s, x.end)
	return x, true
}

// suffixEnd returns the end of the conversions after an element: .toByte(), as u8.
func suffixEnd(s string, i int) int {
	for {
		mark := "."
		if strings.HasPrefix(s[i:], " as ") {
			mark = " as "
		}
		rest, ok := strings.CutPrefix(s[i:], mark)
		n := wordEnd(rest, 0)
		if !ok || !isByteName(rest[:n]) {
			return i
		}
		if i += len(mark) + n; mark == "." && strings.HasPrefix(s[i:], "()") {
			i += 2
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
