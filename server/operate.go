package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/server/proxy"
	"wirebench/server/workspace"
)

// matcher is a filter as the proxy asks it: by the definitions of the moment, in the goroutines of all connections.
type matcher struct {
	ws   *workspace.Workspace
	text string
	now  atomic.Pointer[compiledFilter]
}

type compiledFilter struct {
	snap *workspace.Snapshot
	pool sync.Pool // of *workspace.FrameFilter
	ok   bool
}

// newMatcher compiles a filter.
func newMatcher(ws *workspace.Workspace, text string) (*matcher, []filter.Mistake) {
	m := &matcher{ws: ws, text: text}
	_, mistakes := ws.Now().Filter(text)
	return m, mistakes
}

// match reports whether a message fits. With definitions that have changed so that the filter is none any more, nothing does.
func (m *matcher) match(c *transport.Conn, f *transport.Frame) bool {
	now := m.now.Load()
	if snap := m.ws.Now(); now == nil || now.snap != snap {
		first, mistakes := snap.Filter(m.text)
		now = &compiledFilter{snap: snap, ok: len(mistakes) == 0}
		now.pool.New = func() any { return first.Again() }
		m.now.Store(now)
	}
	if !now.ok {
		return false
	}
	one := now.pool.Get().(*workspace.FrameFilter)
	defer now.pool.Put(one)
	return one.Fits(workspace.Where{Where: filter.Where{Conn: c.Name(), Session: c.Session, Proto: c.Proto.String()}, Before: f.At}, f)
}

// operated is a session that is asked for, and may be operated.
func (s *Server) operated(in SessionPath) (*liveSession, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	one := s.proxies.get(ws.Name, in.ID)
	if one == nil {
		return nil, huma.Error404NotFound("there is no such session, or it has ended")
	}
	return one, nil
}

// operateProblem gives an error of operating its status.
func operateProblem(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, proxy.ErrNotHeld):
		return huma.Error404NotFound("it is held no more: somebody has decided, or its connection has ended")
	case errors.Is(err, proxy.ErrNoConn):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, proxy.ErrNotOperated), errors.Is(err, proxy.ErrOff):
		return huma.Error409Conflict(err.Error())
	}
	return huma.Error422UnprocessableEntity(err.Error())
}

// SessionPath names a session of the proxy in the address of a request.
type SessionPath struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	ID        string `path:"id" maxLength:"100" doc:"of the session"`
}

// who is how events name the person behind a request.
func who(r *RawRequest) string {
	host, _, err := net.SplitHostPort(r.request.RemoteAddr)
	if err != nil {
		return "somebody"
	}
	return host
}

type operateInput struct {
	SessionPath
	Body struct {
		On        *bool   `json:"on,omitempty" doc:"messages can be held, changed and sent"`
		Intercept *string `json:"intercept,omitempty" maxLength:"8192" doc:"messages that fit this filter are held; \"\" = none"`
	}
	RawRequestOnly
}

// RawRequestOnly is the request of an operation that also has a body of its own.
type RawRequestOnly struct{ raw RawRequest }

// Resolve takes the request.
func (r *RawRequestOnly) Resolve(ctx huma.Context) []error { return r.raw.Resolve(ctx) }

// operate turns on that messages can be changed, and says which are held.
func (s *Server) operate(_ context.Context, in *operateInput) (*proxyOutput, error) {
	one, err := s.operated(in.SessionPath)
	if err != nil {
		return nil, err
	}
	by := who(&in.raw)
	if text := in.Body.Intercept; text != nil {
		x := proxy.Intercept{Filter: *text}
		if strings.TrimSpace(*text) != "" {
			m, mistakes := newMatcher(one.ws, *text)
			if len(mistakes) > 0 {
				return nil, filterProblem(mistakes)
			}
			x.Match = m.match
		}
		if err := one.SetIntercept(x, by); err != nil {
			return nil, operateProblem(err)
		}
	}
	if in.Body.On != nil {
		if err := one.Operate(*in.Body.On, by); err != nil {
			return nil, operateProblem(err)
		}
	}
	return &proxyOutput{http.StatusOK, one.info()}, nil
}

