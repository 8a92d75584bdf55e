package relay

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/server/proxy"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Rule is a rule as entered: an action for all messages that match a filter. Rules apply in their order, each to what the ones before it made.
type Rule struct {
	ID      string          `json:"id,omitempty" maxLength:"100" doc:"given by the server, for a new rule; a known one keeps the counts"`
	Name    string          `json:"name,omitempty" maxLength:"100" doc:"for display"`
	On      bool            `json:"on"`
	Filter  string          `json:"filter" minLength:"1" maxLength:"8192"`
	Action  string          `json:"action" enum:"drop,delay,replace,compute,regexp,bytes,note"`
	Delay   string          `json:"delay,omitempty" doc:"for delay: 250ms, 2s"`
	Field   string          `json:"field,omitempty" maxLength:"1000" doc:"for replace, compute and regexp: path of a field, such as members[0].name"`
	Value   json.RawMessage `json:"value,omitempty" doc:"for replace: the new value of the field"`
	Expr    string          `json:"expr,omitempty" maxLength:"500" doc:"for compute: arithmetic with numbers, old for the present value, and .field for another one: old * 2 + .level"`
	Pattern string          `json:"pattern,omitempty" maxLength:"500" doc:"for regexp: a regular expression, whose matches in the text of the field are replaced"`
	With    string          `json:"with,omitempty" maxLength:"1000" doc:"for regexp: the replacement; $1 is the first group"`
	At      int             `json:"at,omitempty" minimum:"-65536" maximum:"65536" doc:"for bytes: offset in the message, from the end if negative"`
	Hex     string          `json:"hex,omitempty" maxLength:"8192" doc:"for bytes: the new bytes, in hex"`
	Insert  bool            `json:"insert,omitempty" doc:"for bytes: they are inserted, and do not replace as many"`
	Note    string          `json:"note,omitempty" maxLength:"200"`
	Count   int64           `json:"count,omitempty" readOnly:"true" doc:"messages to which the rule was applied"`
	Failed  int64           `json:"failed,omitempty" readOnly:"true" doc:"messages to which the rule could not be applied"`
	Why     string          `json:"why,omitempty" readOnly:"true" doc:"why it failed the last time"`
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
		r.Count, r.Failed, r.Why = counts[r.ID].Count, counts[r.ID].Failed, counts[r.ID].Why
		out = append(out, r)
	}
	return out
}

