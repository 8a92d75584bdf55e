package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// sentRows returns the bytes sent in a direction according to the log, in order.
func (x *stage) sentRows(dir schema.Dir) string {
	var b strings.Builder
	l := x.s.Log()
	l.Each(0, l.Len(), func(_ int, e entryOf, data []byte) bool {
		if e.Dir == dir && e.Flags&live.Dropped == 0 && (e.Kind == transport.Message || e.Flags&(live.Injected|live.Modified) != 0) {
			b.Write(data)
		}
		return true
	})
	return b.String()
}

// Whatever rules and users do, the log, the recording and the receiver have the same messages in the same order.
func TestLogIsAsSent(t *testing.T) {
	leaks(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			x := newStage(t, Config{Record: &Record{Create: folder(t.TempDir())}})
			x.rules(
				Rule{ID: "drop", On: true, Match: ofCode(1), Action: RuleDrop},
				Rule{ID: "replace", On: true, Match: ofCode(2), Action: RuleReplace, Replace: func(f *transport.Frame) ([]byte, error) {
					return []byte(msg(2, "instead of "+string(f.Bytes[2:min(len(f.Bytes), 20)]))), nil
				}},
				Rule{ID: "late", On: true, Match: ofCode(3), Action: RuleDelay, Delay: 3 * time.Millisecond},
				Rule{ID: "later", On: true, Match: ofCode(4), Action: RuleDelay, Delay: 7 * time.Millisecond},
			)
			x.intercept(ofCode(5))
			x.operate(true)
			got := [2]bytes.Buffer{}
			var all sync.WaitGroup
			for i, c := range []*net.TCPConn{x.server, x.client} {
				all.Go(func() { _, _ = io.Copy(&got[i], c) })
			}
			sent := [2][]byte{randomMessages(rng, 20_000, false), randomMessages(rng, 20_000, false)}
			for len(sent[0])+len(sent[1]) > 0 {
				for i, c := range []*net.TCPConn{x.client, x.server} {
					n := min(rng.IntN(400), len(sent[i]))
					x.say(c, string(sent[i][:n]))
					sent[i] = sent[i][n:]
				}
				for _, h := range x.s.Held() {
					switch rng.IntN(8) {
					case 0:
						x.decide(h.ID, transport.Decision{})
					case 1:
						x.decide(h.ID, transport.Decision{Action: transport.Drop})
					case 2:
						x.decide(h.ID, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(msg(8, "other"))}})
					case 3:
						x.decide(h.ID, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("\x08\x01r"), Raw: true}})
					}
				}
				if rng.IntN(3) == 0 {
					_ = x.s.Send(0, schema.ToServer+schema.Dir(rng.IntN(2)), transport.Outgoing{Bytes: []byte(msg(9, "own"))}, "eve")
				}
			}
			eventually(t, "nothing is held", func() bool { x.s.PassAll("bob"); return x.s.State().Operate.Delayed == 0 && len(x.s.Held()) == 0 })
			_ = x.client.CloseWrite()
			_ = x.server.CloseWrite()
			all.Wait()
			if o := x.s.State().Operate; o.Behind != 0 || o.Held != 0 {
				t.Errorf("at the end %+v", o)
			}
			stop(t, x.s)
			recorded := map[string]bool{}
			for _, stream := range read(t, files(t, x.s)[0]).streams {
				recorded[stream] = true
			}
			for i, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
				arrived := got[i].String()
				if listed := x.sentRows(dir); listed != arrived {
					at := 0
					for at < min(len(listed), len(arrived)) && listed[at] == arrived[at] {
						at++
					}
					t.Errorf("%s: %d bytes are listed, %d arrive, the same up to %d", dir, len(listed), len(arrived), at)
				}
				if !recorded[arrived] {
					t.Errorf("%s: the recording differs", dir)
				}
			}
		})
	}
}

