// Package live holds the frames of a capture or of running traffic: their bytes, and an index of them. It stores no decoded values, so
// frames are always decoded by the current definitions.
package live

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of a log.
const (
	DefaultBytes = 1 << 30 // of frames, including their index
	blockFrames  = 1 << 14
	blockBytes   = 1 << 20
	entryBytes   = 48        // memory of a frame beside its bytes
	extraMask    = 1<<31 - 1 // numbers of extras restart after 2^31: they need to be unique only among retained frames
)

// ErrFull reports that a log is full.
var ErrFull = errors.New("the capture has more frames than fit in memory")

// Entry describes a frame in the log, without its bytes.
type Entry struct {
	At     int64 // nanoseconds since 1970; 0 if unknown
	block  uint32
	off    uint32
	Len    uint32 // bytes
	Code   uint32
	Conn   uint32 // index of Conns
	extra  int32  // number of the Extra, -1 if there is none
	group  uint16
	turn   uint16 // Conn.turn of its connection
	nth    uint32 // FrameID.Nth
	shown  shown
	Kind   transport.Kind
	Dir    schema.Dir
	HasKey bool
	Flags  Flags
}

// shown is the kind of evidence of a frame in the capture file.
type shown uint8

const (
	shownByPackets shown = iota
	shownByOffset        // in a raw file
	notShown             // in no packet
)

// Flags are the properties of a frame that filters can test.
type Flags uint8

// The flags.
const (
	Resumed  Flags = 1 << iota // first frame after a problem in the stream
	Noted                      // the frame has a note
	Injected                   // by a user
	Modified
	Dropped
	Named   // the frame has the name of its definition; see Extra.Name
	Wrapped // Extra has the headers around it
)

// Extra holds the properties that only few frames have.
type Extra struct {
	From   []transport.Source
	Via    []string
	Offset int64
	Length int64
	Note   string
	Name   string // name of the definition, where messages have no code
}

// ID returns the identity of the frame. x must be the result of Log.Extra for the entry.
func (e Entry) ID(x Extra) transport.FrameID {
	switch {
	case e.shown == shownByOffset:
		return transport.FrameID{Packet: 1, Off: uint32(x.Offset), Nth: e.nth}
	case e.shown == notShown || len(x.From) == 0: // or the frame was discarded
		return transport.FrameID{Nth: e.nth}
	}
	return transport.FrameID{Packet: x.From[0].Packet, Off: x.From[0].Off, Nth: e.nth}
}

// Conn is a connection in the log.
type Conn struct {
	Name    string // "client-server", each address:port
	Session int    // 0, or the number of the session that reuses the addresses
	Proto   string // "tcp" or "udp"
	Frames  int

	kept  int    // number of retained frames
	ended bool   // no more frames will come
	turn  uint16 // number of connections that had the index before, modulo 65,536
}

// Of reports whether an entry belongs to the connection, and not to an earlier or later connection with the same index.
func (c *Conn) Of(e Entry) bool { return c.turn == e.turn }

// Log holds frames in the order of their arrival. One goroutine adds frames; any number of goroutines read them.
//
// The log of a file is full when it reaches its limit. A log of running traffic (NewRolling) discards its oldest frames instead; the
// indexes of the other frames do not change. The log retains the frames from Base() to Len()-1.
type Log struct {
	limit   int64
	rolling bool

	mu     sync.RWMutex
	conns  []Conn
	free   []uint32 // indexes of conns to be reused
	groups []string
	blocks [][]Entry // of blockFrames each, except the last
	arena  [][]byte  // all of full length; only the first used bytes of the last one are used
	used   int
	extras [][]Extra            // like blocks
	nExtra int                  // number of the next extra
	kept   int                  // extras in the blocks, including discarded ones in the first block
	ids    transport.Identifier // for frames added without an identity

	// Number of discarded blocks before the first one, by kind.
	oldBlocks, oldArena int
	firstExtra          int           // number of the first extra in extras
	changed             chan struct{} // closed with the next change; nil if nobody waits
	touched             int64         // number of calls of Touch
	closed              bool

	base  atomic.Int64 // first retained frame
	n     atomic.Int64 // number of frames that may be read
	bytes atomic.Int64
}