// WriteRules replaces the rules of the session, and stores them with its recording, for when it is started again. Rules without an ID get one.
func (s *Session) WriteRules(written []Rule, who string) error {
	written = slices.Clone(written)
	var all []proxy.Rule
	for i := range written {
		r := &written[i]
		if r.ID == "" {
			r.ID = rand.Text()
		}
		r.Count, r.Failed, r.Why = 0, 0, ""
		rule, err := s.rule(*r)
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
	s.written = written
	return s.keepRules()
}

// RestoreRules writes the rules of an earlier recording, and says of those written in an older filter language what has changed. As they
// are stored in the present one with the new recording, it is said once.
func (s *Session) RestoreRules(language int, rules []Rule) {
	if err := s.WriteRules(rules, ""); err != nil {
		s.Warn("the rules of the earlier listener do not apply: %v", err)
		return
	}
	for i := 0; i < len(rules) && language < filter.Version; i++ {
		f, _ := s.Now().Filter(rules[i].Filter)
		if changed := f.Widened(); len(changed) > 0 {
			s.Warn("rule %d: %s", i+1, strings.Join(changed, "; "))
		}
	}
}

// keepRules stores the rules with the recording.
func (s *Session) keepRules() error {
	if s.kept == nil {
		return nil
	}
	text, err := json.Marshal(s.written)
	if err != nil {
		return err
	}
	_, err = s.kept.Edit(s.ID, func(x *store.Capture) error {
		if x.Listener != nil {
			x.Listener.Rules, x.Listener.Language = text, filter.Version
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the recording was deleted
	}
	return err
}

// title is the name of a rule in messages: as given, or what it does.
func (b *Rule) title() string {
	if b.Name != "" {
		return b.Name
	}
	return b.Action + " " + clip(strings.Join(strings.Fields(b.Filter), " "))
}

// rule compiles a rule.
func (s *Session) rule(b Rule) (proxy.Rule, error) {
	r := proxy.Rule{ID: b.ID, Name: b.title(), On: b.On, Action: proxy.RuleAction(b.Action), Note: b.Note}
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
		r.Replace = func(f *transport.Frame) ([]byte, error) {
			return changeField(s.Now(), f, b.Field, func(json.RawMessage, []byte) (json.RawMessage, error) { return b.Value, nil })
		}
	case "compute":
		if b.Field == "" || strings.TrimSpace(b.Expr) == "" {
			return r, errors.New("a field and an expression are missing")
		}
		one := func(string) (json.RawMessage, error) { return json.RawMessage("1"), nil }
		if _, err := evaluate(b.Expr, json.RawMessage("1"), one); err != nil && !errors.Is(err, errByZero) {
			return r, err
		}
		if err := m.has(b.Field); err != nil {
			return r, err
		}
		r.Action = proxy.RuleReplace
		r.Replace = func(f *transport.Frame) ([]byte, error) {
			return changeField(s.Now(), f, b.Field, func(old json.RawMessage, text []byte) (json.RawMessage, error) {
				return evaluate(b.Expr, old, fieldsOf(text))
			})
		}
	case "regexp":
		pattern, err := regexp.Compile(b.Pattern)
		switch {
		case b.Field == "" || b.Pattern == "":
			return r, errors.New("a field and a regular expression are missing")
		case err != nil:
			return r, fmt.Errorf("pattern: %w", err)
		}
		if err := m.has(b.Field); err != nil {
			return r, err
		}
		r.Action = proxy.RuleReplace
		r.Replace = func(f *transport.Frame) ([]byte, error) {
			return changeField(s.Now(), f, b.Field, func(old json.RawMessage, _ []byte) (json.RawMessage, error) {
				return replaceText(pattern, old, b.With)
			})
		}
	case "bytes":
		data, err := hex.DecodeString(strings.ReplaceAll(b.Hex, " ", ""))
		if err != nil || len(data) == 0 {
			return r, fmt.Errorf("hex: %q is not a number of bytes in hex", clip(b.Hex))
		}
		r.Action = proxy.RuleReplace
		r.Replace = func(f *transport.Frame) ([]byte, error) { return replaceBytes(f.Bytes, b.At, data, b.Insert) }
	}
	return r, nil
}

// replaceBytes returns a message with other bytes at an offset, which counts from the end if it is negative.
func replaceBytes(message []byte, at int, data []byte, insert bool) ([]byte, error) {
	from := at
	if at < 0 {
		from += len(message)
	}
	to := from
	if !insert {
		to += len(data)
	}
	if from < 0 || to > len(message) {
		return nil, fmt.Errorf("the message has %d bytes, fewer than needed for %d at %d", len(message), len(data), at)
	}
	return slices.Concat(message[:from], data, message[to:]), nil
}

// changeField returns a message with a new value in a field, made from the old one and the JSON text of the message. Lengths, counts and
// offsets are updated. Errors name the field.
func changeField(snap *workspace.Snapshot, f *transport.Frame, path string, change func(old json.RawMessage, text []byte) (json.RawMessage, error)) ([]byte, error) {
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
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	by, err := change(text[at.From:at.To], text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	next := slices.Concat(text[:at.From], by, text[at.To:])
	data, _, problems, err := snap.EncodeValueOver(m, &rec.Code, next, f.Bytes)
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%s: %s", cmp.Or(problems[0].Path, path), problems[0].Message)
	}
	return data, err
}