// Messages waiting behind a held one are counted, and listed only when they are sent.
func TestBehindHeld(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{})
	x.intercept(ofCode(6))
	x.operate(true)
	x.say(x.client, msg(1, "a")+msg(6, "b")+msg(1, "c")+msg(1, "d")+msg(6, "e")+msg(1, "f")+"\x01")
	x.expect(x.server, msg(1, "a"))
	x.held(2)
	eventually(t, "three wait behind", func() bool { return x.s.State().Operate.Behind == 3 })
	held := x.s.Held()
	if held[0].Behind != 4 || held[1].Behind != 1 {
		t.Errorf("%d and %d wait behind them", held[0].Behind, held[1].Behind)
	}
	if err := x.s.Send(0, schema.ToServer, transport.Outgoing{Bytes: []byte(msg(5, "own"))}, "eve"); err != nil {
		t.Fatal(err)
	}
	x.expect(x.server, msg(5, "own"))
	eventually(t, "two are listed", func() bool { return x.s.Log().Len() == 2 })
	x.decide(held[1].ID, transport.Decision{})
	if o := x.s.State().Operate; o.Held != 1 || o.Behind != 4 || x.s.Held()[0].Behind != 4 {
		t.Errorf("%+v", o)
	}
	x.decide(held[0].ID, transport.Decision{})
	x.expect(x.server, msg(6, "b")+msg(1, "c")+msg(1, "d")+msg(6, "e")+msg(1, "f"))
	if o := x.s.State().Operate; o.Held != 0 || o.Behind != 0 {
		t.Errorf("%+v", o)
	}
	x.say(x.client, "\x01g")
	x.expect(x.server, "\x01\x01g")
	x.end()
	x.wantRows(
		`1 c2s message "\x01\x01a"`,
		`2 c2sI message "\x05\x03own" injected by eve`,
		`3 c2s message "\x06\x01b" held for *`,
		`4 c2s message "\x01\x01c"*`,
		`5 c2s message "\x01\x01d"*`,
		`6 c2s message "\x06\x01e" held for *`,
		`7 c2s message "\x01\x01f"*`,
		`8 c2s message "\x01\x01g"`,
	)
}

// An injected message that waits for the end of the current message comes after it in the log, too.
func TestInjectedBehindUnderWay(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{})
	x.say(x.client, "\x01\x05ab") // passes, since the session is not operated
	x.expect(x.server, "\x01\x05ab")
	x.operate(true)
	if err := x.s.Send(0, schema.ToServer, transport.Outgoing{Bytes: []byte(msg(5, "own"))}, "eve"); err != nil {
		t.Fatal(err)
	}
	x.rules(Rule{ID: "1", On: true, Match: ofCode(1), Action: RuleDrop})
	x.say(x.client, "cde"+msg(1, "gone")+msg(2, "end"))
	x.expect(x.server, "cde"+msg(5, "own")+msg(2, "end"))
	x.end()
	x.wantRows(
		`1 c2s message "\x01\x05abcde"`,
		`2 c2sI message "\x05\x03own" injected by eve`,
		`3 c2sD message "\x01\x04gone" dropped by rule "1"`,
		`4 c2s message "\x02\x03end"`,
	)
}

// The log, the events and the recording have the bytes as sent, with the fields set by the protocol.
func TestLoggedAsFitted(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{
		Rewriter: func(transport.Conn) transport.Rewriter { return tera.NewRewriter(tera.Options{}) },
		Identify: func(_ transport.Conn, f *transport.Frame) {
			f.Key, f.HasKey = schema.Key{Dir: f.Dir, Code: uint32(binary.LittleEndian.Uint16(f.Bytes[2:]))}, true
		},
		Record: &Record{Create: folder(t.TempDir())},
	})
	x.operate(true)
	client, server := shakeTERA(t, x)
	client.send(t, 19900, "version")
	server.expect(t, 19900, "version")
	for i := range 20 {
		client.send(t, 5000, fmt.Sprint(i))
		server.expect(t, 5000, fmt.Sprint(i))
		server.send(t, 6000, fmt.Sprint(i))
		client.expect(t, 6000, fmt.Sprint(i))
	}
	for _, asked := range []string{"\x00\x00\x88\x13", "\x09\x00\x88\x13"} {
		if err := x.s.Send(0, schema.ToServer, transport.Outgoing{Bytes: []byte(asked)}, "eve"); err != nil {
			t.Fatal(err)
		}
		server.expect(t, 5000, "")
	}
	x.intercept(ofCode(7000))
	for _, asked := range []string{"\x00\x00\x59\x1bother", "\x00\x00\x58\x1bheld"} { // the second equals the received one except for the length
		client.send(t, 7000, "held")
		x.decide(x.held(1)[0].ID, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(asked)}})
	}
	server.expect(t, 7001, "other")
	server.expect(t, 7000, "held")
	x.end()
	rows := strings.Join(x.rows(), "\n")
	for _, want := range []string{
		"c2sI message \"\\x04\\x00\\x88\\x13\" injected by eve\n",
		"c2sM message \"\\t\\x00Y\\x1bother\" was frame ",
		"c2s message \"\\b\\x00X\\x1bheld\" held for ",
	} {
		if !strings.Contains(rows, want) {
			t.Errorf("no row has %q in\n%s", want, rows[max(0, len(rows)-700):])
		}
	}
	var told []string
	for _, e := range x.audit() {
		told = append(told, e.Text)
	}
	text := strings.Join(told, "\n") + string(files(t, x.s)[0])
	for _, want := range []string{": 04008813", "is sent as 0900591b6f74686572", "injected by eve: 04008813"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, strings.Join(told, "\n"))
		}
	}
	if strings.Contains(text, "00008813") || strings.Contains(text, "09008813") {
		t.Error("the requested bytes are logged instead of the sent ones")
	}
}

