package captures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/admit"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds of open captures.
const (
	maxOpenCaptures  = 48        // in total
	maxIdleCaptures  = 4         // not listed by any page
	maxCaptureMemory = 256 << 20 // bytes of frames of one capture, where there is no disk for them
	maxBlockMemory   = 256 << 20 // bytes of frames of all captures that are read from the place of captures
	waitForCapture   = 20 * time.Second
)

// Errors returned when a capture is opened.
var (
	ErrProtocol = errors.New("captures cannot be read with the definitions of this language: their messages have no codes")
	ErrTooMany  = fmt.Errorf("%d captures are open in pages: close one first", maxOpenCaptures)
)

// Set holds the open captures. The least recently used one is closed first.
type Set struct {
	mu       sync.Mutex
	open     map[string]*Capture
	live     map[string]*Capture // captures of running traffic, by workspace and id
	parts    map[string]bool     // later parts of running recordings, by workspace and id
	grows    map[string]growth   // captures that grow, by workspace and id
	counts   map[string]Counts   // of captures that were read, by the key of their reading
	briefs   briefLists
	openFile func(in *store.Captures, id string) (io.ReadCloser, error)
	budget   *admit.Budget // for reading files; nil means unlimited
	disk     *live.Disk    // for the frames of large captures; nil: all are in memory
	blocks   *live.Blocks  // of captures whose frames are in the place of captures
	filled   func(ws *workspace.Workspace, x store.Capture, reading string, o *Capture)
	ctx      context.Context
	cancel   context.CancelFunc
	wg       supervise.Group

	looking sync.Mutex // held while looking for an envelope
	unfound map[unfound]time.Time
}

// NewSet returns a set that reads files within a memory budget, nil meaning unlimited, and keeps the frames of large ones on a disk, which may
// be nil.
func NewSet(budget *admit.Budget, disk *live.Disk) *Set {
	ctx, cancel := context.WithCancel(context.Background())
	return &Set{
		open: map[string]*Capture{}, live: map[string]*Capture{}, parts: map[string]bool{}, grows: map[string]growth{}, ctx: ctx, cancel: cancel,
		openFile: func(in *store.Captures, id string) (io.ReadCloser, error) { return in.Open(id) }, budget: budget, disk: disk,
		blocks: live.NewBlocks(maxBlockMemory),
	}
}

// Close stops all reading, and waits for it.
func (c *Set) Close() {
	c.cancel()
	c.wg.Wait()
}

// Capture is an open capture: its frames are in memory or being read.
type Capture struct {
	log  *live.Log
	ctx  context.Context // ends reading
	stop context.CancelFunc
	done chan struct{} // closed when the file has been read
	used atomic.Int64  // last use, nanoseconds since 1970
	held int           // number of pages that list it; guarded by Set.mu

	running bool  // of traffic: the log grows until done is closed
	tail    *tail // of a growing file: the log grows until done is closed; nil if the file is read once

	stale chan struct{} // closed when the file has grown and its reader has ended
	took  atomic.Int64  // duration of reading the file in nanoseconds, set after done
	broke atomic.Int64  // when it was seen that the place of captures cannot be read, nanoseconds since 1970; 0: never

	size, read atomic.Int64 // bytes of the file
	packets    atomic.Int64 // frames of kind transport.Packet
	problems   atomic.Int64 // frames of kind transport.Problem
	ciphered   sync.Map     // names of connections of which a part was deciphered

	key      string      // see Reading
	protocol string      // title of the dialect
	lacks    string      // what the file lacks of the recorded traffic
	filled   atomic.Bool // the log is complete

	// Valid after done.
	sum packet.Summary
	err error // reason why frames are missing

	views frames.Views
	mu    sync.Mutex
	known map[transport.FrameID]spot // cache, used once all frames are there
}

// View returns the view of a filter and an order over the frames, which may be shared and still being computed.
func (o *Capture) View(snap *workspace.Snapshot, spec frames.ViewSpec, notes store.Notes) *frames.View {
	return o.views.Get(o.log, snap, spec, notes)
}

// Log returns the frames.
func (o *Capture) Log() *live.Log { return o.log }

// Complete reports whether all frames are in the log.
func (o *Capture) Complete() bool { return o.complete() }

// Changed returns a channel that is closed when frames are added, or when more of the file is available or read. After the last frame only
// Done is closed.
func (o *Capture) Changed() <-chan struct{} { return o.log.Changed() }

