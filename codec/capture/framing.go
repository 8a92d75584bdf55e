package capture

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Framing describes how the messages of a raw file, or of the connections of a capture, are delimited. Only users can know it.
type Framing struct {
	envelope.Framing            // of messages without codes; Datagram: the whole file, stream or datagram is one message
	Own              bool       // instead, the protocol of the project delimits the messages
	Dir              schema.Dir // of all messages; Both = as the options or the connections say
}

// Bounds of the text form of a framing.
const (
	maxFramingText = 200
	maxBefore      = 4096     // bytes that precede a length
	maxDelimiter   = 64       // bytes
	maxFixed       = 16 << 20 // bytes of a message
)

// FramingHelp is the syntax of ParseFraming in one line.
const FramingHelp = "whole, fixed:SIZE, prefixed:1|2le|2be|3le|...|8be|varint|varintbe|zigzag[@BEFORE][+self|+all][+keep], delimited:HEX[+keep], envelope; each with +c2s or +s2c"

// ParseFraming parses the text form of a framing: a kind, its arguments after a colon, and options, each after a plus. The right column is the
// framing of an envelope that has the same messages.
//
//	whole                    the file is one message                                                     datagram
//	fixed:40                 messages of 40 bytes                                                        fixed 40
//	prefixed:2le             a length of 2 bytes, little-endian, then so many bytes; 1, 2le to 8be       length u16 le
//	prefixed:varint          a length of 7 bits a byte; also varintbe and zigzag                         length varint
//	prefixed:2le+self+keep   the length counts its own bytes, and is part of the message                 length u16 le including itself keep
//	prefixed:4be@2+all+keep  2 bytes precede the length, which counts these, its own and the following   length u32 be including all at 2 keep
//	delimited:0d0a           messages end with these bytes, in hex, or where the file ends; +keep: they  delimiter 0d 0a or end
//	                         are part of the message
//	envelope                 as the envelope, or the protocol, of the project says
//	fixed:40+c2s             all messages go to the server; +s2c: to the client
//
// Without +keep, the bytes before a length are not part of the message either. Case and space around the parts are ignored. The error names the
// invalid part.
func ParseFraming(text string) (Framing, error) {
	f := Framing{Framing: envelope.Framing{Kind: envelope.Datagram, Times: 1, Max: envelope.DefaultMax}}
	if len(text) > maxFramingText {
		return f, fmt.Errorf("a framing may have at most %d characters", maxFramingText)
	}
	parts := strings.Split(strings.ToLower(text), "+")
	kind, value, has := strings.Cut(strings.TrimSpace(parts[0]), ":")
	kind, value = strings.TrimSpace(kind), strings.TrimSpace(value)
	switch kind {
	case "whole", "envelope":
		if f.Own = kind == "envelope"; has {
			return f, fmt.Errorf("%q takes no arguments", kind)
		}
	case "fixed":
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil || n == 0 || n > maxFixed {
			return f, fmt.Errorf("the size of a message is 1 to %d bytes, as in fixed:40, not %q", maxFixed, value)
		}
		f.Kind, f.Size = envelope.Fixed, int(n)
	case "prefixed":
		f.Kind = envelope.Length
		value, before, offset := strings.Cut(value, "@")
		if offset {
			n, err := strconv.ParseUint(strings.TrimSpace(before), 10, 32)
			if err != nil || n > maxBefore {
				return f, fmt.Errorf("0 to %d bytes may precede a length, as in prefixed:2le@4, not %q", maxBefore, before)
			}
			f.At = int(n)
		}
		var err error
		if f.Number, err = lengthNumber(strings.TrimSpace(value)); err != nil {
			return f, err
		}
	case "delimited":
		b, err := hex.DecodeString(strings.Join(strings.Fields(value), ""))
		if err != nil || len(b) == 0 || len(b) > maxDelimiter {
			return f, fmt.Errorf("a delimiter is 1 to %d bytes in hex, as in delimited:0d0a, not %q", maxDelimiter, value)
		}
		f.Kind, f.Delimiter, f.End = envelope.Delimiter, b, true
	default:
		return f, fmt.Errorf("%q is not a framing: %s", kind, FramingHelp)
	}
	return f, f.options(kind, parts[1:])
}

