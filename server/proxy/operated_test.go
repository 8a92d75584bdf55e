package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// A message of these tests consists of a code from 1 to 9, a length, and that number of bytes.
func measure(_ schema.Dir, data []byte) (n, need int, key schema.Key, why transport.Reason) {
	if data[0] < 1 || data[0] > 9 {
		return 0, 0, key, func() string { return fmt.Sprintf("code %d", data[0]) }
	}
	key.Code = uint32(data[0])
	switch {
	case len(data) < 2:
		return 0, 2, key, nil
	case len(data) < 2+int(data[1]):
		return 0, 2 + int(data[1]), key, nil
	}
	return 2 + int(data[1]), 0, key, nil
}

func msg(code byte, body string) string { return string([]byte{code, byte(len(body))}) + body }

func newMUTA(transport.Conn) transport.Rewriter {
	return stream.NewRewriter(stream.Measured(measure))
}

func ofCode(code uint32) Match {
	return func(m *Message) bool { return m.Frame.HasKey && m.Frame.Key.Code == code }
}

// stage is a session with one TCP connection through it.
type stage struct {
	t              *testing.T
	s              *Session
	client, server *net.TCPConn
	audit          func() []Event
}

func newStage(t *testing.T, cfg Config) *stage {
	t.Helper()
	conns := make(chan *net.TCPConn, 1)
	release := make(chan struct{})
	addr := serve(t, func(c *net.TCPConn) { conns <- c; <-release })
	t.Cleanup(func() { close(release) })
	cfg.Network, cfg.Pairs = "tcp", []Pair{{"127.0.0.1:0", addr}}
	if cfg.Rewriter == nil {
		cfg.Rewriter = newMUTA
	}
	var mu sync.Mutex
	var told []Event
	cfg.Audit = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, e)
	}
	x := &stage{t: t, s: start(t, newProxy(t), cfg)}
	x.audit = func() []Event {
		mu.Lock()
		defer mu.Unlock()
		return append([]Event(nil), told...)
	}
	x.client = dial(t, x.s)
	x.server = <-conns
	_ = x.server.SetDeadline(time.Now().Add(time.Minute))
	return x
}

func (x *stage) operate(on bool) {
	x.t.Helper()
	if err := x.s.Operate(on, "ann"); err != nil {
		x.t.Fatal(err)
	}
}

func (x *stage) intercept(m Match) {
	x.t.Helper()
	if err := x.s.SetIntercept(Intercept{"some filter", m}, "ann"); err != nil {
		x.t.Fatal(err)
	}
}

func (x *stage) rules(r ...Rule) {
	x.t.Helper()
	if err := x.s.SetRules(r, "ann"); err != nil {
		x.t.Fatal(err)
	}
}

func (x *stage) say(from net.Conn, text string) {
	x.t.Helper()
	if _, err := io.WriteString(from, text); err != nil {
		x.t.Fatal(err)
	}
}

func (x *stage) expect(at net.Conn, want string) {
	x.t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(at, got); err != nil || string(got) != want {
		x.t.Fatalf("%q (%d) arrives, not %q: %v", got[:n], n, want, err)
	}
}

// silent checks that nothing arrives for a while.
func (x *stage) silent(at net.Conn) {
	x.t.Helper()
	_ = at.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	buf := make([]byte, 100)
	if n, err := at.Read(buf); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		x.t.Fatalf("%q arrives, %v", buf[:n], err)
	}
	_ = at.SetReadDeadline(time.Now().Add(time.Minute))
}

func (x *stage) end() {
	x.t.Helper()
	_ = x.client.CloseWrite()
	x.expectEnd(x.server)
	_ = x.server.CloseWrite()
	x.expectEnd(x.client)
	stop(x.t, x.s)
}

func (x *stage) expectEnd(at net.Conn) {
	x.t.Helper()
	if rest, err := io.ReadAll(at); err != nil || len(rest) > 0 {
		x.t.Fatalf("%q arrives at the end, %v", rest, err)
	}
}

// held waits until n messages are held.
func (x *stage) held(n int) []Held {
	x.t.Helper()
	eventually(x.t, fmt.Sprintf("%d held", n), func() bool { return len(x.s.Held()) == n })
	return x.s.Held()
}

func (x *stage) decide(id uint64, d transport.Decision) {
	x.t.Helper()
	if err := x.s.Decide(id, d, "bob"); err != nil {
		x.t.Fatal(err)
	}
}

