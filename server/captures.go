package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec"
	"wirebench/codec/capture"
	"wirebench/codec/filter"
	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
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
	maxFramesBytes   = 16 << 20  // of the frames of one answer
	waitForCapture   = 20 * time.Second
)

// captureSet is the captures that are open: their frames are in memory. The one that was not asked for the longest gives way.
type captureSet struct {
	mu     sync.Mutex
	open   map[string]*openCapture
	live   map[string]*openCapture // of running traffic, by workspace and id
	parts  map[string]bool         // later parts of running recordings, as they are written, by workspace and id
	grows  map[string]growth       // that others go on with, by workspace and id
	briefs briefLists
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newCaptureSet() *captureSet {
	ctx, cancel := context.WithCancel(context.Background())
	return &captureSet{
		open: map[string]*openCapture{}, live: map[string]*openCapture{}, parts: map[string]bool{}, grows: map[string]growth{}, ctx: ctx, cancel: cancel,
	}
}

// close ends what is being read, and waits for that.
func (c *captureSet) close() {
	c.cancel()
	c.wg.Wait()
}

// openCapture is a capture whose frames are in memory, or on their way there.
type openCapture struct {
	log  *live.Log
	stop context.CancelFunc
	done chan struct{} // closed when all is read
	used atomic.Int64  // when it was last asked for, nanoseconds since 1970
	held int           // pages that list it; of captureSet.mu

	running bool  // it is of traffic, and its log grows until done is closed
	tail    *tail // the file may grow, and the log with it until done is closed; nil: it is read as it is

	stale chan struct{} // closed when there is more in the file, and nobody reads on
	took  atomic.Int64  // nanoseconds of reading the file, after done

	size, read atomic.Int64 // bytes of the file
	ciphered   sync.Map     // names of the connections of which something was deciphered

	key    string      // of readingOfCapture
	cut    string      // tells pages how frames are numbered: those of captures with the same one have the same numbers
	raw    bool        // the file is raw bytes
	filled atomic.Bool // the log has all that it is to have

	// After done.
	sum packet.Summary
	err error // why the frames are not all

	views   frames.Views
	mu      sync.Mutex
	knownAt map[store.Place]uint64 // numbers of frames by where they begin, once all are there; 0 = there is none
}

// View is what a filter leaves of the frames, found or begun.
func (o *openCapture) View(snap *workspace.Snapshot, spec frames.ViewSpec, notes store.Notes) *frames.View {
	return o.views.Get(o.log, snap, spec, notes)
}

// Log are the frames.
func (o *openCapture) Log() *live.Log { return o.log }

// Complete reports whether all frames are in the log.
func (o *openCapture) Complete() bool { return o.complete() }

// Running reports whether the capture is of running traffic.
func (o *openCapture) Running() bool { return o.running }

// Ciphered reports whether something of a connection was deciphered.
func (o *openCapture) Ciphered(conn string) bool {
	_, ok := o.ciphered.Load(conn)
	return ok
}

// get opens a capture of a workspace, or finds it open.
func (c *captureSet) get(ws *space, x store.Capture) (*openCapture, error) {
	return c.find(ws, x, false, false)
}

// find is get; with grows the reader waits at the end of the file for more, and with follow one that does, or did so until nothing came any
// more, is found, too.
func (c *captureSet) find(ws *space, x store.Capture, follow, grows bool) (*openCapture, error) {
	o, err := c.reading(ws, x, follow, grows)
	if err == nil && o.filled.Load() && !frames.SameNotes(o.numbered(x.Notes), x.Notes) { // it was read before, and is what is stored again
		c.settle(ws.Workspace, x.ID, o)
	}
	return o, err
}

func (c *captureSet) reading(ws *space, x store.Capture, follow, grows bool) (*openCapture, error) {
	protocol, ok := protocols.Of(ws.Snapshot.Dialect.Name)
	if !ok {
		return nil, huma.Error422UnprocessableEntity("captures of this protocol cannot be read")
	}
	key := ws.Name + "/" + x.ID
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.live[key]; o != nil {
		return o, nil
	}
	key = readingOfCapture(ws, x)
	reading := key
	if grows || follow && c.open[key+growing] != nil {
		key += growing
	}
	if o := c.open[key]; o != nil {
		o.used.Store(time.Now().UnixNano())
		return o, nil
	}
	file, err := ws.Captures.Open(x.ID)
	if err != nil {
		return nil, captureProblem(err)
	}
	for c.idle() >= maxIdleCaptures {
		c.dropOldest()
	}
	if len(c.open) >= maxOpenCaptures {
		file.Close()
		return nil, huma.Error503ServiceUnavailable(fmt.Sprintf("%d captures are open in pages: close one first", len(c.open)))
	}
	ctx, stop := context.WithCancel(c.ctx)
	o := &openCapture{
		log: live.New(maxCaptureMemory), stop: stop, done: make(chan struct{}), stale: make(chan struct{}), key: reading, cut: cutOf(reading), raw: x.Framing != "",
	}
	o.used.Store(time.Now().UnixNano())
	o.size.Store(x.Size)
	from := io.Reader(file)
	if grows {
		o.tail = newTail(ctx, file, x.Size)
		from = o.tail
	}
	c.open[key] = o
	begun := time.Now()
	c.wg.Go(func() {
		defer close(o.done)
		defer file.Close()
		defer stop()
		o.sum, o.err = o.fill(ctx, from, protocol, ws.Snapshot, x)
		o.took.Store(int64(time.Since(begun)))
		if o.err != nil && ctx.Err() == nil && !errors.Is(o.err, live.ErrFull) {
			ws.Workspace.Log.Error("capture cannot be read to its end", "file", ws.Captures.Path(x.ID), "error", o.err)
		}
		if ctx.Err() == nil {
			o.filled.Store(true)
			c.settle(ws.Workspace, x.ID, o)
		}
	})
	return o, nil
}

// drop closes a capture in all its readings.
func (c *captureSet) drop(ws, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, o := range c.open {
		if key == ws+"/"+id || strings.HasPrefix(key, ws+"/"+id+"/") {
			o.stop()
			delete(c.open, key)
		}
	}
}

func (c *captureSet) dropOldest() {
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
func (c *captureSet) idle() (n int) {
	for _, o := range c.open {
		if o.held == 0 {
			n++
		}
	}
	return n
}

// hold keeps a capture open until it is let go; false if it has been closed meanwhile.
func (c *captureSet) hold(o *openCapture) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range []map[string]*openCapture{c.open, c.live} {
		for _, x := range all {
			if x == o {
				o.held++
				return true
			}
		}
	}
	return false
}

// letGo is the opposite of hold.
func (c *captureSet) letGo(o *openCapture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.held--; o.held == 0 && !o.running && c.idle() > maxIdleCaptures {
		c.dropOldest()
	}
}

// enough is when one has waited enough for the file to be read.
func (o *openCapture) enough() <-chan time.Time {
	if o.running {
		return time.After(0)
	}
	return time.After(waitForCapture)
}

// follow makes the log of running traffic a capture that is open, until its end.
func (c *captureSet) follow(ws, id string, log *live.Log, done chan struct{}) *openCapture {
	o := &openCapture{log: log, stop: func() {}, done: done, running: true, cut: liveCut}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[ws+"/"+id] = o
	return o
}

// ended says that traffic has: who opens the capture from now on reads its file.
func (c *captureSet) ended(ws, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, ws+"/"+id)
}

