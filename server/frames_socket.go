package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/server/admit"
	"wirebench/server/captures"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/socket"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/wsconn"
)

// Bounds of the channel of a list of frames.
const (
	maxListMessage = 2 << 20 // bytes of one message of the page: an unsaved definition is in it
	maxListJobs    = 16      // questions that are answered at a time
	maxListWaiting = 256     // questions that wait for one of those; more are refused
	maxChips       = 100
	maxColors      = 50
	maxColumns     = 64
	waitForList    = 5 * time.Second // that the page has asked for, before a question is answered by the one before
	maxListedConns = 5000
	statePeriod    = 100 * time.Millisecond // between two states, while something changes
	judgeSlice     = 40 * time.Millisecond  // of judging frames, between two looks at what else there is
	patience       = 150 * time.Millisecond // for a new list to be whole before it takes the place of the old one
)

// listView is what a page wants to be listed, and how.
type listView struct {
	Seq    int      `json:"seq"`
	Filter string   `json:"filter"`
	Chips  []string `json:"chips"`
	Draft  *struct {
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"draft,omitempty"`
	Columns   []string         `json:"columns"`
	Colors    []frames.Color   `json:"colors"`
	Highlight string           `json:"highlight"`
	Sort      *frames.SortSpec `json:"sort,omitempty"` // nil: as the frames came
}

// listMessage is what the page sends: one of these.
type listMessage struct {
	View *listView `json:"view,omitempty"`
	Rows *struct {
		asked
		frames.RowsQuery
	} `json:"rows,omitempty"`
	Frame *struct {
		asked
		N int `json:"n"`
	} `json:"frame,omitempty"`
	Packet *struct {
		asked
		frames.PacketQuery
	} `json:"packet,omitempty"`
	Find *struct {
		asked
		frames.FindQuery
	} `json:"find,omitempty"`
	Where *whereAsked `json:"where,omitempty"`
	Step  *struct {
		asked
		frames.StepQuery
	} `json:"step,omitempty"`
	Types    *asked        `json:"types,omitempty"`
	Map      *bucketsAsked `json:"map,omitempty"`
	Timeline *bucketsAsked `json:"timeline,omitempty"`
	Table    *struct {
		asked
		frames.TableQuery
	} `json:"table,omitempty"`
	Diff *struct {
		asked
		frames.DiffQuery
	} `json:"diff,omitempty"`
	Cancel *asked `json:"cancel,omitempty"`
}

// listState is what the page is told of the list as a whole.
type listState struct {
	Seq       int                  `json:"seq"`
	Name      string               `json:"name"`    // of the capture
	Cuts      int                  `json:"cuts"`    // counts up when frames may have other numbers than before
	Epoch     int                  `json:"epoch"`   // counts up when frames may read otherwise than before
	Order     int                  `json:"order"`   // counts up when the rows are in another order than before
	Sorted    *frames.SortSpec     `json:"sorted"`  // what order that is; null: as the frames came
	Sorting   float64              `json:"sorting"` // share of another order that is done; 0: none is made
	Fresh     int                  `json:"fresh"`   // frames that came after the list was sorted: they are not in it
	Total     int                  `json:"total"`
	Scanned   int                  `json:"scanned"`
	Fit       int                  `json:"fit"`
	Done      bool                 `json:"done"` // all that is there is judged, and the file is read
	Reading   bool                 `json:"reading"`
	Read      int64                `json:"read"` // bytes of the file
	Size      int64                `json:"size"`
	Note      string               `json:"note"`            // why these are not all frames of the file
	Start     int64                `json:"start,omitempty"` // microseconds since 1970
	End       int64                `json:"end,omitempty"`
	Conns     []listConn           `json:"conns,omitempty"`        // all, when they are told first
	Changes   map[int]listConn     `json:"conn_changes,omitempty"` // those that are new or have more frames than before, by their place
	Mistakes  []frames.ViewMistake `json:"mistakes"`
	Rewritten string               `json:"rewritten"`
	Noted     []store.Noted        `json:"noted,omitempty"`   // marks and notes of frames; those without a number are of frames that this list does not have
	Markers   []store.Marker       `json:"markers,omitempty"` // by their frames
	Live      bool                 `json:"live,omitempty"`
}

type listConn struct {
	Name    string `json:"name"`
	Session int    `json:"session"`
	Proto   string `json:"proto"`
	Frames  int    `json:"frames"`
}

// listFailed says why a question has no answer.
type listFailed struct {
	Message string `json:"message"`
}

// shownList is the list as it is shown at one moment.
type shownList struct {
	*frames.List
	seq  int
	open *captures.Capture
}

// framesPage is the server's side of an open list of frames.
type framesPage struct {
	ws   *workspace.Workspace
	set  *captures.Set
	id   string
	page *socket.Channel
	wake chan struct{}
	jobs chan struct{} // tokens of the questions that are being answered
	over chan int      // ids of the questions that are refused

	mu     sync.Mutex
	want   *listView
	shown  *shownList
	turned chan struct{}              // closed when shown is another one
	cancel map[int]context.CancelFunc // of questions, by their id
	asked  int                        // questions that wait or are being answered

	// Of run alone.
	good    *workspace.Snapshot // with the last draft that had no errors
	draftOf string              // the file of that
	name    string              // of the capture
	notes   store.Notes
	last    []byte            // the state that was sent
	conns   []listConn        // that the page knows
	connsOf *captures.Capture // whose they are
	noted   bool              // the notes have been sent
	placed  *captures.Capture // whose numbers the notes have
	job     *frames.SortJob   // of the list that is shown, or of the one that is about to be
	sorting sync.WaitGroup    // of those that were given up too
	done    bool              // the page knows that all is judged and read
	looks   atomic.Int64      // at the list: none while nothing changes
}

// framesOpened is what a page says to open a list of frames.
type framesOpened struct {
	Capture string `json:"capture"` // its id
}

// framesChannel serves the channel of a list of frames of a capture.
func (s *Server) framesChannel(ws *workspace.Workspace) func(context.Context, *socket.Channel, json.RawMessage) error {
	return func(ctx context.Context, c *socket.Channel, with json.RawMessage) error {
		var of framesOpened
		if err := json.Unmarshal(with, &of); err != nil {
			return err
		}
		p := newFramesPage(ws, s.captures, of.Capture, c)
		x, err := ws.Captures.Get(of.Capture)
		if err == nil {
			p.name, p.notes = x.Name, x.Notes
			err = p.serve(ctx)
		}
		if errors.Is(err, fs.ErrNotExist) && p.gone(ctx) {
			return nil
		}
		if err != nil && ctx.Err() == nil && !wsconn.Gone(err) {
			s.Log.Info("list of frames lost", "error", err)
		}
		return err
	}
}

// serve keeps the list and answers what the page asks about it, until the context ends.
func (p *framesPage) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	all.Go(func() { p.refuse(ctx) })
	all.Go(func() { cancel(p.listen(ctx, &all)) })
	cancel(p.run(ctx))
	all.Wait()
	return context.Cause(ctx)
}

func newFramesPage(ws *workspace.Workspace, set *captures.Set, id string, c *socket.Channel) *framesPage {
	return &framesPage{
		ws: ws, set: set, id: id, page: c, wake: make(chan struct{}, 1), jobs: make(chan struct{}, maxListJobs), over: make(chan int, maxListWaiting),
		turned: make(chan struct{}), cancel: map[int]context.CancelFunc{},
	}
}

// listen reads the messages of the page. It never waits for an answer, so that a cancel and a pong are read while all jobs are busy.
func (p *framesPage) listen(ctx context.Context, all *sync.WaitGroup) error {
	for {
		text, err := p.page.Receive(ctx)
		if err != nil {
			return err
		}
		var m listMessage
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("not a message of a list of frames: %w", err)
		}
		if m.View != nil {
			p.mu.Lock()
			p.want = m.View
			p.mu.Unlock()
			p.poke()
			continue
		}
		if m.Cancel != nil {
			p.mu.Lock()
			if cancel := p.cancel[m.Cancel.ID]; cancel != nil {
				cancel()
			}
			p.mu.Unlock()
			continue
		}
		id, work := p.question(&m)
		if work == nil {
			continue
		}
		one, cancel := context.WithCancel(ctx)
		seq, ok := p.begin(id, cancel)
		if ok {
			all.Go(func() {
				defer p.end(id, cancel)
				p.answer(one, id, seq, m.scans(), work)
			})
			continue
		}
		cancel()
		select {
		case p.over <- id:
		default: // it does not read the refusals either
			return errTooMany
		}
	}
}

var (
	errNoList  = errors.New("there is no list yet")
	errTooMany = fmt.Errorf("more than %d questions are waiting for an answer", maxListWaiting)
)

// begin registers a question and returns the number of the view that it is about. ok is false if too many are waiting.
func (p *framesPage) begin(id int, cancel context.CancelFunc) (seq int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked >= maxListJobs+maxListWaiting {
		return 0, false
	}
	p.asked++
	p.cancel[id] = cancel
	if p.want != nil {
		seq = p.want.Seq
	}
	return seq, true
}

func (p *framesPage) end(id int, cancel context.CancelFunc) {
	cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked--
	delete(p.cancel, id)
}

// refuse answers the questions that are too many.
func (p *framesPage) refuse(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-p.over:
			p.reply(ctx, id, "", nil, errTooMany)
		}
	}
}

// asOf is the list of a view, or of a later one. It is on its way when a page asks for its rows at once.
func (p *framesPage) asOf(ctx context.Context, seq int) *shownList {
	enough := time.After(waitForList)
	for {
		p.mu.Lock()
		list, turned := p.shown, p.turned
		p.mu.Unlock()
		if seq == 0 || list != nil && list.seq >= seq {
			return list
		}
		select {
		case <-turned:
		case <-enough:
			return list
		case <-ctx.Done():
			return list
		}
	}
}

// answer answers one question when a job is free and, if it is about all frames, there is memory for it. A question that is canceled before
// that costs nothing.
func (p *framesPage) answer(ctx context.Context, id, seq int, scans bool, work func(context.Context, *shownList) (string, any, error)) {
	select {
	case p.jobs <- struct{}{}:
		defer func() { <-p.jobs }()
	case <-ctx.Done():
		p.reply(ctx, id, "", nil, ctx.Err())
		return
	}
	list := p.asOf(ctx, seq)
	if list == nil {
		p.reply(ctx, id, "", nil, errNoList)
		return
	}
	if scans {
		ticket, err := admit.Begin(ctx, admit.Find, list.open.Log().Len(), admit.PerListed)
		if err != nil {
			p.reply(ctx, id, "", nil, err)
			return
		}
		defer ticket.Release()
	}
	key, answer, err := work(ctx, list)
	p.reply(ctx, id, key, answer, err)
}

// reply sends an answer, or why there is none.
func (p *framesPage) reply(ctx context.Context, id int, key string, answer any, err error) {
	if err != nil {
		key, answer = "failed", listFailed{err.Error()}
	}
	text, err := answerText(key, id, answer)
	if err == nil {
		_ = p.page.SendJSON(context.WithoutCancel(ctx), text)
	}
}

func (p *framesPage) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run keeps the list as the page wants it and as the library and the capture are, and says how far that is.
func (p *framesPage) run(ctx context.Context) error {
	changed, stop := p.ws.Changed()
	defer stop()
	noted, stopNotes := p.ws.Captures.Changed(p.id)
	defer stopNotes()
	defer func() {
		p.endSort()
		p.sorting.Wait()
		if list := p.list(); list != nil {
			p.set.LetGo(list.open)
		}
	}()
	var told time.Time
	var soon <-chan time.Time   // when the page may be told again
	var regrow <-chan time.Time // when a file that has grown is read again
	for {
		list, next := p.list(), (*shownList)(nil)
		var stale <-chan struct{}
		if list != nil && regrow == nil {
			stale = list.open.Stale()
		}
		var grown, ended <-chan struct{}
		var pause, moved <-chan time.Time
		p.looks.Add(1)
		if list != nil {
			grown = list.open.Changed()
			complete := list.open.Complete() // before it is judged: what comes later is seen the next time
			if complete && p.placed != list.open {
				x, err := p.ws.Captures.Get(p.id)
				if err != nil {
					return err
				}
				p.name, p.placed = x.Name, list.open
				if anew, err := p.renumber(ctx, list, x.Notes); err != nil {
					return err
				} else if anew {
					moved = time.After(0)
				}
			}
			whole := list.View.Advance(ctx, judgeSlice)
			if p.sorts(ctx, list, whole) && p.job.Ended() {
				p.show(list.sorted(p.job))
				p.job, told = nil, time.Time{}
				continue
			}
			if rest := statePeriod - time.Since(told); rest <= 0 || whole && complete && !p.done {
				if err := p.tell(ctx, list, whole); err != nil {
					return err
				}
				told, soon = time.Now(), nil
			} else if soon == nil {
				soon = time.After(rest)
			}
			if !whole {
				pause = time.After(0)
			}
			if soon != nil || !whole {
				grown = nil // it is looked at again anyway
			}
			if !complete {
				ended = list.open.Done()
			}
		}
		again := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.wake:
		case <-changed:
			again = true
		case <-moved:
			again = true
		case <-stale:
			regrow = time.After(list.open.Rest())
			continue
		case <-regrow:
			regrow, again = nil, true
		case <-noted:
			x, err := p.ws.Captures.Get(p.id)
			if err != nil {
				return err
			}
			p.name = x.Name
			if list == nil {
				p.notes, p.noted = x.Notes, false
				continue
			}
			if again, err = p.renumber(ctx, list, x.Notes); err != nil {
				return err
			}
			if !again {
				continue
			}
		case <-soon:
			soon = nil
			continue
		case <-grown:
			continue
		case <-ended:
			continue
		case <-pause:
			continue
		}
		want := p.wanted()
		if want == nil && !again {
			continue
		}
		next, err := p.make(want, list)
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		// The old list stays until the new one is whole, for a moment or, where only the definitions are other ones, for as long as it takes.
		for begun := time.Now(); !p.ready(ctx, next, list) && ctx.Err() == nil; {
			if want != nil && time.Since(begun) > patience || list == nil || p.waiting() {
				break
			}
		}
		if p.job != nil && p.job.Ended() {
			next, p.job = next.sorted(p.job), nil
		}
		p.show(next)
		if list != nil {
			p.set.LetGo(list.open)
		}
		told = time.Time{}
	}
}

// gone says that the capture has been deleted, so that the page does not ask for it again. It is false if all of the folder is away.
func (p *framesPage) gone(ctx context.Context) bool {
	if _, err := p.ws.Captures.ListSince(p.id); err != nil {
		return false
	}
	return p.page.SendJSON(ctx, []byte(`{"gone":true}`)) == nil
}

// renumber takes what people noted, by the numbers that the frames of a list have. again: other frames may fit now.
func (p *framesPage) renumber(ctx context.Context, list *shownList, notes store.Notes) (again bool, err error) {
	if notes = list.open.Numbered(notes); notes.Same(p.notes) {
		return false, nil
	}
	p.notes, p.noted = notes, false
	list.SetNotes(notes)
	if list.View.AsksNotes() {
		return true, nil
	}
	return false, p.tell(ctx, list, list.View.Advance(ctx, 0))
}

// ready goes on with a list that is not shown yet, for a moment, and reports whether it is as it is to be.
func (p *framesPage) ready(ctx context.Context, next, old *shownList) bool {
	whole := next.whole(ctx, old)
	if !p.sorts(ctx, next, whole) {
		return whole
	}
	p.job.Wait(ctx, judgeSlice)
	return p.job.Ended()
}

// sorts reports whether a list is being sorted, which begins when all frames are there.
func (p *framesPage) sorts(ctx context.Context, list *shownList, whole bool) bool {
	if p.job == nil && list.Unsorted() && list.Sortable(whole) {
		p.job = list.StartSort(ctx, &p.sorting, p.notes, p.poke)
	}
	return p.job != nil
}

// endSort gives up what is being sorted.
func (p *framesPage) endSort() {
	if p.job != nil {
		p.job.Stop()
		p.job = nil
	}
}

// sorted is the list with what came of sorting it.
func (l *shownList) sorted(j *frames.SortJob) *shownList {
	return &shownList{l.List.Sorted(j), l.seq, l.open}
}

// show makes a list the one that questions are about.
func (p *framesPage) show(list *shownList) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = list
	close(p.turned)
	p.turned = make(chan struct{})
}

func (p *framesPage) list() *shownList {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// wanted takes what the page wants since it was last asked, nil if that is nothing new.
func (p *framesPage) wanted() *listView {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.want
	if v != nil && p.shown != nil && v.Seq == p.shown.seq {
		return nil
	}
	return v
}

func (p *framesPage) waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.want != nil && p.shown != nil && p.want.Seq > p.shown.seq+1
}

// make makes the list that is wanted; want is nil if only the library or the notes have changed.
func (p *framesPage) make(want *listView, old *shownList) (*shownList, error) {
	if want == nil {
		p.mu.Lock()
		want = p.want
		p.mu.Unlock()
		if want == nil {
			return nil, nil
		}
	}
	if len(want.Chips) > maxChips || len(want.Colors) > maxColors || len(want.Columns) > maxColumns {
		return nil, errors.New("too many filters or columns")
	}
	x, err := p.ws.Captures.Get(p.id)
	if err != nil {
		return nil, err
	}
	p.name = x.Name
	snap := p.snapshot(want)
	next := &shownList{}
	for held := false; !held; held = p.set.Hold(next.open) {
		if next.open, err = p.set.Follow(p.ws, snap, x); err != nil {
			return nil, err
		}
	}
	notes := next.open.Numbered(x.Notes)
	p.notes, p.noted, p.placed = notes, p.noted && p.notes.Same(notes), nil
	var before *frames.List
	if old != nil {
		before = old.List
	}
	next.List = frames.NewList(next.open, snap, want.spec(), notes, before)
	next.seq = want.Seq
	if p.job != nil && !p.job.IsFor(next.List) {
		p.endSort()
	}
	return next, nil
}

// spec is what the list is to be.
func (v *listView) spec() frames.ListSpec {
	return frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: v.Filter, Chips: v.Chips}, Columns: v.Columns, Highlight: v.Highlight, Colors: v.Colors, Sort: v.Sort}
}

// snapshot is what the definitions mean now, with the page's unsaved text. While that has errors, the last text that had none counts.
func (p *framesPage) snapshot(want *listView) *workspace.Snapshot {
	now := p.ws.Now()
	d := want.Draft
	if d == nil || d.Text == "" || len(d.Text) > workspace.MaxDefinition {
		p.good = nil
		return now
	}
	name := now.FileName(d.Name)
	if stored := now.File(name); stored != nil && source.UnixLines(stored.Text) == d.Text {
		p.good = nil
		return now
	}
	next, file := now.With(name, d.Text)
	if len(next.MessagesOf(file)) > 0 && !hasErrors(next.DiagnosticsOf(file)) {
		p.good, p.draftOf = next, name
		return next
	}
	if p.good != nil && p.draftOf == name {
		return p.good
	}
	return now
}

func hasErrors(list diag.List) bool {
	return slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
}

// tell says how the list is, if it is not as it was.
func (p *framesPage) tell(ctx context.Context, list *shownList, whole bool) error {
	o := list.open
	st := listState{
		Seq: list.seq, Name: p.name, Cuts: list.Cuts, Epoch: list.Epoch, Total: o.Log().Len(), Reading: !o.Complete(), Note: o.Note(),
		Live: o.Grows(), Mistakes: list.Wrong, Rewritten: list.View.Rewritten(),
	}
	if m, costly := list.View.TooCostly(); costly {
		st.Mistakes = append(slices.Clip(st.Mistakes), m)
	}
	st.Read, st.Size = o.Progress()
	if st.Mistakes == nil {
		st.Mistakes = []frames.ViewMistake{}
	}
	_, st.Scanned = list.View.State()
	st.Fit, st.Fresh, st.Order = list.Fit(), list.Fresh(), list.Turns
	if list.Order != nil {
		st.Sorted = &list.Order.Spec
	}
	if p.job != nil {
		st.Sorting = float64(max(p.job.Share.Load(), 1)) / 1000
	}
	st.Done = whole && !st.Reading && st.Scanned == st.Total
	p.done = st.Done
	if st.Total > 0 {
		st.Start, st.End = o.Log().Entry(o.Log().Base()).At/1000, o.Log().Entry(st.Total-1).At/1000 // 0, were they let go just now
	}
	conns := listConns(o.Log())
	switch {
	case p.connsOf != o && len(conns) > 0:
		st.Conns = conns
	case p.connsOf == o:
		st.Changes = changedConns(p.conns, conns)
	}
	if !p.noted {
		if st.Noted = p.notes.Noted; st.Noted == nil {
			st.Noted = []store.Noted{}
		}
		if st.Markers = p.notes.Markers; st.Markers == nil {
			st.Markers = []store.Marker{}
		}
	}
	body, err := socket.JSON(struct {
		State any `json:"state"`
	}{notesToo{st, !p.noted}})
	if err != nil || bytes.Equal(body, p.last) {
		return err
	}
	p.noted, p.last = true, body
	if st.Conns != nil || st.Changes != nil {
		p.conns, p.connsOf = conns, o
	}
	return p.page.SendJSON(ctx, body)
}

// listConns are the connections of a log, as far as a page is told of them.
func listConns(log *live.Log) []listConn {
	conns := log.Conns()
	out := make([]listConn, min(len(conns), maxListedConns))
	for i := range out {
		c := &conns[i]
		out[i] = listConn{c.Name, c.Session, c.Proto, c.Frames}
	}
	return out
}

// changedConns are the connections that are not as they were, nil if all are.
func changedConns(were, are []listConn) (out map[int]listConn) {
	for i, c := range are {
		if i < len(were) && were[i] == c {
			continue
		}
		if out == nil {
			out = map[int]listConn{}
		}
		out[i] = c
	}
	return out
}

// notesToo writes a state with its marks and notes, also where there are none any more.
type notesToo struct {
	listState
	with bool
}

func (n notesToo) MarshalJSON() ([]byte, error) {
	if !n.with {
		return json.Marshal(n.listState)
	}
	return json.Marshal(struct {
		listState
		Noted   []store.Noted  `json:"noted"`
		Markers []store.Marker `json:"markers"`
	}{n.listState, n.listState.Noted, n.listState.Markers})
}

// whole judges frames of a list that takes the place of another one for a moment, and reports whether it is as far as that was: of a file
// that is read again, all that is there.
func (l *shownList) whole(ctx context.Context, old *shownList) bool {
	again := old != nil && old.open != l.open
	read := !again || l.open.CaughtUp() // before it is judged
	judged := l.View.Advance(ctx, judgeSlice)
	if judged && !read {
		l.open.Await(ctx, 0, time.After(judgeSlice))
	}
	return judged && read
}
