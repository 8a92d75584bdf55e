package captures

import (
	"context"
	"errors"
	"io"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// The payload of a captured packet is kept nowhere in the clear: what is wanted of it is deciphered anew, by reading the capture up to
// there once more.

// Bounds of deciphering anew.
const (
	maxClearTime   = 10 * time.Second
	maxClearBeyond = 20_000 // packets behind the last one wanted: a key, or the packet before it in the stream, may come later
)

// Decipher deciphers packets. What came enciphered, and can be read, is put over the captured payload, which payloads has by the
// packet's number; the answer has those of which something was. conn names a connection, "" is any. It ends with ctx, and after a bound
// of time, with what it has by then.
func Decipher(ctx context.Context, in *store.Captures, snap *workspace.Snapshot, x store.Capture, conn string, payloads map[uint32][]byte) (map[uint32]bool, error) {
	protocol, ok := protocols.Of(snap.Dialect.Name)
	if !ok || !protocol.Ciphers || len(payloads) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxClearTime)
	defer cancel()
	file, err := in.Open(x.ID)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	from, err := pcap.NewReader(Until(ctx, file))
	if errors.Is(err, pcap.ErrFormat) {
		return nil, nil
	}
	if err != nil {
		return nil, stopped(ctx, err)
	}
	last, left := uint32(0), map[uint32]int{} // left: bytes that are not known in the clear yet
	for n, p := range payloads {
		last, left[n] = max(last, n), len(p)
	}
	done := map[uint32]bool{}
	env := envOf(snap, x)
	env.Clear = func(c transport.Clear) {
		p, wanted := payloads[c.Packet]
		if !wanted || uint64(c.Off) >= uint64(len(p)) {
			return
		}
		done[c.Packet] = true
		if left[c.Packet] -= copy(p[c.Off:], c.Bytes); left[c.Packet] <= 0 {
			delete(left, c.Packet)
		}
	}
	all := transportsOf(env, protocol, nil)
	a := packet.NewAssembler(packet.Options{New: func(c transport.Conn) transport.Transport {
		if conn != "" && c.Name() != conn {
			return nil
		}
		return all(c)
	}}, func(*transport.Frame) {})
	for len(left) > 0 {
		p, err := from.Next()
		if err != nil {
			var torn *packet.Torn
			if errors.Is(err, io.EOF) || errors.As(err, &torn) {
				break
			}
			return done, stopped(ctx, err)
		}
		a.Packet(p)
		if p.N >= last && uint64(p.N) >= uint64(last)+maxClearBeyond {
			break
		}
	}
	if len(left) > 0 {
		a.Flush() // what waited is read now
	}
	return done, nil
}

// stopped is nil for what is over because its time is.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// Until is a reader that fails when a context has ended.
func Until(ctx context.Context, r io.Reader) io.Reader { return &untilReader{r, ctx} }

type untilReader struct {
	io.Reader
	ctx context.Context
}

func (f *untilReader) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.Reader.Read(p)
}
