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
	"wirebench/server/supervise"
	"wirebench/server/workspace"
	"wirebench/server/wsconn"
)

// Bounds of the channel of a frame list.
const (
	maxListMessage = 5 << 20 // bytes of a message of the page, which may contain an unsaved definition
	maxListJobs    = 16      // queries answered concurrently
	maxListWaiting = 256     // queries waiting; more are refused
	maxChips       = 100
	maxColors      = 50
	maxColumns     = 64
	waitForList    = 5 * time.Second // time to wait for a requested list, before a query is answered from the previous one
	maxListedConns = 5000
	statePeriod    = 100 * time.Millisecond // between two state messages during changes
	judgeSlice     = 40 * time.Millisecond  // of testing frames, between two checks for other work
	patience       = 150 * time.Millisecond // for a new list to be complete before it replaces the old one
)

// listView is the list that a page requests.
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
	Sort      *frames.SortSpec `json:"sort,omitempty"` // nil keeps the order of the capture
}

// listMessage is a message of the page; exactly one field is set.
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
	Timeline *struct {
		asked
		frames.TimelineQuery
	} `json:"timeline,omitempty"`
	Problems *asked `json:"problems,omitempty"`
	Conns    *struct {
		asked
		frames.ConnsQuery
	} `json:"conns,omitempty"`
	Replies *asked `json:"replies,omitempty"`
	Graph   *struct {
		asked
		frames.GraphQuery
	} `json:"graph,omitempty"`
	Follow *struct {
		asked
		frames.FollowQuery
	} `json:"follow,omitempty"`
	Table *struct {
		asked
		frames.TableQuery
	} `json:"table,omitempty"`
	Diff *struct {
		asked
		frames.DiffQuery
	} `json:"diff,omitempty"`
	Cancel *asked `json:"cancel,omitempty"`
}

// listState is the state of the list as sent to the page.
type listState struct {
	Seq       int                  `json:"seq"`
	Name      string               `json:"name"`    // name of the capture
	Cuts      int                  `json:"cuts"`    // increases when frame numbers may have changed
	Epoch     int                  `json:"epoch"`   // increases when frames may be decoded differently
	Order     int                  `json:"order"`   // increases when the order of the rows changes
	Sorted    *frames.SortSpec     `json:"sorted"`  // current order; null for the order of the capture
	Sorting   float64              `json:"sorting"` // progress of computing another order, from 0 to 1; 0 if none is computed
	Fresh     int                  `json:"fresh"`   // frames added after the list was sorted, which are not in it
	Total     int                  `json:"total"`
	Packets   int                  `json:"packets"` // of Total: events of packets; -1 if they are not listed
	Scanned   int                  `json:"scanned"`
	Fit       int                  `json:"fit"`
	Done      bool                 `json:"done"` // all frames have been tested, and the file has been read
	Reading   bool                 `json:"reading"`
	Read      int64                `json:"read"` // bytes of the file
	Size      int64                `json:"size"`
	Note      string               `json:"note"`            // reason why frames of the file are missing
	Again     bool                 `json:"again"`           // it may pass: the file is read again after a while
	Start     int64                `json:"start,omitempty"` // of the first frame, also after it was discarded: microseconds since 1970
	End       int64                `json:"end,omitempty"`
	Conns     []listConn           `json:"conns,omitempty"`        // all connections, in the first message
	Changes   map[int]listConn     `json:"conn_changes,omitempty"` // new or grown connections, by index
	Mistakes  []frames.ViewMistake `json:"mistakes"`
	Rewritten string               `json:"rewritten"`
	Noted     []store.Noted        `json:"noted,omitempty"`   // marks and notes of frames; those without a number belong to frames that are not in this capture
	Markers   []store.Marker       `json:"markers,omitempty"` // in order of their frames
	Live      bool                 `json:"live"`
}

type listConn struct {
	Name    string `json:"name"`
	Session int    `json:"session"`
	Proto   string `json:"proto"`
	Frames  int    `json:"frames"`
}

// Pauses before a capture that could not be read is read again.
const (
	firstRetry   = captures.RetryBroken + time.Second
	longestRetry = time.Minute
)

// listFailed is the reason why a query has no result.
type listFailed struct {
	Message string `json:"message"`
}

// shownList is the list shown at a moment.
type shownList struct {
	*frames.List
	seq  int
	open *captures.Capture
}