// A connection that cannot be operated yet is reported, in the events and in the list.
func TestOperateNotYet(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{Rewriter: func(transport.Conn) transport.Rewriter { return tera.NewRewriter(tera.Options{}) }})
	x.intercept(ofCode(5))
	x.operate(true)
	eventually(t, "an event and a row", func() bool {
		rows := x.rows()
		return hasEvent(x.s, "not operated yet") && len(rows) == 1 && strings.Contains(rows[0], "not operated yet")
	})
	x.end()
}

// stuck is a rewriter that blocks in Feed.
type stuck struct {
	transport.Rewriter
	free <-chan struct{}
}

func (s stuck) Feed(seg transport.Segment, r *transport.Relay) {
	<-s.free
	s.Rewriter.Feed(seg, r)
}

// In a session that is not operated data is sent before it is decoded, and is decoded nevertheless.
func TestOffRelaysFirst(t *testing.T) {
	leaks(t)
	free := make(chan struct{})
	x := newStage(t, Config{
		Rewriter: func(c transport.Conn) transport.Rewriter { return stuck{newMUTA(c), free} },
		Record:   &Record{Create: folder(t.TempDir())},
	})
	up, down := randomMessages(rand.New(rand.NewPCG(1, 1)), 1<<20, false), randomMessages(rand.New(rand.NewPCG(2, 1)), 1<<20, false)
	var all sync.WaitGroup
	for _, way := range []struct {
		from, to *net.TCPConn
		data     []byte
	}{{x.client, x.server, up}, {x.server, x.client, down}} {
		all.Go(func() { _, _ = way.from.Write(way.data) })
		all.Go(func() {
			got := make([]byte, len(way.data))
			if _, err := io.ReadFull(way.to, got); err != nil || !bytes.Equal(got, way.data) {
				t.Errorf("other bytes arrive: %v", err)
			}
		})
	}
	all.Wait()
	if n := x.s.Log().Len(); n != 0 {
		t.Errorf("%d frames were seen by a blocked rewriter", n)
	}
	close(free)
	x.end()
	if x.sentRows(schema.ToServer) != string(up) || x.sentRows(schema.ToClient) != string(down) {
		t.Error("the log has wrong messages")
	}
	if from, all := sourced(x.s); from < all || all == 0 {
		t.Errorf("%d of %d messages know their packets", from, all)
	}
}

// Data not decoded in time passes all the same, is recorded and counted; messages are found again after it.
func TestOffTooSlow(t *testing.T) {
	leaks(t)
	free := make(chan struct{})
	x := newStage(t, Config{
		Limits:   Limits{QueueBytes: 256 << 10},
		Rewriter: func(c transport.Conn) transport.Rewriter { return stuck{newMUTA(c), free} },
	})
	data := randomMessages(rand.New(rand.NewPCG(1, 1)), 1<<20, false)
	go func() { _, _ = x.client.Write(data) }()
	x.expect(x.server, string(data))
	close(free)
	if s := x.s.State(); s.Lost == 0 || !saysEvent(x.s, "not decoded in time") {
		t.Errorf("%+v", s)
	}
	if x.s.op.backlog.Load() > 256<<10 {
		t.Error("the queue exceeds its limit")
	}
	eventually(t, "all is read", func() bool { return x.s.op.backlog.Load() == 0 })
	x.operate(true)
	x.intercept(ofCode(6))
	x.say(x.client, msg(1, "a")+msg(1, "b")+msg(1, "c")+msg(1, "d")+msg(1, "e")) // it finds messages again
	x.expect(x.server, msg(1, "a")+msg(1, "b")+msg(1, "c")+msg(1, "d")+msg(1, "e"))
	x.say(x.client, msg(6, "held"))
	x.silent(x.server)
	x.decide(x.held(1)[0].ID, transport.Decision{})
	x.expect(x.server, msg(6, "held"))
	x.end()
}

