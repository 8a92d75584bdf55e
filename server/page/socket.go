package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync"

	"github.com/a-h/templ"

	"wirebench/defs/source"
	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/api"
	"wirebench/server/socket"
	"wirebench/server/workspace"
	"wirebench/server/wsconn"
	"wirebench/templates"
)

// Bounds of the channel of a page.
const (
	MaxMessage = api.MaxBody // maximum bytes of a message of the page
	maxPending = 64          // maximum number of waiting actions, more than a user can trigger
)

// Channel is the channel for the panes of a page: it receives changes by the user, and sends the affected parts of the page.
func (b *Workbench) Channel(ws *workspace.Workspace, r *http.Request) socket.Kind {
	return socket.Kind{Limit: MaxMessage, Serve: func(ctx context.Context, c *socket.Channel, _ json.RawMessage) error {
		page := b.newLivePage(ws, r)
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		var listening sync.WaitGroup
		defer listening.Wait()
		listening.Go(func() { cancel(page.listen(ctx, c)) })
		err := page.answer(ctx, c)
		cancel(err)
		if err = context.Cause(ctx); ctx.Err() == nil || !wsconn.Gone(err) && !errors.Is(err, context.Canceled) {
			b.Log.Info("page lost", "error", err)
		}
		return err
	}}
}

// Message is a message of the page: changed controls, and an action. Missing fields are unchanged.
type Message struct {
	N   int `json:"n"` // increasing; the answer has the number of the last message it takes into account
	Set struct {
		Message    *string            `json:"message,omitempty"`
		Name       *string            `json:"name,omitempty"`
		Definition *string            `json:"definition,omitempty"`
		Base       *string            `json:"base,omitempty"`
		Input      *string            `json:"input,omitempty"`
		Form       *string            `json:"form,omitempty"`
		ByCode     *bool              `json:"bycode,omitempty"`
		Value      *string            `json:"value,omitempty"`
		Made       *string            `json:"made,omitempty"`
		Code       *string            `json:"code,omitempty"`
		Show       *int               `json:"show,omitempty"`
		Rows       *int               `json:"rows,omitempty"`
		Edits      *map[string]string `json:"edits,omitempty"`
		Opened     *[]string          `json:"opened,omitempty"`
		Values     *bool              `json:"values,omitempty"`
		Frame      *FrameForm         `json:"frame,omitempty"`
	} `json:"set"`
	Have   string `json:"have,omitempty"`   // state of the library with which the page was rendered
	Action string `json:"action,omitempty"` // as of a button: "save", "show:3"

	// For the actions "set", "insert", "remove", "copy" and "value".
	Path    string `json:"path,omitempty"`
	Role    string `json:"role,omitempty"`
	Typed   string `json:"typed,omitempty"`
	Exactly bool   `json:"exactly,omitempty"`
	About   string `json:"about,omitempty"`
}

// livePage is the state of an open page.
type livePage struct {
	ws     *workspace.Workspace
	bench  *Workbench
	opener *http.Request // the request that opened the page: its principal performs the actions
	frame  templates.Frame
	wake   chan struct{}

	mu      sync.Mutex
	pending []Message // unprocessed messages; consecutive ones without an action are merged

	// Used by answer only.
	form   form
	n      int
	good   *workspace.Definition
	whole  whole
	fitted fitCache
	pastes workspace.PasteCache
	railed string
	seed   maphash.Seed
	sent   map[string]uint64 // hashes of the parts that the page has
	lists  sentLists         // and of each list
	told   *string           // message that is open in the page; nil at first
	edited bool              // value of Controls.Edited known to the page
}

