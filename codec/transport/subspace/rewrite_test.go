package subspace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

var losses = []float64{0, 0.001, 0.02, 0.1, 0.4}

var keysOfSessions = []uint32{0, 0x12345678, 0x7F000001}

// TestRewriteWithoutDecisions: messages arrive exactly once and in order, whatever the network does and whenever the rewriter takes over.
func TestRewriteWithoutDecisions(t *testing.T) {
	for seed := range uint64(40) {
		loss := losses[seed%5]
		s := newSimulation(t, seed, loss, keysOfSessions[seed%3])
		when := s.rng.IntN(50)
		if seed%4 == 0 {
			when = 0
		}
		s.unchanged = true
		s.talk(60, func(i int) {
			if i == when {
				s.unchanged = false
				s.rw.Operate(true, s.time(), &s.relay)
				if m, why := s.rw.Mode(); m != transport.Operating {
					t.Fatalf("seed %d: %s (%s)", seed, m, why)
				}
			}
		})
		s.settle()
		what := fmt.Sprintf("seed %d, %.1f%% lost, taken over in round %d", seed, 100*loss, when)
		sameTexts(t, what+", at the server", s.server.got, s.client.sent)
		sameTexts(t, what+", at the client", s.client.got, s.server.sent)
		for _, p := range []struct{ from, to *peer }{{s.client, s.server}, {s.server, s.client}} {
			if m := among(p.to.heard, p.from.said); m != "" {
				t.Fatalf("%s: %q came and was not sent", what, m)
			}
			if loss == 0 && len(p.to.heard) != len(p.from.said) {
				t.Fatalf("%s: %d unreliable messages came of %d", what, len(p.to.heard), len(p.from.said))
			}
			if loss == 0 && len(p.to.syncs) > 0 && p.from.answers == 0 {
				t.Fatalf("%s: no sync was answered", what)
			}
		}
		if n := s.rw.Waiting(schema.ToServer) + s.rw.Waiting(schema.ToClient); n != 0 {
			t.Fatalf("%s: %d bytes wait for nothing", what, n)
		}
	}
}

// TestRewriteOfWhatWasNotSeen: numbers that were relayed without being fed are unknown until another session begins.
func TestRewriteOfWhatWasNotSeen(t *testing.T) {
	s := newSimulation(t, 1, 0, 0)
	feed := func(dir schema.Dir, lost int64, data ...byte) {
		s.rw.Feed(transport.Segment{Dir: dir, At: s.time(), Bytes: data, Lost: lost}, &s.relay)
	}
	feed(schema.ToServer, 0, 0, 3, 0, 0, 0, 0, 7)
	feed(schema.ToServer, 100)
	s.rw.Operate(true, s.time(), &s.relay)
	if m, why := s.rw.Mode(); m != transport.Impossible || why == "" {
		t.Fatalf("%s (%s)", m, why)
	}
	s.unchanged, s.came = true, []byte{7, 7}
	feed(schema.ToServer, 0, 7, 7)
	s.unchanged = false
	feed(schema.ToServer, 0, 0, 7)
	feed(schema.ToServer, 0, 0, 1, 1, 0, 0, 0, 1, 0)
	feed(schema.ToClient, 0, 0, 2, 1, 0, 0, 0)
	if m, why := s.rw.Mode(); m != transport.Operating {
		t.Fatalf("in the next session: %s (%s)", m, why)
	}
}

// fate is the decision about a reliable message.
type fate struct {
	text string // "": dropped
	held uint64
	own  bool
}

// decisions makes random decisions and records the expected messages.
type decisions struct {
	s       *simulation
	rows    [2][]*fate // of reliable messages, in order
	asked   map[string]*fate
	loose   map[string]bool // unreliable messages that may arrive
	dropped map[string]bool
	held    []*fate
	n       int
	told    *told
}

func newDecisions(s *simulation) *decisions {
	d := &decisions{s: s, asked: map[string]*fate{}, loose: map[string]bool{}, dropped: map[string]bool{}}
	s.relay.Decide = d.decide
	d.told = follow(s.t, &s.relay)
	return d
}

func wayOf(dir schema.Dir) int {
	if dir == schema.ToClient {
		return 1
	}
	return 0
}