// New returns an empty log of about limit bytes; 0 selects DefaultBytes.
func New(limit int64) *Log {
	if limit <= 0 {
		limit = DefaultBytes
	}
	return &Log{limit: limit, groups: []string{""}}
}

// NewRolling returns an empty log that retains the newest frames, about limit bytes of them; 0 selects DefaultBytes.
func NewRolling(limit int64) *Log {
	l := New(limit)
	l.rolling = true
	return l
}

// MaxConns is the maximum number of connections in a log at a time.
const MaxConns = 1 << 16

// fewConns is the number of connections from which a rolling log reuses indexes.
const fewConns = 1 << 12

// Connection adds a connection and returns its index.
func (l *Log) Connection(c Conn) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	return uint32(len(l.conns) - 1)
}

// RollingConnection adds a connection of running traffic and returns its index. It reuses the index of an ended connection without retained
// frames, and discards frames if no index is free otherwise. ok is false if all connections are open.
func (l *Log) RollingConnection(c Conn) (index uint32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) < fewConns {
		l.conns = append(l.conns, c)
		return uint32(len(l.conns) - 1), true
	}
	if len(l.conns) >= MaxConns && len(l.free) == 0 && l.rolling {
		l.dropUntil(func() bool { return len(l.free) > 0 })
	}
	if len(l.free) == 0 {
		if len(l.conns) >= MaxConns {
			return 0, false
		}
		l.conns = append(l.conns, c)
		return uint32(len(l.conns) - 1), true
	}
	index = l.free[0]
	l.free = l.free[1:]
	c.turn = l.conns[index].turn + 1
	l.conns[index] = c
	return index, true
}

// End reports that a connection has no more frames.
func (l *Log) End(conn uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[conn].ended = true
	l.freeConn(conn)
}

// freeConn frees the index of a connection that has ended and has no retained frames.
func (l *Log) freeConn(conn uint32) {
	if c := &l.conns[conn]; c.ended && c.kept == 0 && l.rolling {
		l.free = append(l.free, conn)
	}
}

// Conns returns the connections so far.
func (l *Log) Conns() []Conn {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Clone(l.conns)
}

// Len returns the number of frames added so far, including discarded ones.
func (l *Log) Len() int { return int(l.n.Load()) }

// Base returns the index of the first retained frame: 0 unless the log is rolling. It can increase at any time.
func (l *Log) Base() int { return int(l.base.Load()) }

// Bytes returns the approximate memory use of the frames.
func (l *Log) Bytes() int64 { return l.bytes.Load() }

// Add appends a copy of a frame of a connection. It returns ErrFull if the frame does not fit: in a rolling log, if it is larger than the
// whole log.
func (l *Log) Add(conn uint32, f *transport.Frame) error { return l.AddFlagged(conn, f, 0) }

