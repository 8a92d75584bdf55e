package api

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/workspace"
)

// SessionPath is the workspace and proxy session in the path of a request.
type SessionPath struct {
	Workspace string `path:"project" doc:"name of the project"`
	ID        string `path:"id" maxLength:"100" doc:"of the session"`
}

// who returns the name of a request's user in events.
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
		Intercept *string `json:"intercept,omitempty" maxLength:"8192" doc:"messages that match this filter are held; \"\" = none"`
	}
	RawRequestOnly
}

// RawRequestOnly gives handlers the request besides a parsed body.
type RawRequestOnly struct{ raw RawRequest }

// Resolve stores the request.
func (r *RawRequestOnly) Resolve(ctx huma.Context) []error { return r.raw.Resolve(ctx) }

// operate turns changes of messages on or off and sets the filter for held messages.
func (s *API) operate(_ context.Context, in *operateInput) (*proxyOutput, error) {
	x, err := relayed(s, in.SessionPath, "operate", who(&in.raw), in, in.Body, operateHere)
	if err != nil {
		return nil, err
	}
	return &proxyOutput{http.StatusOK, "", x}, nil
}

func operateHere(one *relay.Session, in *operateInput, by string) (x relay.Info, err error) {
	if text := in.Body.Intercept; text != nil {
		if _, mistakes := one.Now().Filter(*text); len(mistakes) > 0 {
			return x, filterProblem(mistakes)
		}
		if err := one.Intercept(*text, by); err != nil {
			return x, asHTTP(err)
		}
	}
	if in.Body.On != nil {
		if err := one.Operate(*in.Body.On, by); err != nil {
			return x, asHTTP(err)
		}
	}
	return one.Info(), nil
}

// HeldInfo is a held message.
type HeldInfo struct {
	ID     uint64              `json:"id"`
	ConnID int                 `json:"conn_id"`
	At     time.Time           `json:"at" doc:"when it was held"`
	Until  *time.Time          `json:"until,omitempty" doc:"when it is forwarded automatically"`
	With   string              `json:"with,omitempty" doc:"the message as changed by rules, in hex"`
	Frame  workspace.FrameInfo `json:"frame"`
	Name   string              `json:"name" doc:"of its definition, with direction or group if ambiguous"`
	Group  string              `json:"group,omitempty" doc:"message group of its direction and port"`
	Other  bool                `json:"alternate,omitempty" doc:"it has the alternative header of the dialect"`
	Behind int                 `json:"behind" doc:"frames waiting behind it in its direction"`
}

type heldOutput struct{ Body HeldList }

// HeldList lists the messages that a session holds.
type HeldList struct {
	On    bool       `json:"on"`
	Total int        `json:"total" doc:"number of held messages"`
	Held  []HeldInfo `json:"held" doc:"the first 200 of them, the oldest first"`
}

// maxHeldListed is the number of held messages in one answer.
const maxHeldListed = 200

// held lists the held messages.
func (s *API) held(_ context.Context, in *SessionPath) (*heldOutput, error) {
	list, err := relayed(s, *in, "held", "", in, nil, heldHere)
	if err != nil {
		return nil, err
	}
	return &heldOutput{list}, nil
}

func heldHere(one *relay.Session, _ *SessionPath, _ string) (out HeldList, _ error) {
	if op := one.State().Operate; op != nil {
		out.On = op.On
	}
	out.Held = []HeldInfo{}
	snap := one.Now()
	read := workspace.NewReading(snap)
	all := one.Held()
	out.Total = len(all)
	for _, h := range all[:min(len(all), maxHeldListed)] {
		read.Take(&h.Frame)
		x := HeldInfo{ID: h.ID, ConnID: h.Conn.ID, At: h.At, Behind: h.Behind}
		x.Frame = read.Describe(workspace.Want{Value: true}, workspace.Listed{Conn: h.Conn.Name(), Session: h.Conn.Session})
		if !h.Until.IsZero() {
			x.Until = &h.Until
		}
		x.Group, x.Other = h.Frame.Key.Group, snap.HasAlternate(&h.Frame)
		if h.With != nil {
			x.With = hex.EncodeToString(h.With.Bytes)
		}
		if m := read.Message(); m != nil {
			x.Name = snap.NameOf(m)
		}
		out.Held = append(out.Held, x)
	}
	return out, nil
}

