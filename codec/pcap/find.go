package pcap

import (
	"errors"
	"io"
	"slices"

	"wirebench/codec/packet"
)

// Bounds of an Index.
const (
	markEvery     = 10_000  // packets
	maxMarks      = 1 << 15 // of a file; packets after the last one are found by reading on
	maxMarkIfaces = 1 << 16 // interfaces stored in all marks
)

// milestone is a position between two packets from which a Reader can continue.
type milestone struct {
	n      uint32 // packets before it
	pos    int64
	big    bool
	netmon netmon
	ifaces []Interface
}

// Index records offsets in a capture file, so that packets can be found by number without reading the file from its start. It grows while
// packets are looked up. It is for one file and must be used by one goroutine at a time.
type Index struct {
	marks  []milestone
	ifaces int
}

// learn records the position after the last packet. Compressed files and texts have none.
func (x *Index) learn(r *Reader) {
	n := r.packet.N
	if r.packed != "" || r.export != nil || n%markEvery != 0 || len(x.marks) >= maxMarks || x.ifaces >= maxMarkIfaces || len(x.marks) > 0 && x.marks[len(x.marks)-1].n >= n {
		return
	}
	m := milestone{n: n, pos: r.in.Offset(), big: r.big, netmon: r.netmon}
	if len(x.marks) > 0 && slices.Equal(x.marks[len(x.marks)-1].ifaces, r.ifaces) {
		m.ifaces = x.marks[len(x.marks)-1].ifaces
	} else {
		m.ifaces = slices.Clone(r.ifaces) // a new section overwrites them
		x.ifaces += len(m.ifaces)
	}
	x.marks = append(x.marks, m)
}

// before returns the last mark with fewer packets before it than n; nil: the start of the file.
func (x *Index) before(n uint32) *milestone {
	i, _ := slices.BinarySearchFunc(x.marks, n, func(m milestone, n uint32) int {
		if m.n < n {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return &x.marks[i-1]
}

// resume continues at a mark; the underlying reader has been moved to its position.
func (r *Reader) resume(m *milestone) {
	r.in.Moved(m.pos)
	r.big, r.netmon, r.ifaces, r.failed = m.big, m.netmon, slices.Clone(m.ifaces), nil
	r.packet, r.packets = packet.Packet{N: m.n}, m.n
}

// Packets emits the packets of a capture file with the wanted numbers, which must be ascending. It seeks as far as the index allows, and
// stops when emit returns false. Numbers beyond the end of the file are skipped. A packet is valid only during emit. The errors are those
// of NewReader and of file; a truncated file is not an error.
func (x *Index) Packets(file io.ReadSeeker, want []uint32, emit func(*packet.Packet) bool) error {
	r, err := NewReader(file)
	if err != nil {
		return err
	}
	for _, n := range want {
		if m := x.before(n); m != nil && m.n > r.packet.N && r.packed == "" {
			if _, err := file.Seek(m.pos, io.SeekStart); err != nil {
				return err
			}
			r.resume(m)
		}
		for r.packet.N < n {
			if _, err := r.Next(); err != nil {
				var torn *packet.Torn
				if errors.Is(err, io.EOF) || errors.As(err, &torn) {
					return nil
				}
				return err
			}
			x.learn(r)
		}
		if r.packet.N == n && n > 0 && !emit(&r.packet) {
			return nil
		}
	}
	return nil
}