// rows returns the frames of the log: direction, flags, text and note.
func (x *stage) rows() []string {
	var all []string
	l := x.s.Log()
	for i := range l.Len() {
		e, data, _ := l.Get(i)
		var flags string
		for _, f := range []struct {
			of   live.Flags
			mark string
		}{{live.Injected, "I"}, {live.Modified, "M"}, {live.Dropped, "D"}} {
			if e.Flags&f.of != 0 {
				flags += f.mark
			}
		}
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d %s%s %s %q %s", i+1, e.Dir, flags, e.Kind, data, l.Extra(e).Note)))
	}
	return all
}

func (x *stage) wantRows(want ...string) {
	x.t.Helper()
	got := x.rows()
	for i := range max(len(got), len(want)) {
		g, w := "none", "none"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		w = strings.ReplaceAll(w, "\x00", "")
		if before, after, ok := strings.Cut(w, "*"); g != w && !(ok && strings.HasPrefix(g, before) && strings.HasSuffix(g, after)) {
			x.t.Errorf("row\n%s, want\n%s", g, w)
		}
	}
}

// randomMessages returns random messages, mixed with invalid bytes if noise is set.
func randomMessages(rng *rand.Rand, size int, noise bool) []byte {
	var b []byte
	for len(b) < size {
		body := make([]byte, rng.IntN(200))
		for i := range body {
			body[i] = byte(rng.Uint32())
		}
		b = append(b, msg(byte(1+rng.IntN(9)), string(body))...)
		if noise && rng.IntN(100) == 0 {
			b = append(b, 0, 255, 0)
		}
	}
	return b
}

// Without decisions, operated or not, the data arrives unchanged, and the recording has it too.
func TestRewriterLeavesUnchanged(t *testing.T) {
	leaks(t)
	size := 1 << 20
	if testing.Short() {
		size = 1 << 17
	}
	for _, name := range []string{"observing", "operating", "asked", "switched"} {
		for _, noise := range []bool{false, true} {
			t.Run(fmt.Sprint(name, noise), func(t *testing.T) {
				x := newStage(t, Config{Record: &Record{Create: folder(t.TempDir())}})
				if name != "observing" {
					x.operate(true)
				}
				if name == "asked" || name == "switched" {
					x.intercept(func(*Message) bool { return false })
					x.rules(Rule{ID: "1", On: true, Match: ofCode(99), Action: RuleDrop}, Rule{ID: "2", On: true, Match: ofCode(1), Action: RuleNote, Note: "one"})
				}
				quit := make(chan struct{})
				var switching sync.WaitGroup
				if name == "switched" {
					switching.Go(func() {
						for on := false; ; on = !on {
							select {
							case <-quit:
								return
							default:
								_ = x.s.Operate(on, "ann")
							}
						}
					})
				}
				var sent [2][]byte
				for i := range sent {
					sent[i] = randomMessages(rand.New(rand.NewPCG(uint64(i), 1)), size, noise)
				}
				var got [2][]byte
				var all sync.WaitGroup
				for i, c := range []*net.TCPConn{x.client, x.server} {
					all.Go(func() {
						_, _ = io.Copy(c, bytes.NewReader(sent[i]))
						_ = c.CloseWrite()
					})
					all.Go(func() { got[1-i], _ = io.ReadAll(c) })
				}
				all.Wait()
				close(quit)
				switching.Wait()
				stop(t, x.s)
				for i := range sent {
					if !bytes.Equal(got[i], sent[i]) {
						t.Errorf("direction %d: %d bytes arrive, %d were sent, or others", i, len(got[i]), len(sent[i]))
					}
				}
				if got := sum(logged(x.s, schema.ToServer)); !noise && got != sum(bytes.NewReader(sent[0])) {
					t.Error("the log has wrong messages")
				}
				if from, all := sourced(x.s); name == "observing" && (from < all || all == 0) {
					t.Errorf("%d of %d messages know their packets", from, all)
				}
				f := read(t, files(t, x.s)[0])
				if len(f.streams) != 2 {
					t.Fatalf("%d streams", len(f.streams))
				}
				for key, stream := range f.streams {
					if stream != string(sent[0]) && stream != string(sent[1]) {
						t.Errorf("%s in the recording has %d bytes, or others", key, len(stream))
					}
				}
				if e := x.s.State(); e.Lost != 0 || e.Unlogged != 0 || e.Operate == nil || name != "switched" && name != "observing" && e.Operate.Who != "ann" {
					t.Errorf("%+v", e)
				}
			})
		}
	}
}