func (b *Workbench) newLivePage(ws *workspace.Workspace, r *http.Request) *livePage {
	return &livePage{
		ws: ws, bench: b, opener: r, frame: b.Frame(r, "", ws.Name), wake: make(chan struct{}, 1), seed: maphash.MakeSeed(), sent: map[string]uint64{}, lists: sentLists{},
		form: form{opened: map[string]bool{}},
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
		} else if len(l.pending) < maxPending {
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
	later(&set.Message, b.Set.Message)
	later(&set.Name, b.Set.Name)
	later(&set.Definition, b.Set.Definition)
	later(&set.Base, b.Set.Base)
	later(&set.Input, b.Set.Input)
	later(&set.Form, b.Set.Form)
	later(&set.ByCode, b.Set.ByCode)
	later(&set.Value, b.Set.Value)
	later(&set.Made, b.Set.Made)
	later(&set.Code, b.Set.Code)
	later(&set.Show, b.Set.Show)
	later(&set.Rows, b.Set.Rows)
	later(&set.Edits, b.Set.Edits)
	later(&set.Opened, b.Set.Opened)
	later(&set.Values, b.Set.Values)
	later(&set.Frame, b.Set.Frame)
	b.Set = set
	return b
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
	started := false
	for {
		m, ok := l.next()
		if !ok {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-l.wake:
				continue
			case <-changed:
				if !started {
					continue // the page has not sent its state yet
				}
				m = Message{N: l.n}
			}
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

// take applies a message to the form.
func (l *livePage) take(m Message) {
	f, s := &l.form, m.Set
	put(&f.message, s.Message)
	put(&f.name, s.Name)
	put(&f.definition, s.Definition)
	put(&f.base, s.Base)
	put(&f.input, s.Input)
	put(&f.form, s.Form)
	put(&f.byCode, s.ByCode)
	put(&f.value, s.Value)
	put(&f.made, s.Made)
	put(&f.code, s.Code)
	put(&f.show, s.Show)
	put(&f.rows, s.Rows)
	put(&f.values, s.Values)
	if s.Frame != nil {
		f.frame = s.Frame
	}
	f.show, f.rows = max(f.show, 0), max(f.rows, 0)
	f.definition, f.input, f.value = source.UnixLines(f.definition), source.UnixLines(f.input), source.UnixLines(f.value)
	if s.Edits != nil {
		f.edits = decodeEdits(*s.Edits)
	}
	if s.Opened != nil {
		f.opened = map[string]bool{}
		for _, name := range *s.Opened {
			f.opened[name] = true
		}
	}
	f.action, f.arg, _ = cutAction(m.Action)
	f.path, f.role, f.typed, f.exactly, f.about = m.Path, m.Role, m.Typed, m.Exactly, m.About
	l.n = max(l.n, m.N)
	if m.Have != "" {
		l.railed = m.Have
	}
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
		t, err := l.bench.Budget.Acquire(ctx, access.Of(l.opener).Client, kind, size)
		var busy *admit.BusyError
		if !errors.As(err, &busy) {
			return t.Release, err
		}
	}
}

// work processes a message: it returns an *Answer or a *ValueAnswer.
func (l *livePage) work(ctx context.Context, m Message) (any, error) {
	l.take(m)
	why := l.bench.permit(l.opener, &l.form)
	done, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if l.form.action == "value" {
		return l.value(), nil
	}
	had := l.form.has(l.edited)
	view := templates.Workbench{Frame: l.frame, Live: true, Notice: why}
	p := &work{ws: &space{l.ws, l.ws.Now()}, form: l.form, view: &view, good: l.good, whole: l.whole, fitted: &l.fitted, pastes: &l.pastes, live: true, railed: l.railed}
	p.work()
	l.form, l.good, l.whole, l.railed = p.form, p.good, p.whole, p.railed
	l.form.action, l.form.arg, l.form.name = "", "", ""
	if view.Message != "" {
		l.form.message = view.Message
	}
	out := Answer{N: l.n, Export: p.export, Failed: p.failed, Status: templates.StatusText(view)}
	if err := l.parts(&out, view); err != nil {
		return nil, err
	}
	l.controls(&out, p, had)
	l.message(&out, p)
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
		if f.List {
			items := make([]drawn, len(f.Items))
			for i, c := range f.Items {
				sum, err := draw(c)
				if err != nil {
					return err
				}
				items[i] = drawn{sum, buf.String()}
			}
			if s := l.lists.change(f.ID, items); s != nil {
				out.Lists = append(out.Lists, *s)
			}
			continue
		}
		sum, err := draw(f.Part)
		if err != nil {
			return err
		}
		if old, ok := l.sent[f.ID]; ok && old == sum {
			continue
		}
		l.sent[f.ID] = sum
		if out.HTML == nil {
			out.HTML = map[string]string{}
		}
		out.HTML[f.ID] = buf.String()
	}
	return nil
}
