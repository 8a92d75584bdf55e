package captures

import (
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
	"wirebench/server/workspace"
)

// Bounds of captures that are open.
const (
	maxOpenCaptures  = 12        // in all
	maxIdleCaptures  = 4         // that no page lists
	maxCaptureMemory = 256 << 20 // bytes of frames of one
	waitForCapture   = 20 * time.Second
)

// Errors of opening a capture.
var (
	ErrProtocol = errors.New("captures of this protocol cannot be read")
	ErrTooMany  = fmt.Errorf("%d captures are open in pages: close one first", maxOpenCaptures)
)

// Set is the captures that are open: their frames are in memory. The one that was not asked for the longest gives way.
type Set struct {
	mu       sync.Mutex
	open     map[string]*Capture
	live     map[string]*Capture // of running traffic, by workspace and id
	parts    map[string]bool     // later parts of running recordings, as they are written, by workspace and id
	grows    map[string]growth   // that others go on with, by workspace and id
	briefs   briefLists
	openFile func(in *store.Captures, id string) (io.ReadCloser, error)
	budget   *admit.Budget // of reading files; nil: there is none
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// NewSet makes a set that reads files as far as a budget allows; nil is no bound.
func NewSet(budget *admit.Budget) *Set {
	ctx, cancel := context.WithCancel(context.Background())
	return &Set{
		open: map[string]*Capture{}, live: map[string]*Capture{}, parts: map[string]bool{}, grows: map[string]growth{}, ctx: ctx, cancel: cancel,
		openFile: (*store.Captures).Open, budget: budget,
	}
}

// Close ends what is being read, and waits for that.
func (c *Set) Close() {
	c.cancel()
	c.wg.Wait()
}

// Capture is a capture whose frames are in memory, or on their way there.
type Capture struct {
	log  *live.Log
	ctx  context.Context // of reading it
	stop context.CancelFunc
	done chan struct{} // closed when all is read
	used atomic.Int64  // when it was last asked for, nanoseconds since 1970
	held int           // pages that list it; of Set.mu

	running bool  // it is of traffic, and its log grows until done is closed
	tail    *tail // the file may grow, and the log with it until done is closed; nil: it is read as it is

	stale chan struct{} // closed when there is more in the file, and nobody reads on
	took  atomic.Int64  // nanoseconds of reading the file, after done

	size, read atomic.Int64 // bytes of the file
	ciphered   sync.Map     // names of the connections of which something was deciphered

	key    string      // of readingOfCapture
	filled atomic.Bool // the log has all that it is to have

	// After done.
	sum packet.Summary
	err error // why the frames are not all

	views frames.Views
	mu    sync.Mutex
	known map[transport.FrameID]spot // once all frames are there
}

// View is what a filter leaves of the frames, found or begun.
func (o *Capture) View(snap *workspace.Snapshot, spec frames.ViewSpec, notes store.Notes) *frames.View {
	return o.views.Get(o.log, snap, spec, notes)
}

// Log are the frames.
func (o *Capture) Log() *live.Log { return o.log }

// Complete reports whether all frames are in the log.
func (o *Capture) Complete() bool { return o.complete() }

// Changed is closed when there are other frames than now, or more of the file is read or there. Done tells when all is.
func (o *Capture) Changed() <-chan struct{} { return o.log.Changed() }

// Done is closed when all frames are in the log.
func (o *Capture) Done() <-chan struct{} { return o.done }

// Running reports whether the capture is of running traffic.
func (o *Capture) Running() bool { return o.running }

// Err says why the frames are not all; it is nil until the capture is read.
func (o *Capture) Err() error {
	if !o.complete() {
		return nil
	}
	return o.err
}

// Stale is closed when there is more in the file than was read, and nobody reads on.
func (o *Capture) Stale() <-chan struct{} { return o.stale }

// Progress is how many bytes of the file are read, of how many.
func (o *Capture) Progress() (read, size int64) { return o.read.Load(), o.size.Load() }

// Ciphered reports whether something of a connection was deciphered.
func (o *Capture) Ciphered(conn string) bool {
	_, ok := o.ciphered.Load(conn)
	return ok
}

// Get opens a capture of a workspace, or finds it open.
func (c *Set) Get(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture) (*Capture, error) {
	return c.find(ws, snap, x, false, false)
}

// find is get; with grows the reader waits at the end of the file for more, and with follow one that does, or did so until nothing came any
// more, is found, too.
func (c *Set) find(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture, follow, grows bool) (*Capture, error) {
	o, err := c.reading(ws, snap, x, follow, grows)
	if err == nil && o.filled.Load() && !o.Numbered(x.Notes).Same(x.Notes) { // it was read before, and is what is stored again
		c.settle(ws, x.ID, o)
	}
	return o, err
}

func (c *Set) reading(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture, follow, grows bool) (*Capture, error) {
	protocol, ok := protocols.Of(snap.Dialect.Name)
	if !ok {
		return nil, ErrProtocol
	}
	reading := readingOfCapture(ws.Name, snap, x)
	if o := c.opened(ws.Name+"/"+x.ID, reading, follow, grows); o != nil {
		return o, nil
	}
	file, err := c.openFile(ws.Captures, x.ID) // not under the lock: a disk may take its time, and other captures go on
	if err != nil {
		return nil, err
	}
	o, begun, err := c.begin(ws.Name+"/"+x.ID, reading, follow, grows, file, x)
	if !begun {
		file.Close()
		return o, err
	}
	from := io.Reader(file)
	if o.tail != nil {
		from = o.tail
	}
	c.wg.Go(func() {
		defer close(o.done)
		defer file.Close()
		defer o.stop()
		ticket, err := c.admitted(o, ws.Name, x.Size)
		if o.err = err; err != nil {
			return
		}
		defer ticket.Release()
		now := time.Now()
		o.sum, o.err = o.fill(o.ctx, from, protocol, snap, x)
		o.took.Store(int64(time.Since(now)))
		if o.err != nil && o.ctx.Err() == nil && !errors.Is(o.err, live.ErrFull) {
			ws.Log.Error("capture cannot be read to its end", "file", ws.Captures.Path(x.ID), "error", o.err)
		}
		if o.ctx.Err() == nil {
			o.filled.Store(true)
			c.settle(ws, x.ID, o)
		}
	})
	return o, nil
}

// admitted waits until there is memory for the frames of a file, which is taken while the file is read. One that grows is read as long as it
// is open, and waits for nothing.
func (c *Set) admitted(o *Capture, ws string, size int64) (*admit.Ticket, error) {
	if c.budget == nil || o.tail != nil {
		return nil, nil
	}
	for {
		ticket, err := c.budget.Acquire(o.ctx, ws, admit.Open, min(size, maxCaptureMemory))
		if err == nil || o.ctx.Err() != nil {
			return ticket, err
		}
		select { // too many others wait: nobody tells when there is room in their line
		case <-o.ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// opened finds a capture that is open, nil if it is not.
func (c *Set) opened(id, reading string, follow, grows bool) *Capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openedLocked(id, reading, follow, grows)
}

func (c *Set) openedLocked(id, reading string, follow, grows bool) *Capture {
	if o := c.live[id]; o != nil {
		return o
	}
	o := c.open[c.keyOf(reading, follow, grows)]
	if o != nil {
		o.used.Store(time.Now().UnixNano())
	}
	return o
}

// keyOf is the key of a reading in open. Under mu.
func (c *Set) keyOf(reading string, follow, grows bool) string {
	if grows || follow && c.open[reading+growing] != nil {
		return reading + growing
	}
	return reading
}

// begin makes a capture one that is open, and is to be read from a file. begun is false if somebody else has opened it meanwhile, and if
// there are too many.
func (c *Set) begin(id, reading string, follow, grows bool, file io.Reader, x store.Capture) (o *Capture, begun bool, err error) {
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
	o = &Capture{log: live.New(maxCaptureMemory), done: make(chan struct{}), stale: make(chan struct{}), key: reading}
	o.ctx, o.stop = context.WithCancel(c.ctx)
	o.used.Store(time.Now().UnixNano())
	o.size.Store(x.Size)
	if grows {
		o.tail = newTail(o.ctx, file, x.Size, o.log.Touch)
	}
	c.open[c.keyOf(reading, follow, grows)] = o
	return o, true, nil
}

// Drop closes a capture in all its readings.
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

// idle is how many captures no page lists.
func (c *Set) idle() (n int) {
	for _, o := range c.open {
		if o.held == 0 {
			n++
		}
	}
	return n
}

// Hold keeps a capture open until it is let go; false if it has been closed meanwhile.
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

// LetGo is the opposite of hold.
func (c *Set) LetGo(o *Capture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.held--; o.held == 0 && !o.running && c.idle() > maxIdleCaptures {
		c.dropOldest()
	}
}

// enough is when one has waited enough for the file to be read.
func (o *Capture) enough() <-chan time.Time {
	if o.running {
		return time.After(0)
	}
	return time.After(waitForCapture)
}

// Live makes the log of running traffic a capture that is open, until its end.
func (c *Set) Live(ws, id string, log *live.Log, done chan struct{}) *Capture {
	o := &Capture{log: log, stop: func() {}, done: done, running: true}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[ws+"/"+id] = o
	return o
}

// Ended says that traffic has: who opens the capture from now on reads its file.
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

// counted counts what is read of a file, and ends with a context.
type counted struct {
	r     io.Reader
	n     *atomic.Int64
	moved func() // called after n is another one
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

// Read reads a capture that is kept nowhere.
func Read(ctx context.Context, from io.Reader, snap *workspace.Snapshot, x store.Capture) (*Capture, error) {
	protocol, ok := protocols.Of(snap.Dialect.Name)
	if !ok {
		return nil, ErrProtocol
	}
	o := &Capture{log: live.New(0), done: make(chan struct{})}
	defer close(o.done)
	o.sum, o.err = o.fill(ctx, from, protocol, snap, x)
	return o, o.err
}

// fill reads a file into the log: a capture, or a text that holds one.
func (o *Capture) fill(ctx context.Context, file io.Reader, protocol protocols.Protocol, snap *workspace.Snapshot, x store.Capture) (packet.Summary, error) {
	conns := map[int]uint32{}
	full, recorded := false, false
	add := func(f *transport.Frame) {
		if full {
			return
		}
		conn, ok := conns[f.Conn.ID]
		if !ok {
			conn = o.log.Connection(live.Conn{Name: f.Conn.Name(), Session: f.Conn.Session, Proto: f.Conn.Proto.String()})
			conns[f.Conn.ID] = conn
			if recorded && protocol.Ciphers { // nothing was deciphered for it
				o.ciphered.Store(f.Conn.Name(), true)
			}
		}
		full = o.log.AddFlagged(conn, f, live.FlagsOf(f.Marks)) != nil
	}
	how := readingTold(snap, protocol, x, func(conn string) { o.ciphered.Store(conn, true) })
	if takes := how.Recorded; takes != nil {
		how.Recorded = func(cut string) bool {
			recorded = takes(cut)
			return recorded
		}
	}
	sum, _, err := capture.ReadAny(&counted{file, &o.read, o.log.Touch, ctx}, how, add)
	if err == nil && full {
		err = live.ErrFull
	}
	return sum, err
}

// Load is what the open captures keep in memory.
type Load struct {
	Open, Held int // captures; those that pages list
	Frames     int
	Bytes      int64
}

// Load is what the open captures keep in memory.
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

// Context ends when the set is closed.
func (c *Set) Context() context.Context { return c.ctx }

// Go runs a function in a goroutine that close waits for.
func (c *Set) Go(f func()) { c.wg.Go(f) }

// complete reports whether the file is read.
func (o *Capture) complete() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// Note says why the frames are not all of the file, "" if they are or nobody knows yet.
func (o *Capture) Note() string {
	switch {
	case !o.complete():
		return ""
	case o.err == nil && o.sum.Torn == nil && o.sum.Frames == 0 && !o.running:
		return withoutFrames(o.sum)
	}
	return o.PartNote()
}

// PartNote is note, but for files without frames.
func (o *Capture) PartNote() string {
	if o.err != nil {
		return o.err.Error()
	}
	return o.sum.Incomplete()
}

// Wait waits until a capture is read, for some time, or until running traffic has been looked at. It reports whether it is.
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
