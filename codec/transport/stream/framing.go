package stream

import (
	"bytes"
	"errors"
	"fmt"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
)

// frame is the result of cutting a stream: the first frame of some bytes.
type frame struct {
	total int  // bytes of the frame; 0: more are needed
	need  int  // if total is 0: bytes of the frame that are needed at least
	known bool // if total is 0: need is the size of the whole frame

	// Also if more bytes are needed, and the length is there:
	before int // bytes before the length
	length int // bytes of the length, which are not part of the message
	after  int // bytes of the delimiter, which are not part of the message
	head   int // bytes of the message that are never compressed

	learnt bool // the envelope has no size for code v

	fault  fault // if total and need are 0: why no frame starts with these bytes
	v      int64 // the number that is wrong, or has no size
	reason transport.Reason
	within *envelope.Framing // the framing with the wrong number, if it is another one
}

// fault is a reason why no frame starts with some bytes. It is formatted only if it is shown, as a search meets very many.
type fault uint8

const (
	noFault fault = iota
	noFraming
	noDelimiter
	tooLarge
	lengthOverlong
	lengthTooLarge
	lengthNegative
	lengthTooSmall
	codeOverlong
	codeUnsized
	codeOutside
	codeBehind
	notMeasured // has reason
)

// why returns the reason why no frame starts with the bytes, or "".
func (f *frame) why(of *envelope.Framing) string {
	if f.within != nil {
		of = f.within
	}
	switch f.fault {
	case noFault:
		return ""
	case noFraming:
		return "the envelope has no framing"
	case noDelimiter:
		return fmt.Sprintf("there is no delimiter in %d bytes", f.v)
	case tooLarge:
		return fmt.Sprintf("a message of %d bytes: the limit is %d", f.v, of.Max)
	case lengthOverlong:
		return "the length has too many bytes"
	case lengthTooLarge:
		return fmt.Sprintf("a length of %d: the limit is %d", uint64(f.v), of.Max)
	case lengthNegative:
		return fmt.Sprintf("a length of %d: the limit is %d", f.v, of.Max)
	case lengthTooSmall:
		return fmt.Sprintf("the length %d is too small", f.v)
	case codeOverlong:
		return "the code has too many bytes"
	case codeUnsized:
		return fmt.Sprintf("the code %d has no size", uint64(f.v))
	case codeOutside:
		return fmt.Sprintf("code %d has a size of %d bytes, which do not contain the code", uint64(f.v), sizeOf(of, uint64(f.v)).Size)
	case codeBehind:
		return fmt.Sprintf("the length of code %d ends before the code", uint64(f.v))
	case notMeasured:
		return f.reason()
	}
	return "no message starts here"
}

// size returns the size in bytes of the message before decompression.
func (f *frame) size() int { return f.total - f.length - f.after }

// measure returns the size of the message at the start of data, in the way of transport.Measure.
type measure func(data []byte) (n, need int, why transport.Reason)

// cut finds the first frame of b, which is not empty. looked is the number of bytes in which an earlier call found no delimiter. last
// reports that b is a whole datagram.
func cut(f *envelope.Framing, b []byte, looked int, last bool, m measure) (out frame) {
	if f.Kind == envelope.Length {
		cutLength(f, b, &out)
		return out
	}
	switch f.Kind {
	case envelope.Delimiter:
		from := max(looked-len(f.Delimiter)+1, 0)
		i := bytes.Index(b[from:], f.Delimiter)
		if i < 0 {
			if len(b) > f.Max+len(f.Delimiter) {
				return frame{fault: noDelimiter, v: int64(len(b))}
			}
			if last && f.End {
				return frame{total: len(b)}
			}
			return frame{need: len(b) + 1}
		}
		out.total = from + i + len(f.Delimiter)
		if !f.Keep {
			out.after = len(f.Delimiter)
		}
		if out.size() > f.Max {
			return frame{fault: tooLarge, v: int64(out.size())}
		}
		return out
	case envelope.Fixed:
		if len(b) < f.Size {
			return frame{need: f.Size, known: true}
		}
		return frame{total: f.Size}
	case envelope.Codes:
		return cutCode(f, b)
	case envelope.Datagram:
		if len(b) > f.Max {
			return frame{fault: tooLarge, v: int64(len(b))}
		}
		if !last {
			return frame{need: len(b) + 1}
		}
		return frame{total: len(b)}
	case envelope.Measured:
		n, need, reason := m(b)
		switch {
		case reason != nil:
			return frame{fault: notMeasured, reason: reason}
		case n > f.Max || n == 0 && need > f.Max:
			n := max(n, need)
			return frame{fault: notMeasured, reason: func() string { return fmt.Sprintf("a message of %d bytes or more: the limit is %d", n, f.Max) }}
		case n == 0:
			return frame{need: max(need, len(b)+1)}
		}
		return frame{total: n}
	}
	return frame{fault: noFraming}
}

