package frames

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// keyOf gives a row its key by a column.
type keyOf func(k *keyMaker, rank, i int, e live.Entry, data []byte)

// keyMaker gives rows their keys. It is for one goroutine.
type keyMaker struct {
	*sorter
	by      keyOf
	feeds   map[*codec.Program]*fieldFeed // of a column of a field
	source  []byte                        // of the log, which has the row
	texts   []byte                        // the block that is written to
	used    int
	number  uint32
	key     []byte
	frame   transport.Frame
	maker   RowMaker
	rec     codec.Record
	types   *byType[sortType]
	before  int64 // time of the row before
	scratch []byte
}

// sortType is what the rows of one type have in common.
type sortType struct {
	msg      *schema.Message
	program  *codec.Program
	name     string
	nameless bool    // no map names it
	key      sortRow // of what is the same for all of them
	hasKey   bool
}

func newKeyMaker(s *sorter, by keyOf) *keyMaker {
	return &keyMaker{
		sorter: s, by: by, feeds: map[*codec.Program]*fieldFeed{}, maker: RowMaker{Snap: s.view.Snapshot}, types: newByType[sortType](s.view.Log, s.view.Snapshot),
	}
}

// chunk makes the keys of some rows.
func (k *keyMaker) chunk(ctx context.Context, from, to int) {
	log := k.view.Log
	list := k.view.listed(k.start+from, to-from)
	k.before = 0
	if e, _, ok := log.Get(k.view.index(k.start + from - 1)); ok {
		k.before = e.At
	}
	rank := from
	log.EachOf(list, func(i int, e live.Entry, block []byte) bool {
		for list[rank-from] != i { // the log has let it go
			rank++
		}
		if rank%lookEvery == 0 && ctx.Err() != nil {
			return false
		}
		k.frames[rank], k.source = uint32(i), block
		k.by(k, rank, i, e, entryData(e, block))
		k.before = e.At
		rank++
		return true
	})
	for _, f := range k.feeds {
		f.flush()
	}
}

// set gives a row its key.
func (k *keyMaker) set(rank int, key uint64, at uint32) {
	r := &k.rows[rank]
	r.key, r.at = key, at
}

func (k *keyMaker) missing(rank int) { k.set(rank, 0, atMissing) }

// uint is the key of a whole number.
func (k *keyMaker) uint(rank int, v uint64) {
	f := float64(v)
	off := int64(v) // from 2^64, which no uint64 is
	if f < 1<<64 {
		off = int64(v - uint64(f))
	}
	k.set(rank, floatRank(f), uint32(atMiddle+off))
}

func (k *keyMaker) int(rank int, v int64) {
	if v >= 0 {
		k.uint(rank, uint64(v))
		return
	}
	f := float64(v)
	k.set(rank, floatRank(f), uint32(atMiddle+v-int64(f)))
}

func (k *keyMaker) float(rank int, v float64) {
	if v != v {
		k.missing(rank) // there is no place among numbers for what is none
		return
	}
	k.set(rank, floatRank(v), atMiddle)
}

// floatRank orders floats: of two the larger has the larger one. v is not NaN.
func floatRank(v float64) uint64 {
	r := math.Float64bits(v + 0) // + 0: no zero is below the other
	if r>>63 != 0 {
		return ^r
	}
	return r | 1<<63
}

// text is the key of a text; "" is no value.
func (k *keyMaker) text(rank int, text []byte) {
	if len(text) == 0 {
		k.missing(rank)
		return
	}
	k.key = appendSortText(k.key[:0], text, k.most)
	k.set(rank, firstEight(k.key), k.keep(k.key))
}

// keep keeps a text that is longer than the key of a row, and returns where.
func (k *keyMaker) keep(text []byte) uint32 {
	if len(text) <= 8 {
		return atText
	}
	if len(k.texts)-k.used < len(text)+2 {
		k.number = uint32(k.block.Add(1)) // from 1: lower places mean something else
		k.texts, k.used = make([]byte, 1<<blockBits), 0
		k.blocks[k.number] = k.texts
	}
	at := k.number<<blockBits | uint32(k.used)
	binary.LittleEndian.PutUint16(k.texts[k.used:], uint16(len(text)))
	k.used += 2 + copy(k.texts[k.used+2:], text)
	return at
}