// options parses what follows the kind.
func (f *Framing) options(kind string, options []string) error {
	for i, o := range options {
		options[i] = strings.TrimSpace(o)
		switch o = options[i]; {
		case slices.Contains(options[:i], o):
			return fmt.Errorf("duplicate +%s", o)
		case (o == "self" || o == "all") && f.Kind == envelope.Length:
			if f.Counts != envelope.Rest {
				return errors.New("a length counts its own bytes, +self, or those before it as well, +all")
			}
			if f.Counts = envelope.Itself; o == "all" {
				f.Counts = envelope.All
			}
		case o == "keep" && (f.Kind == envelope.Length || f.Kind == envelope.Delimiter):
			f.Keep = true
		case o == "c2s" && f.Dir == schema.Both:
			f.Dir = schema.ToServer
		case o == "s2c" && f.Dir == schema.Both:
			f.Dir = schema.ToClient
		case o == "c2s", o == "s2c":
			return errors.New("all messages have one direction: +c2s or +s2c")
		case o == "self", o == "all", o == "keep":
			return fmt.Errorf("+%s does not apply to framing %s", o, kind)
		default:
			return fmt.Errorf("unknown option +%s; known are +self, +all, +keep, +c2s and +s2c", o)
		}
	}
	return nil
}

// lengthKinds are the lengths of variable size.
var lengthKinds = map[string]envelope.NumberKind{"varint": envelope.VarInt, "varintbe": envelope.BigVarInt, "zigzag": envelope.ZigZag}

// lengthNumber parses the form of a length.
func lengthNumber(text string) (n envelope.Number, err error) {
	if kind := lengthKinds[text]; kind != envelope.NoNumber {
		return envelope.Number{Kind: kind}, nil
	}
	size, order := strings.TrimRight(text, "bel"), strings.TrimLeft(text, "12345678")
	if n = (envelope.Number{Kind: envelope.UInt}); len(size) == 1 && size[0] >= '1' && size[0] <= '8' {
		switch n.Size = int(size[0] - '0'); {
		case order == "be" && n.Size > 1:
			n.Order = schema.Big
			return n, nil
		case order == "le", order == "be", order == "" && n.Size == 1:
			return n, nil
		case order == "":
			return n, fmt.Errorf("a length of %s bytes needs a byte order: prefixed:%sle or prefixed:%sbe", size, size, size)
		}
	}
	return n, fmt.Errorf("a length is 1, 2le, 2be, 4le or 4be, likewise of 3 to 8 bytes, varint, varintbe or zigzag, not %q", text)
}

// String returns the framing in the form that ParseFraming parses.
func (f Framing) String() string {
	text := "whole"
	switch {
	case f.Own:
		text = "envelope"
	case f.Kind == envelope.Fixed:
		text = fmt.Sprintf("fixed:%d", f.Size)
	case f.Kind == envelope.Length:
		text = "prefixed:" + strings.ReplaceAll(f.Number.String(), " ", "")
		if n := f.Number; n.Kind == envelope.UInt {
			text = fmt.Sprintf("prefixed:%d%s", n.Size, strings.TrimLeft(n.String(), "u0123456789 "))
		}
		if f.At > 0 {
			text += fmt.Sprintf("@%d", f.At)
		}
		text += [...]string{"", "+self", "+all"}[f.Counts]
	case f.Kind == envelope.Delimiter:
		text = fmt.Sprintf("delimited:%x", f.Delimiter)
	}
	if f.Keep {
		text += "+keep"
	}
	if f.Dir != schema.Both {
		text += "+" + f.Dir.String()
	}
	return text
}
