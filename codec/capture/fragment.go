package capture

import (
	"slices"
	"time"
)

// Bounds of the reassembly of IP packets.
const (
	maxFragmented     = 256              // packets in the making; a new one takes the place of the oldest
	maxFragmentRuns   = 128              // runs of bytes with holes between them in one packet
	maxFragmentPacket = 1<<16 - 1        // bytes of a whole payload
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
	size  int   // of the whole payload; -1 until the last fragment came
	proto uint8
}

type run struct{ from, to int }

// fragments puts IP packets together. Of bytes that come twice the first are kept.
type fragments struct {
	byKey map[fragmentKey]*fragmented
	order []*fragmented // the oldest first
	free  []*fragmented
	lost  int // packets given up
}

// add takes a fragment. If the packet is whole now it is in p and add is true; its data are valid until the next call.
func (f *fragments) add(p *ipPacket, at time.Time) bool {
	if p.off+p.size > maxFragmentPacket || len(p.data) < p.size || p.more && p.size%8 != 0 || p.size <= 0 {
		f.lost++ // cut by the capture, or it cannot be right
		return false
	}
	key := fragmentKey{src: p.src, dst: p.dst, id: p.id}
	if !p.v6 {
		key.proto = p.proto // RFC 791 counts the protocol in; of IPv6 only that of the first fragment is right
	}
	g := f.byKey[key]
	if g != nil && at.Sub(g.first) > fragmentLife {
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
	if !g.put(p) {
		f.drop(g)
		f.lost++
		return false
	}
	if len(g.have) != 1 || g.have[0] != (run{0, g.size}) {
		return false
	}
	p.frag, p.more, p.off = false, false, 0
	p.proto, p.data, p.size = g.proto, g.buf[:g.size], g.size
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
func (g *fragmented) put(p *ipPacket) bool {
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
		}
		at = max(at, r.to)
		merged = run{min(merged.from, r.from), max(merged.to, r.to)}
	}
	if at < to {
		copy(g.buf[at:to], p.data[at-from:to-from])
	}
	g.have = slices.Replace(g.have, first, next, merged)
	return len(g.have) <= maxFragmentRuns
}
