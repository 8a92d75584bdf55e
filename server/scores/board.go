package scores

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/captures"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds of a board.
const (
	maxBytes    = 160 << 20 // of the messages of a board
	maxFiles    = 1 << 30   // bytes of the files of captures
	maxTypes    = 1 << 14   // a malicious capture may have any number of codes
	maxBoards   = 4         // of all projects: the one that was used least recently is forgotten
	blockBytes  = 1 << 15   // so that a block and its columns fit the cache
	blockFrames = 1 << 10

	spanBytes = 32 // memory of a message beside its bytes

	boardLife = 10 * time.Minute // after its last use
	lookPause = 2 * time.Second  // between two looks for new messages, while somebody wants to know
	// Between two readings of all captures, at least, and as a multiple of the time that the last one took: where definitions say where messages
	// end, each change of one makes all captures be read again.
	againPause = 10 * time.Second
	againTimes = 10
)

// Set holds the boards of all projects.
type Set struct {
	captures *captures.Set
	log      *slog.Logger
	ctx      context.Context
	cancel   context.CancelFunc
	wg       supervise.Group

	mu     sync.Mutex
	boards map[*workspace.Workspace]*Board
}

// NewSet returns an empty set.
func NewSet(from *captures.Set, log *slog.Logger) *Set {
	s := &Set{captures: from, log: log, boards: map[*workspace.Workspace]*Board{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close ends all boards, and waits for them.
func (s *Set) Close() {
	s.cancel()
	s.wg.Wait()
}

// Of returns the board of a project. It reads the captures of the project as long as it is used: see Run and Scores.
func (s *Set) Of(ws *workspace.Workspace) *Board {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boards[ws]
	if b == nil {
		if len(s.boards) >= maxBoards {
			s.dropOldest()
		}
		b = &Board{ws: ws, set: s, at: time.Now(), reading: 1, types: map[typeKey]*messages{}, changed: make(chan struct{}), totals: map[*messages]*total{}}
		b.ctx, b.stop = context.WithCancel(s.ctx)
		s.boards[ws] = b
		defer s.wg.Go("score", func(error) { s.drop(b) }, b.run) // after its first use
	}
	b.touch()
	return b
}

// States returns the states of the boards in use, with the bytes of their messages in all.
func (s *Set) States() (states []State, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.boards {
		b.mu.Lock()
		states = append(states, b.state())
		bytes += b.bytes
		b.mu.Unlock()
	}
	return states, bytes
}

// Drop forgets the board of a project that is closed.
func (s *Set) Drop(ws *workspace.Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.boards[ws]; b != nil {
		b.stop()
		delete(s.boards, ws)
	}
}

// drop forgets a board that has failed: the next use makes another one.
func (s *Set) drop(b *Board) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.stop()
	if s.boards[b.ws] == b {
		delete(s.boards, b.ws)
	}
}

// dropOldest forgets the board that was used least recently. The caller holds mu.
func (s *Set) dropOldest() {
	var oldest *Board
	for _, b := range s.boards {
		if oldest == nil || b.lastUse().Before(oldest.lastUse()) {
			oldest = b
		}
	}
	oldest.stop()
	delete(s.boards, oldest.ws)
}

// Board holds the messages of a project.
type Board struct {
	ws   *workspace.Workspace
	set  *Set
	ctx  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	used    time.Time
	types   map[typeKey]*messages
	sources []source
	bytes   int64         // of messages
	size    int64         // of files
	full    bool          // messages were left out
	reading int           // number of captures to be read; 1 before the first look
	again   int           // number of times that the board was emptied
	at      time.Time     // of the last time that it was filled from the beginning
	took    time.Duration // until all captures were read then
	changed chan struct{} // closed with the next change

	judging sync.Mutex // held by the Run that judges: pages with one text wait for the first, and have its figures then
	known   []figures  // of the last texts, the newest first

	totalsMu sync.Mutex
	totals   map[*messages]*total // of the definitions of the library
	totalsOf int                  // value of again
}

// figures are those of a program by all messages that there were.
type figures struct {
	program   *codec.Program
	again, of int
	score     Score
}

// maxKnown is the number of texts whose figures are kept.
const maxKnown = 16

// typeKey is what the definition of a message depends on.
type typeKey struct {
	kind      transport.Kind
	dir       schema.Dir
	hasKey    bool
	key       schema.Key
	name      string
	alternate bool
	settings  string // key of the settings of the capture
}

// messages are those of one type, in blocks. Only the last block grows.
type messages struct {
	like      transport.Frame // one of them, without its bytes
	alternate bool            // they have the alternative header of the dialect
	settings  store.Capture   // only the settings, with which the capture is read
	blocks    []block
	frames    int
}

// block holds messages. What it has does not change.
type block struct {
	data  []byte
	spans []columns.Span
	at    []place
}

// place is where a message is from.
type place struct {
	source uint32
	n      uint32 // number of the frame
}

// source is a capture.
type source struct {
	id, name string
	reading  string // key of its reading
	log      *live.Log
	next     int  // index of the next frame to be taken
	caught   bool // all frames of a moment were taken
	done     bool // it has no more frames
	failed   bool // it cannot be read
}

func (b *Board) touch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = time.Now()
}

func (b *Board) lastUse() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Changed returns a channel that is closed when there are more messages, or others.
func (b *Board) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// Done returns a channel that is closed when the board is forgotten. Whoever has it then lets it go, so that its memory is free.
func (b *Board) Done() <-chan struct{} { return b.ctx.Done() }

// tell wakes those who wait for a change. The caller holds mu.
func (b *Board) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// run reads captures until the board has not been used for a while.
func (b *Board) run() {
	defer func() {
		b.stop()
		b.set.mu.Lock()
		if b.set.boards[b.ws] == b {
			delete(b.set.boards, b.ws)
		}
		b.set.mu.Unlock()
	}()
	changed, stop := b.ws.Changed()
	defer stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-changed:
			continue // looked at with the next pause
		case <-pause.C:
		}
		if b.unused() {
			return
		}
		if err := b.look(); err != nil && b.ctx.Err() == nil {
			b.set.log.Error("scores", "project", b.ws.Name, "error", err)
		}
		pause.Reset(lookPause)
	}
}