type decideInput struct {
	SessionPath
	Body struct {
		ID     uint64 `json:"id,omitempty" doc:"of the held message"`
		All    bool   `json:"all,omitempty" doc:"with forward: all held messages"`
		Action string `json:"action" enum:"forward,drop,replace"`
		relay.Outgoing
	}
	RawRequestOnly
}

// decide forwards, drops or replaces a held message.
func (s *API) decide(_ context.Context, in *decideInput) (*struct{}, error) {
	return relayed(s, in.SessionPath, "decide", who(&in.raw), in, in.Body, decideHere)
}

func decideHere(one *relay.Session, in *decideInput, by string) (_ *struct{}, err error) {
	b := &in.Body
	if b.All {
		if b.Action != "forward" {
			return nil, huma.Error422UnprocessableEntity("all is possible with forward only")
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
			return nil, asHTTP(proxy.ErrNotHeld)
		}
		d.Action = transport.Replace
		if d.With, err = b.Make(one.Now(), all[i].Frame.Dir, &all[i].Frame); err != nil {
			return nil, asHTTP(err)
		}
	}
	return nil, asHTTP(one.Decide(b.ID, d, by))
}

type sendInput struct {
	SessionPath
	Body struct {
		ConnID *int   `json:"conn_id,omitempty" doc:"of the connection; default: the only open one"`
		Dir    string `json:"dir" enum:"c2s,s2c" doc:"direction"`
		relay.Outgoing
	}
	RawRequestOnly
}

// send injects a message into a connection.
func (s *API) send(_ context.Context, in *sendInput) (*struct{}, error) {
	return relayed(s, in.SessionPath, "send", who(&in.raw), in, in.Body, sendHere)
}

func sendHere(one *relay.Session, in *sendInput, by string) (*struct{}, error) {
	b := &in.Body
	id := 0
	if b.ConnID != nil {
		id = *b.ConnID
	} else {
		open, _ := one.Conns()
		if len(open) != 1 {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("%d connections are open: choose one", len(open)))
		}
		id = open[0].ID
	}
	out, err := b.Make(one.Now(), schema.DirNamed(b.Dir), nil)
	if err != nil {
		return nil, asHTTP(err)
	}
	return nil, asHTTP(one.Send(id, schema.DirNamed(b.Dir), out, by))
}

type rulesOutput struct {
	Body struct {
		Rules []relay.Rule `json:"rules"`
	}
}

type rulesInput struct {
	SessionPath
	Body struct {
		Rules []relay.Rule `json:"rules" maxItems:"200"`
	}
	RawRequestOnly
}

// rules lists the rules of a session with their hit counts.
func (s *API) rules(_ context.Context, in *SessionPath) (*rulesOutput, error) {
	all, err := relayed(s, *in, "rules", "", in, nil, rulesHere)
	if err != nil {
		return nil, err
	}
	return rulesOf(all), nil
}

func rulesHere(one *relay.Session, _ *SessionPath, _ string) ([]relay.Rule, error) {
	return one.WrittenRules(), nil
}

// setRules replaces the rules of a session.
func (s *API) setRules(_ context.Context, in *rulesInput) (*rulesOutput, error) {
	all, err := relayed(s, in.SessionPath, "set-rules", who(&in.raw), in, in.Body, setRulesHere)
	if err != nil {
		return nil, err
	}
	return rulesOf(all), nil
}

func setRulesHere(one *relay.Session, in *rulesInput, by string) ([]relay.Rule, error) {
	if err := one.WriteRules(in.Body.Rules, by); err != nil {
		return nil, asHTTP(err)
	}
	return one.WrittenRules(), nil
}

func rulesOf(all []relay.Rule) *rulesOutput {
	out := &rulesOutput{}
	out.Body.Rules = all
	return out
}