// Done returns a channel that is closed when all frames are in the log.
func (o *Capture) Done() <-chan struct{} { return o.done }

// Running reports whether the capture is of running traffic.
func (o *Capture) Running() bool { return o.running }

// Err returns the reason why frames are missing; it is nil until the capture has been read. Those of an index may be missing later.
func (o *Capture) Err() error {
	if !o.complete() {
		return nil
	}
	return cmp.Or(o.err, o.log.Err())
}

// Stale returns a channel that is closed when the file has grown and its reader has ended.
func (o *Capture) Stale() <-chan struct{} { return o.stale }

// Progress returns the number of bytes read and the size of the file.
func (o *Capture) Progress() (read, size int64) { return o.read.Load(), o.size.Load() }

// Packets returns the number of events of packets among the frames so far, -1 if they are not listed.
func (o *Capture) Packets() int { return int(o.packets.Load()) }

// Ciphered reports whether a part of a connection was deciphered.
func (o *Capture) Ciphered(conn string) bool {
	_, ok := o.ciphered.Load(conn)
	return ok
}

// Get returns the reading of a capture for the stored settings, and opens it if it is not open.
func (c *Set) Get(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture) (*Capture, error) {
	return c.find(ws, snap, x, false, false)
}

// Use is Get and Hold: nobody else ends the reading before LetGo. What Get returns may be ended meanwhile, since another capture is opened or the file
// has grown: it then looks like one that is complete, and has a part of its frames.
func (c *Set) Use(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture) (o *Capture, err error) {
	for held := false; !held; held = c.Hold(o) {
		if o, err = c.Get(ws, snap, x); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// find implements Get and Follow. With grows the reader waits at the end of the file for more; with follow an open reading of this kind is
// used, also one that has stopped waiting.
func (c *Set) find(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture, follow, grows bool) (*Capture, error) {
	o, err := c.reading(ws, snap, x, follow, grows)
	if err == nil && o.filled.Load() && !o.Numbered(x.Notes).Same(x.Notes) { // read before, and its settings are stored again
		c.settle(ws, x.ID, o)
	}
	return o, err
}

func (c *Set) reading(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture, follow, grows bool) (*Capture, error) {
	asked := Reading(ws.Name, snap, x)
	snap, x, protocol, err := c.traveling(ws, snap, x)
	if err != nil {
		return nil, err
	}
	reading := Reading(ws.Name, snap, x)
	if o := c.opened(ws.Name+"/"+x.ID, reading, follow, grows); o != nil {
		return o, nil
	}
	file, err := c.openFile(ws.Captures, x.ID) // not under the lock: disks may be slow, and other captures must not wait
	if err != nil {
		return nil, err
	}
	o, begun, err := c.begin(ws.Name+"/"+x.ID, reading, snap.Dialect.Title, follow, grows, file, x)
	if !begun {
		file.Close()
		return o, err
	}
	from := io.Reader(file)
	if o.tail != nil {
		from = o.tail
	}
	c.wg.Go("capture", nil, func() {
		defer close(o.done)
		defer file.Close()
		defer o.stop()
		ticket, err := c.admitted(o, ws.Name, x.Size)
		if o.err = err; err != nil {
			return
		}
		defer ticket.Release()
		now := time.Now()
		adopted := false
		o.err = supervise.Do("capture", func() (err error) {
			if adopted = c.adopt(ws, o, snap, x); !adopted {
				o.sum, err = o.fill(o.ctx, from, protocol, snap, x)
			}
			return err
		})
		o.took.Store(int64(time.Since(now)))
		if o.err != nil && o.ctx.Err() == nil && !errors.Is(o.err, live.ErrFull) {
			ws.Log.Error("cannot read capture to its end", "file", ws.Captures.Path(x.ID), "error", o.err)
		}
		if o.ctx.Err() == nil && !errors.Is(o.err, store.ErrAway) {
			o.filled.Store(true)
			c.count(asked, o)
			c.settle(ws, x.ID, o)
			if c.filled != nil && o.err == nil && o.tail == nil && !adopted {
				c.filled(ws, x, indexReading(snap, x), o)
			}
		}
	})
	return o, nil
}

// traveling returns how the messages of a capture travel, with an envelope that was found for it if there was none.
func (c *Set) traveling(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture) (*workspace.Snapshot, store.Capture, protocols.Protocol, error) {
	protocol, ok := snap.Protocol()
	if !ok {
		return snap, x, protocol, ErrProtocol
	}
	if protocol.Enveloped && snap.EnvelopeFile == nil {
		snap, x = c.envelope(ws, snap, x)
		protocol, _ = snap.Protocol()
	}
	return snap, x, protocol, nil
}

// admitted waits until there is memory for the frames of a file, and reserves it while the file is read. A growing file is read as long as
// it is open, so it does not wait.
func (c *Set) admitted(o *Capture, ws string, size int64) (*admit.Ticket, error) {
	if c.budget == nil || o.tail != nil {
		return nil, nil
	}
	for {
		ticket, err := c.budget.Acquire(o.ctx, ws, admit.Open, min(size, maxCaptureMemory))
		if err == nil || o.ctx.Err() != nil {
			return ticket, err
		}
		select { // the queue is full: try again
		case <-o.ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// opened returns the open reading of a capture, nil if there is none.
func (c *Set) opened(id, reading string, follow, grows bool) *Capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openedLocked(id, reading, follow, grows)
}

func (c *Set) openedLocked(id, reading string, follow, grows bool) *Capture {
	if o := c.live[id]; o != nil {
		return o
	}
	key := c.keyOf(reading, follow, grows)
	o := c.open[key]
	if o != nil && o.broken(time.Now()) { // perhaps it can be read now
		o.stop()
		delete(c.open, key)
		return nil
	}
	if o != nil {
		o.used.Store(time.Now().UnixNano())
	}
	return o
}

// keyOf returns the key of a reading in open. The caller holds mu.
func (c *Set) keyOf(reading string, follow, grows bool) string {
	if grows || follow && c.open[reading+growing] != nil {
		return reading + growing
	}
	return reading
}

// begin adds a capture to be read from a file to the set. begun is false if it has been opened meanwhile, and on errors.
func (c *Set) begin(id, reading, protocol string, follow, grows bool, file io.Reader, x store.Capture) (o *Capture, begun bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.openedLocked(id, reading, follow, grows); o != nil {
		return o, false, nil
	}
	for c.idle() >= maxIdleCaptures {
		c.dropOldest()
	}
	if len(c.open) >= maxOpenCaptures {
		return nil, false, ErrTooMany
	}
	o = &Capture{log: live.NewOn(c.disk, maxCaptureMemory), done: make(chan struct{}), stale: make(chan struct{}), key: reading, protocol: protocol, lacks: x.Lacks()}
	o.ctx, o.stop = context.WithCancel(c.ctx)
	o.used.Store(time.Now().UnixNano())
	o.size.Store(x.Size)
	if !x.Packets {
		o.packets.Store(-1)
	}
	if grows {
		o.tail = newTail(o.ctx, file, x.Size, o.log.Touch)
	}
	c.open[c.keyOf(reading, follow, grows)] = o
	return o, true, nil
}

// Drop closes all readings of a capture.
func (c *Set) Drop(ws, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, o := range c.open {
		if key == ws+"/"+id || strings.HasPrefix(key, ws+"/"+id+"/") {
			o.stop()
			delete(c.open, key)
		}
	}
}

func (c *Set) dropOldest() {
	oldest := ""
	for key, o := range c.open {
		if o.held == 0 && (oldest == "" || o.used.Load() < c.open[oldest].used.Load()) {
			oldest = key
		}
	}
	c.open[oldest].stop()
	delete(c.open, oldest)
}

// idle returns the number of captures that no page lists.
func (c *Set) idle() (n int) {
	for _, o := range c.open {
		if o.held == 0 {
			n++
		}
	}
	return n
}

// Shown reports whether a page has a capture open.
func (c *Set) Shown(ws, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, o := range c.open {
		if o.held > 0 && (key == ws+"/"+id || strings.HasPrefix(key, ws+"/"+id+"/")) {
			return true
		}
	}
	return false
}

// Hold keeps a capture open until LetGo. It returns false if the capture has been closed.
func (c *Set) Hold(o *Capture) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range []map[string]*Capture{c.open, c.live} {
		for _, x := range all {
			if x == o {
				o.held++
				return true
			}
		}
	}
	return false
}

// LetGo undoes Hold.
func (c *Set) LetGo(o *Capture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.held--; o.held == 0 && !o.running && c.idle() > maxIdleCaptures {
		c.dropOldest()
	}
}

// enough returns a channel that limits the time to wait for a file to be read.
func (o *Capture) enough() <-chan time.Time {
	if o.running {
		return time.After(0)
	}
	return time.After(waitForCapture)
}

// Live adds the log of running traffic to the set, until Ended is called.
func (c *Set) Live(ws, id string, log *live.Log, done chan struct{}) *Capture {
	o := &Capture{log: log, stop: func() {}, done: done, running: true}
	o.packets.Store(-1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[ws+"/"+id] = o
	return o
}

// Ended reports the end of the traffic of a capture. Opening the capture from now on reads its file.
func (c *Set) Ended(ws, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, ws+"/"+id)
}

// Runs reports whether a capture is of running traffic.
func (c *Set) Runs(ws, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[ws+"/"+id] != nil
}

// counted counts the bytes read from a file. Reads fail once its context is done.
type counted struct {
	r     io.Reader
	n     *atomic.Int64
	moved func() // called after n has changed
	ctx   context.Context
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	c.moved()
	return n, err
}

// fill reads a file into the log: a capture, or a text that contains one.
func (o *Capture) fill(ctx context.Context, file io.Reader, protocol protocols.Protocol, snap *workspace.Snapshot, x store.Capture) (packet.Summary, error) {
	conns := map[int]uint32{}
	var full error // why frames from here on are missing
	recorded := false
	add := func(f *transport.Frame) {
		if full != nil {
			return
		}
		conn, ok := conns[f.Conn.ID]
		if !ok {
			conn = o.log.Connection(live.Conn{Name: f.Conn.Name(), Session: f.Conn.Session, Stream: f.Conn.Stream, Proto: f.Conn.Proto.String()})
			conns[f.Conn.ID] = conn
			if recorded && protocol.Ciphers { // a recording made without deciphering
				o.ciphered.Store(f.Conn.Name(), true)
			}
		}
		switch f.Kind {
		case transport.Packet:
			o.packets.Add(1)
		case transport.Problem:
			o.problems.Add(1)
		}
		full = o.log.AddFlagged(conn, f, live.FlagsOf(f.Marks))
	}
	how := readingTold(snap, protocol, x, func(conn string) { o.ciphered.Store(conn, true) })
	how.Events = x.Packets && protocol.Streams
	if takes := how.Recorded; takes != nil {
		how.Recorded = func(cut string) bool {
			recorded = takes(cut)
			return recorded
		}
	}
	sum, _, err := capture.ReadAny(&counted{file, &o.read, o.log.Touch, ctx}, how, add)
	if err == nil && full != nil {
		err = fmt.Errorf("only the first %d of %d frames are listed: %w", o.log.Len(), sum.Frames, full)
	}
	return sum, err
}

// Load is the memory use of the open captures.
type Load struct {
	Open, Held int // open captures, and those that pages list
	Frames     int
	Bytes      int64
}

// Load returns the memory use of the open captures.
func (c *Set) Load() (l Load) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range []map[string]*Capture{c.open, c.live} {
		for _, o := range all {
			l.Open++
			l.Frames += o.log.Len() - o.log.Base()
			l.Bytes += o.log.Bytes()
			if o.held > 0 {
				l.Held++
			}
		}
	}
	return l
}

// Context returns a context that is canceled when the set is closed.
func (c *Set) Context() context.Context { return c.ctx }

// Go is supervise.Go with a goroutine that Close waits for.
func (c *Set) Go(part string, ended func(error), f func()) { c.wg.Go(part, ended, f) }

// complete reports whether the file has been read.
func (o *Capture) complete() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// Note returns the reason why frames are missing, "" if none are or the file is still being read.
func (o *Capture) Note() string {
	switch {
	case !o.complete():
		return ""
	case o.Err() == nil && o.sum.Torn == nil && o.sum.Frames == 0 && !o.running:
		return joined(o.sum.WithoutFrames(o.protocol), o.lacks)
	}
	return o.PartNote()
}

// PartNote is like Note, but ignores that a file has no frames.
func (o *Capture) PartNote() string {
	if err := o.Err(); err != nil {
		return joined(err.Error(), o.lacks)
	}
	return joined(o.sum.Incomplete(), o.lacks)
}

// joined joins two reasons, each of which may be "".
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// Wait waits for a limited time until a capture is read. It reports whether all frames are there.
func (o *Capture) Wait(ctx context.Context) (whole bool, err error) {
	select {
	case <-o.done:
		return true, nil
	case <-o.enough():
		return o.complete(), nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
