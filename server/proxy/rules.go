package proxy

import (
	"container/heap"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/supervise"
)

// RuleAction is the action of a rule.
type RuleAction string

// The actions of rules.
const (
	RuleDrop    RuleAction = "drop"    // the message is not sent, and no further rule is evaluated
	RuleDelay   RuleAction = "delay"   // the message waits, and with it all that must not overtake it
	RuleReplace RuleAction = "replace" // another message is sent; further rules and the intercept see the replacement
	RuleNote    RuleAction = "note"    // the message gets a note
)

// Rule is an automatic action for all messages that match. Rules are evaluated in order, before the intercept. A message that is both
// delayed by a rule and held by the intercept waits for the user only.
type Rule struct {
	ID     string // unique among the rules, up to 100 bytes
	Name   string // for display, up to 100 bytes
	On     bool
	Match  Match
	Action RuleAction

	Delay   time.Duration                          // for RuleDelay, up to MaxDelay; also the limit for the sum of several delays
	Replace func(*transport.Frame) ([]byte, error) // for RuleReplace. On an error the message is unchanged, and an event reports it
	Note    string                                 // for RuleNote, up to 200 bytes

	Count  int64  // number of messages to which it was applied, since its ID is known
	Failed int64  // number of messages to which it could not be applied
	Why    string // why it failed the last time
}

// Bounds of rules.
const (
	MaxRules    = 200
	MaxDelay    = time.Minute
	maxRuleNote = 200
	maxRuleName = 100
)

// rule is a Rule with its counts, which are passed on to the next rule with the same ID.
type rule struct {
	Rule
	count, failed *atomic.Int64
	why           *atomic.Pointer[string]
}

func (r *Rule) check() error {
	switch {
	case r.ID == "":
		return errors.New("a rule needs an ID")
	case len(r.ID) > maxRuleName || len(r.Name) > maxRuleName:
		return fmt.Errorf("rule %.20q: ID and name have at most %d bytes", r.ID, maxRuleName)
	case r.Match == nil:
		return fmt.Errorf("rule %q has no filter", r.ID)
	}
	switch r.Action {
	case RuleDrop:
		return nil
	case RuleDelay:
		if r.Delay <= 0 || r.Delay > MaxDelay {
			return fmt.Errorf("rule %q: the maximum delay is %s", r.ID, MaxDelay)
		}
		return nil
	case RuleReplace:
		if r.Replace == nil {
			return fmt.Errorf("rule %q has no replacement", r.ID)
		}
		return nil
	case RuleNote:
		if len(r.Note) == 0 || len(r.Note) > maxRuleNote {
			return fmt.Errorf("rule %q: a note has 1 to %d bytes", r.ID, maxRuleNote)
		}
		return nil
	}
	return fmt.Errorf("rule %q: unknown action %q", r.ID, r.Action)
}

// SetRules replaces the rules. Rules with a known ID keep their counts.
func (s *Session) SetRules(rules []Rule, who string) error {
	if s.rewriter == nil {
		return ErrNotOperated
	}
	if len(rules) > MaxRules {
		return fmt.Errorf("%d rules: at most %d are possible", len(rules), MaxRules)
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
			err = fmt.Errorf("duplicate rule ID %q", r.ID)
		}
		if err != nil {
			s.op.mu.Unlock()
			return err
		}
		seen[r.ID] = true
		list[i] = &rule{Rule: r, count: new(atomic.Int64), failed: new(atomic.Int64), why: new(atomic.Pointer[string])}
		if old := before[r.ID]; old != nil {
			list[i].count, list[i].failed, list[i].why = old.count, old.failed, old.why
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
	s.apply(who)
	return nil
}

// Rules returns the rules with their counts.
func (s *Session) Rules() []Rule {
	var list []Rule
	for _, r := range s.op.policy.Load().rules {
		x := r.Rule
		x.Count, x.Failed = r.count.Load(), r.failed.Load()
		if why := r.why.Load(); why != nil {
			x.Why = *why
		}
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

// verdict is the result of rules and intercept for a message.
type verdict struct {
	drop   bool
	hold   bool
	delay  time.Duration
	with   []byte // replacement; nil if the message is unchanged
	why    string // rules that drop or delay it
	delays []delayedBy
	made   string // rules that made the replacement
	by     []*rule
}

// judge evaluates rules and intercept.
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
			v.delays = append(v.delays, delayedBy{r.ID, v.with})
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
			o.s.events.add(Failure, "messages are not held: the filter failed: %v", err)
		}
		v.hold = ok && err == nil
	}
	return v
}

// delayedBy is a rule that delays a message, and the message as the rule saw it.
type delayedBy struct {
	rule string // its ID
	with []byte // made by rules before it; nil: as received
}

// reconsider passes the messages that neither the intercept nor a rule makes wait any more, in order, and returns their number.
func (o *operated) reconsider(p *policy) (n int) {
	for _, id := range slices.Sorted(maps.Keys(o.held)) {
		w := o.held[id]
		if w == nil { // it has passed with one before it
			continue
		}
		if !w.delayed && p.on && o.selects(p.intercept.Match, w, w.with()) {
			continue
		}
		due := w.At.Add(o.delayOf(p, w))
		switch {
		case !due.After(time.Now()):
		case !w.delayed && !o.s.op.turn(w):
		default:
			o.postpone(w, due)
			continue
		}
		if o.release(w, transport.Decision{}, "passed: nothing holds it any more") == nil {
			n++
		}
	}
	return n
}

// selects reports whether a filter selects a message that waits. One that fails leaves it where it is.
func (o *operated) selects(by Match, w *waiting, with []byte) bool {
	if by == nil {
		return false
	}
	f := w.Frame
	if with != nil {
		f.Bytes = with
	}
	o.asking.Frame, o.asking.N = &f, o.asking.N+1
	fits, err := asked(by, &o.asking)
	return fits || err != nil
}

// delayOf returns the delay of a message by the rules that delay it and still do.
func (o *operated) delayOf(p *policy, w *waiting) (all time.Duration) {
	for _, by := range w.delays {
		for _, r := range p.rules {
			if p.on && r.ID == by.rule && r.On && r.Action == RuleDelay && o.selects(r.Match, w, by.with) {
				all = min(all+r.Delay, MaxDelay)
			}
		}
	}
	return all
}

// with returns the replacement of a message by rules, nil if there is none.
func (w *waiting) with() []byte {
	if w.With == nil {
		return nil
	}
	return w.With.Bytes
}

// postpone sets the time at which a delayed message passes.
func (o *operated) postpone(w *waiting, due time.Time) {
	w.due = due
	if w.place >= 0 {
		heap.Fix(&o.due, w.place)
		return
	}
	heap.Push(&o.due, w)
}

// failed reports a rule that could not be applied.
func (o *operated) failed(r *rule, err error) {
	r.failed.Add(1)
	why := err.Error()
	why = why[:min(len(why), maxEventLen)]
	r.why.Store(&why)
	o.s.events.add(Failure, "rule %q failed, the message is unchanged: %v", r.title(), err)
}

// asked calls a Match and recovers from panics.
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
		*err = fmt.Errorf("%v", supervise.Caught("connection", x).Value)
	}
}
