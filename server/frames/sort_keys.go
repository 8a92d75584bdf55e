package frames

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// keyOf sets the key of a row by a column.
type keyOf func(k *keyMaker, rank, i int, e live.Entry, data []byte)

// keyMaker computes the keys of rows. It is for one goroutine.
type keyMaker struct {
	*sorter
	by      keyOf
	feeds   map[*codec.Program]*fieldFeed // for the column of a field
	source  []byte                        // block of the log with the row
	texts   []byte                        // the current block of texts
	used    int
	number  uint32
	key     []byte
	frame   transport.Frame
	maker   RowMaker
	rec     codec.Record
	types   *byType[sortType]
	before  int64 // time of the previous row
	scratch []byte
}

// sortType holds the properties common to the rows of a type.
type sortType struct {
	msg      *schema.Message
	program  *codec.Program
	shown    *codec.Program // program, or that of the header
	name     string
	nameless bool    // the code map has no name for it
	key      sortRow // key of the type, if all its rows have the same
	hasKey   bool
}

func newKeyMaker(s *sorter, by keyOf) *keyMaker {
	return &keyMaker{
		sorter: s, by: by, feeds: map[*codec.Program]*fieldFeed{}, maker: RowMaker{Snap: s.view.Snapshot}, types: newByType[sortType](s.view.Log, s.view.Snapshot),
	}
}

// chunk computes the keys of a range of rows.
func (k *keyMaker) chunk(ctx context.Context, from, to int) {
	log := k.view.Log
	list := k.list(from, to)
	k.before = 0
	if k.again == nil {
		if e, _, ok := log.Get(k.view.index(k.start + from - 1)); ok {
			k.before = e.At
		}
	}
	at := 0
	log.EachOf(list, func(i int, e live.Entry, block []byte) bool {
		for list[at] != i { // the log has discarded the frame
			k.before = 0
			at++
		}
		if at%lookEvery == 0 && ctx.Err() != nil {
			return false
		}
		rank := from + at
		if k.again != nil {
			rank = int(k.again[rank].row)
		} else {
			k.frames[rank] = uint32(i)
		}
		k.source = block
		k.by(k, rank, i, e, entryData(e, block))
		k.before = e.At
		at++
		return true
	})
	for _, f := range k.feeds {
		f.flush()
	}
}

// list returns the indexes of the frames of a range of rows.
func (k *keyMaker) list(from, to int) []int {
	if k.again == nil {
		return k.view.listed(k.start+from, to-from)
	}
	out := make([]int, 0, to-from)
	for _, p := range k.again[from:to] {
		out = append(out, int(p.frame))
	}
	return out
}

// set sets the key of a row.
func (k *keyMaker) set(rank int, key uint64, at uint32) {
	r := &k.rows[rank]
	r.key, r.at = key, at
}

func (k *keyMaker) missing(rank int) { k.set(rank, 0, atMissing) }

// uint sets an integer key.
func (k *keyMaker) uint(rank int, v uint64) {
	f := float64(v)
	off := int64(v) // relative to 2^64, which no uint64 reaches
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
		k.missing(rank) // NaN has no place among numbers
		return
	}
	k.set(rank, floatRank(v), atMiddle)
}

// floatRank maps floats to integers with the same order. v is not NaN.
func floatRank(v float64) uint64 {
	r := math.Float64bits(v + 0) // + 0 makes both zeros equal
	if r>>63 != 0 {
		return ^r
	}
	return r | 1<<63
}

// text sets a text key; "" is a missing value.
func (k *keyMaker) text(rank int, text []byte) {
	if len(text) == 0 {
		k.missing(rank)
		return
	}
	k.key = appendSortText(k.key[:0], text, k.skip+k.width)
	part := k.key[min(k.skip, len(k.key)):]
	k.set(rank, firstEight(part), k.keep(part))
}

// keep stores a text that is longer than a key, and returns its place.
func (k *keyMaker) keep(text []byte) uint32 {
	if len(text) <= 8 {
		return atText
	}
	if len(k.texts)-k.used < len(text)+2 {
		k.number = uint32(k.block.Add(1)) // from 1: smaller places have other meanings
		k.texts, k.used = make([]byte, k.size), 0
		k.blocks[k.number] = k.texts
	}
	at := k.number<<blockBits | uint32(k.used)
	binary.LittleEndian.PutUint16(k.texts[k.used:], uint16(len(text)))
	k.used += 2 + copy(k.texts[k.used+2:], text)
	return at
}

