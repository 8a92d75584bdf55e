package proxy

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"wirebench/codec/transport"
)

// RuleAction is what a rule does with a message.
type RuleAction string

// The actions of rules.
const (
	RuleDrop    RuleAction = "drop"    // it is not sent, and no further rule is asked
	RuleDelay   RuleAction = "delay"   // it waits, and with it what must not overtake it
	RuleReplace RuleAction = "replace" // another one is sent; further rules and the intercept see that
	RuleNote    RuleAction = "note"    // it gets a note
)

// Rule is done to all messages that match, without a person. Rules are asked in their order, and before the intercept. A message that both
// a rule delays and the intercept holds waits for the person alone.
type Rule struct {
	ID     string // unique among the rules, up to 100 bytes
	Name   string // for people, up to 100 bytes
	On     bool
	Match  Match
	Action RuleAction

	Delay   time.Duration                          // of RuleDelay, up to MaxDelay; the delays of several rules add up to that
	Replace func(*transport.Frame) ([]byte, error) // of RuleReplace. An error: the message stays as it is, and an event says so
	Note    string                                 // of RuleNote, up to 200 bytes

	Count  int64 // messages that it was applied to, since its ID is known
	Failed int64 // that it could not be applied to
}

// Bounds of rules.
const (
	MaxRules    = 200
	MaxDelay    = time.Minute
	maxRuleNote = 200
	maxRuleName = 100
)

// rule is a Rule with its counts, which it hands on to the next one of the same ID.
type rule struct {
	Rule
	count, failed *atomic.Int64
}

func (r *Rule) check() error {
	switch {
	case r.ID == "":
		return errors.New("a rule has no ID")
	case len(r.ID) > maxRuleName || len(r.Name) > maxRuleName:
		return fmt.Errorf("rule %.20q: ID and name have up to %d bytes", r.ID, maxRuleName)
	case r.Match == nil:
		return fmt.Errorf("rule %q matches nothing", r.ID)
	}
	switch r.Action {
	case RuleDrop:
		return nil
	case RuleDelay:
		if r.Delay <= 0 || r.Delay > MaxDelay {
			return fmt.Errorf("rule %q: a delay is up to %s", r.ID, MaxDelay)
		}
		return nil
	case RuleReplace:
		if r.Replace == nil {
			return fmt.Errorf("rule %q does not say what is sent instead", r.ID)
		}
		return nil
	case RuleNote:
		if len(r.Note) == 0 || len(r.Note) > maxRuleNote {
			return fmt.Errorf("rule %q: a note has 1 to %d bytes", r.ID, maxRuleNote)
		}
		return nil
	}
	return fmt.Errorf("rule %q: there is no action %q", r.ID, r.Action)
}

// SetRules exchanges the rules. Those with an ID that was there before keep their counts.
func (s *Session) SetRules(rules []Rule, who string) error {
	if s.rewriter == nil {
		return ErrNotOperated
	}
	if len(rules) > MaxRules {
		return fmt.Errorf("%d rules: there can be %d", len(rules), MaxRules)
	}
	s.op.mu.Lock()
	before := map[string]*rule{}
	for _, r := range s.op.policy.Load().rules {
		before[r.ID] = r
	}
	list := make([]*rule, len(rules))
	seen := map[string]bool{}
	for i, r := range rules {
		err := r.check()
		if err == nil && seen[r.ID] {
			err = fmt.Errorf("there are two rules with the ID %q", r.ID)
		}
		if err != nil {
			s.op.mu.Unlock()
			return err
		}
		seen[r.ID] = true
		list[i] = &rule{Rule: r, count: new(atomic.Int64), failed: new(atomic.Int64)}
		if old := before[r.ID]; old != nil {
			list[i].count, list[i].failed = old.count, old.failed
		}
	}
	s.op.change(func(p *policy) { p.rules = list })
	s.op.mu.Unlock()
	on := 0
	for _, r := range list {
		if !r.On {
			continue
		}
		on++
		s.events.by(named(who), Info, "rule %q is on: %s", r.title(), r.Action)
	}
	if on == 0 {
		s.events.by(named(who), Info, "no rules are on")
	}
	return nil
}

// Rules are the rules, with their counts.
func (s *Session) Rules() []Rule {
	var list []Rule
	for _, r := range s.op.policy.Load().rules {
		x := r.Rule
		x.Count, x.Failed = r.count.Load(), r.failed.Load()
		list = append(list, x)
	}
	return list
}

func (r *rule) title() string {
	if r.Name != "" {
		return r.Name
	}
	return r.ID
}

func (r *rule) named() string { return fmt.Sprintf("rule %q", r.title()) }

// verdict is what rules and intercept make of a message.
type verdict struct {
	drop  bool
	hold  bool
	delay time.Duration
	with  []byte // nil: as it came
	why   string // which rules drop or delay it
	made  string // which rules have made with
	by    []*rule
}

// judge asks rules and intercept.
func (o *operated) judge(p *policy, f *transport.Frame, x *sighting) (v verdict) {
	m := &o.asking
	m.Frame, m.N = f, m.N+1
	for _, r := range p.rules {
		if !r.On {
			continue
		}
		ok, err := asked(r.Match, m)
		if err == nil && !ok {
			continue
		}
		var with []byte
		if err == nil && r.Action == RuleReplace {
			with, err = replaced(r.Replace, m.Frame)
		}
		if err != nil {
			o.failed(r, err)
			continue
		}
		r.count.Add(1)
		switch r.Action {
		case RuleNote:
			x.remark(r.Note)
			continue
		case RuleDelay:
			v.delay = min(v.delay+r.Delay, MaxDelay)
		case RuleReplace:
			v.with = append(make([]byte, 0, len(with)+1), with...) // never nil
			v.by = append(v.by, r)
			v.made = both(v.made, r.named())
			changed := *f
			changed.Bytes = v.with
			m.Frame, m.N = &changed, m.N+1
			continue
		case RuleDrop:
			v.drop = true
		}
		v.why = both(v.why, r.named())
		if v.drop {
			return v
		}
	}
	if p.intercept.Match != nil {
		ok, err := asked(p.intercept.Match, m)
		if err != nil {
			o.s.events.add(Failure, "messages are not held: the filter fails: %v", err)
		}
		v.hold = ok && err == nil
	}
	return v
}

// failed says that a rule could not be applied.
func (o *operated) failed(r *rule, err error) {
	r.failed.Add(1)
	o.s.events.add(Failure, "rule %q fails, and leaves the message as it is: %v", r.title(), err)
}

// asked calls what was given to the session; it may be wrong.
func asked(match Match, m *Message) (ok bool, err error) {
	defer rescue(&err)
	return match(m), nil
}

func replaced(m func(*transport.Frame) ([]byte, error), f *transport.Frame) (data []byte, err error) {
	defer rescue(&err)
	data, err = m(f)
	if err == nil && len(data) > maxOwn {
		err = transport.OutOfRange(len(data), 1, maxOwn)
	}
	return data, err
}

func rescue(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("%v", x)
	}
}
