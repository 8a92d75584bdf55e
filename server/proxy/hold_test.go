package proxy

import (
	"bytes"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/codec/transport"
)

// saying is a Match for messages with a text.
func saying(text string) Match {
	return func(m *Message) bool { return bytes.Contains(m.Frame.Bytes, []byte(text)) }
}

// TestChangesOfHolding makes every change of what holds messages, in both directions, with nothing held, with some messages and with as
// many as there is room for. What nothing holds after the change flows on at once, in order; the rest waits, and nothing is lost.
func TestChangesOfHolding(t *testing.T) {
	delay := func(by time.Duration) Rule {
		return Rule{ID: "slow", On: true, Match: ofCode(7), Action: RuleDelay, Delay: by}
	}
	all := []string{msg(6, "a"), msg(1, "b"), msg(6, "c"), msg(7, "d"), msg(1, "e")}
	var answer atomic.Bool // of a filter that changes with the definitions
	for _, test := range []struct {
		name    string
		filter  Match
		rules   []Rule
		do      func(x *stage)
		flow    int // messages that arrive after the change: of all
		held    int // still
		delayed int
		full    int      // messages that arrive with room for one held message, if not flow
		late    bool     // the first messages flow before
		want    []string // other messages than all
	}{
		{name: "nothing changes", filter: ofCode(6), do: func(*stage) {}, held: 2},
		{name: "the filter is emptied", filter: ofCode(6), do: func(x *stage) { x.intercept(nil) }, flow: 5},
		{name: "the filter is set again", filter: ofCode(6), do: func(x *stage) { x.intercept(ofCode(6)) }, held: 2},
		{name: "another filter", filter: ofCode(6), do: func(x *stage) { x.intercept(ofCode(1)) }, flow: 5},
		{name: "a filter for the second", filter: ofCode(6), do: func(x *stage) { x.intercept(saying("c")) }, flow: 2, held: 1, full: 5},
		{name: "a filter for the first", filter: ofCode(6), do: func(x *stage) { x.intercept(saying("a")) }, held: 1},
		{name: "a filter that fails", filter: ofCode(6), do: func(x *stage) { x.intercept(func(*Message) bool { panic("no") }) }, held: 2},
		{name: "the filter becomes invalid", filter: func(m *Message) bool { return answer.Load() && ofCode(6)(m) }, do: func(x *stage) {
			answer.Store(false)
			x.s.Reconsider()
		}, flow: 5},
		{name: "the definitions change", filter: ofCode(6), do: func(x *stage) { x.s.Reconsider() }, held: 2},
		{name: "the filter is emptied while off", filter: ofCode(6), do: func(x *stage) { x.operate(false); x.intercept(nil); x.operate(true) }, flow: 5},
		{name: "switched off", filter: ofCode(6), do: func(x *stage) { x.operate(false) }, flow: 5},
		{name: "switched on again", filter: ofCode(6), do: func(x *stage) { x.operate(true) }, held: 2},
		{name: "all pass", filter: ofCode(6), do: func(x *stage) { x.s.PassAll("ann") }, flow: 5},
		{name: "a rule is added", filter: ofCode(6), do: func(x *stage) { x.rules(Rule{ID: "n", On: true, Match: ofCode(6), Action: RuleDrop}) }, held: 2},
		{name: "rules are removed", filter: ofCode(6), rules: []Rule{{ID: "n", On: true, Match: ofCode(6), Action: RuleNote, Note: "six"}}, do: func(x *stage) { x.rules() }, held: 2},
		{name: "a delaying rule is added", filter: ofCode(6), do: func(x *stage) { x.rules(delay(time.Minute)) }, held: 2},
		{late: true, name: "a delaying rule", rules: []Rule{delay(time.Minute)}, do: func(*stage) {}, flow: 3, delayed: 1},
		{late: true, name: "a delaying rule is removed", rules: []Rule{delay(time.Minute)}, do: func(x *stage) { x.rules() }, flow: 5},
		{late: true, name: "a delaying rule is switched off", rules: []Rule{delay(time.Minute)}, do: func(x *stage) { off := delay(time.Minute); off.On = false; x.rules(off) }, flow: 5},
		{late: true, name: "a delaying rule is shortened", rules: []Rule{delay(time.Minute)}, do: func(x *stage) { x.rules(delay(time.Millisecond)) }, flow: 5},
		{late: true, name: "a delaying rule becomes a note", rules: []Rule{delay(time.Minute)}, do: func(x *stage) {
			x.rules(Rule{ID: "slow", On: true, Match: ofCode(7), Action: RuleNote, Note: "a"})
		}, flow: 5},
		{late: true, name: "a delaying rule is for others", rules: []Rule{delay(time.Minute)}, do: func(x *stage) { r := delay(time.Minute); r.Match = ofCode(9); x.rules(r) }, flow: 5},
		{late: true, name: "another rule delays too", rules: []Rule{delay(time.Minute)}, do: func(x *stage) { r := delay(time.Minute); r.ID = "other"; x.rules(delay(time.Minute), r) }, flow: 3, delayed: 1},
		{late: true, name: "the filter is emptied, a rule delays", filter: ofCode(7), rules: []Rule{delay(time.Minute)}, do: func(x *stage) { x.intercept(nil) }, flow: 3, delayed: 1},
		{late: true, name: "the filter and the rule are gone", filter: ofCode(7), rules: []Rule{delay(time.Minute)}, do: func(x *stage) { x.intercept(nil); x.rules() }, flow: 5},
		{late: true, name: "the filter stays, the rule is gone", filter: ofCode(7), rules: []Rule{delay(time.Minute)}, do: func(x *stage) { x.rules() }, flow: 3, held: 1},
		{
			name: "a filter for what a rule made", filter: saying("z"), want: []string{msg(6, "z"), msg(1, "b"), msg(6, "z"), msg(7, "d"), msg(1, "e")},
			rules: []Rule{{ID: "z", On: true, Match: ofCode(6), Action: RuleReplace, Replace: func(*transport.Frame) ([]byte, error) { return []byte("\x06\x01z"), nil }}},
			do:    func(x *stage) { x.intercept(saying("z")) }, held: 2,
		},
		{
			name: "a filter for what a rule replaced", filter: saying("z"), want: []string{msg(6, "z"), msg(1, "b"), msg(6, "z"), msg(7, "d"), msg(1, "e")},
			rules: []Rule{{ID: "z", On: true, Match: ofCode(6), Action: RuleReplace, Replace: func(*transport.Frame) ([]byte, error) { return []byte("\x06\x01z"), nil }}},
			do:    func(x *stage) { x.intercept(saying("a")) }, flow: 5,
		},
	} {
		for _, room := range []string{"some", "full", "none"} {
			for _, way := range []string{"to the server", "to the client"} {
				if room == "none" && way == "to the client" || room == "full" && testing.Short() {
					continue
				}
				t.Run(fmt.Sprint(test.name, "/", room, "/", way), func(t *testing.T) {
					leaks(t)
					answer.Store(true)
					cfg, flow, held := Config{}, test.flow, test.held
					if room == "full" {
						cfg.Limits.HeldMessages = 1
						if held = min(held, 1); test.full > 0 {
							flow, held = test.full, 0
						}
					}
					x := newStage(t, cfg)
					from, to := net.Conn(x.client), net.Conn(x.server)
					if way == "to the client" {
						from, to = to, from
					}
					x.operate(true)
					x.rules(test.rules...)
					x.intercept(test.filter)
					want := test.want
					if want == nil {
						want = all
					}
					waiting := len(all)
					if test.late {
						waiting = 2
					}
					if room == "none" {
						waiting = 0
					} else {
						x.say(from, joined(all))
					}
					eventually(t, "all that waits has come", func() bool {
						o := x.s.State().Operate
						return o.Held+o.Delayed+o.Behind == waiting
					})
					test.do(x)
					if room == "none" { // nothing is held, and the direction works
						x.intercept(nil)
						x.rules()
						x.say(from, msg(6, "a"))
						x.expect(to, msg(6, "a"))
						x.end()
						return
					}
					x.expect(to, joined(want[:flow]))
					x.silent(to)
					if o := x.s.State().Operate; o.Held != held || o.Delayed != test.delayed {
						t.Errorf("%d held, %d delayed; want %d, %d", o.Held, o.Delayed, held, test.delayed)
					}
					x.operate(false)
					x.expect(to, joined(want[flow:]))
					x.end()
					if o := x.s.State().Operate; o.Held+o.HeldBytes+o.Delayed+o.Behind != 0 {
						t.Errorf("%+v", o)
					}
				})
			}
		}
	}
}

func joined(messages []string) (all string) {
	for _, m := range messages {
		all += m
	}
	return all
}