// typeOf is what is known of the type of a row; it reads the row into k.frame if nothing is yet, or if read says so.
func (k *keyMaker) typeOf(e live.Entry, data []byte, read bool) *sortType {
	t := k.types.of(e)
	if t == nil || read {
		k.view.Log.Frame(-1, e, data, &k.frame) // its number is no matter
	}
	if t != nil {
		return t
	}
	f := &k.frame
	t = &sortType{msg: k.view.Snapshot.FrameMessage(f), program: frameProgram(k.view.Snapshot, f)}
	switch {
	case t.msg != nil:
		t.name = t.msg.Name
	case f.Kind == transport.Message:
		if t.name = k.maker.nameOf(f); t.name != "" {
		} else if t.name, t.nameless = "?", true; f.HasKey {
			t.name = fmt.Sprintf("? 0x%04X", f.Key.Code)
		}
	case f.Kind == transport.Opaque:
		t.name = "enciphered" // as the page calls it
	default:
		t.name = f.Kind.String()
	}
	k.types.put(e, t)
	return t
}

// sortKeys are the keys of the columns that every list has.
var sortKeys = map[string]keyOf{
	"n": byNumber(func(_ *keyMaker, i int, _ live.Entry, _ []byte) (uint64, bool) { return uint64(i), true }),
	"time": byNumber(func(_ *keyMaker, _ int, e live.Entry, _ []byte) (uint64, bool) {
		return uint64(e.At) ^ 1<<63, e.At != 0
	}),
	"delta": byNumber(func(k *keyMaker, _ int, e live.Entry, _ []byte) (uint64, bool) {
		return uint64(e.At-k.before) ^ 1<<63, e.At != 0 && k.before != 0
	}),
	"dir": byNumber(func(_ *keyMaker, _ int, e live.Entry, _ []byte) (uint64, bool) {
		return uint64(e.Dir), e.Dir != schema.Both
	}),
	"conn": byNumber(func(k *keyMaker, _ int, e live.Entry, _ []byte) (uint64, bool) { return k.conns.of(e.Conn), true }),
	"code": byNumber(func(_ *keyMaker, _ int, e live.Entry, _ []byte) (uint64, bool) { return uint64(e.Code), e.HasKey }),
	"len":  byNumber(func(_ *keyMaker, _ int, e live.Entry, _ []byte) (uint64, bool) { return uint64(e.Len), true }),
	"ver": byNumber(func(k *keyMaker, _ int, e live.Entry, data []byte) (uint64, bool) {
		t := k.typeOf(e, data, false)
		if !k.view.Snapshot.Dialect.Versions || t.msg == nil {
			return 0, false
		}
		return uint64(t.msg.Version), t.msg.Version != 0
	}),
	"status": byNumber(func(k *keyMaker, _ int, e live.Entry, data []byte) (uint64, bool) {
		if t := k.typeOf(e, data, false); t.msg != nil {
			return uint64(k.status(t, data)), true
		}
		return statusUnknown, e.Kind == transport.Message
	}),
	"flags": byNumber(func(k *keyMaker, i int, e live.Entry, data []byte) (uint64, bool) {
		flags := k.flags(i, e, data)
		return flags, flags != 0
	}),
	"name": func(k *keyMaker, rank, _ int, e live.Entry, data []byte) {
		t := k.typeOf(e, data, false)
		if t.nameless { // but a log may name it
			if name := k.view.Log.Extra(e).Name; name != "" {
				k.text(rank, []byte(name))
				return
			}
		}
		if !t.hasKey { // all of a type have the same text, at one place
			k.text(rank, []byte(t.name))
			t.key, t.hasKey = k.rows[rank], true
		}
		k.set(rank, t.key.key, t.key.at)
	},
	"info": func(k *keyMaker, rank, _ int, e live.Entry, data []byte) { k.text(rank, k.info(e, data)) },
	"layers": func(k *keyMaker, rank, _ int, e live.Entry, _ []byte) {
		x := k.view.Log.Extra(e)
		k.scratch = k.scratch[:0]
		for _, via := range x.Via {
			k.scratch = append(append(k.scratch, via...), ' ')
		}
		if len(x.From) > 0 {
			k.scratch = strconv.AppendUint(append(k.scratch, "of "...), uint64(x.From[0].Packet), 10)
		}
		k.text(rank, k.scratch)
	},
}

