package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"wirebench/defs/source"
	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/api"
	"wirebench/server/rooms"
	"wirebench/server/socket"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/view"
	"wirebench/server/workspace"
	"wirebench/server/wsconn"
	"wirebench/templates"
)

// Bounds of the channel of a page.
const (
	MaxMessage = api.MaxBody // maximum bytes of a message of the page
	maxPending = 64          // maximum number of waiting actions, more than a user can trigger

	maxPendingBytes = 2 * MaxMessage // of their texts

	maxTextEdits = 16 // maximum number of changes of texts in a message, or in several that are merged
)

// Channel is the channel for the panes of a page: it receives changes by the user, and sends the affected parts of the page.
func (b *Workbench) Channel(ws *workspace.Workspace, r *http.Request) socket.Kind {
	return socket.Kind{Limit: MaxMessage, Part: "page", Serve: func(ctx context.Context, c *socket.Channel, with json.RawMessage) error {
		var of Opened
		if len(with) > 0 {
			if err := json.Unmarshal(with, &of); err != nil {
				return err
			}
		}
		page := b.newLivePage(ws, r)
		defer page.leave()
		page.capture, page.client = of.Capture, of.Client
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		var listening supervise.Group
		defer listening.Wait()
		listening.Go("page", func(err error) { cancel(err) }, func() { cancel(page.listen(ctx, c)) })
		listening.Go("page", func(err error) { cancel(err) }, func() { cancel(page.score(ctx, c)) })
		err := supervise.Do("page", func() error { return page.answer(ctx, c) })
		cancel(err)
		if err = context.Cause(ctx); ctx.Err() == nil || !wsconn.Gone(err) && !errors.Is(err, context.Canceled) {
			b.Log.Info("page lost", "error", err)
		}
		return err
	}}
}

// Opened is the argument with which a page opens the channel.
type Opened struct {
	Capture string `json:"capture,omitempty"` // id of the capture that the page shows: its settings apply
	Client  string `json:"client,omitempty"`  // identifies the copy of the text that the page has, as in TextMessage
}

// Message is a message of the page: changed controls, and an action. Missing fields are unchanged.
type Message struct {
	N   int `json:"n"` // increasing; the answer has the number of the last message it takes into account
	Set struct {
		Message    *string            `json:"message,omitempty"`
		Name       *string            `json:"name,omitempty"`
		Definition *string            `json:"definition,omitempty"`
		Base       *string            `json:"base,omitempty"`
		Shared     *string            `json:"shared,omitempty"` // the file whose room has the text: then the page does not send it
		Input      *string            `json:"input,omitempty"`
		Form       *string            `json:"form,omitempty"`
		Dir        *string            `json:"dir,omitempty"`
		ByCode     *bool              `json:"bycode,omitempty"`
		Value      *string            `json:"value,omitempty"`
		Made       *string            `json:"made,omitempty"`
		Code       *string            `json:"code,omitempty"`
		Show       *int               `json:"show,omitempty"`
		Edits      *map[string]string `json:"edits,omitempty"`
		Values     *bool              `json:"values,omitempty"`
		Score      *bool              `json:"score,omitempty"` // the page wants the figures of its text: see ScoreAnswer
		Frame      *FrameForm         `json:"frame,omitempty"`
		Pick       *Pick              `json:"pick,omitempty"` // a frame of the capture: its bytes become the input
	} `json:"set"`
	Edit   []TextEdit `json:"edit,omitempty"`   // after set: changes of texts that the server has, at most maxTextEdits
	Have   string     `json:"have,omitempty"`   // state of the library whose messages the page lists
	Action string     `json:"action,omitempty"` // as of a button: "save", "show:3"

	// For the actions "set", "insert", "remove", "copy" and "value", for those on fields of the definition, and for "find".
	Path    string `json:"path,omitempty"`
	Field   string `json:"field,omitempty"` // name
	Role    string `json:"role,omitempty"`
	Typed   string `json:"typed,omitempty"`
	Exactly bool   `json:"exactly,omitempty"`
	About   string `json:"about,omitempty"`

	behind bool // changes of texts were dropped: the page must send the texts
}