// sourced counts the messages whose bytes are in packets of the recording.
func sourced(s *Session) (from, all int) {
	l := s.Log()
	l.Each(0, l.Len(), func(_ int, e entryOf, data []byte) bool {
		if e.Kind != transport.Message {
			return true
		}
		all++
		n := 0
		for _, f := range l.Extra(e).From {
			n += int(f.Len)
		}
		if n == len(data) {
			from++
		}
		return true
	})
	return from, all
}

// Rules and the intercept can recognize that they see the same message, and share a cache for it.
func TestRulesShareAMessage(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{})
	type question struct {
		n    uint64
		text string
	}
	var asked []question
	match := func(m *Message) bool {
		if m.Memo == nil {
			m.Memo = &asked
		}
		all := m.Memo.(*[]question)
		*all = append(*all, question{m.N, string(m.Frame.Bytes[2:])})
		return true
	}
	x.rules(
		Rule{ID: "a", On: true, Match: match, Action: RuleNote, Note: "one"},
		Rule{ID: "b", On: true, Match: match, Action: RuleReplace, Replace: func(f *transport.Frame) ([]byte, error) {
			return []byte(msg(3, strings.ToUpper(string(f.Bytes[2:])))), nil
		}},
		Rule{ID: "c", On: true, Match: match, Action: RuleNote, Note: "two"},
	)
	x.intercept(func(m *Message) bool { return !match(m) })
	x.operate(true)
	x.say(x.client, msg(3, "x")+msg(3, "y"))
	x.expect(x.server, msg(3, "X")+msg(3, "Y"))
	if want := []question{{1, "x"}, {1, "x"}, {2, "X"}, {2, "X"}, {3, "y"}, {3, "y"}, {4, "Y"}, {4, "Y"}}; !slices.Equal(asked, want) {
		t.Errorf("%v, want %v", asked, want)
	}
}

