package packet

import (
	"cmp"
	"slices"
	"time"

	"wirebench/codec/transport"
)

// Bounds of the reassembly of IP packets.
const (
	maxFragmented     = 256              // incomplete packets; a new one evicts the oldest
	maxFragmentRuns   = 128              // runs of bytes with holes between them in one packet
	maxFragmentPacket = 1<<16 - 1        // bytes of a complete payload
	maxFragmentParts  = 1024             // recorded fragments of one packet
	fragmentLife      = 60 * time.Second // RFC 8200, section 4.5
)

type fragmentKey struct {
	src, dst addr16
	id       uint32
	proto    uint8
}

// fragmented is a packet of which some fragments are missing.
type fragmented struct {
	key   fragmentKey
	first time.Time
	buf   []byte
	have  []run // sorted, with holes between them
	parts []part
	size  int // of the complete payload; -1 until the last fragment has arrived
	proto uint8
}

// part is a run of bytes of a complete packet's payload, and the number of the captured packet that carried it.
type part struct {
	from, to uint32
	packet   uint32
	start    uint32 // of the fragment's bytes in the payload
}

type run struct{ from, to int }

// fragments reassembles IP packets. Where fragments overlap, the bytes that arrived first count.
type fragments struct {
	parts []part // of the last completed packet, sorted; valid until the next fragment
	byKey map[fragmentKey]*fragmented
	order []*fragmented // the oldest first
	free  []*fragmented
	lost  int // packets given up
}

// add takes a fragment of a captured packet. If it completes an IP packet, add stores that in p and returns true; its data are valid until
// the next call.
func (f *fragments) add(p *ipPacket, packet uint32, at time.Time) bool {
	if p.off+p.size > maxFragmentPacket || len(p.data) < p.size || p.more && p.size%8 != 0 || p.size <= 0 {
		f.lost++ // truncated by the capture, or malformed
		return false
	}
	key := fragmentKey{src: p.src, dst: p.dst, id: p.id}
	if !p.v6 {
		key.proto = p.proto // RFC 791 includes the protocol; for IPv6 only that of the first fragment is valid
	}
	g := f.byKey[key]
	if g != nil && !at.IsZero() && !g.first.IsZero() && at.Sub(g.first) > fragmentLife { // times may be unknown
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

// drop forgets a packet. Its buffer is unchanged until the next fragment.
func (f *fragments) drop(g *fragmented) {
	delete(f.byKey, g.key)
	i := slices.Index(f.order, g)
	f.order = slices.Delete(f.order, i, i+1)
	f.free = append(f.free, g)
}

// put adds the bytes of p that are missing. It returns false if they contradict earlier ones or are in too many pieces.
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

// maxSplitParts bounds the recorded fragments of all packets: a frame may be complete long after its packets.
const maxSplitParts = 1 << 16

// splits maps fragmented packets to their fragments. The key is the number of the packet's last captured fragment, which stands for all of
// them in transports. The oldest entries are evicted.
type splits struct {
	of    map[uint32]splitPacket
	order []uint32
	parts int
	from  []transport.Source
}

type splitPacket struct {
	head  uint32 // bytes of the payload before the payload of TCP or UDP
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

// sources replaces each fragmented packet by its fragments; the bytes of a fragment begin at its offset in the payload of the packet. The
// result is valid until the next call.
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
			if p.from > at { // more parts than are recorded
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