// size returns the number of bytes of the texts of a message.
func (m *Message) size() int {
	n := insertedBy(m.Edit)
	for _, text := range []*string{m.Set.Definition, m.Set.Input, m.Set.Form, m.Set.Value, m.Set.Base, m.Set.Code} {
		if text != nil {
			n += len(*text)
		}
	}
	if m.Set.Edits != nil {
		for path, text := range *m.Set.Edits {
			n += len(path) + len(text)
		}
	}
	return n
}

func sizeOf(list []Message) (n int) {
	for i := range list {
		n += list[i].size()
	}
	return n
}

// hasTexts reports whether a message has all texts, so that it does not matter which ones the server has.
func (m *Message) hasTexts() bool {
	return m.Set.Definition != nil && (m.Set.Input != nil || m.Set.Pick != nil) && m.Set.Value != nil && m.Set.Edits != nil && len(m.Edit) == 0
}

// livePage is the state of an open page.
type livePage struct {
	ws      *workspace.Workspace
	bench   *Workbench
	opener  *http.Request // the request that opened the page: its principal performs the actions
	frame   templates.Frame
	capture string         // id of the capture that the page shows, "" for none
	client  string         // of the page's copy of the text
	room    *rooms.Watcher // of the text; nil if the page sends it
	wake    chan struct{}
	scored  chan scored // see want

	mu      sync.Mutex
	pending []Message // unprocessed messages; consecutive ones without an action are merged

	// Used by answer only.
	holds  int64         // bytes that are charged to the person; see held
	weight int           // bytes of good
	read   store.Capture // the capture, as it is read
	of     store.Capture // its settings
	snap   *workspace.Snapshot
	form   form
	n      int
	good   *workspace.Definition
	whole  whole
	fitted fitCache
	pastes workspace.PasteCache
	railed string
	list   *view.List // messages that the page lists; nil if that is not known
	rename int        // number of renamings known to the page
	seed   maphash.Seed
	sent   map[string]uint64 // hashes of the parts that the page has
	lists  sentLists         // and of each list
	parted map[string]string // the small parts that the page has
	behind bool              // texts of the form are not those of the page, until it sends all
	shown  []byte            // bytes of the message of the page; nil if they came with the page
	told   *string           // message that is open in the page; nil at first
	edited bool              // value of Controls.Edited known to the page
	typed  bool              // it has sent a text since, and assumes that this differs from the file
	texts  int               // number of texts of the definition so far
}

func (b *Workbench) newLivePage(ws *workspace.Workspace, r *http.Request) *livePage {
	return &livePage{
		ws: ws, bench: b, opener: r, frame: b.Frame(r, "", ws.Name), wake: make(chan struct{}, 1), scored: make(chan scored, 1), seed: maphash.MakeSeed(), sent: map[string]uint64{}, parted: map[string]string{}, lists: sentLists{},
	}
}