// cutLength cuts a frame with a length.
func cutLength(f *envelope.Framing, b []byte, out *frame) {
	*out = frame{}
	if len(b) <= f.At {
		out.need = f.At + 1
		return
	}
	v, size := readNumber(&f.Number, b[f.At:])
	if size <= 0 {
		switch {
		case size < 0:
			out.fault = lengthOverlong
		case f.Number.Kind == envelope.UInt:
			out.need = f.At + f.Number.Size
		default:
			out.need = len(b) + 1
		}
		return
	}
	const most = envelope.MaxMax + 1<<16
	n := int64(v)
	if n < -most || n > most || n*f.Times > most {
		if out.fault, out.v = lengthTooLarge, n; f.Number.Kind == envelope.ZigZag {
			out.fault = lengthNegative
		}
		return
	}
	n = n*f.Times + f.Add
	head := f.At + size
	switch f.Counts {
	case envelope.Rest:
		n += int64(head)
	case envelope.Itself:
		n += int64(f.At)
	}
	out.before, out.length, out.head = f.At, size, f.At
	if f.Keep {
		out.length, out.head = 0, head
	}
	switch message := n - int64(out.length); {
	case n < int64(head) || message < int64(f.Min):
		*out = frame{fault: lengthTooSmall, v: int64(v)}
	case message > int64(f.Max):
		*out = frame{fault: tooLarge, v: message}
	case int64(len(b)) < n:
		out.need, out.known = int(n), true
	default:
		out.total = int(n)
	}
}

// cutCode cuts a frame whose code determines the size.
func cutCode(f *envelope.Framing, b []byte) (out frame) {
	if len(b) <= f.At {
		return frame{need: f.At + 1}
	}
	code, size := readNumber(&f.Number, b[f.At:])
	switch {
	case size < 0:
		return frame{fault: codeOverlong}
	case size == 0:
		return frame{need: max(len(b)+1, f.At+f.Number.Size)}
	}
	c := sizeOf(f, code)
	switch {
	case c == nil:
		return frame{fault: codeUnsized, v: int64(code)}
	case c.Length != nil:
		cutLength(c.Length, b, &out)
		out.within = c.Length
		if out.total > 0 && out.total < f.At+size {
			return frame{fault: codeBehind, v: int64(code)}
		}
		return out
	case c.Size < f.At+size:
		return frame{fault: codeOutside, v: int64(code)}
	case len(b) < c.Size:
		return frame{need: c.Size, known: true}
	}
	return frame{total: c.Size}
}

// sizeOf returns the entry of a code, or nil.
func sizeOf(f *envelope.Framing, code uint64) *envelope.CodeSize {
	sizes := f.Sizes
	n := len(sizes)
	if n > 0 && sizes[n-1].Other {
		n--
	}
	from, to := 0, n
	for from < to { // slices.BinarySearchFunc copies the entries
		if mid := (from + to) / 2; sizes[mid].Code < code {
			from = mid + 1
		} else {
			to = mid
		}
	}
	switch {
	case from < n && sizes[from].Code == code:
		return &sizes[from]
	case n < len(sizes):
		return &sizes[n]
	}
	return nil
}

