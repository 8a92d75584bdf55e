package paste

import (
	"strings"

	"wirebench/codec/scan"
)

// The output of Node.js for bytes: <Buffer 0a 0b ...>, and Uint8Array(3) [ 1, 2, 3 ]. It is abbreviated for long arrays, with the number of
// missing bytes; as an incomplete message is useless, that is an error.

// tryNode recognises buffers by their prefix.
func tryNode(t *pasted) (*builder, *Error) {
	if !strings.Contains(t.s, "<Buffer ") && !strings.Contains(t.s, "Uint8Array(") {
		return nil, nil
	}
	b, e := readNode(t)
	if e != nil {
		return nil, e.as(certain)
	}
	if len(b.msgs) == 0 {
		return nil, nil
	}
	return b, nil
}

// readNode reads the form "node-buffer". Text between buffers is skipped.
func readNode(t *pasted) (*builder, *Error) {
	b := &builder{form: formNodeBuffer, why: "bytes as Node.js prints them"}
	s := t.s
	for i := 0; i < len(s); {
		buffer, array := strings.Index(s[i:], "<Buffer "), strings.Index(s[i:], "Uint8Array(")
		var e *Error
		switch {
		case buffer < 0 && array < 0:
			return b, nil
		case array < 0 || buffer >= 0 && buffer < array:
			i, e = b.nodeBuffer(t, i+buffer)
		default:
			i, e = b.nodeArray(t, i+array)
		}
		if e != nil {
			return nil, e
		}
	}
	return b, nil
}

// nodeBuffer reads the buffer at i.
func (b *builder) nodeBuffer(t *pasted, i int) (next int, _ *Error) {
	s, first, start := t.s, i, len(b.out)
	for i += len("<Buffer "); ; {
		i = skipJSON(s, i)
		switch {
		case i < len(s) && s[i] == '>':
			return i + 1, b.add(Message{}, start, first)
		case strings.HasPrefix(s[i:], "..."):
			return i, errNodeCut(i)
		case i+2 > len(s) || !scan.IsHex(s[i]) || !scan.IsHex(s[i+1]) || i+2 < len(s) && scan.IsWord(s[i+2]):
			return i, errFound(t, i, "two hex digits")
		}
		if e := b.room(1, i); e != nil {
			return i, e
		}
		b.out = append(b.out, scan.HexValue[s[i]]<<4|scan.HexValue[s[i+1]])
		i += 2
	}
}

// nodeArray reads the array at i.
func (b *builder) nodeArray(t *pasted, i int) (next int, _ *Error) {
	s, first, start := t.s, i, len(b.out)
	open := strings.Index(s[i:min(len(s), i+40)], ") [")
	if open < 0 {
		return i + 1, nil // source code, perhaps
	}
	for i += open + len(") ["); ; {
		for i < len(s) && (s[i] == ',' || s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
			i++
		}
		if i < len(s) && s[i] == ']' {
			return i + 1, b.add(Message{}, start, first)
		}
		if strings.HasPrefix(s[i:], "...") {
			return i, errNodeCut(i)
		}
		value, end := readNumber(s, i, 10)
		if end == i || end-i > 3 || value > 255 {
			return i, errFound(t, i, "a number from 0 to 255")
		}
		if e := b.room(1, i); e != nil {
			return i, e
		}
		b.out = append(b.out, byte(value))
		i = end
	}
}

func errNodeCut(off int) *Error {
	return errAt(off, "the output is truncated: use buffer.toString(\"hex\"), or raise buffer.INSPECT_MAX_BYTES or maxArrayLength")
}