// listen receives the messages of the page. Changes that arrive faster than they are processed are merged.
func (l *livePage) listen(ctx context.Context, c *socket.Channel) error {
	for {
		text, err := c.Receive(ctx)
		if err != nil {
			return err
		}
		var m Message
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("not a message of a page: %w", err)
		}
		l.mu.Lock()
		if last := len(l.pending) - 1; last >= 0 && l.pending[last].Action == "" {
			l.pending[last] = together(l.pending[last], m)
		} else if len(l.pending) < maxPending && sizeOf(l.pending)+m.size() <= maxPendingBytes {
			l.pending = append(l.pending, m)
		} else {
			l.mu.Unlock()
			return errors.New("too many actions at once")
		}
		l.mu.Unlock()
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// together merges a message and a later one.
func together(a, b Message) Message {
	set := a.Set
	if b.Set.Pick != nil { // nothing of the frame before is left
		set.Input, set.Form, set.ByCode, set.Show, set.Edits, set.Frame = nil, nil, nil, nil, nil, nil
		a.Edit = slices.DeleteFunc(a.Edit, func(e TextEdit) bool { return e.Control == "input" || e.Control == "edits" })
	} else if b.Set.Frame != nil {
		set.Pick = nil
	}
	later(&set.Message, b.Set.Message)
	later(&set.Name, b.Set.Name)
	later(&set.Definition, b.Set.Definition)
	later(&set.Base, b.Set.Base)
	later(&set.Shared, b.Set.Shared)
	later(&set.Input, b.Set.Input)
	later(&set.Form, b.Set.Form)
	later(&set.Dir, b.Set.Dir)
	later(&set.ByCode, b.Set.ByCode)
	later(&set.Value, b.Set.Value)
	later(&set.Made, b.Set.Made)
	later(&set.Code, b.Set.Code)
	later(&set.Show, b.Set.Show)
	later(&set.Edits, b.Set.Edits)
	later(&set.Values, b.Set.Values)
	later(&set.Score, b.Set.Score)
	later(&set.Frame, b.Set.Frame)
	later(&set.Pick, b.Set.Pick)
	whole := map[string]bool{"definition": b.Set.Definition != nil, "input": b.Set.Input != nil, "value": b.Set.Value != nil, "edits": b.Set.Edits != nil}
	b.Set = set
	b.Edit = slices.Concat(slices.DeleteFunc(a.Edit, func(e TextEdit) bool { return whole[e.Control] }), b.Edit)
	if b.behind = a.behind || b.behind; len(b.Edit) > maxTextEdits || insertedBy(b.Edit) > MaxMessage {
		b.Edit, b.behind = nil, true
	}
	return b
}

func insertedBy(list []TextEdit) int {
	n := 0
	for i := range list {
		n += len(list[i].Insert)
	}
	return n
}

func later[T any](into **T, from *T) {
	if from != nil {
		*into = from
	}
}

// answer processes messages and changes of the library, and sends the changed parts of the page.
func (l *livePage) answer(ctx context.Context, c *socket.Channel) error {
	changed, stop := l.ws.Changed()
	defer stop()
	noted, stopNotes := l.followCapture()
	defer stopNotes()
	started := false
	defer l.unfollow()
	pause := time.NewTimer(time.Hour)
	defer pause.Stop()
	for {
		m, ok := l.next()
		more, whole := l.awaits()
		if !ok {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-l.wake:
				continue
			case <-l.typedInRoom():
				if wait := l.patience(); wait > 0 {
					pause.Reset(wait)
					continue
				}
			case <-pause.C:
			case <-changed:
			case <-noted:
				if !l.readSettings() {
					continue
				}
			case <-more:
				if l.fetch(); l.form.chosen.waits() {
					continue
				}
			case <-whole:
				l.fetch() // it waits for nothing now
			}
			if !started || l.behind {
				continue // the page will send its state
			}
			m = Message{N: l.n}
		}
		started = true
		answer, err := l.work(ctx, m)
		if err != nil {
			return err
		}
		if err := c.Send(ctx, answer); err != nil {
			return err
		}
	}
}

// remotePause is the pause for each person, until layout and fields follow what others type; one's own keys are not delayed.
const remotePause = 60 * time.Millisecond

// typedInRoom returns a channel that receives a value when the text of the room has changed; nil without a room.
func (l *livePage) typedInRoom() <-chan struct{} {
	if l.room == nil {
		return nil
	}
	return l.room.Changed()
}

// patience returns how long the page can wait for what is typed in the room.
func (l *livePage) patience() time.Duration {
	if l.room.Own() {
		return 0
	}
	return remotePause * time.Duration(l.room.Others())
}

// follow follows the room of a file, or none.
func (l *livePage) follow(file string) {
	l.unfollow()
	if file != "" {
		l.room = l.bench.API.Rooms.Watch(l.ws, file, l.client)
	}
}

func (l *livePage) unfollow() {
	if l.room != nil {
		l.room.Close()
		l.room = nil
	}
}

