package capture

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Bounds of messages that are delimited by a framing, in bytes. Those of an envelope have their own.
const (
	maxRaw         = envelope.MaxMax     // of a message of a raw file
	maxFramed      = envelope.DefaultMax // of a message of a connection
	maxFramedInAll = 64 << 20            // that wait for the rest of their messages, in all connections
)

// framed is the transport of messages that are delimited by a framing: that of an envelope without codes. Its frames have only the bytes of the
// message, and where these are.
type framed struct {
	*stream.Transport
	f    Framing
	key  func(schema.Dir, []byte) (schema.Key, bool)
	held *int // bytes that wait, in all connections
	own  int  // of them
	to   func(*transport.Frame)
}

// newFramed makes the transport of a connection. All connections of a capture share held.
func newFramed(f Framing, proto transport.Proto, most int, key func(schema.Dir, []byte) (schema.Key, bool), held *int) *framed {
	x := f.Framing
	x.Max, x.Keep = most, f.Keep || f.Kind == envelope.Length // a head is removed here, so that the place of the rest is known
	e := envelope.Envelope{States: []envelope.State{{Frame: [2]envelope.Framing{x, x}}}}
	if proto == transport.UDP {
		e.Carrier = envelope.UDP
	}
	return &framed{Transport: stream.New(stream.Options{Envelope: &e}), f: f, key: key, held: held}
}

// Feed implements transport.Transport.
func (t *framed) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	t.to = emit
	t.Transport.Feed(seg, t.emit)
	if t.count(); *t.held > maxFramedInAll {
		t.GiveUp(fmt.Sprintf("more than %d MiB without the end of a message in all connections", maxFramedInAll>>20), t.emit)
		t.count()
	}
}

// Flush implements transport.Transport.
func (t *framed) Flush(at time.Time, emit func(*transport.Frame)) {
	t.to = emit
	t.Transport.Flush(at, t.emit)
	t.count()
}

func (t *framed) count() {
	was := t.own
	t.own = t.Held()
	*t.held += t.own - was
}

// emit passes a frame on.
func (t *framed) emit(f *transport.Frame) {
	if t.f.Dir != schema.Both {
		f.Dir = t.f.Dir
	}
	switch {
	case f.Kind == transport.Control && len(f.Bytes) == 0:
		return // between two delimiters
	case f.Kind == transport.Message:
		head := 0
		if t.f.Kind == envelope.Length && !t.f.Keep {
			head = t.f.At + numberSize(t.f.Number, f.Bytes[t.f.At:])
		}
		f.Bytes = f.Bytes[head:]
		f.From = part(f.From, uint32(head), uint32(len(f.Bytes)))
		if f.Offset != transport.Unknown {
			f.Offset += int64(head)
		}
		if t.key != nil {
			f.Key, f.HasKey = t.key(f.Dir, f.Bytes)
		}
	}
	t.to(f)
}

// numberSize returns the size of the number that data starts with.
func numberSize(n envelope.Number, data []byte) int {
	if n.Kind == envelope.UInt {
		return n.Size
	}
	return slices.IndexFunc(data, func(c byte) bool { return c < 0x80 }) + 1
}

// part returns the sources of n bytes of a frame that begin at an offset in it; without bytes, their place. It changes from.
func part(from []transport.Source, at, n uint32) []transport.Source {
	for len(from) > 1 && at >= from[0].Len {
		at -= from[0].Len
		from = from[1:]
	}
	for i := range from {
		from[i].Off, from[i].Len = from[i].Off+at, min(from[i].Len-at, n)
		if at, n = 0, n-from[i].Len; n == 0 {
			return from[:i+1]
		}
	}
	return from
}

// errNoStream is the error of raw bytes of a protocol that cannot read them.
var errNoStream = errors.New("the project has no envelope or protocol that reads a stream of bytes")

// ReadRaw splits a raw file into messages as Options.Framing says and emits them as frames as they are read; Offset is that of the first byte in
// the file. Bytes that no message begins with are a Problem, behind which the next message is searched. Empty messages between delimiters are
// omitted. The error is about the framing; errors of r end the file, see scan.Input.Failure.
func ReadRaw(in *scan.Input, opts Options, emit func(*transport.Frame)) error {
	f := *opts.Framing
	dir := f.Dir
	if dir == schema.Both {
		dir = opts.Dir
	}
	w := transport.Whole{Opts: transport.WholeOptions{Dir: dir, Limit: opts.Limit}, Emit: emit, Conn: &transport.Conn{Proto: transport.TCP}, IDs: transport.Identifier{Raw: true}}
	var t transport.Transport
	if f.Own {
		if t = opts.stream(); t == nil {
			return errNoStream
		}
	} else {
		t, w.Opts.Key = newFramed(f, transport.TCP, maxRaw, nil, new(int)), opts.Key
	}
	more := true
	give := func(x *transport.Frame) {
		if !f.Own {
			x.Dir = dir
		}
		more = more && w.Give(*x)
	}
	for start := true; more; start = false {
		in.Peek(1)
		data := in.Buffered()
		t.Feed(transport.Segment{Dir: dir, Bytes: data, Start: start, End: len(data) == 0}, give)
		if len(data) == 0 {
			break
		}
		in.SkipSeen(len(data))
	}
	if more {
		t.Flush(time.Time{}, give)
	}
	return nil
}

// stream returns the transport of a stream of the project's protocol; nil if there is none.
func (o *Options) stream() transport.Transport {
	if o.New == nil {
		return nil
	}
	return o.New(transport.Conn{Proto: transport.TCP})
}
