package captures

import (
	"context"
	"errors"
	"io"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Payloads are not stored in deciphered form: they are deciphered on demand, by reading the capture again up to the packets wanted.

// Bounds of deciphering on demand.
const (
	maxClearTime   = 10 * time.Second
	maxClearBeyond = 20_000 // packets after the last one wanted: a key, or the preceding packet of the stream, may come later
)

// Decipher replaces encrypted payloads by their plain text, as far as they can be deciphered. payloads holds the captured payloads by
// packet number; the result holds the packets of which at least a part was deciphered. conn names a connection, "" means any. When ctx is
// done or the time limit is reached, Decipher returns the results so far.
func Decipher(ctx context.Context, in *store.Captures, snap *workspace.Snapshot, x store.Capture, conn string, payloads map[uint32][]byte) (map[uint32]bool, error) {
	protocol, ok := snap.Protocol()
	if !ok || len(payloads) == 0 {
		return nil, nil
	}
	if !protocol.Ciphers && (!protocol.Streams || x.Unfinished) { // only TLS could be deciphered, and recordings have no keys for it
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
	last, left := uint32(0), map[uint32]int{} // left: number of bytes not deciphered yet
	for n, p := range payloads {
		last, left[n] = max(last, n), len(p)
	}
	done := map[uint32]bool{}
	env := EnvOf(snap, x)
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
	o := packet.Options{Ports: snap.Traffic.Ports, TLS: env.TLS(), New: func(c transport.Conn) transport.Transport {
		if conn != "" && c.Name() != conn {
			return nil
		}
		return all(c)
	}}
	o.ClearTLS = func(_ transport.Conn, c transport.Clear) { env.Clear(c) }
	a := packet.NewAssembler(o, func(*transport.Frame) {})
	keys := pcap.Keys{Reader: from}
	for len(left) > 0 {
		p, err := from.Next()
		if err != nil {
			var torn *packet.Torn
			if errors.Is(err, io.EOF) || errors.As(err, &torn) {
				break
			}
			return done, stopped(ctx, err)
		}
		keys.AddTo(a)
		a.Packet(p)
		if p.N >= last && uint64(p.N) >= uint64(last)+maxClearBeyond {
			break
		}
	}
	if len(left) > 0 {
		a.Flush() // read the buffered packets now
	}
	return done, nil
}

// stopped returns nil if the context has ended, else err.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// Until returns a reader whose reads fail once ctx is done.
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