// AddFlagged is like Add, with additional flags. A frame without an identity gets one.
func (l *Log) AddFlagged(conn uint32, f *transport.Frame, flags Flags) error {
	cost := int64(len(f.Bytes)) + entryBytes
	x, noted := extraOf(f)
	whole := cost
	if l.rolling && noted {
		whole += x.cost()
	}
	if whole > l.limit || !l.rolling && l.bytes.Load()+cost > l.limit {
		return ErrFull
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes.Load()+whole > l.limit {
		l.drop(whole)
	}
	e := Entry{
		At: nanos(f.At), Len: uint32(len(f.Bytes)), Code: f.Key.Code, Conn: conn, extra: -1, Kind: f.Kind, Dir: f.Dir, HasKey: f.HasKey,
		Flags: flags,
	}
	e.turn = l.conns[conn].turn
	if f.ID == (transport.FrameID{}) {
		l.ids.Identify(int(conn), f)
	}
	switch e.nth = f.ID.Nth; {
	case !f.ID.Shown():
		e.shown = notShown
	case len(f.From) == 0:
		e.shown = shownByOffset
	}
	e.group = l.group(f.Key.Group)
	if f.Resumed {
		e.Flags |= Resumed
	}
	if f.Note != "" {
		e.Flags |= Noted
	}
	if f.Name != "" {
		e.Flags |= Named
	}
	if len(f.Via) > 0 {
		e.Flags |= Wrapped
	}
	e.block, e.off = l.keep(f.Bytes)
	if noted {
		cost += x.cost()
		l.addExtra(&e, x)
	}
	if last := len(l.blocks) - 1; last < 0 || len(l.blocks[last]) == blockFrames {
		l.blocks = append(l.blocks, make([]Entry, 0, blockFrames))
	}
	last := len(l.blocks) - 1
	l.blocks[last] = append(l.blocks[last], e)
	l.conns[conn].Frames++
	l.conns[conn].kept++
	l.bytes.Add(cost)
	l.n.Add(1)
	l.wake()
	return nil
}

// drop discards the oldest frames until need bytes are free, and some more, to amortize the work. Memory is freed in blocks: a block stays
// alive as long as a reader holds it.
func (l *Log) drop(need int64) {
	target := max(0, l.limit-max(need, min(blockBytes, l.limit/8)))
	l.dropUntil(func() bool { return l.bytes.Load() <= target })
}

// dropUntil discards the oldest frames until enough returns true.
func (l *Log) dropUntil(enough func() bool) {
	first, end := int(l.base.Load()), int(l.n.Load())
	var next uint32 // arena block of the first retained frame
	for ; first < end && !enough(); first++ {
		e := &l.blocks[first/blockFrames-l.oldBlocks][first%blockFrames]
		cost := int64(e.Len) + entryBytes
		next = e.block
		if e.extra >= 0 {
			at := (int(e.extra) - l.firstExtra) & extraMask
			cost += l.extras[at/blockFrames][at%blockFrames].cost()
			l.extras[at/blockFrames][at%blockFrames] = Extra{}
			if gone := at / blockFrames; gone > 0 {
				l.extras = slices.Clone(l.extras[gone:])
				l.firstExtra = (l.firstExtra + gone*blockFrames) & extraMask
				l.kept -= gone * blockFrames
			}
		}
		l.bytes.Add(-cost)
		l.conns[e.Conn].kept--
		l.freeConn(e.Conn)
	}
	if first < end {
		next = l.blocks[first/blockFrames-l.oldBlocks][first%blockFrames].block
	}
	// The slices are cloned because Each reads the previous ones, and because the blocks cut off at the start would stay in memory.
	if gone := first/blockFrames - l.oldBlocks; gone > 0 {
		l.blocks = slices.Clone(l.blocks[min(gone, len(l.blocks)):])
		l.oldBlocks += gone
	}
	if gone := int(next) - l.oldArena; gone > 0 {
		l.arena = slices.Clone(l.arena[gone:])
		l.oldArena += gone
	}
	l.base.Store(int64(first))
}

func (l *Log) group(name string) uint16 {
	i := slices.Index(l.groups, name)
	if i < 0 && len(l.groups) < 1<<16-1 {
		l.groups = append(l.groups, name)
		i = len(l.groups) - 1
	}
	return uint16(max(i, 0))
}

// keep copies bytes into the arena. A block never moves, so slices returned by Data stay valid.
func (l *Log) keep(data []byte) (block, off uint32) {
	if last := len(l.arena) - 1; last < 0 || len(l.arena[last])-l.used < len(data) {
		l.arena = append(l.arena, make([]byte, max(blockBytes, len(data))))
		l.used = 0
	}
	last := len(l.arena) - 1
	off = uint32(l.used)
	l.used += copy(l.arena[last][off:], data)
	return uint32(last + l.oldArena), off
}

func (l *Log) addExtra(e *Entry, x Extra) {
	last := len(l.extras) - 1
	if last < 0 || len(l.extras[last]) == blockFrames {
		l.extras = append(l.extras, make([]Extra, 0, blockFrames))
		last++
	}
	l.extras[last] = append(l.extras[last], x)
	e.extra = int32(l.nExtra)
	l.nExtra = (l.nExtra + 1) & extraMask
	l.kept++
}

func (x *Extra) cost() int64 {
	return 96 + int64(len(x.From))*12 + int64(len(x.Via))*24 + int64(len(x.Note)+len(x.Name))
}

// Entry returns the frame with an index from Base() to Len()-1, or the zero Entry if the frame was discarded.
func (l *Log) Entry(i int) Entry {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if i < l.Base() {
		return Entry{extra: -1}
	}
	return l.blocks[i/blockFrames-l.oldBlocks][i%blockFrames]
}

// Data returns the bytes of a frame, which the caller must not change. It returns nil for a discarded frame.
func (l *Log) Data(e Entry) []byte {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if int(e.block) < l.oldArena || int(e.block)-l.oldArena >= len(l.arena) {
		return nil
	}
	end := e.off + e.Len
	return l.arena[int(e.block)-l.oldArena][e.off:end:end]
}

// Get returns a frame and its bytes. ok is false unless the index is from Base() to Len()-1.
func (l *Log) Get(i int) (e Entry, data []byte, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if i < l.Base() || i >= l.Len() {
		return Entry{extra: -1}, nil, false
	}
	e = l.blocks[i/blockFrames-l.oldBlocks][i%blockFrames]
	end := e.off + e.Len
	return e, l.arena[int(e.block)-l.oldArena][e.off:end:end], true
}

// Group returns the message group of a frame.
func (l *Log) Group(e Entry) string {
	if e.group == 0 {
		return "" // the first group is ""
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.groups[e.group]
}

// Extra returns the rare properties of a frame, or the zero Extra if the frame was discarded.
func (l *Log) Extra(e Entry) Extra {
	if e.extra < 0 {
		return Extra{}
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	at := (int(e.extra) - l.firstExtra) & extraMask
	if at >= l.kept {
		return Extra{}
	}
	return l.extras[at/blockFrames][at%blockFrames]
}

// Time returns the time at which the frame was complete, or the zero time if it is unknown.
func (e Entry) Time() time.Time {
	if e.At == 0 {
		return time.Time{}
	}
	return time.Unix(0, e.At)
}

// nanos converts a time to the form of Entry.At.
func nanos(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

// Each calls f for the frames from index from up to but excluding index to, in order, until f returns false. It skips discarded frames.
// Each is cheaper than calling Entry and Data for each frame.
func (l *Log) Each(from, to int, f func(i int, e Entry, data []byte) bool) {
	to = min(to, l.Len())
	for from < to {
		l.mu.RLock()
		if from = max(from, l.Base()); from >= to {
			l.mu.RUnlock()
			return
		}
		block := l.blocks[from/blockFrames-l.oldBlocks]
		arena, old := l.arena, uint32(l.oldArena)
		l.mu.RUnlock()
		for at := from % blockFrames; at < blockFrames && from < to; at++ {
			e := block[at]
			end := e.off + e.Len
			if !f(from, e, arena[e.block-old][e.off:end:end]) {
				return
			}
			from++
		}
	}
}

// EachOf calls f for the frames with the given indexes, which must ascend, until f returns false. It skips frames that are not in the log.
// block is the memory block that holds the frame at the offset given by Entry.Place; the memory after the frame may be written at any time.
func (l *Log) EachOf(indexes []int, f func(i int, e Entry, block []byte) bool) {
	for {
		l.mu.RLock()
		for len(indexes) > 0 && indexes[0] < l.Base() {
			indexes = indexes[1:]
		}
		if len(indexes) == 0 || indexes[0] >= l.Len() {
			l.mu.RUnlock()
			return
		}
		first := indexes[0] - indexes[0]%blockFrames
		block := l.blocks[first/blockFrames-l.oldBlocks]
		arena, old := l.arena, uint32(l.oldArena)
		l.mu.RUnlock()
		for len(indexes) > 0 && indexes[0]-first < len(block) {
			e := block[indexes[0]-first]
			if !f(indexes[0], e, arena[e.block-old]) {
				return
			}
			indexes = indexes[1:]
		}
	}
}

// Place returns the position of the bytes of a frame: the number of a block, unique in the log, and an offset in bytes from its start.
func (e Entry) Place() (block, off uint32) { return e.block, e.off }

// Type returns a number that is equal for two frames of a log with the same code, group, direction and kind. Frames that are Named may have
// different names, and Wrapped ones different headers.
func (e Entry) Type() uint64 {
	t := uint64(e.Code) | uint64(e.group)<<32 | uint64(e.Kind)<<48 | uint64(e.Dir)<<56
	if e.HasKey {
		t |= 1 << 63
	}
	return t
}