// unused reports whether the board has not been used for a while. Nobody gets it then.
func (b *Board) unused() bool {
	b.set.mu.Lock()
	defer b.set.mu.Unlock()
	if time.Since(b.lastUse()) <= boardLife {
		return false
	}
	if b.set.boards[b.ws] == b {
		delete(b.set.boards, b.ws)
	}
	return true
}

// look takes the new messages of all captures.
func (b *Board) look() error {
	var list []store.Capture
	if b.ws.Captures != nil {
		var err error
		if list, _, err = b.set.captures.Brief(b.ws.Captures); err != nil {
			return err
		}
	}
	if gone, changed := b.outdated(list); gone || changed {
		b.mu.Lock()
		wait := !gone && time.Since(b.at) < max(againPause, againTimes*b.took)
		if !wait {
			b.empty()
		}
		b.mu.Unlock()
		if wait {
			return nil
		}
	}
	b.mu.Lock()
	known := map[string]int{}
	for i := range b.sources {
		known[b.sources[i].id] = i
	}
	was := b.reading
	b.reading = len(list)
	for _, i := range known {
		if b.sources[i].caught {
			b.reading--
		}
	}
	if b.reading != was {
		b.tell()
	}
	b.mu.Unlock()
	for _, x := range list { // the newest first: if there are too many, the oldest are left out
		i, ok := known[x.ID]
		if ok && b.sources[i].done {
			continue
		}
		if err := b.take(x, i, ok); err == errAgain {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// outdated reports whether captures were removed, and whether some are read in another way than before.
func (b *Board) outdated(list []store.Capture) (gone, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := map[string]string{}
	for _, x := range list {
		now[x.ID] = captures.Reading(b.ws.Name, b.ws.For(x), x)
	}
	for i := range b.sources {
		reading, ok := now[b.sources[i].id]
		gone, changed = gone || !ok, changed || ok && reading != b.sources[i].reading
	}
	return gone, changed
}

// empty forgets all messages. The caller holds mu.
func (b *Board) empty() {
	b.types, b.sources, b.bytes, b.full, b.at = map[typeKey]*messages{}, nil, 0, false, time.Now()
	b.size, b.took = 0, 0
	b.again++
	b.tell()
}

// errAgain reports that all captures must be looked at again.
var errAgain = errors.New("the board was emptied")

// take takes the new messages of a capture.
func (b *Board) take(x store.Capture, i int, known bool) error {
	snap := b.ws.For(x)
	if !known {
		b.mu.Lock()
		b.sources = append(b.sources, source{id: x.ID, name: x.Name, reading: captures.Reading(b.ws.Name, snap, x)})
		i = len(b.sources) - 1
		b.mu.Unlock()
	}
	src := &b.sources[i] // only this goroutine changes the slice
	if !known {
		b.mu.Lock()
		b.size += x.Size
		b.full = b.full || b.size > maxFiles || b.bytes+spanBytes > maxBytes
		full := b.full
		b.mu.Unlock()
		if full {
			b.caught(src, true, false)
			return nil
		}
	}
	o, err := b.set.captures.Get(b.ws, snap, x)
	if err == nil && !o.Running() {
		_, err = o.Wait(b.ctx)
	}
	if b.ctx.Err() != nil {
		return b.ctx.Err()
	}
	if errors.Is(err, captures.ErrTooMany) {
		return nil // with the next look
	}
	if err != nil {
		b.caught(src, true, true)
		return nil
	}
	if !b.set.captures.Hold(o) {
		return nil // closed meanwhile: with the next look
	}
	defer b.set.captures.LetGo(o)
	log := o.Log()
	if src.log != nil && src.log != log || errors.Is(o.Err(), context.Canceled) {
		// A recording that has ended is read again from its file: its frames have other numbers. Or the capture was closed.
		b.mu.Lock()
		b.empty()
		b.mu.Unlock()
		return errAgain
	}
	ended := !o.Running() && o.Complete()
	src.log = log
	end := log.Len()
	t := &taking{log: log, keys: map[uint64]*messages{}, snap: snap, of: x, from: uint32(i)}
	for ; src.next < end; src.next = min(src.next+1<<14, end) {
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		b.mu.Lock()
		log.Each(src.next, min(src.next+1<<14, end), func(k int, e live.Entry, data []byte) bool {
			b.add(t, k, e, data)
			return true
		})
		b.tell()
		b.mu.Unlock()
	}
	if ended {
		src.log = nil
	}
	if ended || !src.caught {
		b.caught(src, ended, log.Err() != nil)
	}
	return nil
}

// caught reports that the frames of a source were taken.
func (b *Board) caught(src *source, done, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !src.caught {
		if b.reading--; b.reading == 0 {
			b.took = time.Since(b.at)
		}
	}
	src.caught, src.done, src.failed = true, done, failed
	b.tell()
}

// taking is a capture whose messages are taken.
type taking struct {
	log  *live.Log
	keys map[uint64]*messages // of types that Entry.Type identifies
	snap *workspace.Snapshot
	of   store.Capture
	from uint32 // source
}

// add adds a message. The caller holds mu.
func (b *Board) add(t *taking, i int, e live.Entry, data []byte) {
	if e.Kind != transport.Message && e.Kind != transport.Control {
		return
	}
	plain := e.Flags&(live.Named|live.Wrapped) == 0
	m := (*messages)(nil)
	if plain {
		m = t.keys[e.Type()]
	}
	if m == nil {
		var f transport.Frame
		t.log.Frame(i, e, data, &f)
		f.Bytes = nil
		key := typeKey{f.Kind, f.Dir, f.HasKey, f.Key, f.Name, t.snap.HasAlternate(&f), t.of.Settings.Key()}
		if m = b.types[key]; m == nil {
			if len(b.types) >= maxTypes {
				b.full = true
				return
			}
			m = &messages{like: f, alternate: key.alternate, settings: store.Capture{Settings: t.of.Settings}}
			b.types[key] = m
		}
		if plain {
			t.keys[e.Type()] = m
		}
	}
	if b.bytes+int64(len(data))+spanBytes > maxBytes {
		b.full = true
		return
	}
	b.bytes += int64(len(data)) + spanBytes
	m.add(data, place{t.from, uint32(i + 1)})
}

func (m *messages) add(data []byte, at place) {
	last := len(m.blocks) - 1
	if last < 0 || len(m.blocks[last].spans) == blockFrames || len(m.blocks[last].data)+len(data) > cap(m.blocks[last].data) {
		size := blockBytes
		if m.frames < blockFrames/8 { // most types are rare
			size = blockBytes / 32
		}
		m.blocks = append(m.blocks, block{data: make([]byte, 0, max(size, len(data)))})
		last++
	}
	k := &m.blocks[last]
	k.spans = append(k.spans, columns.Span{Off: uint32(len(k.data)), Len: uint32(len(data))})
	k.data, k.at = append(k.data, data...), append(k.at, at)
	m.frames++
}

// State is what a board has read.
type State struct {
	Captures int  `json:"captures" doc:"captures whose messages are counted"`
	Reading  int  `json:"reading,omitempty" doc:"captures that are still to be read, or grow"`
	Failed   int  `json:"failed,omitempty" doc:"captures that cannot be read"`
	Frames   int  `json:"frames" doc:"messages in them"`
	Full     bool `json:"full,omitempty" doc:"not all messages are counted: there are too many"`
}

// State returns what the board has read.
func (b *Board) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state()
}

func (b *Board) state() State {
	s := State{Reading: b.reading, Full: b.full}
	for i := range b.sources {
		if b.sources[i].failed {
			s.Failed++
		} else {
			s.Captures++
		}
	}
	for _, m := range b.types {
		s.Frames += m.frames
	}
	return s
}

// all returns the messages of the types whose definition fits, with their blocks as they are now.
func (b *Board) all(fits func(m *messages) bool) (found []*messages, blocks [][]block, again int, state State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = time.Now()
	for _, m := range slices.SortedFunc(maps.Values(b.types), func(x, y *messages) int { return y.frames - x.frames }) {
		if fits(m) {
			found, blocks = append(found, m), append(blocks, slices.Clone(m.blocks))
		}
	}
	return found, blocks, b.again, b.state()
}

// Coded counts the messages whose codes are among some. whole is false while captures are read for the first time.
func (b *Board) Coded(is func(code uint32) bool) (n int, whole bool) {
	_, blocks, _, state := b.all(func(m *messages) bool { return m.like.HasKey && is(m.like.Key.Code) })
	for _, of := range blocks {
		for i := range of {
			n += len(of[i].spans)
		}
	}
	return n, state.Reading == 0
}

// nameOf returns the id and the name of a source.
func (b *Board) nameOf(n uint32) (id, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if int(n) >= len(b.sources) {
		return "", ""
	}
	return b.sources[n].id, b.sources[n].name
}
