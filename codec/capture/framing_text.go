package capture

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// Bounds of the text form of a framing.
const (
	maxFramingText = 200
	maxDelimiter   = 64       // bytes
	maxFixed       = 16 << 20 // bytes of a message
)

// FramingHelp is the syntax of ParseFraming in one line.
const FramingHelp = "whole, fixed:SIZE, prefixed:1|2le|2be|4le|4be[@BEFORE][+self|+all][+keep], delimited:HEX[+keep]; each with +c2s or +s2c"

// ParseFraming parses the text form of a framing: a kind, its arguments after a colon, and options, each after a plus.
//
//	whole                    the file is one message
//	fixed:40                 messages of 40 bytes
//	prefixed:2le             a length of 2 bytes, little-endian, then so many bytes; one of 1, 2le, 2be, 4le and 4be
//	prefixed:2le+self+keep   the length counts its own bytes, and is part of the message
//	prefixed:4be@2+all+keep  2 bytes precede the length, which counts these, its own and the following bytes
//	delimited:0d0a           messages end with these bytes, in hex; +keep: they are part of the message
//	fixed:40+c2s             all messages go to the server; +s2c: to the client
//
// Case and space around the parts are ignored. The error names the invalid part.
func ParseFraming(text string) (Framing, error) {
	var f Framing
	if len(text) > maxFramingText {
		return f, fmt.Errorf("a framing may have at most %d characters", maxFramingText)
	}
	parts := strings.Split(strings.ToLower(text), "+")
	kind, value, has := strings.Cut(strings.TrimSpace(parts[0]), ":")
	kind, value = strings.TrimSpace(kind), strings.TrimSpace(value)
	switch kind {
	case "whole":
		if has {
			return f, errors.New(`"whole" takes no arguments`)
		}
	case "fixed":
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil || n == 0 || n > maxFixed {
			return f, fmt.Errorf("the size of a message is 1 to %d bytes, as in fixed:40, not %q", maxFixed, value)
		}
		f.Kind, f.Size = Fixed, int(n)
	case "prefixed":
		f.Kind = Prefixed
		before, offset := "", false
		if value, before, offset = strings.Cut(value, "@"); offset {
			n, err := strconv.ParseUint(strings.TrimSpace(before), 10, 32)
			if err != nil || n > maxBefore {
				return f, fmt.Errorf("0 to %d bytes may precede a length, as in prefixed:2le@4, not %q", maxBefore, before)
			}
			f.Before = int(n)
		}
		switch value = strings.TrimSpace(value); value {
		case "1", "1le", "1be":
			f.Size = 1
		case "2le", "2be", "4le", "4be":
			f.Size, f.Big = int(value[0]-'0'), value[1] == 'b'
		case "2", "4":
			return f, fmt.Errorf("a length of %s bytes needs a byte order: prefixed:%sle or prefixed:%sbe", value, value, value)
		default:
			return f, fmt.Errorf("a length is 1, 2le, 2be, 4le or 4be, not %q", value)
		}
	case "delimited":
		b, err := hex.DecodeString(strings.Join(strings.Fields(value), ""))
		if err != nil || len(b) == 0 || len(b) > maxDelimiter {
			return f, fmt.Errorf("a delimiter is 1 to %d bytes in hex, as in delimited:0d0a, not %q", maxDelimiter, value)
		}
		f.Kind, f.Delimiter = Delimited, b
	default:
		return f, fmt.Errorf("%q is not a framing: %s", kind, FramingHelp)
	}
	seen := map[string]bool{}
	for _, o := range parts[1:] {
		o = strings.TrimSpace(o)
		switch {
		case seen[o]:
			return f, fmt.Errorf("duplicate +%s", o)
		case (o == "self" || o == "all") && f.Kind == Prefixed:
			if f.Counted || f.All {
				return f, errors.New("a length counts its own bytes, +self, or those before it as well, +all")
			}
			f.Counted, f.All = o == "self", o == "all"
		case o == "keep" && (f.Kind == Prefixed || f.Kind == Delimited):
			f.Keep = true
		case o == "c2s" && f.Dir == schema.Both:
			f.Dir = schema.ToServer
		case o == "s2c" && f.Dir == schema.Both:
			f.Dir = schema.ToClient
		case o == "c2s", o == "s2c":
			return f, errors.New("all messages have one direction: +c2s or +s2c")
		case o == "self", o == "all", o == "keep":
			return f, fmt.Errorf("+%s does not apply to framing %s", o, kind)
		default:
			return f, fmt.Errorf("unknown option +%s; known are +self, +all, +keep, +c2s and +s2c", o)
		}
		seen[o] = true
	}
	return f, nil
}

// String returns the framing in the form that ParseFraming parses.
func (f Framing) String() string {
	var b strings.Builder
	switch f.Kind {
	case Fixed:
		fmt.Fprintf(&b, "fixed:%d", f.Size)
	case Prefixed:
		fmt.Fprintf(&b, "prefixed:%d", f.Size)
		switch {
		case f.Size == 1:
		case f.Big:
			b.WriteString("be")
		default:
			b.WriteString("le")
		}
		if f.Before > 0 {
			fmt.Fprintf(&b, "@%d", f.Before)
		}
		switch {
		case f.Counted:
			b.WriteString("+self")
		case f.All:
			b.WriteString("+all")
		}
	case Delimited:
		fmt.Fprintf(&b, "delimited:%x", f.Delimiter)
	default:
		b.WriteString("whole")
	}
	if f.Keep && (f.Kind == Prefixed || f.Kind == Delimited) {
		b.WriteString("+keep")
	}
	if f.Dir != schema.Both {
		b.WriteString("+" + f.Dir.String())
	}
	return b.String()
}
