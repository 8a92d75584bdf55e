package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Framing describes how a raw file is split into messages. Only users can know it.
type Framing struct {
	Kind      FramingKind
	Size      int        // Fixed: bytes of a message; Prefixed: bytes of the length, 1, 2 or 4
	Big       bool       // Prefixed: the length is big-endian
	Before    int        // Prefixed: bytes of a message that precede its length
	Counted   bool       // Prefixed: the length counts its own bytes too
	All       bool       // Prefixed: the length counts its own bytes and those that precede it
	Keep      bool       // Prefixed and Delimited: the message includes the length and the bytes that precede it, or the delimiter
	Delimiter []byte     // Delimited: the end of a message
	Dir       schema.Dir // of all messages; Both = WholeOptions.Dir
}

// maxBefore bounds the bytes that precede a length.
const maxBefore = 4096

// FramingKind is a kind of framing.
type FramingKind uint8

// The kinds of framing.
const (
	Whole     FramingKind = iota // the file is one message
	Prefixed                     // a length precedes each message
	Fixed                        // all messages have one size
	Delimited                    // a delimiter follows each message
)

// Check returns an error if f is invalid.
func (f *Framing) Check() error {
	switch {
	case f.Kind > Delimited:
		return fmt.Errorf("unknown framing %d", f.Kind)
	case f.Kind == Fixed && f.Size <= 0:
		return errors.New("the size of a message must be 1 byte or more")
	case f.Kind == Prefixed && f.Size != 1 && f.Size != 2 && f.Size != 4:
		return fmt.Errorf("a length takes 1, 2 or 4 bytes, not %d", f.Size)
	case f.Kind == Prefixed && (f.Before < 0 || f.Before > maxBefore):
		return fmt.Errorf("0 to %d bytes may precede a length, not %d", maxBefore, f.Before)
	case f.Kind == Prefixed && f.Counted && f.All:
		return errors.New("a length counts its own bytes, or those before it as well, not both")
	case f.Kind == Delimited && len(f.Delimiter) == 0:
		return errors.New("the delimiter is empty")
	}
	return nil
}

// cut finds the first message of data, which is not empty: data[from:to]; the rest starts at next. why is the reason if there is none.
func (f *Framing) cut(data []byte) (from, to, next int, why string) {
	switch f.Kind {
	case Fixed:
		if len(data) < f.Size {
			return 0, 0, 0, fmt.Sprintf("only %d of %d bytes of a message are left", len(data), f.Size)
		}
		return 0, f.Size, f.Size, ""
	case Delimited:
		to = bytes.Index(data, f.Delimiter)
		if to < 0 {
			return 0, len(data), len(data), "" // like the last line of a text
		}
		next = to + len(f.Delimiter)
		if f.Keep {
			to = next
		}
		return 0, to, next, ""
	case Prefixed:
		head := f.Before + f.Size
		if len(data) < head {
			if f.Before == 0 {
				return 0, 0, 0, fmt.Sprintf("only %d of %d bytes of a length are left", len(data), f.Size)
			}
			return 0, 0, 0, fmt.Sprintf("only %d of %d bytes up to the end of a length are left", len(data), head)
		}
		said, size := f.lengths(data)
		if size < uint64(head) {
			counted := f.Size
			if f.All {
				counted = head
			}
			return 0, 0, 0, fmt.Sprintf("the length %d does not count its own %d bytes", said, counted)
		}
		if size > uint64(len(data)) {
			return 0, 0, 0, fmt.Sprintf("the message has %d bytes, but only %d are left", size, len(data))
		}
		if !f.Keep {
			from = head
		}
		return from, int(size), int(size), ""
	}
	return 0, len(data), len(data), ""
}

// lengths returns the number in front of a message, and the size of the message with its head, which data has.
func (f *Framing) lengths(data []byte) (said, size uint64) {
	said = f.length(data[f.Before:])
	switch {
	case f.All:
		return said, said
	case f.Counted:
		return said, said + uint64(f.Before)
	}
	return said, said + uint64(f.Before+f.Size)
}

func (f *Framing) length(data []byte) uint64 {
	switch {
	case f.Size == 1:
		return uint64(data[0])
	case f.Size == 2 && f.Big:
		return uint64(binary.BigEndian.Uint16(data))
	case f.Size == 2:
		return uint64(binary.LittleEndian.Uint16(data))
	case f.Big:
		return uint64(binary.BigEndian.Uint32(data))
	}
	return uint64(binary.LittleEndian.Uint32(data))
}

// maxRaw bounds a message of a raw file, in bytes.
const maxRaw = 64 << 20

var tooLong = fmt.Sprintf("a message has more than %d MiB, the most that is read as one", maxRaw>>20)

// ReadRaw splits a raw file into messages and emits them as frames as they are read; Offset is that of the first byte in the file. If the
// framing does not match, the rest of the file is a Problem, of whose bytes the frame has those that were read. Empty messages between
// delimiters are skipped. The error is that of Framing.Check; errors of r end the file, see scan.Input.Failure.
func ReadRaw(in *scan.Input, f Framing, opts transport.WholeOptions, emit func(*transport.Frame)) error {
	if err := f.Check(); err != nil {
		return err
	}
	if f.Dir != schema.Both {
		opts.Dir = f.Dir
	}
	w := transport.Whole{Opts: opts, Emit: emit, Conn: &transport.Conn{}, IDs: transport.Identifier{Raw: true}}
	for {
		data, all := f.next(in)
		if len(data) == 0 {
			return nil
		}
		at := in.Offset()
		from, to, next, why := f.cut(data)
		if why == "" && !all && (f.Kind == Whole || to > maxRaw) {
			why = tooLong
		}
		if why != "" {
			data = bytes.Clone(data)
			rest := in.Skip(math.MaxInt64) - int64(len(data))
			if left := int64(len(data)) + rest; f.Kind == Prefixed && rest > 0 && len(data) >= f.Before+f.Size {
				if _, size := f.lengths(data); size > uint64(left) {
					why = fmt.Sprintf("the message has %d bytes, but only %d are left", size, left)
				} else if size > maxRaw {
					why = tooLong
				}
			}
			if rest > 0 {
				why += fmt.Sprintf("; the next %d bytes are not shown", rest)
			}
			w.Give(transport.Frame{Kind: transport.Problem, Dir: opts.Dir, At: opts.Day, Offset: at, Bytes: data, Note: why})
			return nil
		}
		frame := transport.Frame{Dir: opts.Dir, At: opts.Day, Offset: at + int64(from), Bytes: data[from:to:to]}
		if (f.Kind != Delimited || to > 0) && !w.Give(frame) {
			return nil
		}
		in.SkipSeen(next)
	}
}

// next reads until the first message of a file is complete, or cannot become one. all reports that the bytes are all that is left.
func (f *Framing) next(in *scan.Input) (data []byte, all bool) {
	searched := 0
	for data = in.Buffered(); ; {
		if len(data) > 0 && f.decides(data, searched, maxRaw) || len(data) > maxRaw {
			return data, false
		}
		searched = f.unsearched(data)
		more := in.Peek(len(data) + 1)
		if len(more) == len(data) {
			return data, true
		}
		data = in.Buffered()
	}
}
