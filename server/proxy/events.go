package proxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Severity is the severity of an event.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning" // a problem; the session continues
	Failure Severity = "error"   // a part has ended
)

// Event is an event of a session.
type Event struct {
	N        int       `json:"n" doc:"from 1; a repetition gets a new number"`
	At       time.Time `json:"at" doc:"first occurrence"`
	Last     time.Time `json:"last"`
	Severity Severity  `json:"severity"`
	Text     string    `json:"text"`
	Count    int       `json:"count" doc:"occurrences in close succession"`
	Who      string    `json:"who,omitempty" doc:"the user who decided this"`

	owner string
}

const (
	maxEvents   = 500
	sameEvents  = 8 // number of recent events among which an equal text counts as a repetition
	maxEventLen = 400
)

// events holds recent events. Repetitions are merged, so that a flood of one kind does not displace the others.
type events struct {
	mu     sync.Mutex
	all    []Event
	n      int
	notify func()
	audit  func(Event) // called for actions of users; may be nil
}

// reason returns the cause of an error without our local address, which differs between sockets, so that repetitions are merged.
func reason(err error) error {
	var op *net.OpError
	if !errors.As(err, &op) {
		return err
	}
	err = op.Err
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	if op.Op == "dial" && op.Addr != nil {
		return fmt.Errorf("connect to %s: %w", op.Addr, err)
	}
	return err
}

func (e *events) add(s Severity, format string, args ...any) { e.put("", "", s, format, args...) }

// by adds an action of a user.
func (e *events) by(who string, s Severity, format string, args ...any) {
	e.put("", who, s, format, args...)
}

// of adds an event of an owner.
func (e *events) of(owner string, s Severity, format string, args ...any) {
	e.put(owner, "", s, format, args...)
}

func (e *events) put(owner, who string, s Severity, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	text = strings.ToValidUTF8(text[:min(len(text), maxEventLen)], "")
	now := time.Now()
	e.mu.Lock()
	e.n++
	same := -1
	for i := len(e.all) - 1; i >= max(0, len(e.all)-sameEvents); i-- {
		if e.all[i].Text == text && e.all[i].Who == who && e.all[i].owner == owner {
			same = i
			break
		}
	}
	if same >= 0 {
		x := e.all[same]
		x.N, x.Last, x.Count = e.n, now, x.Count+1
		e.all = append(append(e.all[:same:same], e.all[same+1:]...), x)
	} else {
		if len(e.all) >= maxEvents {
			e.all = Latest(e.all, maxEvents*3/4)
		}
		e.all = append(e.all, Event{e.n, now, now, s, text, 1, who, owner})
	}
	n := e.n
	e.mu.Unlock()
	if who != "" && e.audit != nil {
		e.audit(Event{n, now, now, s, text, 1, who, owner})
	}
	e.notify()
}

// Latest returns the last n events in their order, where problems have priority: the ordinary events of a busy listener, such as injections,
// displace them only if there are more than n/2.
func Latest(all []Event, n int) []Event {
	if len(all) <= n {
		return slices.Clone(all)
	}
	keep := make([]bool, len(all))
	left := n
	for i := len(all) - 1; i >= 0 && left > n/2; i-- {
		if all[i].Severity != Info {
			keep[i] = true
			left--
		}
	}
	for i := len(all) - 1; i >= 0 && left > 0; i-- {
		if !keep[i] {
			keep[i] = true
			left--
		}
	}
	out := make([]Event, 0, n)
	for i, x := range all {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out
}

// since returns the events with a number above n, oldest first.
func (e *events) since(n int) []Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []Event
	for _, x := range e.all {
		if x.N > n {
			out = append(out, x)
		}
	}
	return out
}
