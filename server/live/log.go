// Package live holds the frames of a capture or of running traffic: their bytes, and an index of them. It stores no decoded values, so
// frames are always decoded by the current definitions.
package live

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of a log.
const (
	DefaultBytes = 1 << 30 // of frames, including their index
	blockFrames  = 1 << 14
	blockBytes   = 1 << 20
	entryBytes   = int64(unsafe.Sizeof(Entry{})) // memory of a frame beside its bytes
	startOnDisk  = 16 << 20                      // bytes in memory of a log that continues on a disk
	maxNames     = 1<<16 - 1                     // names of definitions, and of groups; the rest are stored with each frame
)

// ErrFull reports that a log is full.
var ErrFull = errors.New("there is no room for more frames")

// Entry describes a frame in the log, without its bytes. It has no pointers: it may be in a file.
type Entry struct {
	At     int64 // nanoseconds since 1970; 0 if unknown
	offset int64 // Frame.Offset
	block  uint32
	off    uint32
	Len    uint32 // bytes
	Code   uint32
	Conn   uint32           // index of Conns
	more   uint32           // bytes behind those of the frame that hold the rest of its Extra; 0: nothing else
	from   transport.Source // the first one
	length uint32           // Frame.Length, if it fits
	nth    uint32           // FrameID.Nth
	group  uint16
	name   uint16 // Frame.Name, as an index of Log.names
	turn   uint16 // Conn.turn of its connection
	shown  shown
	Kind   transport.Kind
	Dir    schema.Dir
	Flags  Flags
	HasKey bool
	sent   bool // from is set
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

// ID returns the identity of the frame.
func (e Entry) ID() transport.FrameID {
	switch {
	case e.shown == shownByOffset:
		return transport.FrameID{Packet: transport.RawPacket(e.offset), Off: uint32(e.offset), Nth: e.nth}
	case e.shown == notShown || !e.sent:
		return transport.FrameID{Nth: e.nth}
	}
	return transport.FrameID{Packet: e.from.Packet, Off: e.from.Off, Nth: e.nth}
}

// Conn is a connection in the log.
type Conn struct {
	Name    string // "client-server", each address:port
	Session int    // 0, or the number of the session that reuses the addresses
	Stream  int    // number of the connection, from 0
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
// The log of a file is full when it reaches its limit, or continues on a Disk. A log of running traffic (NewRolling) discards its oldest
// frames instead; the indexes of the other frames do not change. The log retains the frames from Base() to Len()-1.
//
// A log can also be made of an index elsewhere (Adopt): then its frames are read when they are needed.
type Log struct {
	limit   int64
	rolling bool
	disk    *Disk // for what exceeds the limit; may be nil
	spill   *spill
	noDisk  error // why there is no spill

	mu     sync.RWMutex
	conns  []Conn
	free   []uint32 // indexes of conns to be reused
	groups names
	names  names
	blocks [][]Entry // of blockFrames each, except the last
	arena  [][]byte  // all of full length; only the first used bytes of the last one are used
	used   int
	more   []byte               // scratch space
	ids    transport.Identifier // for frames added without an identity

	// Number of discarded blocks before the first one, by kind.
	oldBlocks, oldArena int
	changed             chan struct{} // closed with the next change; nil if nobody waits
	touched             int64         // number of calls of Touch
	closed              bool

	base  atomic.Int64 // first retained frame
	n     atomic.Int64 // number of frames that may be read
	began atomic.Int64 // Entry.At of the first frame
	bytes atomic.Int64 // in memory

	lazy  atomic.Pointer[lazy]  // the blocks, where they are not here; see Adopt
	fault atomic.Pointer[error] // see Err
}

// names are strings by number, in the order of their first use; "" is the first.
type names struct {
	all []string
	of  map[string]uint16
}

// number returns the number of a name; ok is false if there are too many.
func (n *names) number(name string) (number uint16, ok bool) {
	if name == "" {
		return 0, true
	}
	if i, ok := n.of[name]; ok {
		return i, true
	}
	if len(n.all) >= maxNames {
		return 0, false
	}
	if n.of == nil {
		n.all, n.of = []string{""}, map[string]uint16{}
	}
	n.all = append(n.all, name)
	n.of[name] = uint16(len(n.all) - 1)
	return n.of[name], true
}

// name returns a name by its number.
func (n *names) name(number uint16) string {
	if number == 0 {
		return ""
	}
	return n.all[number]
}

// New returns an empty log of about limit bytes; 0 selects DefaultBytes.
func New(limit int64) *Log {
	if limit <= 0 {
		limit = DefaultBytes
	}
	return &Log{limit: limit}
}

// NewOn returns an empty log that continues on a disk when it has outgrown some memory. If the disk cannot be used, it has about limit bytes
// of memory.
func NewOn(disk *Disk, limit int64) *Log {
	l := New(limit)
	l.disk = disk
	return l
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

// Began returns the time of the first frame ever added, which may be discarded by now; zero if there is none, or if it has no time.
func (l *Log) Began() time.Time { return Entry{At: l.began.Load()}.Time() }

// Bytes returns the approximate memory use of the frames.
func (l *Log) Bytes() int64 { return l.bytes.Load() }

// Add appends a copy of a frame of a connection. It returns ErrFull if the frame does not fit: in a rolling log, if it is larger than the
// whole log.
func (l *Log) Add(conn uint32, f *transport.Frame) error { return l.AddFlagged(conn, f, 0) }

// AddFlagged is like Add, with additional flags. A frame without an identity gets one.
func (l *Log) AddFlagged(conn uint32, f *transport.Frame, flags Flags) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := Entry{
		At: nanos(f.At), Len: uint32(len(f.Bytes)), Code: f.Key.Code, Conn: conn, Kind: f.Kind, Dir: f.Dir, HasKey: f.HasKey, Flags: flags,
		offset: f.Offset, turn: l.conns[conn].turn,
	}
	rest := l.split(&e, f)
	cost := entryBytes + int64(len(f.Bytes)+len(rest))
	if err := l.makeRoom(cost); err != nil {
		return err
	}
	if f.ID == (transport.FrameID{}) {
		l.ids.Identify(int(conn), f)
	}
	switch e.nth = f.ID.Nth; {
	case !f.ID.Shown():
		e.shown = notShown
	case len(f.From) == 0:
		e.shown = shownByOffset
	}
	e.group, _ = l.groups.number(f.Key.Group)
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
	if last := len(l.blocks) - 1; last < 0 || len(l.blocks[last]) == blockFrames {
		l.addBlock()
	}
	l.keep(&e, f.Bytes, rest)
	last := len(l.blocks) - 1
	l.blocks[last] = append(l.blocks[last], e)
	l.conns[conn].Frames++
	l.conns[conn].kept++
	if !l.onDisk() {
		l.bytes.Add(cost)
	}
	if l.n.Load() == 0 {
		l.began.Store(e.At)
	}
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
		next = e.block
		l.bytes.Add(-entryBytes - int64(e.Len) - int64(e.more))
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

// makeRoom makes room for a frame of cost bytes.
func (l *Log) makeRoom(cost int64) error {
	had := l.bytes.Load()
	if l.disk != nil && l.spill == nil && l.noDisk == nil && had+cost > min(l.limit, startOnDisk) {
		if l.spill, l.noDisk = l.disk.open(len(l.blocks), len(l.arena)); l.noDisk == nil {
			runtime.AddCleanup(l, (*spill).release, l.spill)
		}
	}
	switch {
	case l.onDisk(), had+cost <= l.limit:
		return nil
	case !l.rolling || cost > l.limit:
		return cmp.Or(l.noDisk, ErrFull)
	}
	l.drop(cost)
	return nil
}

// onDisk reports whether frames are added to the disk.
func (l *Log) onDisk() bool { return l.spill != nil && l.noDisk == nil }

// seal moves the last block of a use, which is full, to the disk of the log. If that has no room the log continues in memory.
func (l *Log) seal(use, index int, block []byte) []byte {
	b, err := l.spill.put(use, index, block)
	if err != nil {
		l.noDisk = err
		return block
	}
	return b
}

// addBlock appends an empty block of entries.
func (l *Log) addBlock() {
	if last := len(l.blocks) - 1; last >= 0 && l.onDisk() {
		l.blocks[last] = asEntries(l.seal(forEntries, last+l.oldBlocks, asBytes(l.blocks[last])))
	}
	l.blocks = append(l.blocks, make([]Entry, 0, blockFrames))
}

// keep copies the bytes of a frame and the rest of its Extra into the arena. Slices returned by Data stay valid when their block is sealed:
// they keep its memory.
func (l *Log) keep(e *Entry, data, rest []byte) {
	need := len(data) + len(rest)
	if last := len(l.arena) - 1; last < 0 || len(l.arena[last])-l.used < need {
		if last >= 0 && l.onDisk() {
			l.arena = slices.Clone(l.arena) // Each reads the previous one
			l.arena[last] = l.seal(forBytes, last+l.oldArena, l.arena[last])
		}
		l.arena = append(l.arena, make([]byte, max(blockBytes, need)))
		l.used = 0
	}
	last := len(l.arena) - 1
	e.block, e.off, e.more = uint32(last+l.oldArena), uint32(l.used), uint32(len(rest))
	l.used += copy(l.arena[last][l.used:], data)
	l.used += copy(l.arena[last][l.used:], rest)
}

// Entry returns the frame with an index from Base() to Len()-1, or the zero Entry if the frame was discarded.
func (l *Log) Entry(i int) Entry {
	if z := l.lazy.Load(); z != nil {
		if i < 0 || i >= z.Frames {
			return Entry{}
		}
		if b := l.block(z, forEntries, i/blockFrames); b != nil {
			return b.entries[i%blockFrames]
		}
		return Entry{}
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if i < l.Base() {
		return Entry{}
	}
	return l.blocks[i/blockFrames-l.oldBlocks][i%blockFrames]
}

// Data returns the bytes of a frame, which the caller must not change. It returns nil for a discarded frame.
func (l *Log) Data(e Entry) []byte {
	if z := l.lazy.Load(); z != nil {
		block := l.arenaOf(z, e)
		if block == nil {
			return nil
		}
		end := e.off + e.Len
		return block[e.off:end:end]
	}
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
	if z := l.lazy.Load(); z != nil {
		return l.frame(z, i)
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if i < l.Base() || i >= l.Len() {
		return Entry{}, nil, false
	}
	e = l.blocks[i/blockFrames-l.oldBlocks][i%blockFrames]
	end := e.off + e.Len
	return e, l.arena[int(e.block)-l.oldArena][e.off:end:end], true
}

// Group returns the message group of a frame.
func (l *Log) Group(e Entry) string {
	if e.group == 0 {
		return ""
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.groups.name(e.group)
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
	defer runtime.KeepAlive(l) // its blocks may be in a file
	to = min(to, l.Len())
	if z := l.lazy.Load(); z != nil {
		next := func() (int, bool) { from++; return from - 1, from <= to }
		l.eachLazy(z, next, func(i int, e Entry, block []byte) bool {
			end := e.off + e.Len
			return f(i, e, block[e.off:end:end])
		})
		return
	}
	for from < to {
		l.mu.RLock()
		if from = max(from, l.Base()); from >= to {
			l.mu.RUnlock()
			return
		}
		block := l.blocks[from/blockFrames-l.oldBlocks]
		arena, old, spill := l.arena, uint32(l.oldArena), l.spill
		l.mu.RUnlock()
		for at := from % blockFrames; at < blockFrames && from < to; at++ {
			e := block[at]
			end := e.off + e.Len
			if !f(from, e, arena[e.block-old][e.off:end:end]) {
				return
			}
			from++
		}
		if spill != nil && from%blockFrames == 0 && len(block) == blockFrames { // a log with a spill never drops blocks
			spill.letGo(from/blockFrames-1, block)
		}
	}
}

// EachOf calls f for the frames with the given indexes, which must ascend, until f returns false. It skips frames that are not in the log.
// block is the memory block that holds the frame at the offset given by Entry.Place; the memory after the frame may be written at any time.
func (l *Log) EachOf(indexes []int, f func(i int, e Entry, block []byte) bool) {
	defer runtime.KeepAlive(l)
	if z := l.lazy.Load(); z != nil {
		l.eachLazy(z, func() (int, bool) {
			if len(indexes) == 0 {
				return 0, false
			}
			i := indexes[0]
			indexes = indexes[1:]
			return i, true
		}, f)
		return
	}
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
		arena, old, spill := l.arena, uint32(l.oldArena), l.spill
		l.mu.RUnlock()
		for len(indexes) > 0 && indexes[0]-first < len(block) {
			e := block[indexes[0]-first]
			if !f(indexes[0], e, arena[e.block-old]) {
				return
			}
			indexes = indexes[1:]
		}
		if spill != nil && len(block) == blockFrames {
			spill.letGo(first/blockFrames, block)
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