// runs reports whether a capture is of running traffic.
func (c *captureSet) runs(ws, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[ws+"/"+id] != nil
}

// counted counts what is read of a file, and ends with a context.
type counted struct {
	r   io.Reader
	n   *atomic.Int64
	ctx context.Context
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// fill reads a file into the log: a capture, or a text that holds one.
func (o *openCapture) fill(ctx context.Context, file io.Reader, protocol protocols.Protocol, snap *workspace.Snapshot, x store.Capture) (packet.Summary, error) {
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
		full = o.log.AddFlagged(conn, f, flagsOf(f.Marks)) != nil
	}
	how := readingTold(snap, protocol, x, func(conn string) { o.ciphered.Store(conn, true) })
	if takes := how.Recorded; takes != nil {
		how.Recorded = func(cut string) bool {
			recorded = takes(cut)
			return recorded
		}
	}
	sum, _, err := capture.ReadAny(&counted{file, &o.read, ctx}, how, add)
	if err == nil && full {
		err = live.ErrFull
	}
	return sum, err
}

// captureProblem gives an error of captures its status.
func captureProblem(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return huma.Error404NotFound("there is no such capture")
	}
	return storeProblem(err)
}

type capturesOutput struct {
	Body struct {
		Captures []store.Capture `json:"captures" doc:"the newest first"`
		Tag      string          `json:"tag,omitempty" doc:"of a brief list: another one where anything in it is other"`
		Same     bool            `json:"same,omitempty" doc:"the brief list is the known one, and its captures are left out"`
	}
}

type listCapturesInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	Since     string `query:"since" maxLength:"100" doc:"only the capture of this id and those that came after it, or in the same second"`
	Brief     bool   `query:"brief" doc:"all, without what people noted: to be asked again and again; it may be some seconds old where other programs change the folder. since is not looked at then"`
	Known     string `query:"known" maxLength:"100" doc:"tag of a brief list: it is not told again"`
}

// listCaptures lists the captures of a workspace.
func (s *Server) listCaptures(_ context.Context, in *listCapturesInput) (*capturesOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &capturesOutput{}
	if in.Brief {
		l, err := s.captures.briefs.get(ws.Captures)
		if err != nil {
			return nil, captureProblem(err)
		}
		out.Body.Captures, out.Body.Tag, out.Body.Same = l.captures, l.tag, l.tag == in.Known
		if out.Body.Same {
			out.Body.Captures = []store.Capture{}
		}
		return out, nil
	}
	if out.Body.Captures, err = ws.Captures.ListSince(in.Since); err != nil {
		return nil, captureProblem(err)
	}
	if out.Body.Captures == nil {
		out.Body.Captures = []store.Capture{}
	}
	return out, nil
}

// withCaptures is a workspace that keeps captures.
func (s *Server) withCaptures(name string) (*space, error) {
	ws, err := s.workspaceNamed(name)
	if err == nil && ws.Captures == nil {
		err = huma.Error404NotFound("this workspace keeps no captures")
	}
	return ws, err
}

// captureAt is a capture and the workspace that keeps it.
func (s *Server) captureAt(at CapturePath) (*space, store.Capture, error) {
	ws, err := s.withCaptures(at.Workspace)
	if err != nil {
		return nil, store.Capture{}, err
	}
	x, err := ws.Captures.Get(at.ID)
	if err != nil {
		return nil, store.Capture{}, captureProblem(err)
	}
	return ws, x, nil
}

type addCaptureInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	Name      string `query:"name" required:"true" maxLength:"200" doc:"of the file"`
	Framing   string `query:"framing" maxLength:"200" doc:"the file is raw bytes that are cut so: whole, fixed:40, prefixed:2le@4+self+keep, delimited:0d0a, each with +c2s or +s2c"`
	RawRequest
}

type captureOutput struct {
	Status int
	Body   store.Capture
}

// addCapture stores a file as it comes.
func (s *Server) addCapture(_ context.Context, in *addCaptureInput) (*captureOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	if in.Framing != "" {
		if in.Framing, err = parseFraming(in.Framing); err != nil {
			return nil, err
		}
	}
	control := http.NewResponseController(in.writer)
	_ = control.SetReadDeadline(time.Now().Add(receiveTime))
	_ = control.SetWriteDeadline(time.Now().Add(receiveTime + time.Minute))
	x, err := ws.Captures.AddFramed(in.Name, in.Framing, time.Now(), http.MaxBytesReader(in.writer, in.request.Body, store.MaxCaptureBytes))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, bodyError(large)
		}
		return nil, captureProblem(err)
	}
	x = takeTold(ws.Captures, x)
	s.captures.briefs.forget(ws.Captures)
	return &captureOutput{http.StatusCreated, x}, nil
}

// CapturePath names a capture in the address of a request.
type CapturePath struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	ID        string `path:"id" maxLength:"100" doc:"of the capture"`
}

// dropCapture deletes a capture.
func (s *Server) dropCapture(_ context.Context, in *CapturePath) (*struct{}, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	if s.captures.runs(ws.Name, in.ID) {
		return nil, huma.Error409Conflict("its traffic is still running: stop the proxy first")
	}
	if s.captures.writes(ws.Name, in.ID) {
		return nil, errWritten
	}
	if err := ws.Captures.Remove(in.ID); err != nil {
		return nil, captureProblem(err)
	}
	s.captures.drop(ws.Name, in.ID)
	s.captures.briefs.forget(ws.Captures)
	return nil, nil
}

type captureInput struct {
	CapturePath
	Accept string `header:"Accept" hidden:"true"`
}