// wrap appends the frame of a message. Its compressed part is pack(nil, message[head:]).
func wrap(dst []byte, f *envelope.Framing, message []byte, pack func(dst, body []byte) ([]byte, error), m measure) ([]byte, error) {
	if len(message) < f.Min || len(message) > f.Max {
		return dst, transport.OutOfRange(len(message), f.Min, f.Max)
	}
	if f.Kind == envelope.Length {
		return wrapLength(dst, f, message, pack)
	}
	if f.Kind == envelope.Codes {
		code, size := uint64(0), 0
		if len(message) > f.At {
			code, size = readNumber(&f.Number, message[f.At:])
		}
		if size <= 0 {
			return dst, errors.New("the message ends before its code")
		}
		c := sizeOf(f, code)
		switch {
		case c == nil:
			return dst, fmt.Errorf("the code %d has no size", code)
		case c.Length != nil:
			return wrapLength(dst, c.Length, message, pack)
		case c.Size != len(message):
			return dst, fmt.Errorf("a message of %d bytes: messages of code %d have %d", len(message), code, c.Size)
		}
	}
	at := len(dst)
	dst, err := pack(dst, message)
	if err != nil {
		return dst, err
	}
	body := dst[at:]
	switch f.Kind {
	case envelope.Delimiter:
		i := bytes.Index(body, f.Delimiter)
		switch {
		case !f.Keep && i >= 0:
			return dst, fmt.Errorf("the message contains the delimiter, at byte %d", i)
		case !f.Keep:
			dst = append(dst, f.Delimiter...)
			if bytes.Index(dst[at:], f.Delimiter) != len(body) {
				return dst, errors.New("the end of the message and the delimiter contain the delimiter")
			}
		case i < 0 || i != len(body)-len(f.Delimiter):
			return dst, errors.New("the message does not end at its first delimiter")
		}
	case envelope.Fixed:
		if len(body) != f.Size {
			return dst, fmt.Errorf("a message of %d bytes: messages have %d", len(body), f.Size)
		}
	case envelope.Measured:
		n, need, why := m(body)
		switch {
		case why != nil:
			return dst, errors.New(why())
		case n == 0:
			return dst, fmt.Errorf("the message has %d bytes and needs at least %d", len(body), need)
		case n != len(body):
			return dst, fmt.Errorf("the message ends after %d of the %d bytes", n, len(body))
		}
	case envelope.NoFraming:
		return dst, errors.New("the envelope has no framing")
	}
	return dst, nil
}

// wrapLength appends a frame with a length.
func wrapLength(dst []byte, f *envelope.Framing, message []byte, pack func(dst, body []byte) ([]byte, error)) ([]byte, error) {
	head := f.At
	if f.Keep && len(message) > f.At {
		_, size := readNumber(&f.Number, message[f.At:])
		if size <= 0 {
			return dst, errors.New("the message ends before its length")
		}
		head += size
	}
	if len(message) < head || f.Keep && head == f.At {
		return dst, errors.New("the message ends before its length")
	}
	body, err := pack(nil, message[head:])
	if err != nil {
		return dst, err
	}
	// The size of a number of variable size can depend on itself; it only grows.
	size := numberSize(&f.Number, 0)
	for {
		n := int64(len(body))
		switch f.Counts {
		case envelope.Itself:
			n += int64(size)
		case envelope.All:
			n += int64(f.At + size)
		}
		n -= f.Add
		if n%f.Times != 0 || n < 0 {
			return dst, fmt.Errorf("no length makes a message of %d bytes", len(message))
		}
		v := uint64(n / f.Times)
		if s := numberSize(&f.Number, v); s > size {
			size = s
			continue
		}
		dst = append(dst, message[:f.At]...)
		dst, ok := appendNumber(dst, &f.Number, v)
		if !ok {
			return dst, fmt.Errorf("a message of %d bytes is too large for its length", len(message))
		}
		return append(dst, body...), nil
	}
}