// framesPage is the state of an open frame list.
type framesPage struct {
	ws   *workspace.Workspace
	set  *captures.Set
	id   string
	page *socket.Channel
	wake chan struct{}
	jobs chan struct{} // semaphore of queries being answered
	over chan int      // ids of refused queries

	mu     sync.Mutex
	want   *listView
	shown  *shownList
	turned chan struct{}              // closed when shown changes
	cancel map[int]context.CancelFunc // by id of the query
	asked  int                        // queries waiting or being answered

	// Used by run only.
	good    *workspace.Snapshot // with the last draft without errors
	draftOf string              // the file of the draft
	name    string              // of the capture
	notes   store.Notes
	last    []byte            // the last state sent
	conns   []listConn        // known to the page
	connsOf *captures.Capture // the capture of conns
	noted   bool              // the notes have been sent
	placed  *captures.Capture // the reading whose numbers the notes have
	reads   string            // how the capture is read: see readsLike
	job     *frames.SortJob   // for the current list, or the one that will replace it
	sorting supervise.Group   // including canceled ones
	done    bool              // the page knows that everything has been tested and read
	looks   atomic.Int64      // number of updates of the list: none while nothing changes
}

// framesOpened is the argument with which a page opens a frame list.
type framesOpened struct {
	Capture string `json:"capture"` // id of the capture
}

// framesChannel serves the channel of the frame list of a capture.
func (s *Server) framesChannel(ws *workspace.Workspace, who string) func(context.Context, *socket.Channel, json.RawMessage) error {
	return func(ctx context.Context, c *socket.Channel, with json.RawMessage) error {
		var of framesOpened
		if err := json.Unmarshal(with, &of); err != nil {
			return err
		}
		leave, err := s.lists.enter(who, ws.Name+"/"+of.Capture)
		if err != nil {
			return err
		}
		defer leave()
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

// serve maintains the list and answers queries, until the context is done.
func (p *framesPage) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var all supervise.Group
	all.Go("list", func(err error) { cancel(err) }, func() { p.refuse(ctx) })
	all.Go("list", func(err error) { cancel(err) }, func() { cancel(p.listen(ctx, &all)) })
	cancel(supervise.Do("list", func() error { return p.run(ctx) }))
	all.Wait()
	return context.Cause(ctx)
}

func newFramesPage(ws *workspace.Workspace, set *captures.Set, id string, c *socket.Channel) *framesPage {
	return &framesPage{
		ws: ws, set: set, id: id, page: c, wake: make(chan struct{}, 1), jobs: make(chan struct{}, maxListJobs), over: make(chan int, maxListWaiting),
		turned: make(chan struct{}), cancel: map[int]context.CancelFunc{},
	}
}

// listen reads the messages of the page. It never waits for a result, so that cancellations and pongs are read while all jobs are busy.
func (p *framesPage) listen(ctx context.Context, all *supervise.Group) error {
	for {
		text, err := p.page.Receive(ctx)
		if err != nil {
			return err
		}
		var m listMessage
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("not a message of a frame list: %w", err)
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
			all.Go("query", func(err error) { p.reply(ctx, id, "", nil, err) }, func() {
				defer p.end(id, cancel)
				p.answer(one, id, seq, m.scans(), work)
			})
			continue
		}
		cancel()
		select {
		case p.over <- id:
		default: // the page does not read refusals either
			return errTooMany
		}
	}
}

var (
	errNoList  = errors.New("the list is not ready yet")
	errTooMany = fmt.Errorf("more than %d queries are waiting", maxListWaiting)
)

// begin registers a query and returns the number of the view that it is about. ok is false if too many are waiting.
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

// refuse answers the refused queries.
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

// asOf returns the list of a view, or of a later one. A page may query a list that is still being computed.
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

// answer answers a query as soon as a job is free and, if it is about all frames, there is memory for it. A query canceled before that
// costs nothing.
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

// reply sends a result, or an error.
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

