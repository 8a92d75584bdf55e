package proxy

import (
	"fmt"
	"testing"
)

// Injections do not push failures out of the list.
func TestEventsKeepFailures(t *testing.T) {
	e := &events{notify: func() {}}
	for i := range 5 {
		e.add(Failure, "rule %d failed", i)
	}
	for i := range 10 * maxEvents {
		e.by("somebody", Info, "message %d sent", i)
	}
	failures := 0
	for i, x := range e.since(0) {
		if x.Severity == Failure {
			if failures != i || x.Text != fmt.Sprintf("rule %d failed", failures) {
				t.Errorf("event %d: %s", i, x.Text)
			}
			failures++
		}
	}
	last := e.since(0)
	if failures != 5 || len(last) > maxEvents || last[len(last)-1].Text != fmt.Sprintf("message %d sent", 10*maxEvents-1) {
		t.Errorf("%d of 5 failures in %d events", failures, len(last))
	}
	for i := range 10 * maxEvents {
		e.add(Failure, "failure %d", i)
	}
	e.by("somebody", Info, "one more")
	if last = e.since(0); last[len(last)-1].Text != "one more" || len(last) > maxEvents {
		t.Errorf("%d events, the last: %s", len(last), last[len(last)-1].Text)
	}
	if got := Latest(last, 10); len(got) != 10 || got[9].Text != "one more" || got[8].Severity != Failure {
		t.Errorf("%+v", got)
	}
}
