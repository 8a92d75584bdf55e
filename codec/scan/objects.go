package scan

import "strings"

// NextObject returns the next JSON object of a list or of lines, up to most bytes, without consuming it. It returns nil at the end of the input
// or list; why is set if an object does not end or is too large.
func (in *Input) NextObject(most int) (object []byte, why string) {
	for {
		b := in.Peek(1)
		if len(b) == 0 {
			return nil, ""
		}
		if b[0] == '{' {
			break
		}
		if b[0] == ']' {
			return nil, ""
		}
		if b[0] == '"' {
			return nil, "found a string where an object is expected"
		}
		in.Skip(1)
	}
	want, depth, quoted := 4<<10, 0, false
	for at := 0; ; want *= 2 {
		b := in.Peek(min(want, most))
		for ; at < len(b); at++ {
			switch c := b[at]; {
			case quoted && c == '\\':
				at++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{':
				depth++
			case c == '}':
				if depth--; depth == 0 {
					return b[:at+1], ""
				}
			}
		}
		if len(b) >= most {
			return nil, "an object exceeds the size limit"
		}
		if len(b) < want {
			return nil, "the file ends inside an object"
		}
	}
}

// SeekList consumes JSON up to the opening bracket of the list called name, and reports whether there is one.
func (in *Input) SeekList(name string) bool {
	var said strings.Builder
	found := false // the last token was the name
	for {
		b := in.Peek(1)
		if len(b) == 0 {
			return false
		}
		c := b[0]
		in.Skip(1)
		switch c {
		case ' ', '\t', '\r', '\n', ':':
		case '[':
			if found {
				return true
			}
		case '"':
			said.Reset()
			for closed := false; !closed; {
				b := in.Peek(1)
				if len(b) == 0 {
					return false
				}
				c := b[0]
				in.Skip(1)
				switch {
				case c == '"':
					closed = true
				case c == '\\':
					in.Skip(1)
				case said.Len() <= len(name):
					said.WriteByte(c)
				}
			}
			found = said.String() == name
			continue
		default:
			found = false
		}
	}
}