// takeTyped takes the text of the room.
func (l *livePage) takeTyped() {
	if l.room == nil {
		return
	}
	if l.ws.Now().FileName(l.form.message) != l.room.File() { // another definition is open, as that of a frame
		l.unfollow()
		return
	}
	text := l.room.Text()
	if text == "" {
		text = "\n" // an empty text would mean the stored one
	}
	if text != l.form.definition {
		l.typed = true
		l.texts++
	}
	l.form.definition = text
}

// followCapture reads the settings of the capture, and returns a channel that receives a value when its description has changed.
func (l *livePage) followCapture() (noted <-chan struct{}, stop func()) {
	if l.capture == "" || l.ws.Captures == nil {
		return nil, func() {}
	}
	noted, stop = l.ws.Captures.Changed(l.capture)
	l.readSettings()
	return noted, stop
}

// readSettings reads the settings of the capture again, and reports whether they have changed.
func (l *livePage) readSettings() bool {
	x, err := l.ws.Captures.Get(l.capture)
	if err != nil {
		return false
	}
	was := l.read
	if l.read = x; x.Settings.Key() == was.Settings.Key() && x.Keys == was.Keys && x.Framing == was.Framing && x.Packets == was.Packets {
		return false
	}
	if c := l.form.chosen; c != nil {
		c.in = nil
	}
	l.of = store.Capture{Settings: x.Settings}
	return true
}

func (l *livePage) next() (m Message, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return m, false
	}
	m = l.pending[0]
	l.pending = l.pending[1:]
	return m, true
}

// take applies a message to the form. It reports whether the form then has the texts of the page; if not, nothing is done with it, and the
// page sends the message again with all texts.
func (l *livePage) take(m Message) bool {
	f, s := &l.form, m.Set
	if s.Pick != nil {
		l.choose(*s.Pick)
	}
	put(&f.message, s.Message)
	put(&f.name, s.Name)
	put(&f.definition, s.Definition)
	if s.Definition != nil || slices.ContainsFunc(m.Edit, func(e TextEdit) bool { return e.Control == "definition" }) {
		l.texts++
	}
	l.typed = l.typed || s.Definition != nil
	put(&f.base, s.Base)
	put(&f.shared, s.Shared)
	put(&f.input, s.Input)
	put(&f.form, s.Form)
	put(&f.dir, s.Dir)
	put(&f.byCode, s.ByCode)
	put(&f.value, s.Value)
	put(&f.made, s.Made)
	put(&f.code, s.Code)
	put(&f.show, s.Show)
	put(&f.values, s.Values)
	put(&f.score, s.Score)
	if s.Frame != nil {
		f.frame, f.chosen = s.Frame, nil
	}
	f.show = max(f.show, 0)
	f.definition, f.input, f.value = source.UnixLines(f.definition), source.UnixLines(f.input), source.UnixLines(f.value)
	if s.Edits != nil {
		f.edits = decodeEdits(*s.Edits)
	}
	l.behind = (l.behind || m.behind || len(m.Edit) > maxTextEdits) && !m.hasTexts()
	for i := range m.Edit {
		l.behind = l.behind || !f.edit(&m.Edit[i])
	}
	if s.Shared != nil {
		l.follow(*s.Shared)
		l.behind = l.behind || f.shared != "" && l.room == nil && !m.hasTexts() // its text is needed
	}
	l.takeTyped()
	f.action, f.arg, _ = cutAction(m.Action)
	f.path, f.role, f.typed, f.exactly, f.about, f.field = m.Path, m.Role, m.Typed, m.Exactly, m.About, strings.TrimSpace(m.Field)
	l.n = max(l.n, m.N)
	if m.Have != "" {
		l.railed, l.list = m.Have, l.bench.lists.Known(m.Have)
	}
	return !l.behind
}

func put[T any](into *T, from *T) {
	if from != nil {
		*into = *from
	}
}

// begin waits until there is memory for the work of the form. A page waits as long as necessary; messages arriving meanwhile are merged.
func (l *livePage) begin(ctx context.Context) (done func(), err error) {
	kind, size := l.form.work()
	for {
		t, err := l.bench.Budget.Acquire(ctx, access.Of(l.opener).Key(), kind, size)
		var busy *admit.BusyError
		if !errors.As(err, &busy) {
			return t.Release, err
		}
	}
}