// The decisions of rules and users take effect, and appear in log, recording and events.
func TestOperatePlaybook(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{Record: &Record{Create: folder(t.TempDir())}})
	x.say(x.client, msg(2, "before")) // off: no decisions
	x.rules(
		Rule{ID: "a", Name: "no twos", On: true, Match: ofCode(2), Action: RuleDrop},
		Rule{ID: "b", On: true, Match: ofCode(3), Action: RuleReplace, Replace: func(f *transport.Frame) ([]byte, error) {
			return []byte(msg(3, strings.ToUpper(string(f.Bytes[2:])))), nil
		}},
		Rule{ID: "c", On: true, Match: func(m *Message) bool { return strings.HasSuffix(string(m.Frame.Bytes), "XY") }, Action: RuleNote, Note: "seen as XY"},
		Rule{ID: "d", On: true, Match: ofCode(4), Action: RuleDelay, Delay: 30 * time.Millisecond},
		Rule{ID: "e", On: false, Match: ofCode(1), Action: RuleDrop},
	)
	x.intercept(ofCode(6))
	x.expect(x.server, msg(2, "before"))
	x.operate(true)

	x.say(x.client, msg(1, "one")+msg(2, "two")+msg(3, "xy")+msg(1, "end"))
	x.expect(x.server, msg(1, "one")+msg(3, "XY")+msg(1, "end"))
	x.say(x.server, msg(4, "late")+msg(1, "behind"))
	x.expect(x.client, msg(4, "late")+msg(1, "behind"))

	x.say(x.client, msg(6, "p")+msg(6, "q")+msg(6, "r"))
	held := x.held(3)
	x.silent(x.server)
	x.say(x.server, msg(1, "other way"))
	x.expect(x.client, msg(1, "other way"))
	x.decide(held[1].ID, transport.Decision{Action: transport.Drop})
	x.decide(held[2].ID, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(msg(7, "R"))}})
	x.silent(x.server)
	bad := transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("\x07\x05bad")}}
	if err := x.s.Decide(held[0].ID, bad, "bob"); err == nil || len(x.held(1)) != 1 {
		t.Errorf("%v", err)
	}
	x.decide(held[0].ID, transport.Decision{})
	x.expect(x.server, msg(6, "p")+msg(7, "R"))
	if err := x.s.Decide(held[0].ID, transport.Decision{}, "bob"); !errors.Is(err, ErrNotHeld) {
		t.Error(err)
	}
	for _, to := range []struct {
		dir schema.Dir
		at  net.Conn
	}{{schema.ToServer, x.server}, {schema.ToClient, x.client}} {
		if err := x.s.Send(0, to.dir, transport.Outgoing{Bytes: []byte(msg(5, "own"))}, "eve\x00\n"); err != nil {
			t.Fatal(err)
		}
		x.expect(to.at, msg(5, "own"))
	}
	for _, wrong := range []struct {
		conn int
		dir  schema.Dir
		data string
	}{{1, schema.ToServer, msg(5, "")}, {0, schema.Both, msg(5, "")}, {0, schema.ToServer, "\x05"}, {0, schema.ToServer, strings.Repeat("x", maxOwn+1)}} {
		if x.s.Send(wrong.conn, wrong.dir, transport.Outgoing{Bytes: []byte(wrong.data)}, "eve") == nil {
			t.Errorf("%+v is sent", wrong)
		}
	}
	x.operate(false)
	if err := x.s.Send(0, schema.ToServer, transport.Outgoing{Bytes: []byte(msg(5, ""))}, "eve"); !errors.Is(err, ErrOff) {
		t.Error(err)
	}
	x.say(x.client, msg(2, "after"))
	x.expect(x.server, msg(2, "after"))
	x.end()
	x.wantRows(
		`1 c2s message "\x02\x06before"`,
		`2 c2s message "\x01\x03one"`,
		`3 c2sD message "\x02\x03two" dropped by rule "no twos"`,
		`4 c2sMD message "\x03\x02xy" seen as XY; sent as frame 5`,
		`5 c2sM message "\x03\x02XY" was frame 4; changed by rule "b"`,
		`6 c2s message "\x01\x03end"`,
		`7 s2c message "\x04\x04late" rule "d": delayed by *`,
		`8 s2c message "\x01\x06behind" waited * for previous messages`,
		`9 s2c message "\x01\tother way"`,
		`10 c2s message "\x06\x01p" held for *; passed by bob`,
		`11 c2sD message "\x06\x01q" held for *; dropped by bob`,
		`12 c2sMD message "\x06\x01r" held for *; sent as frame 13`,
		`13 c2sM message "\a\x01R" was frame 12; changed by bob`,
		`14 c2sI message "\x05\x03own" injected by eve`,
		`15 s2cI message "\x05\x03own" injected by eve`,
		`16 c2s message "\x02\x05after"`,
	)
	f := read(t, files(t, x.s)[0])
	want := msg(2, "before") + msg(1, "one") + msg(3, "XY") + msg(1, "end") + msg(6, "p") + msg(7, "R") + msg(5, "own") + msg(2, "after")
	found := false
	for _, stream := range f.streams {
		found = found || stream == want
	}
	if !found {
		t.Errorf("%q", f.streams)
	}
	data := string(files(t, x.s)[0])
	for _, text := range []string{
		"wirebench: frame 3 is not sent; dropped by rule \"no twos\"; it came as 020374776f",
		"wirebench: frame 4 was changed; it came as 03027879, and is sent as 03025859",
		"wirebench: frame 15; injected by eve: 05036f776e",
	} {
		if !strings.Contains(data, text) {
			t.Errorf("the recording lacks %q", text)
		}
	}
	counts := map[string]int64{}
	for _, r := range x.s.Rules() {
		counts[r.ID] = r.Count
	}
	if fmt.Sprint(counts) != "map[a:1 b:1 c:1 d:1 e:0]" {
		t.Error(counts)
	}
	var told []string
	for _, e := range x.audit() {
		told = append(told, e.Who+": "+strings.ReplaceAll(e.Text, x.client.LocalAddr().String()+"-"+x.server.LocalAddr().String(), "it"))
	}
	if got, want := strings.Join(told, "\n"), `ann: rule "no twos" is on: drop
ann: rule "b" is on: replace
ann: rule "c" is on: note
ann: rule "d" is on: delay
ann: messages are held: some filter
ann: the session is operated: messages can be held, changed and injected
bob: held message 3 of it c2s is dropped, after the messages before it: 060171
bob: held message 4 of it c2s is sent as 070152, after the messages before it: 060172
bob: held message 2 of it c2s passes: 060170
eve: injected into it c2s: 05036f776e
eve: injected into it s2c: 05036f776e
ann: the session only observes`; got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
}

