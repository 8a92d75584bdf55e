package runtime

import (
	"math"
	"slices"
	"strconv"
)

// Positions count from the start of the message, or of decompressed contents.

// unknownEnd is where bytes end that are still being written: beyond every message.
const unknownEnd = math.MaxInt64 / 2

const (
	maxSize = 1 << 28 // of what is written
	maxVoid = 1 << 22 // bytes that belong to nothing, and that only positions require
)

// opens begins a message whose parts depend on positions.
func (x *coder) opens() { x.around = around{all: x.b, closed: x.framed, limit: unknownEnd} }

// retry reports whether the message is to be written again, now that its size is known.
func (x *coder) retry() bool {
	if x.err != nil || !x.asked {
		return false
	}
	size := int64(len(x.b) - x.base)
	*x = writing(x.b[:x.base])
	x.sure, x.guess = true, size
	return true
}

// total returns the size of the message.
func (x *coder) total() int64 {
	switch {
	case !x.writing:
		return int64(len(x.all))
	case x.sure:
		return x.guess
	}
	x.asked = true
	return unknownEnd
}

// at returns the position of the next part, to where the innermost contents with a size end.
func (x *coder) at() int64 {
	if x.writing {
		return int64(len(x.b) - x.base)
	}
	return int64(x.pos)
}

func (x *coder) to() int64 {
	if x.writing {
		return x.limit
	}
	return int64(len(x.b))
}

// stopped returns the position at which contents end that were passed, if it was not known before.
func (x *coder) stopped(at uint64) uint64 {
	if x.writing && int64(at) > unknownEnd/2 {
		return uint64(x.at())
	}
	return at
}

// unsure reports whether what is written cannot depend on where contents end, or on what follows.
func (x *coder) unsure(follows bool) bool { return x.writing && (follows || x.limit > unknownEnd/2) }

// inner begins contents with a size that is sent, or that are packed, after which outer restores what it returns. same: they have as many bytes as
// they are sent with.
func (x *coder) inner(packed, same bool) around {
	was := x.around
	was.beyond = x.far
	limit := x.limit - x.from
	x.from, x.limit = x.at(), unknownEnd
	if packed && !x.writing {
		x.all, x.closed = x.b, true
	}
	x.packed = x.packed || packed
	if packed && same && limit < unknownEnd/2 {
		x.limit = x.from + limit
	}
	return was
}

func (x *coder) outer(was around) {
	if x.packed && !x.writing {
		x.far = was.beyond
	}
	x.around = was
}

// window passes contents of a computed size, by body. Those that are written are filled up.
func (x *coder) window(size int64, field string, body func()) {
	was, known := x.around, !x.writing || size <= unknownEnd/2
	switch from := x.at(); {
	case x.err != nil:
	case known && (size < 0 || size > maxSize):
		x.illegal(field, "the size is "+strconv.FormatInt(size, 10))
	case x.writing:
		x.from, x.limit = from, unknownEnd
		if known {
			x.limit = from + size
		}
		x.inside++
		body()
		x.inside--
		x.around = was
		if more := from + size - x.at(); known && more < 0 {
			x.illegal(field, "there are "+strconv.FormatInt(size-more, 10)+" bytes where "+strconv.FormatInt(size, 10)+" are required")
		} else if known && x.err == nil && more > 0 {
			x.voids = append(x.voids, void{len(x.b), len(x.b) + int(more)})
			x.b = append(x.b, make([]byte, more)...)
		}
	case size > int64(len(x.b)-x.pos):
		x.over(field)
	default:
		sent, framed, to := x.b, x.framed, x.pos+int(size)
		x.b, x.framed, x.from = x.b[:to], true, from
		x.inside++
		body()
		x.inside--
		x.b, x.framed, x.pos, x.around = sent, framed, to, was
	}
}

// place passes contents at a position, by body. inner: they are in the innermost contents around that have a size; placeIn: they are in
// others.
func (x *coder) place(at uint64, inner bool, header int, field string, body func()) {
	was, b, framed, inside := x.around, x.b, x.framed, x.inside
	if !inner && !x.writing && inside > 0 {
		x.b, x.framed, x.inside, x.from = x.all, x.closed, 0, 0
	}
	if !inner && x.writing && inside > 0 {
		x.from, x.limit = 0, unknownEnd
	}
	x.aside(at, header, field, body)
	if !x.writing {
		x.b = b
	}
	x.framed, x.inside, x.around = framed, inside, was
}