// begun returns work on the form of the page, with what the page keeps.
func (l *livePage) begun(v *templates.Workbench) *work {
	return &work{ws: spaceOf(l.ws, l.of, &l.bench.texts), form: l.form, view: v, good: l.good, weight: l.weight, pastes: &l.pastes}
}

// work processes a message: it returns an *Answer, or the answer of an action that only asks.
func (l *livePage) work(ctx context.Context, m Message) (any, error) {
	if !l.take(m) {
		return &Answer{N: l.n, Resend: true}, nil
	}
	l.fetch()
	if err := l.hold(); err != nil {
		return nil, err
	}
	why := l.bench.permit(l.opener, &l.form)
	done, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if l.form.action == "value" {
		return l.value(), nil
	}
	if l.form.action == "types" {
		return l.choices(), nil
	}
	if l.form.action == "find" {
		return l.found(ctx), nil
	}
	if l.form.action == "form" {
		return l.formed(), nil
	}
	had := l.form.has(l.edited)
	var of *uint32
	if l.room != nil {
		sum := sum32(strings.TrimSuffix(l.form.definition, "\n"))
		of = &sum
	}
	view := templates.Workbench{Frame: l.frame, Notice: why}
	p := l.begun(&view)
	p.whole, p.fitted, p.live, p.typed, p.railed, p.who = l.whole, &l.fitted, true, l.bench.typed(l.ws), l.railed, authors(l.opener)
	p.told = l.sent["library-settings"] != 0
	p.work()
	l.form, l.good, l.weight, l.whole, l.railed = p.form, p.good, p.weight, p.whole, p.railed
	if err := l.hold(); err != nil {
		return nil, err
	}
	if now := p.ws.Snapshot; now != l.snap {
		l.bench.texts.Forget(l.snap)
		l.snap = now
	}
	l.form.action, l.form.arg, l.form.name = "", "", ""
	if view.Message != "" {
		l.form.message = view.Message
	}
	if l.form.message != had.message {
		of = nil // it is about another text
	}
	out := Answer{N: l.n, Of: of, Export: p.export, Failed: p.failed, Line: p.line}
	if status := templates.StatusText(view); !l.same("status", status) {
		out.Status = &status
	}
	if err := l.parts(&out, view); err != nil {
		return nil, err
	}
	l.listed(&out, p.ws.Snapshot, view.Rail.Had)
	l.controls(&out, p, had)
	l.picked(&out)
	out.Renamed, l.rename = l.ws.RenamedSince(l.rename)
	l.mistakes(&out, p)
	l.layout(&out, p)
	l.message(&out, p)
	l.want(p.use)
	return &out, nil
}

// parts renders all parts of the page, and adds those that differ from the ones it has.
func (l *livePage) parts(out *Answer, view templates.Workbench) error {
	var buf bytes.Buffer
	draw := func(c templ.Component) (uint64, error) {
		buf.Reset()
		err := c.Render(context.Background(), &buf)
		return maphash.Bytes(l.seed, buf.Bytes()), err
	}
	for _, f := range templates.Fragments(view) {
		sum, err := draw(f.Part)
		if err != nil {
			return err
		}
		if old, ok := l.sent[f.ID]; ok && old == sum {
			continue
		}
		l.sent[f.ID] = sum
		if f.Library && view.Rail.Had {
			continue // it came with the page
		}
		l.part(out, f.ID, buf.String())
	}
	return nil
}

// maxPatched is the length of the longest part that is sent as changes: the page and the server keep such parts.
const maxPatched = 8 << 10

// part sends a part of the page, or its change.
func (l *livePage) part(out *Answer, id, html string) {
	was, known := l.parted[id]
	if delete(l.parted, id); len(html) <= maxPatched {
		l.parted[id] = html
	}
	if known {
		if out.Patches == nil {
			out.Patches = map[string]Splice{}
		}
		out.Patches[id] = spliceOf(was, html)
		return
	}
	if out.HTML == nil {
		out.HTML = map[string]string{}
	}
	out.HTML[id] = html
}
