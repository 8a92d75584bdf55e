package logs

import (
	"math"

	"wirebench/defs/schema"
)

// Functions shared by the readers of TERA logs.

// teraDirection returns the direction of a TERA message by its name: S_ is from the server, C_ from the client, and so are names that a
// program made up for a message without one (*SU_NEEDS_REMAP_26D2), for which made is true.
func teraDirection(name string) (dir schema.Dir, made bool) {
	if len(name) < 2 {
		return schema.Both, false
	}
	rest := name[1:]
	if name[0] == '*' {
		made = true
		name, rest = rest, rest[1:]
		if len(rest) > 0 && rest[0] == 'U' {
			rest = rest[1:]
		}
	}
	if len(rest) == 0 || rest[0] != '_' {
		return schema.Both, made
	}
	switch name[0] {
	case 'S':
		dir = schema.ToClient
	case 'C':
		dir = schema.ToServer
	}
	return dir, made
}

// teraMessage adds the TERA header, which some logs omit, to a payload: the length, which counts the header, and the code. The result is
// valid until the next call with the same buffer.
func teraMessage(buf []byte, code uint16, payload []byte) (message []byte, ok bool) {
	size := len(payload) + 4
	if size > math.MaxUint16 {
		return payload, false
	}
	buf = append(buf[:0], byte(size), byte(size>>8), byte(code), byte(code>>8))
	return append(buf, payload...), true
}
