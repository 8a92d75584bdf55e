package packet

import (
	"cmp"
	"slices"
	"time"

	"wirebench/codec/transport"
)

// Bounds of the reassembly of IP packets.
const (
	maxFragmented     = 256              // packets in the making; a new one takes the place of the oldest
	maxFragmentRuns   = 128              // runs of bytes with holes between them in one packet
	maxFragmentPacket = 1<<16 - 1        // bytes of a whole payload
	maxFragmentParts  = 1024             // of one packet whose fragments are remembered
	fragmentLife      = 60 * time.Second // RFC 8200, section 4.5
)

type fragmentKey struct {
	src, dst addr16
	id       uint32
	proto    uint8
}

// fragmented is a packet in the making.
type fragmented struct {
	key   fragmentKey
	first time.Time
	buf   []byte
	have  []run // sorted, with holes between them
	parts []part
	size  int // of the whole payload; -1 until the last fragment came
	proto uint8
}

// part is a run of bytes of a whole packet's payload, and the captured packet that brought it.
type part struct {
	from, to uint32
	packet   uint32
	start    uint32 // of the fragment's bytes in the payload
}

type run struct{ from, to int }

// fragments puts IP packets together. Of bytes that come twice the first are kept.
type fragments struct {
	parts []part // of the packet that became whole last, sorted; valid until the next fragment
	byKey map[fragmentKey]*fragmented
	order []*fragmented // the oldest first
	free  []*fragmented
	lost  int // packets given up
}

// add takes a fragment that came in a captured packet. If the packet is whole now it is in p and add is true; its data are valid until
// the next call.
func (f *fragments) add(p *ipPacket, packet uint32, at time.Time) bool {
	if p.off+p.size > maxFragmentPacket || len(p.data) < p.size || p.more && p.size%8 != 0 || p.size <= 0 {
		f.lost++ // cut by the capture, or it cannot be right
		return false
	}
	key := fragmentKey{src: p.src, dst: p.dst, id: p.id}
	if !p.v6 {
		key.proto = p.proto // RFC 791 counts the protocol in; of IPv6 only that of the first fragment is right
	}
	g := f.byKey[key]
	if g != nil && !at.IsZero() && !g.first.IsZero() && at.Sub(g.first) > fragmentLife { // a packet may have no time
		f.drop(g)
		f.lost++
		g = nil
	}
	if g == nil {
		g = f.start(key, at)
	}
	if p.off == 0 {
		g.proto = p.proto
	}
	if !g.put(p, packet) {
		f.drop(g)
		f.lost++
		return false
	}
	if len(g.have) != 1 || g.have[0] != (run{0, g.size}) {
		return false
	}
	p.frag, p.more, p.off = false, false, 0
	p.proto, p.data, p.size = g.proto, g.buf[:g.size], g.size
	slices.SortFunc(g.parts, func(a, b part) int { return cmp.Compare(a.from, b.from) })
	f.parts = g.parts
	f.drop(g)
	return true
}

func (f *fragments) start(key fragmentKey, at time.Time) *fragmented {
	if f.byKey == nil {
		f.byKey = map[fragmentKey]*fragmented{}
	}
	if len(f.order) == maxFragmented {
		f.drop(f.order[0])
		f.lost++
	}
	g := &fragmented{}
	if n := len(f.free); n > 0 {
		g, f.free = f.free[n-1], f.free[:n-1]
	}
	g.key, g.first, g.size, g.have, g.buf = key, at, -1, g.have[:0], g.buf[:0]
	g.parts = g.parts[:0]
	f.byKey[key] = g
	f.order = append(f.order, g)
	return g
}

// drop forgets a packet. Its buffer stays as it is until another fragment comes.
func (f *fragments) drop(g *fragmented) {
	delete(f.byKey, g.key)
	i := slices.Index(f.order, g)
	f.order = slices.Delete(f.order, i, i+1)
	f.free = append(f.free, g)
}

