package pcap

import (
	"errors"
	"io"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
)

// Read reads a capture file and emits the frames of its connections in delivery order, which is the order of the packets that completed
// them. The error wraps ErrFormat, or is an error of r. A truncated file is not an error: Summary.Torn holds the position.
func Read(r io.Reader, opts packet.Options, emit func(*transport.Frame)) (packet.Summary, error) {
	in, err := NewReader(r)
	if err != nil {
		return packet.Summary{}, err
	}
	a := packet.NewAssembler(opts, emit)
	made, recorded := madeFrames{a: a}, recordedFrames{a: a, wanted: opts.Recorded}
	if opts.Recorded != nil {
		in.record = recorded.record
	}
	keys := Keys{Reader: in}
	for !a.Full() {
		p, e := in.Next()
		if e != nil {
			err = e
			break
		}
		keys.AddTo(a)
		switch {
		case recorded.on:
			a.Pass(p)
		case in.made:
			made.packet(p)
		default:
			a.Packet(p)
		}
	}
	made.end()
	a.Flush()
	a.Malformed(in.lost)
	a.NotPackets(in.records)
	sum := a.Summary()
	sum.Format = in.Format()
	if errors.As(err, &sum.Torn) || errors.Is(err, io.EOF) {
		err = nil
	}
	return sum, err
}

// Keys passes the TLS key logs of a file to an Assembler.
type Keys struct {
	Reader *Reader
	passed int // blocks
}

// AddTo passes the key logs that were read since the last call. It is called before each packet.
func (k *Keys) AddTo(a *packet.Assembler) {
	for _, s := range k.Reader.secrets[k.passed:] {
		if s.Kind == KeyLog {
			a.AddTLS(s.Data)
		}
	}
	k.passed = len(k.Reader.secrets)
}