// Whichever way the hold of a message ends, it arrives once.
func TestHeldIsNotLost(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  Config
		do   func(x *stage)
	}{
		{"switched off", Config{}, func(x *stage) { x.held(2); x.operate(false) }},
		{"all passes", Config{}, func(x *stage) {
			x.held(2)
			if n := x.s.PassAll("ann"); n != 2 {
				x.t.Errorf("%d pass", n)
			}
		}},
		{"in time", Config{Limits: Limits{Hold: 20 * time.Millisecond}}, func(*stage) {}},
		{"both ends have ended", Config{}, func(x *stage) {
			x.held(2)
			_ = x.client.CloseWrite()
			x.silent(x.server)
			_ = x.server.CloseWrite()
		}},
		{"stop", Config{}, func(x *stage) {
			x.held(2)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			x.t.Cleanup(func() { cancel() })
			go func() { _ = x.s.Stop(ctx) }()
		}},
		{"stop at once", Config{}, func(x *stage) {
			x.held(2)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			go func() { _ = x.s.Stop(ctx) }()
		}},
		{"idle", Config{Limits: Limits{Idle: time.Second}}, func(*stage) {}},
		{"the client is gone", Config{}, func(x *stage) { x.held(2); _ = x.client.SetLinger(0); _ = x.client.Close() }},
		{"no room", Config{Limits: Limits{HeldMessages: 1}}, func(x *stage) { x.decide(x.held(1)[0].ID, transport.Decision{}) }},
		{"no memory", Config{Limits: Limits{HeldBytes: 1}}, func(*stage) {}},
		{"intercept is gone", Config{}, func(x *stage) {
			x.held(2)
			x.intercept(nil)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaks(t)
			x := newStage(t, test.cfg)
			x.operate(true)
			x.intercept(ofCode(6))
			x.say(x.client, msg(6, "a")+msg(1, "b")+msg(6, "c"))
			test.do(x)
			x.expect(x.server, msg(6, "a")+msg(1, "b")+msg(6, "c"))
			if n := len(x.s.Held()); n > 0 {
				t.Errorf("%d held", n)
			}
			_ = x.client.Close()
			_ = x.server.Close()
			stop(t, x.s)
			if n := x.s.Log().Len(); n != 3 {
				t.Errorf("%d rows: %q", n, x.rows())
			}
			if o := x.s.State().Operate; o.Held != 0 || o.HeldBytes != 0 || o.Delayed != 0 {
				t.Errorf("%+v", o)
			}
		})
	}
}

// A rule that fails leaves the message unchanged, and is reported.
func TestBrokenRules(t *testing.T) {
	for _, test := range []struct {
		name, event string
		rule        Rule
	}{
		{"error", "rule \"x\" failed, the message is unchanged: no such field", Rule{Match: ofCode(2), Action: RuleReplace, Replace: func(*transport.Frame) ([]byte, error) { return nil, errors.New("no such field") }}},
		{"panic", "no such thing", Rule{Match: ofCode(2), Action: RuleReplace, Replace: func(*transport.Frame) ([]byte, error) { panic("no such thing") }}},
		{"match", "no such match", Rule{Match: func(*Message) bool { panic("no such match") }, Action: RuleDrop}},
		{"no message", "needs", Rule{Match: ofCode(2), Action: RuleReplace, Replace: func(*transport.Frame) ([]byte, error) { return []byte("\x02\x09x"), nil }}},
		{"empty", "the message is empty", Rule{Match: ofCode(2), Action: RuleReplace, Replace: func(*transport.Frame) ([]byte, error) { return nil, nil }}},
		{"large", "1 to", Rule{Match: ofCode(2), Action: RuleReplace, Replace: func(*transport.Frame) ([]byte, error) { return make([]byte, maxOwn+1), nil }}},
	} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprint(test.name, held), func(t *testing.T) {
				leaks(t)
				x := newStage(t, Config{})
				x.operate(true)
				test.rule.ID, test.rule.On = "x", true
				x.rules(test.rule)
				if held {
					x.intercept(ofCode(2))
				}
				x.say(x.client, msg(2, "a")+msg(1, "b"))
				if held {
					x.decide(x.held(1)[0].ID, transport.Decision{})
				}
				x.expect(x.server, msg(2, "a")+msg(1, "b"))
				x.end()
				if !hasEvent(x.s, test.event) {
					t.Errorf("%+v", x.s.Events(0))
				}
				for _, row := range x.rows() {
					if strings.Contains(row, "c2sM") || strings.Contains(row, "c2sD") {
						t.Error(row)
					}
				}
			})
		}
	}
}

