package columns

import (
	"bytes"

	"wirebench/codec"
)

// straightRows appends the messages at the start of rows that are straight and valid, at most one run, and returns their number.
func (c *Set) straightRows(rows []Span) int {
	p, r := c.Program, &c.run
	rows = rows[:min(len(rows), r.most, max(maxFound/len(p.Straight), 1))]
	r.ends = growTo(r.ends, len(rows))
	r.next = growTo(r.next, len(rows))
	n := anyHeads(p, r.ends, c.Data, rows, 0)
	r.room = n
	r.found, r.spots = growTo(r.found, n*len(p.Straight)), growTo(r.spots, n*len(p.Straight))
	for i := range rows[:n] {
		r.next[i] = rows[i].Off
	}
	for k := range p.Straight {
		if s := &p.Straight[k]; s.Kind == codec.NodeBlock {
			n = passBlock(s, r.spots[k*r.room:][:n], c.Data, r.next, r.ends)
		} else if s.Of >= 0 {
			n = passCounted(s, r.of(k, n), c.Data, r.spots[s.Of*r.room:][:n], r.next, r.ends)
		} else {
			n = passEnded(s, r.of(k, n), c.Data, r.next, r.ends)
		}
	}
	r.most = min(max(2*n, minRun), maxRun)
	if n == 0 {
		return 0
	}
	c.begin(n)
	for k := range p.Straight {
		switch t := &c.parts[k]; {
		case t.kind == codec.NodeBlock:
			c.blocks(t.block, r.spots[k*r.room:][:n])
		case t.field == codec.NoField:
		case t.kind == codec.NodeList:
			c.lists(t, r.of(k, n))
		default:
			c.texts(t, r.of(k, n))
		}
	}
	return n
}

// passBlock notes where the blocks of messages begin, and returns how many messages at the start have them whole, with legal values.
func passBlock(s *codec.Segment, spots []Span, data []byte, next, ends []uint32) int {
	size, reach := uint32(s.Size), max(uint64(s.Block.Reach), s.Size)
	next, ends = next[:len(spots)], ends[:len(spots)]
	for i := range spots {
		at := next[i]
		if uint64(at)+s.Size > uint64(ends[i]) || uint64(at)+reach > uint64(len(data)) {
			return i
		}
		if len(s.Block.Checks) > 0 && !s.Block.Legal(data[at:]) {
			return i
		}
		spots[i] = Span{Off: at}
		next[i] = at + size
	}
	return len(spots)
}

// passCounted locates contents whose number of units is in the blocks at spots.
func passCounted(s *codec.Segment, found []located, data []byte, spots []Span, next, ends []uint32) int {
	at, shift, mask, each, lo, hi := s.Count.At, s.Count.Shift&63, s.Count.Mask, s.Each, s.Min, s.Max
	found, next, ends = found[:len(spots)], next[:len(spots)], ends[:len(spots)]
	for i := range spots {
		n := codec.Word(data, spots[i].Off+at) >> shift & mask
		from := uint64(next[i])
		end := from + n*each
		if end > uint64(ends[i]) || n < lo || n > hi {
			return i
		}
		found[i] = located{uint32(from), uint32(n)}
		next[i] = uint32(end)
	}
	return len(spots)
}

// passEnded locates text and bytes that a byte ends.
func passEnded(s *codec.Segment, found []located, data []byte, next, ends []uint32) int {
	for i := range found {
		n := bytes.IndexByte(data[next[i]:ends[i]], s.End)
		if n < 0 || uint64(n) < s.Min || uint64(n) > s.Max {
			return i
		}
		found[i] = located{next[i], uint32(n)}
		next[i] += uint32(n) + 1
	}
	return len(found)
}