// heldInfo is a message that waits for a person.
type heldInfo struct {
	ID     uint64              `json:"id"`
	ConnID int                 `json:"conn_id"`
	At     time.Time           `json:"at" doc:"since when it waits"`
	Until  *time.Time          `json:"until,omitempty" doc:"when it passes by itself"`
	With   string              `json:"with,omitempty" doc:"what rules have made of it, in hex"`
	Frame  workspace.FrameInfo `json:"frame"`
	Name   string              `json:"name" doc:"of its definition, with its direction or group where others have the same"`
	Behind int                 `json:"behind" doc:"frames that wait behind it, in its direction"`
}

type heldOutput struct {
	Body struct {
		On    bool       `json:"on"`
		Total int        `json:"total" doc:"how many wait"`
		Held  []heldInfo `json:"held" doc:"the first 200 of them, the oldest first"`
	}
}

// maxHeldListed are in one answer.
const maxHeldListed = 200

// held lists the messages that wait for a person.
func (s *Server) held(_ context.Context, in *SessionPath) (*heldOutput, error) {
	one, err := s.operated(*in)
	if err != nil {
		return nil, err
	}
	out := &heldOutput{}
	if op := one.State().Operate; op != nil {
		out.Body.On = op.On
	}
	out.Body.Held = []heldInfo{}
	var rec codec.Record
	snap := one.ws.Now()
	all := one.Held()
	out.Body.Total = len(all)
	for _, h := range all[:min(len(all), maxHeldListed)] {
		x := heldInfo{ID: h.ID, ConnID: h.Conn.ID, At: h.At, Behind: h.Behind, Frame: snap.DescribeFrame(&rec, &h.Frame, workspace.Want{Value: true})}
		x.Frame.Conn, x.Frame.Session = h.Conn.Name(), h.Conn.Session
		if !h.Until.IsZero() {
			x.Until = &h.Until
		}
		if h.With != nil {
			x.With = hex.EncodeToString(h.With.Bytes)
		}
		if m := snap.FrameMessage(&h.Frame); m != nil {
			x.Name = snap.NameOf(m)
		}
		out.Body.Held = append(out.Body.Held, x)
	}
	return out, nil
}

// OutgoingBody is a message to be sent: bytes, or a definition and values.
type OutgoingBody struct {
	Hex        string          `json:"hex,omitempty" maxLength:"131072" doc:"the message in clear, with its own header"`
	Message    string          `json:"message,omitempty" maxLength:"1000" doc:"NAME or NAME.VERSION, with value: it is encoded"`
	Value      json.RawMessage `json:"value,omitempty" doc:"an object of values"`
	Raw        bool            `json:"raw,omitempty" doc:"the bytes go as they are, right or wrong: lengths, numbers and checksums are not set"`
	Unreliable bool            `json:"unreliable,omitempty" doc:"it may get lost on its way, where the protocol has the choice"`
}

// outgoing makes the message. alternate: it takes the place of one that has the alternative header.
func (b *OutgoingBody) outgoing(ws *workspace.Workspace, dir string, alternate bool) (transport.Outgoing, error) {
	out := transport.Outgoing{Raw: b.Raw, Unreliable: b.Unreliable}
	if b.Message == "" {
		data, err := scan.HexLine(b.Hex)
		if err == nil && len(data) == 0 {
			err = errors.New("there are no bytes to send")
		}
		if err != nil {
			return out, huma.Error422UnprocessableEntity("hex: " + err.Error())
		}
		out.Bytes = data
		return out, nil
	}
	snap := ws.Now()
	m, err := snap.FindIn(b.Message, "", direction(dir))
	if err != nil {
		return out, asHTTP(err)
	}
	if alternate {
		m = snap.Alternate(m)
	}
	if out.Bytes, err = encoded(snap, m, b.Value); err == nil && snap.Alternate(m) != m {
		out.Alternate, err = encoded(snap, snap.Alternate(m), b.Value)
	}
	return out, err
}