// readCapture answers with the file as it came, or with what is known of it.
func (s *Server) readCapture(_ context.Context, in *captureInput) (*huma.StreamResponse, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(in.Accept, "application/json") {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			ctx.SetHeader("Content-Type", "application/json")
			ctx.SetHeader("Vary", "Accept")
			_ = json.NewEncoder(ctx.BodyWriter()).Encode(x)
		}}, nil
	}
	file, err := ws.Captures.Open(in.ID)
	if err != nil {
		return nil, captureProblem(err)
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer file.Close()
		ctx.SetHeader("Content-Type", "application/octet-stream")
		ctx.SetHeader("Content-Disposition", attachment(x.Name))
		ctx.SetHeader("Vary", "Accept")
		if ctx.Method() == http.MethodHead {
			return
		}
		_, _ = io.Copy(ctx.BodyWriter(), file)
	}}, nil
}

// filterProblem says what is wrong with a filter, each mistake with its place.
func filterProblem(mistakes []filter.Mistake) error {
	var details []error
	for _, m := range mistakes {
		details = append(details, &huma.ErrorDetail{Location: fmt.Sprintf("query.filter[%d:%d]", m.Start, m.End), Message: m.Message, Value: m.Help})
	}
	return huma.Error422UnprocessableEntity("the filter is wrong: "+mistakes[0].Message, details...)
}

type framesInput struct {
	CapturePath
	Filter string   `query:"filter" maxLength:"8192" doc:"only frames that fit this filter"`
	Kinds  []string `query:"kind" enum:"message,control,opaque,problem" doc:"only these"`
	From   int      `query:"from" minimum:"0" doc:"how many of the frames that fit are left out"`
	Count  int      `query:"count" minimum:"1" maximum:"1000" default:"100" doc:"how many are listed at most"`
	Value  bool     `query:"value" doc:"with the values of messages"`
}

type framesOutput struct {
	Body struct {
		Frames []workspace.FrameInfo `json:"frames"`
		Total  int                   `json:"total" doc:"frames of the capture, so far"`
		Fit    int                   `json:"fit" doc:"those that fit the filter and are of these kinds"`
		Done   bool                  `json:"done" doc:"the whole file is read"`
		Read   int64                 `json:"read" doc:"bytes of the file that are read"`
		Size   int64                 `json:"size" doc:"bytes of the file"`
		Note   string                `json:"note,omitempty" doc:"why these are not all frames of the file"`
	}
}

// listFrames lists frames of a capture. It waits a while for the file to be read, so that short ones are whole.
func (s *Server) listFrames(ctx context.Context, in *framesInput) (*framesOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	if _, mistakes := ws.Filter(in.Filter); len(mistakes) > 0 {
		return nil, filterProblem(mistakes)
	}
	o, err := s.captures.get(ws, x)
	if err != nil {
		return nil, err
	}
	out := &framesOutput{}
	b := &out.Body
	select {
	case <-o.done:
		b.Done = true
		b.Note = o.sum.Incomplete()
		if o.err != nil {
			b.Note = o.err.Error()
		}
	case <-o.enough():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b.Total, b.Read, b.Size, b.Frames = o.log.Len(), o.read.Load(), o.size.Load(), []workspace.FrameInfo{}
	spec := frames.ViewSpec{Filter: in.Filter}
	if len(in.Kinds) > 0 {
		spec.Chips = append(spec.Chips, "kind in {"+strings.Join(in.Kinds, ",")+"}")
	}
	view := o.View(ws.Snapshot, spec, o.numbered(x.Notes))
	for !view.Advance(ctx, time.Second) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	b.Fit, _ = view.State()
	conns := o.log.Conns()
	var rec codec.Record
	var f transport.Frame
	left := maxFramesBytes
	for _, i := range view.Rows(in.From, in.Count) {
		e := o.log.Entry(int(i))
		conns = frames.ConnsFor(o.log, conns, e)
		frames.ReadFrame(o.log, e, o.log.Data(e), &f)
		if left -= len(f.Bytes); left < 0 && len(b.Frames) > 0 {
			b.Note = "fewer frames than were asked for: they are large; go on from where these end"
			break
		}
		info := ws.DescribeFrame(&rec, &f, workspace.Want{Value: in.Value})
		info.Flags = flagNames(e.Flags)
		info.N, info.Conn, info.Session = i+1, conns[e.Conn].Name, conns[e.Conn].Session
		b.Frames = append(b.Frames, info)
	}
	return out, nil
}
