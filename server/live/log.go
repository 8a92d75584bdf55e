// Package live holds the frames of a capture or of running traffic: an index of them over their bytes. It stores bytes and never what
// they mean, so that an edited definition reads everything anew.
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
	DefaultBytes = 1 << 30 // of frames, with their index
	blockFrames  = 1 << 14
	blockBytes   = 1 << 20
	entryBytes   = 48 // what a frame costs beside its bytes
)

// ErrFull says that a log holds as much as it may.
var ErrFull = errors.New("the capture has more frames than are kept in memory")

// Entry is a frame in the log, without its bytes.
type Entry struct {
	At     int64 // nanoseconds since 1970
	block  uint32
	off    uint32
	Len    uint32 // bytes
	Code   uint32
	Conn   uint32 // index of Conns
	extra  int32  // index, -1 if there is nothing to say
	group  uint16
	Kind   transport.Kind
	Dir    schema.Dir
	HasKey bool
	Flags  Flags
}

// Flags are marks of a frame that filters ask for.
type Flags uint8

// The flags.
const (
	Resumed  Flags = 1 << iota // found again after a problem
	Noted                      // the transport has something to say
	Injected                   // by a person
	Modified
	Dropped
)

// Extra is what few frames have.
type Extra struct {
	From   []transport.Source
	Via    []string
	Offset int64
	Length int64
	Note   string
	Name   string // of the definition, where messages have no code
}

// Conn is a connection of the log.
type Conn struct {
	Name    string // "client-server", each address:port
	Session int    // 0, or the number of the session that reuses the addresses
	Proto   string // "tcp" or "udp"
	Frames  int
}

// Log holds frames in the order in which they came. One goroutine adds, any number read.
type Log struct {
	limit int64

	mu     sync.RWMutex
	conns  []Conn
	groups []string
	blocks [][]Entry // of blockFrames each, the last one growing
	arena  [][]byte  // blocks of their full length; the last one is used up to used
	used   int
	extras [][]Extra // like blocks
	nExtra int

	n     atomic.Int64 // frames that may be read
	bytes atomic.Int64
}

// New makes an empty log that keeps about so many bytes; 0 is DefaultBytes.
func New(limit int64) *Log {
	if limit <= 0 {
		limit = DefaultBytes
	}
	return &Log{limit: limit, groups: []string{""}}
}

// Connection adds a connection and returns its index.
func (l *Log) Connection(c Conn) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	return uint32(len(l.conns) - 1)
}

// Conns are the connections so far.
func (l *Log) Conns() []Conn {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Clone(l.conns)
}

// Len is the number of frames.
func (l *Log) Len() int { return int(l.n.Load()) }

// Bytes is about how much memory the frames take.
func (l *Log) Bytes() int64 { return l.bytes.Load() }

// Add appends a frame of a connection. It copies what it keeps.
func (l *Log) Add(conn uint32, f *transport.Frame) error {
	cost := int64(len(f.Bytes)) + entryBytes
	if l.bytes.Load()+cost > l.limit {
		return ErrFull
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := Entry{At: f.At.UnixNano(), Len: uint32(len(f.Bytes)), Code: f.Key.Code, Conn: conn, extra: -1, Kind: f.Kind, Dir: f.Dir, HasKey: f.HasKey}
	e.group = l.group(f.Key.Group)
	if f.Resumed {
		e.Flags |= Resumed
	}
	if f.Note != "" {
		e.Flags |= Noted
	}
	e.block, e.off = l.keep(f.Bytes)
	if f.Note != "" || f.Name != "" || len(f.Via) > 0 || len(f.From) > 0 || f.Offset != 0 || f.Length != 0 {
		cost += l.addExtra(&e, f)
	}
	if last := len(l.blocks) - 1; last < 0 || len(l.blocks[last]) == blockFrames {
		l.blocks = append(l.blocks, make([]Entry, 0, blockFrames))
	}
	last := len(l.blocks) - 1
	l.blocks[last] = append(l.blocks[last], e)
	l.conns[conn].Frames++
	l.bytes.Add(cost)
	l.n.Add(1)
	return nil
}

func (l *Log) group(name string) uint16 {
	i := slices.Index(l.groups, name)
	if i < 0 && len(l.groups) < 1<<16-1 {
		l.groups = append(l.groups, name)
		i = len(l.groups) - 1
	}
	return uint16(max(i, 0))
}

// keep copies bytes into the arena. A block is never moved, so what was returned by Data stays valid.
func (l *Log) keep(data []byte) (block, off uint32) {
	if last := len(l.arena) - 1; last < 0 || len(l.arena[last])-l.used < len(data) {
		l.arena = append(l.arena, make([]byte, max(blockBytes, len(data))))
		l.used = 0
	}
	last := len(l.arena) - 1
	off = uint32(l.used)
	l.used += copy(l.arena[last][off:], data)
	return uint32(last), off
}

func (l *Log) addExtra(e *Entry, f *transport.Frame) int64 {
	if last := len(l.extras) - 1; last < 0 || len(l.extras[last]) == blockFrames {
		l.extras = append(l.extras, make([]Extra, 0, blockFrames))
	}
	last := len(l.extras) - 1
	l.extras[last] = append(l.extras[last], Extra{slices.Clone(f.From), slices.Clone(f.Via), f.Offset, f.Length, f.Note, f.Name})
	e.extra = int32(l.nExtra)
	l.nExtra++
	return 96 + int64(len(f.From))*12 + int64(len(f.Via))*24 + int64(len(f.Note)+len(f.Name))
}

// Entry is the frame of an index from 0 to Len()-1.
func (l *Log) Entry(i int) Entry {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.blocks[i/blockFrames][i%blockFrames]
}

// Data is the bytes of a frame. They must not be changed.
func (l *Log) Data(e Entry) []byte {
	l.mu.RLock()
	defer l.mu.RUnlock()
	end := e.off + e.Len
	return l.arena[e.block][e.off:end:end]
}

// Group is the group of a frame's key.
func (l *Log) Group(e Entry) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.groups[e.group]
}

// Extra is what else is known of a frame.
func (l *Log) Extra(e Entry) Extra {
	if e.extra < 0 {
		return Extra{}
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.extras[e.extra/blockFrames][e.extra%blockFrames]
}

// Time is when the frame was whole.
func (e Entry) Time() time.Time { return time.Unix(0, e.At) }

// Each calls f for the frames from one index to another, without the last, in order, until it returns false. Cheaper than Entry and
// Data for each.
func (l *Log) Each(from, to int, f func(i int, e Entry, data []byte) bool) {
	to = min(to, l.Len())
	for from < to {
		l.mu.RLock()
		block := l.blocks[from/blockFrames]
		arena := l.arena
		l.mu.RUnlock()
		for at := from % blockFrames; at < blockFrames && from < to; at++ {
			e := block[at]
			end := e.off + e.Len
			if !f(from, e, arena[e.block][e.off:end:end]) {
				return
			}
			from++
		}
	}
}