// encoded are the bytes of values, or why there are none.
func encoded(snap *workspace.Snapshot, m *schema.Message, value json.RawMessage) ([]byte, error) {
	data, _, problems, err := encodeValue(snap, m, nil, value)
	switch {
	case err != nil:
		return nil, asHTTP(err)
	case len(problems) > 0:
		return nil, refused(problems)
	}
	return data, nil
}

type decideInput struct {
	SessionPath
	Body struct {
		ID     uint64 `json:"id,omitempty" doc:"of the held message"`
		All    bool   `json:"all,omitempty" doc:"with forward: all that are held"`
		Action string `json:"action" enum:"forward,drop,replace"`
		OutgoingBody
	}
	RawRequestOnly
}

// decide says what becomes of a held message.
func (s *Server) decide(_ context.Context, in *decideInput) (*struct{}, error) {
	one, err := s.operated(in.SessionPath)
	if err != nil {
		return nil, err
	}
	b, by := &in.Body, who(&in.raw)
	if b.All {
		if b.Action != "forward" {
			return nil, huma.Error422UnprocessableEntity("all that are held can be forwarded, and nothing else")
		}
		one.PassAll(by)
		return nil, nil
	}
	d := transport.Decision{}
	switch b.Action {
	case "drop":
		d.Action = transport.Drop
	case "replace":
		all := one.Held()
		i := slices.IndexFunc(all, func(h proxy.Held) bool { return h.ID == b.ID })
		if i < 0 {
			return nil, operateProblem(proxy.ErrNotHeld)
		}
		d.Action = transport.Replace
		if d.With, err = b.outgoing(one.ws, all[i].Frame.Dir.String(), one.ws.Now().HasAlternate(&all[i].Frame)); err != nil {
			return nil, err
		}
	}
	return nil, operateProblem(one.Decide(b.ID, d, by))
}

type sendInput struct {
	SessionPath
	Body struct {
		ConnID *int   `json:"conn_id,omitempty" doc:"of the connection; without it the only one that is open"`
		Dir    string `json:"dir" enum:"c2s,s2c" doc:"where it goes"`
		OutgoingBody
	}
	RawRequestOnly
}

// send puts a message into a connection.
func (s *Server) send(_ context.Context, in *sendInput) (*struct{}, error) {
	one, err := s.operated(in.SessionPath)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	id := 0
	if b.ConnID != nil {
		id = *b.ConnID
	} else {
		open, _ := one.Conns()
		if len(open) != 1 {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("%d connections are open: say which is meant", len(open)))
		}
		id = open[0].ID
	}
	out, err := b.outgoing(one.ws, b.Dir, false)
	if err != nil {
		return nil, err
	}
	return nil, operateProblem(one.Send(id, direction(b.Dir), out, who(&in.raw)))
}

// ruleBody is a rule as people write it: what is done to all messages that fit a filter.
type ruleBody struct {
	ID     string          `json:"id" minLength:"1" maxLength:"100"`
	Name   string          `json:"name,omitempty" maxLength:"200"`
	On     bool            `json:"on"`
	Filter string          `json:"filter" minLength:"1" maxLength:"8192"`
	Action string          `json:"action" enum:"drop,delay,replace,note"`
	Delay  string          `json:"delay,omitempty" doc:"of delay: 250ms, 2s"`
	Field  string          `json:"field,omitempty" doc:"of replace: path of a value, such as members[0].name"`
	Value  json.RawMessage `json:"value,omitempty" doc:"of replace: what the field becomes"`
	Note   string          `json:"note,omitempty" maxLength:"200"`
	Count  int64           `json:"count,omitempty" readOnly:"true" doc:"messages that it was applied to"`
	Failed int64           `json:"failed,omitempty" readOnly:"true" doc:"messages that it could not be applied to"`
}

