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
	maxMarks      = 1 << 15 // of a file; behind the last one packets are found by reading
	maxMarkIfaces = 1 << 16 // interfaces that all marks remember
)

// milestone is a place between two packets, where a Reader can go on.
type milestone struct {
	n      uint32 // packets before it
	pos    int64
	big    bool
	ifaces []Interface
}

// Index remembers offsets in a capture file, so that a packet is found by its number without reading the file from its start. It learns while
// packets are looked for. It is for one goroutine and one file.
type Index struct {
	marks  []milestone
	ifaces int
}

// learn keeps the place behind the last packet that was read. A packed file has none, and a text.
func (x *Index) learn(r *Reader) {
	n := r.packet.N
	if r.packed || r.export != nil || n%markEvery != 0 || len(x.marks) >= maxMarks || x.ifaces >= maxMarkIfaces || len(x.marks) > 0 && x.marks[len(x.marks)-1].n >= n {
		return
	}
	m := milestone{n: n, pos: r.in.Offset(), big: r.big}
	if len(x.marks) > 0 && slices.Equal(x.marks[len(x.marks)-1].ifaces, r.ifaces) {
		m.ifaces = x.marks[len(x.marks)-1].ifaces
	} else {
		m.ifaces = slices.Clone(r.ifaces) // a new section writes over them
		x.ifaces += len(m.ifaces)
	}
	x.marks = append(x.marks, m)
}

// before is the last mark with fewer packets before it than n; nil: the start of the file.
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

// resume goes on at a mark, of which the reader below has been moved to the place.
func (r *Reader) resume(m *milestone) {
	r.in.Moved(m.pos)
	r.big, r.ifaces, r.failed = m.big, slices.Clone(m.ifaces), nil
	r.packet, r.packets = packet.Packet{N: m.n}, m.n
}

// Packets emits the packets of a capture file with the numbers that are wanted, which rise, each once. It goes from place to place by
// what the index knows, and ends when emit returns false. Numbers that the file does not have are passed over. A packet is valid until emit
// has returned. The errors are those of NewReader and of file; where a file breaks off is no error.
func (x *Index) Packets(file io.ReadSeeker, want []uint32, emit func(*packet.Packet) bool) error {
	r, err := NewReader(file)
	if err != nil {
		return err
	}
	for _, n := range want {
		if m := x.before(n); m != nil && m.n > r.packet.N && !r.packed {
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