// typeOf returns the properties of the type of a row. It reads the row into k.frame if they are not cached, or if read is set.
func (k *keyMaker) typeOf(e live.Entry, data []byte, read bool) *sortType {
	t := k.types.of(e, data)
	if t == nil || read {
		k.view.Log.Frame(-1, e, data, &k.frame) // the number does not matter
	}
	if t != nil {
		return t
	}
	f := &k.frame
	t = &sortType{msg: k.view.Snapshot.FrameMessage(f), program: frameProgram(k.view.Snapshot, f)}
	if t.shown = t.program; t.msg == nil {
		if m := k.view.Snapshot.FrameHeader(f); m != nil {
			t.shown, _ = k.view.Snapshot.Program(m)
		}
	}
	switch {
	case t.msg != nil:
		t.name = t.msg.Name
	case f.Kind == transport.Message:
		if t.name = k.maker.nameOf(f); t.name != "" {
		} else if t.name, t.nameless = "?", true; f.HasKey {
			t.name = fmt.Sprintf("? 0x%04X", f.Key.Code)
		}
	case f.Kind == transport.Opaque:
		t.name = "encrypted" // the name that pages show
	default:
		t.name = f.Kind.String()
	}
	k.types.put(e, data, t)
	return t
}

// sortKeys are the keys of the columns of every list.
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
	"src":  byNumber(func(k *keyMaker, _ int, e live.Entry, _ []byte) (uint64, bool) { return k.conns.end(e, true), true }),
	"dst":  byNumber(func(k *keyMaker, _ int, e live.Entry, _ []byte) (uint64, bool) { return k.conns.end(e, false), true }),
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
		if t.nameless { // but a log may have a name
			if name := k.view.Log.Name(e); name != "" {
				k.text(rank, []byte(name))
				return
			}
		}
		if !t.hasKey { // all rows of a type have the same text, stored once
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

// byNumber returns the key of a numeric column; of returns false if a row has no value.
func byNumber(of func(k *keyMaker, i int, e live.Entry, data []byte) (uint64, bool)) keyOf {
	return func(k *keyMaker, rank, i int, e live.Entry, data []byte) {
		if v, ok := of(k, i, e, data); ok {
			k.set(rank, v, atMiddle)
		} else {
			k.missing(rank)
		}
	}
}

// statusUnknown is greater than all values of codec.Status.
const statusUnknown = 16

func (k *keyMaker) status(t *sortType, data []byte) codec.Status {
	if t.program == nil {
		return codec.OK
	}
	k.rec.Session = codec.Session{}
	t.program.Decode(&k.rec, data)
	return k.rec.Status()
}

// flags returns a key for the column of flags; the first sign of the text counts most.
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

// info returns the start of the info of a row.
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
			b = appendProblem(b, rec)
		}
		b = value.AppendBrief(b, rec, min(maxBrief, maxSortText))
	case t.msg == nil && e.Kind == transport.Message:
		b = appendPrintable(b, data[:min(len(data), maxBrief, maxSortText)])
	}
	if len(b) == 0 || len(b) < maxSortText && note != "" {
		if len(b) > 0 {
			b = append(b, " · "...)
		}
		b = append(b, note...)
	}
	k.scratch = b
	return b
}

// connRanks holds the ranks of connections in the order of their names, and those of their clients and servers.
type connRanks struct {
	rank []uint32
	ends [2][]uint32
}

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
	out := connRanks{rank: make([]uint32, len(all)), ends: rankEnds(conns)}
	rank := uint32(0)
	for i, c := range all {
		if i > 0 && (c.key != all[i-1].key || c.sess != all[i-1].sess) {
			rank++
		}
		out.rank[c.at] = rank
	}
	return out
}

// rankEnds ranks the clients and the servers of connections among each other.
func rankEnds(conns []live.Conn) (ranks [2][]uint32) {
	var names [2][]string
	var all []string
	for _, c := range conns {
		client, server, _ := strings.Cut(c.Name, "-")
		for side, name := range []string{client, server} {
			key := string(appendSortText(nil, []byte(name), maxSortText))
			names[side], all = append(names[side], key), append(all, key)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for side := range names {
		for _, name := range names[side] {
			at, _ := slices.BinarySearch(all, name)
			ranks[side] = append(ranks[side], uint32(at))
		}
	}
	return ranks
}

// end returns the rank of the sender or receiver of a frame; those of later connections come last.
func (r connRanks) end(e live.Entry, sender bool) uint64 {
	side := 0
	if (e.Dir == schema.ToClient) == sender {
		side = 1
	}
	if int(e.Conn) < len(r.ends[side]) {
		return uint64(r.ends[side][e.Conn])
	}
	return math.MaxUint64
}

// of returns the rank of a connection; later connections come last.
func (r connRanks) of(conn uint32) uint64 {
	if int(conn) < len(r.rank) {
		return uint64(r.rank[conn])
	}
	return uint64(len(r.rank)) + uint64(conn)
}