type rulesOutput struct {
	Body struct {
		Rules []ruleBody `json:"rules"`
	}
}

type rulesInput struct {
	SessionPath
	Body struct {
		Rules []ruleBody `json:"rules" maxItems:"200"`
	}
	RawRequestOnly
}

// rules lists the rules of a session with their counts.
func (s *Server) rules(_ context.Context, in *SessionPath) (*rulesOutput, error) {
	one, err := s.operated(*in)
	if err != nil {
		return nil, err
	}
	return one.ruleList(), nil
}

func (s *liveSession) ruleList() *rulesOutput {
	out := &rulesOutput{}
	out.Body.Rules = []ruleBody{}
	s.rulesMu.Lock()
	defer s.rulesMu.Unlock()
	counts := map[string]proxy.Rule{}
	for _, r := range s.Rules() {
		counts[r.ID] = r
	}
	for _, r := range s.written {
		r.Count, r.Failed = counts[r.ID].Count, counts[r.ID].Failed
		out.Body.Rules = append(out.Body.Rules, r)
	}
	return out
}

// setRules exchanges the rules of a session.
func (s *Server) setRules(_ context.Context, in *rulesInput) (*rulesOutput, error) {
	one, err := s.operated(in.SessionPath)
	if err != nil {
		return nil, err
	}
	var all []proxy.Rule
	for i, r := range in.Body.Rules {
		rule, err := one.rule(r)
		if err != nil {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("rule %d: %v", i+1, err))
		}
		all = append(all, rule)
	}
	one.rulesMu.Lock()
	err = one.SetRules(all, who(&in.raw))
	if err == nil {
		one.written = slices.Clone(in.Body.Rules)
	}
	one.rulesMu.Unlock()
	if err != nil {
		return nil, operateProblem(err)
	}
	return one.ruleList(), nil
}

// rule compiles a rule.
func (s *liveSession) rule(b ruleBody) (proxy.Rule, error) {
	r := proxy.Rule{ID: b.ID, Name: b.Name, On: b.On, Action: proxy.RuleAction(b.Action), Note: b.Note}
	m, mistakes := newMatcher(s.ws, b.Filter)
	if len(mistakes) > 0 {
		return r, fmt.Errorf("the filter: %s", mistakes[0].Message)
	}
	if err := m.useless(); err != nil {
		return r, err
	}
	r.Match = m.match
	switch r.Action {
	case proxy.RuleDelay:
		var err error
		if r.Delay, err = time.ParseDuration(b.Delay); err != nil {
			return r, fmt.Errorf("the delay %q is none, such as 250ms", b.Delay)
		}
	case proxy.RuleReplace:
		if b.Field == "" || !json.Valid(b.Value) {
			return r, errors.New("a field and its new value are missing")
		}
		if err := m.takes(b.Field, b.Value); err != nil {
			return r, err
		}
		r.Replace = func(f *transport.Frame) ([]byte, error) { return replaceField(s.ws.Now(), f, b.Field, b.Value) }
	}
	return r, nil
}

// replaceField is a message with another value in a field. Lengths, counts and offsets are right in it.
func replaceField(snap *workspace.Snapshot, f *transport.Frame, path string, by json.RawMessage) ([]byte, error) {
	m := snap.FrameMessage(f)
	if m == nil {
		return nil, errors.New("nothing defines the message")
	}
	p, err := snap.Program(m)
	if err != nil {
		return nil, err
	}
	var rec codec.Record
	p.Decode(&rec, f.Bytes)
	if rec.Status() != codec.OK {
		return nil, errors.New("the message is not as its definition says")
	}
	text := value.AppendJSON(nil, &rec)
	at, err := findJSON(text, path)
	if err != nil {
		return nil, err
	}
	next := slices.Concat(text[:at.from], by, text[at.to:])
	data, _, problems, err := encodeValue(snap, m, &rec.Code, next)
	if err == nil && len(problems) > 0 {
		err = errors.New(problems[0].Message)
	}
	return data, err
}