func (x *coder) placeIn(at, from, to uint64, header int, field string, body func()) {
	was, b, framed, inside, far := x.around, x.b, x.framed, x.inside, x.far
	x.from, x.limit = int64(from), int64(to)
	if !x.writing {
		x.b, x.framed, x.inside = x.all[:min(to, uint64(len(x.all)))], true, 1
	}
	x.aside(at, header, field, body)
	if !x.writing {
		x.b, x.far = b, far
	}
	x.framed, x.inside, x.around = framed, inside, was
}

// aside passes contents at a position; what follows is where it would be without them.
func (x *coder) aside(at uint64, header int, field string, body func()) {
	switch {
	case x.err != nil:
	case at < uint64(header):
		x.illegal(field, "the position is inside the header")
	case x.writing && x.packed:
		x.illegal(field, "it is at a position in compressed contents")
	case x.writing && at > maxSize:
		x.illegal(field, "the position is "+strconv.FormatInt(int64(at), 10))
	case x.writing:
		b, base, voids, k := x.b, x.base, x.voids, len(x.pieces)
		x.pieces = append(x.pieces, piece{at: int64(at), field: field})
		x.b, x.base, x.inside, x.voids = nil, -int(at), 0, nil
		body()
		x.pieces[k].b, x.pieces[k].voids = x.b, x.voids
		x.b, x.base, x.voids = b, base, voids
	case at > uint64(len(x.b)):
		x.over(field)
	default:
		pos := x.pos
		x.pos = int(at)
		body()
		x.far, x.pos = max(x.far, x.pos), pos
	}
}

// settle writes the contents at positions, which may be in the bytes of others if these are the same.
func (x *coder) settle() {
	if x.err != nil || len(x.pieces) == 0 {
		return
	}
	out := x.b[x.base:]
	owned := make([]bool, len(out))
	for i := range owned {
		owned[i] = true
	}
	for _, v := range x.voids {
		clear(owned[v.from-x.base : v.to-x.base])
	}
	for _, p := range x.pieces {
		if p.at > int64(len(out)+maxVoid) {
			x.illegal(p.field, "too many bytes before it would belong to nothing")
			return
		}
		for int64(len(out)) < p.at && len(p.b) > 0 {
			out, owned = append(out, 0), append(owned, false)
		}
		for i, c := range p.b {
			mine := !slices.ContainsFunc(p.voids, func(v void) bool { return i >= v.from && i < v.to })
			switch k := int(p.at) + i; {
			case k == len(out):
				out, owned = append(out, c), append(owned, mine)
			case mine && owned[k] && out[k] != c:
				x.illegal(p.field, "other contents have other bytes there")
				return
			case mine:
				out[k], owned[k] = c, true
			}
		}
	}
	for _, p := range x.pieces {
		if p.at > int64(len(out)) {
			x.illegal(p.field, "its position is outside of the message")
		}
	}
	if x.sure && int64(len(out)) != x.guess {
		x.illegal("the size of the message", "depends on contents at positions, and they on it")
	}
	x.b = append(x.b[:x.base], out...)
}

// closes reports whether constant bytes at the end of contents with a size are there, or have room.
func (x *coder) closes(n int) bool {
	if x.writing {
		return x.err == nil && x.at()+int64(n) <= x.limit
	}
	return x.more()
}

// seekByte returns the number of bytes up to a byte; bits of how: with it, and one more than there is if it is missing.
func (x *coder) seekByte(c, how int64) int64 {
	if x.writing || x.err != nil {
		return unknownEnd
	}
	rest := x.b[x.pos:]
	n, found := slices.Index(rest, byte(c)), true
	if n < 0 {
		n, found = len(rest), false
	}
	x.spend(0, n, "a search")
	if found && how&1 != 0 || !found && how&2 != 0 {
		n++
	}
	return int64(n)
}

// trimmed returns the number of bytes up to the last run of a byte.
func (x *coder) trimmed(pad int64) int64 {
	if x.writing || x.err != nil {
		return unknownEnd
	}
	rest := x.b[x.pos:]
	x.spend(0, len(rest), "a search")
	return int64(len(trim(rest, byte(pad))))
}

// many returns a computed number of units, -3 if it depends on what is not known while it is written.
func (x *coder) many(n uint64, field string) int {
	if x.writing && int64(n) > unknownEnd/2 {
		return -3
	}
	return x.amount(n, field)
}