func dirOf(way int) schema.Dir { return []schema.Dir{schema.ToServer, schema.ToClient}[way] }

func isReliableFrame(f *transport.Frame) bool {
	for _, v := range f.Via {
		if isReliable(v) {
			return true
		}
	}
	return false
}

func (d *decisions) changed() string {
	d.n++
	sizes := []int{0, 10, 300, 800, 4000, 70000}
	return fmt.Sprintf("\x07changed %d %s", d.n, strings.Repeat("c", d.s.rng.IntN(1+sizes[d.s.rng.IntN(1+d.n%6)])))
}

func (d *decisions) decide(id uint64, f *transport.Frame) (answer transport.Decision) {
	text := string(f.Bytes)
	n := d.s.rng.IntN(12)
	if !isReliableFrame(f) {
		if d.dropped[text] { // it is sent twice
			answer.Action = transport.Drop
			return answer
		} else if d.loose[text] {
			return answer
		}
		switch n {
		case 0:
			d.dropped[text] = true
			answer.Action = transport.Drop
		case 1: // its length may make it reliable
			m := fmt.Sprintf("\x07other %d", d.n)
			d.n++
			d.loose[m] = true
			d.dropped[text] = true
			answer = transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(m)}}
		case 2:
			d.loose[text] = true
			d.held = append(d.held, &fate{text: text, held: id, own: true})
			answer.Action = transport.Hold
		default:
			d.loose[text] = true
		}
		return answer
	}
	w := wayOf(f.Dir)
	v := &fate{text: text}
	d.rows[w] = append(d.rows[w], v)
	d.asked[text] = v
	switch n {
	case 0:
		v.text = ""
		answer.Action = transport.Drop
	case 1:
		v.text = d.changed()
		answer = transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(v.text)}}
	case 2:
		v.held = id
		d.held = append(d.held, v)
		answer.Action = transport.Hold
	}
	return answer
}

// release decides about a held message.
func (d *decisions) release() {
	k := d.s.rng.IntN(len(d.held))
	v := d.held[k]
	d.held = append(d.held[:k], d.held[k+1:]...)
	var answer transport.Decision
	switch n := d.s.rng.IntN(4); {
	case v.own:
	case n == 0:
		v.text = ""
		answer.Action = transport.Drop
	case n == 1:
		v.text = d.changed()
		answer = transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(v.text)}}
	}
	if err := d.s.rw.Release(v.held, answer, d.s.time(), &d.s.relay); err != nil {
		d.s.t.Fatal(err)
	}
	v.held = 0
}

// send injects a reliable message, and records its expected place: before the held ones.
func (d *decisions) send() {
	w := d.s.rng.IntN(2)
	m := d.changed()
	row, at := d.rows[w], len(d.rows[w])
	for i, v := range row {
		if v.held != 0 {
			at = i
			break
		}
	}
	d.rows[w] = append(row[:at:at], append([]*fate{{text: m, own: true}}, row[at:]...)...)
	d.told.own = &toldRow{w, m, true}
	if err := d.s.rw.Send(dirOf(w), transport.Outgoing{Bytes: []byte(m)}, d.s.time(), &d.s.relay); err != nil {
		d.s.t.Fatal(err)
	}
}