// byNumber is the key of a column of numbers; false: a row has none.
func byNumber(of func(k *keyMaker, i int, e live.Entry, data []byte) (uint64, bool)) keyOf {
	return func(k *keyMaker, rank, i int, e live.Entry, data []byte) {
		if v, ok := of(k, i, e, data); ok {
			k.set(rank, v, atMiddle)
		} else {
			k.missing(rank)
		}
	}
}

// statusUnknown is behind all that codec.Status has.
const statusUnknown = 16

func (k *keyMaker) status(t *sortType, data []byte) codec.Status {
	if t.program == nil {
		return codec.OK
	}
	k.rec.Session = codec.Session{}
	t.program.Decode(&k.rec, data)
	return k.rec.Status()
}

// flags are what the column of flags shows of a row; the sign that stands first there counts most.
func (k *keyMaker) flags(i int, e live.Entry, data []byte) (out uint64) {
	bad := e.Kind == transport.Problem || k.status(k.typeOf(e, data, false), data) != codec.OK
	n := uint64(i + 1)
	for _, is := range []bool{k.notes.marked[n], k.notes.Frames[n] != "", bad, e.Flags&live.Injected != 0, e.Flags&live.Modified != 0, e.Flags&live.Dropped != 0} {
		if out <<= 1; is {
			out |= 1
		}
	}
	return out
}

// info is what the info of a row begins with.
func (k *keyMaker) info(e live.Entry, data []byte) []byte {
	t := k.typeOf(e, data, e.Flags&live.Noted != 0)
	note := ""
	if e.Flags&live.Noted != 0 {
		note = k.frame.Note
	}
	b := k.scratch[:0]
	switch rec := &k.rec; {
	case t.program != nil:
		if status := k.status(t, data); status != codec.OK {
			b = append(append(b, status.String()...), " · "...)
			if list := view.Problems(rec); len(list) > 0 {
				b = append(append(b, list[0].Message...), "; "...)
			}
		}
		b = view.AppendBrief(b, rec, min(maxBrief, k.most))
	case t.msg == nil && e.Kind == transport.Message:
		b = appendPrintable(b, data[:min(len(data), maxBrief, k.most)])
	}
	if len(b) == 0 || len(b) < k.most && note != "" {
		if len(b) > 0 {
			b = append(b, " · "...)
		}
		b = append(b, note...)
	}
	k.scratch = b
	return b
}

// connRanks are the places of connections in the order of their names.
type connRanks struct{ rank []uint32 }

func rankConns(conns []live.Conn) connRanks {
	type conn struct {
		key  string
		at   uint32
		sess int
	}
	all := make([]conn, len(conns))
	for i, c := range conns {
		all[i] = conn{string(appendSortText(nil, []byte(c.Name), maxSortText)), uint32(i), c.Session}
	}
	slices.SortFunc(all, func(a, b conn) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.sess, b.sess), cmp.Compare(a.at, b.at))
	})
	out := connRanks{make([]uint32, len(all))}
	rank := uint32(0)
	for i, c := range all {
		if i > 0 && (c.key != all[i-1].key || c.sess != all[i-1].sess) {
			rank++
		}
		out.rank[c.at] = rank
	}
	return out
}

// of is the place of a connection; one that came later is behind all.
func (r connRanks) of(conn uint32) uint64 {
	if int(conn) < len(r.rank) {
		return uint64(r.rank[conn])
	}
	return uint64(len(r.rank)) + uint64(conn)
}
