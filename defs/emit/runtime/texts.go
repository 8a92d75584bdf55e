package runtime

import (
	"cmp"
	"math"
	"strconv"
	"unicode/utf8"
)

// Values of expressions: int64, float64, and strings with characters in UTF-8 or bytes.

// made cuts a text that is too long.
func made(s string) string { return s[:min(len(s), 1<<16)] }

// characters decodes bytes.
func characters(s string, set charset) string { return made(set.decode([]byte(s))) }

func textLength(s string) int64 { return int64(utf8.RuneCountInString(s)) }

func intText(n int64) string { return strconv.FormatInt(n, 10) }

// textInt returns the number that is written in a base, 0 if there is none.
func textInt(s string, base int64) int64 {
	if base < 2 || base > 36 {
		return 0
	}
	n, _ := strconv.ParseInt(s, int(base), 64)
	return n
}

func byteAt(s string, i int64) int64 {
	if i < 0 || i >= int64(len(s)) {
		return 0
	}
	return int64(s[i])
}

func byteText(n int64) string { return string([]byte{byte(n)}) }

// sliceBytes returns some bytes of a text, sliceText some characters.
func sliceBytes(s string, from, to int64) string {
	to = min(max(to, 0), int64(len(s)))
	return s[min(max(from, 0), to):to]
}

func sliceText(s string, from, to int64) string {
	begin, end, i := len(s), len(s), int64(0)
	for at := range s {
		if i == from {
			begin = at
		}
		if i == to {
			end = at
			break
		}
		i++
	}
	if from <= 0 {
		begin = 0
	}
	if to <= 0 {
		end = 0
	}
	return s[min(begin, end):end]
}

// reverseBytes reverses the order of bytes, reverseText that of characters.
func reverseBytes(s string) string {
	out := make([]byte, 0, len(s))
	for i := len(s) - 1; i >= 0; i-- {
		out = append(out, s[i])
	}
	return made(string(out))
}

func reverseText(s string) string {
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		_, n := utf8.DecodeLastRuneInString(s)
		out = append(out, s[len(s)-n:]...)
		s = s[:len(s)-n]
	}
	return made(string(out))
}

// floatInt returns a number without its fraction.
func floatInt(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	case f != f:
		return 0
	}
	return int64(f)
}

// float keeps arithmetic from being that of constants.
func float(f float64) float64 { return f }

func floatModulo(a, b float64) float64 {
	m := math.Mod(a, b)
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

// bitsFloat returns the float with bits.
func bitsFloat(bits int, raw uint64) float64 {
	switch bits {
	case 16:
		return fromHalf(raw)
	case 32:
		return float64(math.Float32frombits(uint32(raw)))
	}
	return math.Float64frombits(raw)
}

// either is the conditional operator.
func either[T any](cond int64, a, b T) T {
	if cond != 0 {
		return a
	}
	return b
}

// element returns a value of element i of a list, zero if there is none.
func element[T, R any](list []T, i int64, of func(e *T) R) (v R) {
	if i >= 0 && i < int64(len(list)) {
		v = of(&list[i])
	}
	return v
}

// least returns the smallest of the values in the elements of a list, greatest the largest.
func least[T any, R cmp.Ordered](list []T, of func(e *T) R) (v R) {
	for i := range list {
		if e := of(&list[i]); i == 0 || e < v {
			v = e
		}
	}
	return v
}

func greatest[T any, R cmp.Ordered](list []T, of func(e *T) R) (v R) {
	for i := range list {
		if e := of(&list[i]); i == 0 || !(e < v) {
			v = e
		}
	}
	return v
}