// A user sees the replacement of a message by rules, and can revert it.
func TestRuleThenPerson(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{})
	x.operate(true)
	x.rules(Rule{ID: "x", On: true, Match: ofCode(2), Action: RuleReplace, Replace: func(*transport.Frame) ([]byte, error) { return []byte(msg(2, "new")), nil }},
		Rule{ID: "y", On: true, Match: ofCode(2), Action: RuleDelay, Delay: time.Millisecond})
	x.intercept(ofCode(2))
	x.say(x.client, msg(2, "a")+msg(2, "b"))
	h := x.held(2)
	if string(h[0].With.Bytes) != msg(2, "new") || string(h[0].Frame.Bytes) != msg(2, "a") {
		t.Errorf("%+v", h[0])
	}
	x.decide(h[0].ID, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: h[0].Frame.Bytes}})
	x.decide(h[1].ID, transport.Decision{})
	x.expect(x.server, msg(2, "a")+msg(2, "new"))
	x.end()
	x.wantRows(`1 c2s message "\x02\x01a" held for *`, `2 c2sMD message "\x02\x01b" held for *; sent as frame 3`, `3 c2sM message "\x02\x03new" was frame 2; changed by rule "x"; passed by bob`)
}

func TestRulesAreChecked(t *testing.T) {
	x := newStage(t, Config{})
	ok := Rule{ID: "a", Match: ofCode(1), Action: RuleDrop}
	for _, bad := range [][]Rule{
		{{Match: ofCode(1), Action: RuleDrop}},
		{{ID: "a", Action: RuleDrop}},
		{{ID: "a", Match: ofCode(1)}},
		{{ID: "a", Name: strings.Repeat("x", 101), Match: ofCode(1), Action: RuleDrop}},
		{{ID: "a", Match: ofCode(1), Action: RuleDelay}},
		{{ID: "a", Match: ofCode(1), Action: RuleDelay, Delay: time.Hour}},
		{{ID: "a", Match: ofCode(1), Action: RuleReplace}},
		{{ID: "a", Match: ofCode(1), Action: RuleNote}},
		{ok, ok},
		make([]Rule, MaxRules+1),
	} {
		if x.s.SetRules(bad, "ann") == nil {
			t.Errorf("%d rules are accepted", len(bad))
		}
	}
	if n := len(x.s.Rules()); n != 0 {
		t.Errorf("%d rules", n)
	}
}

// A session without a rewriter refuses to be operated; an ended one cannot be switched on.
func TestNotOperated(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
	for _, err := range []error{
		s.Operate(true, "x"), s.SetIntercept(Intercept{}, "x"), s.SetRules(nil, "x"), s.Send(0, schema.ToServer, transport.Outgoing{}, "x"),
	} {
		mustRefuse(t, err, ErrNotOperated)
	}
	mustRefuse(t, s.Decide(1, transport.Decision{}, "x"), ErrNotHeld)
	if s.PassAll("x") != 0 || s.Held() != nil || s.State().Operate != nil {
		t.Error("a message is held")
	}
	x := newStage(t, Config{})
	x.end()
	if x.s.Operate(true, "x") == nil || x.s.State().Operate.On {
		t.Error("switched on after the end")
	}
}

// A connection without a rewriter passes; one whose rewriter fails is closed, without effect on others.
func TestBrokenRewriters(t *testing.T) {
	leaks(t)
	for _, none := range []func(transport.Conn) transport.Rewriter{
		func(transport.Conn) transport.Rewriter { return nil },
		func(transport.Conn) transport.Rewriter { panic("none") },
	} {
		x := newStage(t, Config{Rewriter: none})
		x.operate(true)
		x.say(x.client, "hello")
		x.expect(x.server, "hello")
		if open, _ := x.s.Conns(); open[0].Mode != "impossible" {
			t.Errorf("%+v", open)
		}
		x.end()
	}
	x := newStage(t, Config{Rewriter: func(c transport.Conn) transport.Rewriter { return failing{newMUTA(c)} }})
	other := dial(t, x.s)
	x.say(x.client, msg(1, "a"))
	x.expect(x.server, msg(1, "a"))
	x.say(x.client, msg(1, "fail"))
	if _, err := io.ReadAll(x.client); err == nil {
		t.Error("the connection is not reset")
	}
	x.say(other, msg(1, "b"))
	eventually(t, "the other connection continues", func() bool {
		open, _ := x.s.Conns()
		return len(open) == 1 && open[0].ToServer == 3
	})
}