// TestRewriteAtRandom drops, replaces, holds and injects messages, over bad lines: the decided messages arrive in order and exactly once,
// and both ends get all acknowledgements that they wait for.
func TestRewriteAtRandom(t *testing.T) {
	for seed := range uint64(60) {
		loss := losses[seed%5]
		s := newSimulation(t, seed, loss, keysOfSessions[seed%3])
		d := newDecisions(s)
		early := seed%2 == 0
		when := 0
		s.client.strict, s.server.strict = early, early
		if !early {
			when = s.rng.IntN(40)
		}
		s.talk(60, func(i int) {
			if i == when {
				s.rw.Operate(true, s.time(), &s.relay)
			}
			if early && s.rng.IntN(6) == 0 {
				d.send()
			}
			for len(d.held) > 0 && s.rng.IntN(3) == 0 {
				d.release()
			}
		})
		s.run(s.now + 20*time.Second) // held messages do not block the rest, and end no session
		for len(d.held) > 0 {
			d.release()
		}
		s.settle()
		for len(d.held) > 0 { // those that came from behind
			d.release()
			s.settle()
		}
		what := fmt.Sprintf("seed %d, %.1f%% lost, from round %d", seed, 100*loss, when)
		for w, p := range []struct{ from, to *peer }{{s.client, s.server}, {s.server, s.client}} {
			var want []string
			if early {
				for _, v := range d.rows[w] {
					if v.text != "" {
						want = append(want, v.text)
					}
				}
				if n := len(d.rows[w]); n < len(p.from.sent) {
					t.Fatalf("%s: %d reliable messages were asked about, of %d", what, n, len(p.from.sent))
				}
			} else {
				for _, m := range p.from.sent {
					if v := d.asked[m]; v == nil {
						want = append(want, m)
					} else if v.text != "" {
						want = append(want, v.text)
					}
				}
			}
			sameTexts(t, what+", way "+fmt.Sprint(w), p.to.got, want)
			var listed []string
			for _, text := range d.told.rows[w] {
				if v := d.asked[text]; v != nil {
					text = v.text
				}
				if text != "" {
					listed = append(listed, text)
				}
			}
			if early {
				sameTexts(t, what+", told, way "+fmt.Sprint(w), listed, want)
			}
			for _, m := range p.to.heard {
				if d.dropped[m] && early {
					t.Fatalf("%s: %q was dropped and came", what, m)
				}
			}
			if loss == 0 && early {
				if want := len(d.loose); want == 0 {
					t.Fatalf("%s: nothing was said", what)
				}
			}
		}
		if n := s.rw.Waiting(schema.ToServer) + s.rw.Waiting(schema.ToClient); n != 0 {
			t.Fatalf("%s: %d bytes wait for nothing", what, n)
		}
	}
}

// TestRewriteReceives: a rewriter receives each number in the end, so it reports no gaps, and what comes early is as good as the rest.
func TestRewriteReceives(t *testing.T) {
	rw := subspace.NewRewriter(subspace.Options{})
	var frames []string
	at := time.Unix(1000, 0)
	r := transport.Relay{Emit: func(f *transport.Frame) {
		if !f.At.Equal(at) {
			t.Errorf("a frame of %v at %v", f.At, at)
		}
		frames = append(frames, fmt.Sprintf("%v %x %s", f.Kind, f.Bytes, f.Note))
	}}
	feed := func(dir schema.Dir, data ...byte) {
		at = at.Add(time.Millisecond)
		rw.Feed(transport.Segment{Dir: dir, At: at, Bytes: data}, &r)
	}
	feed(schema.ToServer, 0, 1, 1, 0, 0, 0, 1, 0)
	feed(schema.ToClient, 0, 2, 1, 0, 0, 0)
	feed(schema.ToServer, 0, 3, 1, 0, 0, 0, 7, 1)
	if n := rw.Waiting(schema.ToServer); n != 0 {
		t.Errorf("%d bytes wait although everything passes", n)
	}
	rw.Operate(true, at, &r)
	if n := rw.Waiting(schema.ToServer); n != 2 {
		t.Errorf("%d bytes wait", n)
	}
	feed(schema.ToServer, 0, 3, 40, 0, 0, 0, 7, 40)
	frames = nil
	for n := range byte(40) {
		feed(schema.ToServer, 0, 3, n, 0, 0, 0, 7, n)
	}
	for _, f := range frames {
		if f != "control 0003010000000701 repeated" && !strings.HasPrefix(f, "message 07") || strings.Contains(f, "early") {
			t.Error(f)
		}
	}
	if len(frames) != 42 {
		t.Errorf("%d frames", len(frames))
	}
	frames = nil
	feed(schema.ToServer, 0, 3, 5, 0, 0, 0, 9, 9) // its content does not matter any more
	feed(schema.ToServer, 0, 3, 50, 0, 0, 0, 7, 50)
	feed(schema.ToServer, 0, 7)
	feed(schema.ToServer, 0, 1, 2, 0, 0, 0, 1, 0)
	if got := fmt.Sprintf("%q", frames); got != `["control 0003050000000909 repeated" "control 0007 " "control 0001020000000100 "]` {
		t.Error(got)
	}
}
