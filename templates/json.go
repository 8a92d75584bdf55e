package templates

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSONText formats a JSON value: a value that fits a line is on one line. Numbers and strings keep their notation.
func JSONText(raw []byte) string {
	var flat bytes.Buffer
	if json.Compact(&flat, raw) != nil {
		return string(raw)
	}
	w := jsonWriter{in: flat.Bytes()}
	w.value(0)
	return w.out.String()
}

// jsonLine is the maximum length of a line with several values.
const jsonLine = 76

// jsonWriter copies compact JSON, adding spaces and line breaks.
type jsonWriter struct {
	in  []byte
	out strings.Builder
}

// value copies the next value.
func (w *jsonWriter) value(depth int) {
	if len(w.in) == 0 {
		return
	}
	if open := w.in[0]; open != '{' && open != '[' {
		w.scalar()
		return
	}
	if n := extent(w.in, jsonLine); n > 0 {
		w.oneLine(n)
		return
	}
	closing := w.in[0] + 2
	w.next(1)
	for first := true; len(w.in) > 0 && w.in[0] != closing; first = false {
		if !first {
			w.next(1) // the comma
		}
		w.lineBreak(depth + 1)
		if closing == '}' {
			w.scalar()
			w.next(1) // the colon
			w.out.WriteByte(' ')
		}
		w.value(depth + 1)
	}
	w.lineBreak(depth)
	if len(w.in) > 0 {
		w.next(1)
	}
}

func (w *jsonWriter) next(n int) {
	w.out.Write(w.in[:n])
	w.in = w.in[n:]
}

// scalar copies a string, a number or a literal.
func (w *jsonWriter) scalar() { w.next(scalarEnd(w.in)) }

func (w *jsonWriter) lineBreak(depth int) {
	w.out.WriteByte('\n')
	w.out.WriteString(strings.Repeat("  ", depth))
}

// oneLine copies n bytes of compact JSON, adding a space after commas and colons.
func (w *jsonWriter) oneLine(n int) {
	for n > 0 {
		k := 1
		if c := w.in[0]; c != '{' && c != '}' && c != '[' && c != ']' && c != ',' && c != ':' {
			k = scalarEnd(w.in)
		}
		blank := w.in[0] == ',' || w.in[0] == ':'
		w.next(k)
		if n -= k; blank {
			w.out.WriteByte(' ')
		}
	}
}

// scalarEnd is the length of the string, number or literal at the start of the input.
func scalarEnd(in []byte) int {
	if len(in) > 0 && in[0] == '"' {
		for i := 1; i < len(in); i++ {
			switch in[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(in)
	}
	if i := bytes.IndexAny(in, ",:]}"); i > 0 {
		return i
	}
	return len(in)
}

// extent is the length of the object or array at the start of the input, 0 if it is longer than limit.
func extent(in []byte, limit int) int {
	depth := 0
	for i := 0; i < len(in) && i < limit; {
		switch in[i] {
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			if i++; depth == 0 {
				return i
			}
		case ',', ':':
			i++
		default:
			i += scalarEnd(in[i:])
		}
	}
	return 0
}