// Empty datagrams pass, operated or not, and are listed and recorded.
func TestEmptyDatagrams(t *testing.T) {
	leaks(t)
	for _, how := range []string{"observed", "operable", "operated"} {
		on := how == "operated"
		server := listenUDP(t)
		_ = server.SetDeadline(time.Now().Add(time.Minute))
		cfg := Config{
			Network: "udp", Pairs: []Pair{{"127.0.0.1:0", server.LocalAddr().String()}},
			Transport: func(transport.Conn) transport.Transport { return subspace.New(subspace.Options{}) },
		}
		if how != "observed" {
			cfg.Rewriter = func(transport.Conn) transport.Rewriter { return subspace.NewRewriter(subspace.Options{}) }
		}
		s := start(t, newProxy(t), cfg)
		if on {
			if err := s.Operate(on, "ann"); err != nil {
				t.Fatal(err)
			}
		}
		c := dialUDP(t, s.State().Pairs[0].Listen)
		buf := make([]byte, 10)
		for _, data := range []string{"", "\x00\x01\x00\x00\x00\x00\x01\x00", "", "a", ""} {
			_, _ = c.Write([]byte(data))
			n, from, err := server.ReadFromUDPAddrPort(buf)
			if err != nil || string(buf[:n]) != data {
				t.Fatalf("%s: %q arrives as %q, %v", how, data, buf[:n], err)
			}
			_, _ = server.WriteToUDPAddrPort([]byte(""), from)
			if n, err := c.Read(buf); err != nil || n != 0 {
				t.Fatalf("%s: nothing comes back as %q, %v", how, buf[:n], err)
			}
		}
		stop(t, s)
		blank := 0
		for i := range s.Log().Len() {
			e, data, _ := s.Log().Get(i)
			var f transport.Frame
			s.Log().Frame(i, e, data, &f)
			if len(f.Bytes) == 0 && f.Kind == transport.Control && f.Note == "a datagram without bytes" {
				blank++
			}
		}
		if blank != 8 { // 3 to the server and 5 to the client
			t.Errorf("%s: %d datagrams without bytes are listed", how, blank)
		}
	}
}

// The errors of an upstream that is down are one event, whatever the port of our socket.
func TestUpstreamDownIsOneEvent(t *testing.T) {
	leaks(t)
	for _, operable := range []bool{false, true} {
		server := listenUDP(t)
		cfg := Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", server.LocalAddr().String()}}}
		if operable {
			cfg.Rewriter = func(transport.Conn) transport.Rewriter { return subspace.NewRewriter(subspace.Options{}) }
		}
		s := start(t, newProxy(t), cfg)
		_ = server.Close()
		count := func() (n, rows int) {
			for _, e := range s.Events(0) {
				if e.Severity == Failure {
					n += e.Count
					rows++
				}
			}
			return n, rows
		}
		for i := range 3 {
			c := dialUDP(t, s.State().Pairs[0].Listen)
			_, _ = c.Write([]byte("a"))
			eventually(t, "a failure", func() bool { n, _ := count(); return n > i })
		}
		if _, rows := count(); rows != 1 {
			t.Errorf("%+v", s.Events(0))
		}
		stop(t, s)
	}
}

// Each owner sees only the refusals of its own sessions.
func TestRefusedOfOwner(t *testing.T) {
	p := newProxy(t)
	for _, owner := range []string{"a", "b", "a"} {
		_, err := p.Start(t.Context(), Config{Owner: owner, Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", "10.9.8.7:1"}}, Name: "x"})
		if !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
	}
	for owner, want := range map[string]int{"a": 2, "b": 1, "": 0, "c": 0} {
		n := 0
		for _, e := range p.Events(owner, 0) {
			n += e.Count
		}
		if n != want {
			t.Errorf("%q sees %d refusals, not %d", owner, n, want)
		}
	}
}