// run updates the list according to the page, the library and the capture, and reports its state.
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
	var soon <-chan time.Time   // time of the next state message
	var regrow <-chan time.Time // time to read a grown file again, or one that could not be read
	retry := firstRetry
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
			complete := list.open.Complete() // before testing: later frames are handled in the next turn
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
				grown = nil // it is updated anyway
			}
			if !complete {
				ended = list.open.Done()
			}
			switch {
			case list.open.Broken() && regrow == nil:
				regrow = time.After(retry)
				retry = min(2*retry, longestRetry)
			case complete && !list.open.Broken():
				retry = firstRetry
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
			if readsLike(x) != p.reads {
				again = true
				break
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
		// The old list stays until the new one is complete: for a short time or, if only the definitions have changed, as long as it takes.
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

// gone tells the page that the capture has been deleted, so that it does not request it again. It returns false if the whole folder is
// missing.
func (p *framesPage) gone(ctx context.Context) bool {
	if _, err := p.ws.Captures.ListSince(p.id); err != nil {
		return false
	}
	return p.page.SendJSON(ctx, []byte(`{"gone":true}`)) == nil
}

// renumber updates the notes with the frame numbers of a list. again reports that other frames may match now.
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

// ready advances a list that is not shown yet, for a short time, and reports whether it is complete.
func (p *framesPage) ready(ctx context.Context, next, old *shownList) bool {
	whole := next.whole(ctx, old)
	if !p.sorts(ctx, next, whole) {
		return whole
	}
	p.job.Wait(ctx, judgeSlice)
	return p.job.Ended()
}

// sorts reports whether a list is being sorted, and starts it when all frames are there.
func (p *framesPage) sorts(ctx context.Context, list *shownList, whole bool) bool {
	if p.job == nil && list.Unsorted() && list.Sortable(whole) {
		p.job = list.StartSort(ctx, &p.sorting, p.notes, p.poke)
	}
	return p.job != nil
}

// endSort cancels the sort.
func (p *framesPage) endSort() {
	if p.job != nil {
		p.job.Stop()
		p.job = nil
	}
}

// sorted returns the list with the result of a sort.
func (l *shownList) sorted(j *frames.SortJob) *shownList {
	return &shownList{l.List.Sorted(j), l.seq, l.open}
}

// show sets the list for queries.
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

// wanted returns the list requested since the last call, nil if there is none.
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

// make returns the requested list; want is nil if only the library or the notes have changed.
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
	p.name, p.reads = x.Name, readsLike(x)
	snap := p.snapshot(want, x)
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

// spec returns the specification of the list.
func (v *listView) spec() frames.ListSpec {
	return frames.ListSpec{ViewSpec: frames.ViewSpec{Filter: v.Filter, Chips: v.Chips}, Columns: v.Columns, Highlight: v.Highlight, Colors: v.Colors, Sort: v.Sort}
}

// readsLike returns a text that differs between ways to read a capture.
func readsLike(x store.Capture) string {
	return fmt.Sprintf("%q %q %s %t", x.Keys, x.Framing, x.Settings.Key(), x.Packets)
}

// snapshot returns the current definitions for a capture, including the unsaved text of the page. While it has errors, the last text without
// errors is used.
func (p *framesPage) snapshot(want *listView, x store.Capture) *workspace.Snapshot {
	now := p.ws.For(x)
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

// tell sends the state of the list, if it has changed.
func (p *framesPage) tell(ctx context.Context, list *shownList, whole bool) error {
	o := list.open
	st := listState{
		Seq: list.seq, Name: p.name, Cuts: list.Cuts, Epoch: list.Epoch, Total: o.Log().Len(), Reading: !o.Complete(), Note: o.Note(), Again: o.Broken(),
		Live: o.Grows(), Mistakes: list.Wrong, Rewritten: list.View.Rewritten(),
	}
	if st.Again {
		st.Note += "; it is read again from time to time"
	}
	if m, costly := list.View.TooCostly(); costly {
		st.Mistakes = append(slices.Clip(st.Mistakes), m)
	}
	st.Read, st.Size = o.Progress()
	st.Packets = o.Packets()
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
		st.End = o.Log().Entry(st.Total-1).At / 1000 // 0 if it was discarded meanwhile
		if began := o.Log().Began(); !began.IsZero() {
			st.Start = began.UnixMicro()
		}
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

// listConns returns the connections of a log for a page.
func listConns(log *live.Log) []listConn {
	conns := log.Conns()
	out := make([]listConn, min(len(conns), maxListedConns))
	for i := range out {
		c := &conns[i]
		out[i] = listConn{c.Name, c.Session, c.Proto, c.Frames}
	}
	return out
}

// changedConns returns the changed connections, nil if there are none.
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

// notesToo encodes a state with its marks and notes, even if they are empty.
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

// whole tests frames of a list that replaces another one, for a short time, and reports whether it has got as far as the old one: for a
// file that is read again, to its current end.
func (l *shownList) whole(ctx context.Context, old *shownList) bool {
	again := old != nil && old.open != l.open
	read := !again || l.open.CaughtUp() // before testing
	judged := l.View.Advance(ctx, judgeSlice)
	if judged && !read {
		l.open.Await(ctx, 0, time.After(judgeSlice))
	}
	return judged && read
}