type failing struct{ transport.Rewriter }

func (f failing) Feed(seg transport.Segment, r *transport.Relay) {
	if strings.Contains(string(seg.Bytes), "fail") {
		panic("failed")
	}
	f.Rewriter.Feed(seg, r)
}

// A stream behind a held message, or with a slow receiver, is not read without limit.
func TestHeldStreamWaits(t *testing.T) {
	for _, held := range []bool{true, false} {
		if !held && testing.Short() {
			continue
		}
		t.Run(fmt.Sprint(held), func(t *testing.T) {
			leaks(t)
			x := newStage(t, Config{})
			x.operate(true)
			x.intercept(ofCode(6))
			data := randomMessagesOf(1, 12<<20)
			all := append([]byte(msg(1, "a")), data...)
			if held {
				all[0] = 6
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = x.client.Write(all)
				_ = x.client.CloseWrite()
			}()
			var taken int64
			eventually(t, "reading stops", func() bool {
				time.Sleep(100 * time.Millisecond)
				before := taken
				taken = x.s.State().ToServer
				return taken > 0 && taken == before
			})
			if taken > 8<<20 {
				t.Errorf("%d bytes were taken", taken)
			}
			x.say(x.server, msg(1, "back"))
			x.expect(x.client, msg(1, "back"))
			if held {
				x.decide(x.held(1)[0].ID, transport.Decision{})
			}
			got := make([]byte, len(all))
			if _, err := io.ReadFull(x.server, got); err != nil || !bytes.Equal(got, all) {
				t.Fatalf("other bytes arrive, %v", err)
			}
			<-done
			x.end()
		})
	}
}

func randomMessagesOf(code byte, size int) []byte {
	b := randomMessages(rand.New(rand.NewPCG(1, 2)), size, false)
	for at := 0; at < len(b); at += 2 + int(b[at+1]) {
		b[at] = code
	}
	return b
}

// Concurrent use of all operations: nothing hangs, and messages are lost or duplicated only on request.
func TestOperateTogether(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{})
	x.operate(true)
	x.intercept(ofCode(6))
	x.rules(Rule{ID: "d", On: true, Match: ofCode(4), Action: RuleDelay, Delay: time.Millisecond})
	var others sync.WaitGroup
	quit := make(chan struct{})
	again := func(f func(i int)) {
		others.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-quit:
					return
				case <-time.After(time.Millisecond):
					f(i)
				}
			}
		})
	}
	again(func(i int) {
		for _, h := range x.s.Held() {
			_ = x.s.Decide(h.ID, transport.Decision{}, "ann")
		}
		if i%10 == 0 {
			x.s.PassAll("bob")
		}
	})
	again(func(i int) { _ = x.s.Operate(i%20 != 0, "eve") })
	again(func(int) { _ = x.s.SetIntercept(Intercept{"six", ofCode(6)}, "eve") })
	again(func(int) { x.s.State(); x.s.Rules(); x.s.Events(0) })
	sent := randomMessages(rand.New(rand.NewPCG(5, 5)), 1<<20, false)
	go func() {
		_, _ = x.client.Write(sent)
		_ = x.client.CloseWrite()
	}()
	got, err := io.ReadAll(x.server)
	close(quit)
	others.Wait()
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes arrive of %d, or others: %v", len(got), len(sent), err)
	}
	_ = x.server.CloseWrite()
	stop(t, x.s)
}

// The first message of a connection is judged too, however soon it comes.
func TestFirstMessageIsJudged(t *testing.T) {
	leaks(t)
	got := make(chan string)
	addr := serve(t, func(c *net.TCPConn) {
		data, _ := io.ReadAll(c)
		got <- string(data)
	})
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Rewriter: newMUTA})
	if err := s.Operate(true, "ann"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetRules([]Rule{{ID: "x", On: true, Match: ofCode(2), Action: RuleDrop}}, "ann"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				c := dial(t, s)
				_, _ = io.WriteString(c, msg(2, "a")+msg(1, "b"))
				_ = c.CloseWrite()
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			}
		})
	}
	for range 16 * 50 {
		if data := <-got; data != msg(1, "b") {
			t.Errorf("%q arrives", data)
		}
	}
	all.Wait()
	stop(t, s)
}
