package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/server/proxy"
	"wirebench/server/workspace"
)

// Rule is a rule as entered: an action for all messages that match a filter.
type Rule struct {
	ID     string          `json:"id" minLength:"1" maxLength:"100"`
	Name   string          `json:"name,omitempty" maxLength:"200"`
	On     bool            `json:"on"`
	Filter string          `json:"filter" minLength:"1" maxLength:"8192"`
	Action string          `json:"action" enum:"drop,delay,replace,note"`
	Delay  string          `json:"delay,omitempty" doc:"for delay: 250ms, 2s"`
	Field  string          `json:"field,omitempty" doc:"for replace: path of a field, such as members[0].name"`
	Value  json.RawMessage `json:"value,omitempty" doc:"for replace: the new value of the field"`
	Note   string          `json:"note,omitempty" maxLength:"200"`
	Count  int64           `json:"count,omitempty" readOnly:"true" doc:"messages to which the rule was applied"`
	Failed int64           `json:"failed,omitempty" readOnly:"true" doc:"messages to which the rule could not be applied"`
}

// Intercept selects the messages to hold from now on by a filter, which must be valid; "" holds none.
func (s *Session) Intercept(text, who string) error {
	x := proxy.Intercept{Filter: text}
	if strings.TrimSpace(text) != "" {
		x.Match = (&matcher{snap: s.Now, text: text, from: s.began}).match
	}
	return s.SetIntercept(x, who)
}

// began returns the time of the first frame of the session.
func (s *Session) began() time.Time { return s.Log().Began() }

// WrittenRules returns the rules of the session as entered, with their counts.
func (s *Session) WrittenRules() []Rule {
	s.rulesMu.Lock()
	defer s.rulesMu.Unlock()
	counts := map[string]proxy.Rule{}
	for _, r := range s.Rules() {
		counts[r.ID] = r
	}
	out := []Rule{}
	for _, r := range s.written {
		r.Count, r.Failed = counts[r.ID].Count, counts[r.ID].Failed
		out = append(out, r)
	}
	return out
}

// WriteRules replaces the rules of the session.
func (s *Session) WriteRules(written []Rule, who string) error {
	var all []proxy.Rule
	for i, r := range written {
		rule, err := s.rule(r)
		if err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
		all = append(all, rule)
	}
	s.rulesMu.Lock()
	defer s.rulesMu.Unlock()
	if err := s.SetRules(all, who); err != nil {
		return err
	}
	s.written = slices.Clone(written)
	return nil
}

// rule compiles a rule.
func (s *Session) rule(b Rule) (proxy.Rule, error) {
	r := proxy.Rule{ID: b.ID, Name: b.Name, On: b.On, Action: proxy.RuleAction(b.Action), Note: b.Note}
	m := &matcher{snap: s.Now, text: b.Filter, from: s.began}
	if _, mistakes := s.Now().Filter(b.Filter); len(mistakes) > 0 {
		return r, fmt.Errorf("filter: %s", mistakes[0].Message)
	}
	if err := m.useless(); err != nil {
		return r, err
	}
	r.Match = m.match
	switch r.Action {
	case proxy.RuleDelay:
		var err error
		if r.Delay, err = time.ParseDuration(b.Delay); err != nil {
			return r, fmt.Errorf("%q is not a delay, such as 250ms", b.Delay)
		}
	case proxy.RuleReplace:
		if b.Field == "" || !json.Valid(b.Value) {
			return r, errors.New("a field and its new value are missing")
		}
		if err := m.takes(b.Field, b.Value); err != nil {
			return r, err
		}
		r.Replace = func(f *transport.Frame) ([]byte, error) { return replaceField(s.Now(), f, b.Field, b.Value) }
	}
	return r, nil
}

// replaceField returns a message with a new value in a field. Lengths, counts and offsets are updated.
func replaceField(snap *workspace.Snapshot, f *transport.Frame, path string, by json.RawMessage) ([]byte, error) {
	m := snap.FrameMessage(f)
	if m == nil {
		return nil, errors.New("the message has no definition")
	}
	p, err := snap.Program(m)
	if err != nil {
		return nil, err
	}
	var rec codec.Record
	p.Decode(&rec, f.Bytes)
	if rec.Status() != codec.OK {
		return nil, errors.New("the message does not conform to its definition")
	}
	text := value.Unshare(value.AppendJSON(nil, &rec), path)
	at, err := value.FindJSON(text, path)
	if err != nil {
		return nil, err
	}
	next := slices.Concat(text[:at.From], by, text[at.To:])
	data, _, problems, err := snap.EncodeValue(m, &rec.Code, next)
	if err == nil && len(problems) > 0 {
		err = errors.New(problems[0].Message)
	}
	return data, err
}
