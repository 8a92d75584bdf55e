package rooms

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"wirebench/server/collab"
)

// While the text of a project is busy, with somebody waiting to join it, and while another one takes long to open, texts of other projects
// are opened and changed, and changes in them are confirmed.
func TestNoLockCrossesProjects(t *testing.T) {
	busy, other := newLibrary(t, map[string]string{name: "uint32 id\n", "C_B.1.def": "uint32 b\n"}), newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := newSet(t)
	ann := busy.join(t, s, name, "ann")
	ann.room0().mu.Lock() // as while a change is mapped
	joins := make(chan struct{})
	go func() {
		defer close(joins)
		if m, err := s.Join(t.Context(), busy.Workspace, name, Person{Name: "second"}, Have{}); err == nil {
			m.Leave()
		}
	}()
	opening := place{busy.Workspace, "C_B.1.def"}
	slot, mine, err := s.enter(opening, true) // as while a log is read
	if err != nil || !mine {
		t.Fatal(err)
	}
	waits, stop := context.WithCancel(t.Context())
	opened := make(chan error, 1)
	go func() {
		_, err := s.Join(waits, busy.Workspace, "C_B.1.def", Person{Name: "third"}, Have{})
		opened <- err
	}()
	time.Sleep(50 * time.Millisecond) // until they wait
	done := make(chan struct{})
	go func() {
		defer close(done)
		bob := other.join(t, s, name, "bob")
		bob.replace("id", "account")
		bob.has("uint32 account\n")
		s.People("x")
		s.Open()
		bob.Leave()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("a text of another project waits for a busy one")
	}
	stop()
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("joining a text that is being opened: %v", err)
	}
	s.leave(opening, slot)
	ann.room0().mu.Unlock()
	<-done
	<-joins
	if m, err := s.Join(t.Context(), busy.Workspace, "C_B.1.def", Person{}, Have{}); err != nil {
		t.Error(err)
	} else {
		m.Leave()
	}
}

func (c *client) room0() *Room { return c.Member.room }

// Changes that cost too much are refused with the reason, their person waits for the next message, and nobody else does. The page then
// merges its text, and nothing is lost.
func TestCostlyChanges(t *testing.T) {
	const units = 2000
	text := "# " + strings.Repeat("x", units) + "\nuint32 id\n"
	l := newLibrary(t, map[string]string{name: text})
	s := newSet(t)
	m, err := s.Join(t.Context(), l.Workspace, name, Person{Key: "eve", Name: "eve", Writes: true}, Have{})
	if err != nil {
		t.Fatal(err)
	}
	eve := &client{Member: m, t: t, name: "eve"}
	eve.next()
	ann := l.join(t, s, name, "ann")
	const most = 1 << 16
	s.works().AtOnce, s.works().PerSecond = 2*most, 1
	ann.room0().mu.Lock()
	ann.room0().doc.Most = most
	ann.room0().mu.Unlock()
	base, was := eve.text.String(), eve.version
	for i := range 20 {
		ann.replace("uint32", "uint32 ")
		ann.until("it is confirmed", func() bool { return ann.version > i })
	}
	var every collab.Change
	for range units / 2 {
		every = append(every, collab.Span{Len: 1, Keep: true}, collab.Span{Len: 1, Text: collab.Text{'y'}})
	}
	every = append(every, collab.Span{Len: len(text) - units, Keep: true})
	err = eve.Push("eve", was, []collab.Change{every, every, every, every, every, every, every, every, every, every, every, every, every, every})
	if !errors.Is(err, collab.ErrWork) {
		t.Fatalf("%v", err)
	}
	if s.works().Wait("eve") > 0 {
		t.Error("one message uses up what a person may do at once")
	}
	for range 2 {
		_ = eve.Push("eve", was, []collab.Change{every, every, every, every, every, every})
	}
	if s.works().Wait("eve") == 0 || s.works().Wait(ann.Key) > 0 {
		t.Errorf("eve waits %v, ann waits %v", s.works().Wait("eve"), s.works().Wait(ann.Key))
	}
	waits, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Wait(waits, "eve", 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the next message does not wait: %v", err)
	}
	eve.Restart(err.Error())
	for {
		m, err := eve.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		eve.take(m)
		if m.Start != nil && m.Start.Text != nil {
			if !strings.Contains(m.Start.Why, "one by one") {
				t.Errorf("the reason is %q", m.Start.Why)
			}
			break
		}
	}
	if err := eve.Merge("eve", base, strings.Replace(base, "id", "account", 1)); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(ann.text.String(), "id", "account", 1)
	ann.has(want)
	if got, err := os.ReadFile(l.files + "/" + name); err != nil || len(got) == 0 {
		t.Error(err)
	}
}

// Selections are sampled: somebody who sends thousands delays neither the changes of others nor their confirmations, and the latest one
// arrives.
func TestPresenceIsSampled(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\nstring name\n"})
	s := newSet(t)
	ann, bob := l.join(t, s, name, "ann"), l.join(t, s, name, "bob")
	begun := time.Now()
	const points = 5000
	news, confirmed := 0, 0
	read := func(until func() bool) {
		for !until() {
			m, err := ann.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ann.take(m)
			if m.People != nil {
				news++
			}
			confirmed += len(m.Updates)
		}
	}
	for i := range points {
		bob.Point(0, i%7, i%11)
		bob.LookAt(Look{"c", uint64(i + 1)})
		if i == points/2 {
			ann.replace("id", "account")
		}
	}
	bob.Point(0, 3, 9)
	bob.LookAt(Look{"c", 1 << 40})
	read(func() bool {
		return confirmed > 0 && len(ann.people) == 1 && ann.people[0].Look != nil && ann.people[0].Look.Frame == 1<<40 && ann.people[0].Anchor == 3 && ann.people[0].Head != 9
	})
	if most := 3 + int(time.Since(begun)/peopleTime); news > most {
		t.Errorf("%d news of people, at most %d", news, most)
	}
	if ann.people[0].Head != 14 { // after "account", which is longer than "id"
		t.Errorf("%+v", ann.people[0])
	}
}
