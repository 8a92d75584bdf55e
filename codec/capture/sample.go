package capture

import (
	"bytes"
	"io"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
)

// Bounds of samples.
const (
	maxSampled     = 16      // connections of each kind
	maxSampleBytes = 1 << 20 // of a connection
)

// Samples returns the traffic of the first connections of a capture of packets, each in order of arrival: those over TCP, and those over UDP.
// The error is one of r, or wraps pcap.ErrFormat.
func Samples(r io.Reader, opts packet.Options) (streams, datagrams [][]transport.Segment, err error) {
	var tcp, udp []*sampler
	opts.New = func(c transport.Conn) transport.Transport {
		list := &udp
		if c.Proto == transport.TCP {
			list = &tcp
		}
		if len(*list) >= maxSampled {
			return nil
		}
		s := &sampler{}
		*list = append(*list, s)
		return s
	}
	opts.Recorded = nil
	_, err = pcap.Read(r, opts, func(*transport.Frame) {})
	collect := func(list []*sampler) (out [][]transport.Segment) {
		for _, s := range list {
			if s.bytes > 0 {
				out = append(out, s.segments)
			}
		}
		return out
	}
	return collect(tcp), collect(udp), err
}

// sampler is a transport that keeps the traffic, and finds no frames.
type sampler struct {
	segments []transport.Segment
	bytes    int
}

func (s *sampler) Feed(seg transport.Segment, _ func(*transport.Frame)) {
	if s.bytes += len(seg.Bytes); s.bytes <= maxSampleBytes {
		seg.Bytes = bytes.Clone(seg.Bytes)
		s.segments = append(s.segments, seg)
	}
}

func (s *sampler) Flush(time.Time, func(*transport.Frame)) {}