// put adds the bytes of p that are not there yet. It is false if they contradict what is there or are in too many pieces.
func (g *fragmented) put(p *ipPacket, packet uint32) bool {
	from, to := p.off, p.off+p.size
	if !p.more {
		if g.size >= 0 && g.size != to {
			return false
		}
		g.size = to
	}
	if last := len(g.have) - 1; g.size >= 0 && (to > g.size || last >= 0 && g.have[last].to > g.size) {
		return false
	}
	if to > len(g.buf) {
		g.buf = slices.Grow(g.buf, to-len(g.buf))[:to]
	}
	// first is the first run that ends at or behind from, next the first that starts behind to.
	first := 0
	for first < len(g.have) && g.have[first].to < from {
		first++
	}
	merged, at, next := run{from, to}, from, first
	for ; next < len(g.have) && g.have[next].from <= to; next++ {
		r := g.have[next]
		if at < r.from {
			copy(g.buf[at:r.from], p.data[at-from:])
			g.came(part{uint32(at), uint32(r.from), packet, uint32(from)})
		}
		at = max(at, r.to)
		merged = run{min(merged.from, r.from), max(merged.to, r.to)}
	}
	if at < to {
		copy(g.buf[at:to], p.data[at-from:to-from])
		g.came(part{uint32(at), uint32(to), packet, uint32(from)})
	}
	g.have = slices.Replace(g.have, first, next, merged)
	return len(g.have) <= maxFragmentRuns
}

func (g *fragmented) came(p part) {
	if len(g.parts) < maxFragmentParts {
		g.parts = append(g.parts, p)
	}
}

// maxSplitParts bounds what is remembered of packets that came in fragments, in all: a frame may be known long after its packets.
const maxSplitParts = 1 << 16

// splits remembers which captured packets the packets are made of that came in fragments, by the number of the last one, which stands for
// all of them in transports. The oldest are forgotten.
type splits struct {
	of    map[uint32]splitPacket
	order []uint32
	parts int
	from  []transport.Source
}

type splitPacket struct {
	head  uint32 // bytes of the payload before that of TCP or UDP
	parts []part
}

func (s *splits) add(packet, head uint32, parts []part) {
	if s.of == nil {
		s.of = map[uint32]splitPacket{}
	}
	for s.parts+len(parts) > maxSplitParts && len(s.order) > 0 {
		s.parts -= len(s.of[s.order[0]].parts)
		delete(s.of, s.order[0])
		s.order = s.order[1:]
	}
	s.of[packet] = splitPacket{head, slices.Clone(parts)}
	s.order = append(s.order, packet)
	s.parts += len(parts)
}

// sources replaces packets that came in fragments by these. Where a fragment begins in the payload of a packet its bytes begin. The answer
// is valid until the next call.
func (s *splits) sources(from []transport.Source) []transport.Source {
	if len(s.of) == 0 || !slices.ContainsFunc(from, func(x transport.Source) bool { _, is := s.of[x.Packet]; return is }) {
		return from
	}
	s.from = s.from[:0]
	for _, x := range from {
		whole, is := s.of[x.Packet]
		if !is {
			s.from = append(s.from, x)
			continue
		}
		at, end, before := x.Off+whole.head, x.Off+whole.head+x.Len, len(s.from)
		i, _ := slices.BinarySearchFunc(whole.parts, at, func(p part, at uint32) int {
			if p.to <= at {
				return -1
			}
			return 1
		})
		for ; i < len(whole.parts) && (at < end || x.Len == 0); i++ {
			p := &whole.parts[i]
			if p.from > at { // it was too much to remember
				break
			}
			run := transport.Source{Packet: p.packet, Off: at - p.start, Len: min(end, p.to) - at}
			if p.start == 0 {
				run.Off = at - whole.head
			}
			s.from = append(s.from, run)
			if at = p.to; x.Len == 0 {
				at = end
				break
			}
		}
		if at < end || len(s.from) == before {
			s.from = append(s.from, transport.Source{Packet: x.Packet, Off: at - whole.head, Len: end - min(at, end)})
		}
	}
	return s.from
}
