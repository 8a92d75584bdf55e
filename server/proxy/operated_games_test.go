package proxy

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
)

// teraEnd is a TERA client or server.
type teraEnd struct {
	net.Conn
	in, out interface{ XORKeyStream(dst, src []byte) }
}

func (e *teraEnd) send(t *testing.T, code uint16, body string) {
	t.Helper()
	data := []byte(teraMessage(code, body))
	e.out.XORKeyStream(data, data)
	if _, err := e.Write(data); err != nil {
		t.Fatal(err)
	}
}

func (e *teraEnd) expect(t *testing.T, code uint16, body string) {
	t.Helper()
	want := teraMessage(code, body)
	got := make([]byte, len(want))
	_, err := io.ReadFull(e.Conn, got)
	e.in.XORKeyStream(got, got)
	if err != nil || string(got) != want {
		t.Fatalf("%q arrives, not %q: %v", got, want, err)
	}
}

func teraMessage(code uint16, body string) string {
	b := binary.LittleEndian.AppendUint16(nil, uint16(4+len(body)))
	return string(binary.LittleEndian.AppendUint16(b, code)) + body
}

// shakeTERA exchanges keys through the proxy, with an independent cipher at each end.
func shakeTERA(t *testing.T, x *stage) (client, server *teraEnd) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	k := new(tera.Keys)
	for _, key := range []*[tera.KeySize]byte{&k.Client1, &k.Client2, &k.Server1, &k.Server2} {
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
	}
	for _, step := range []struct {
		from, to net.Conn
		data     string
	}{
		{x.server, x.client, "\x01\x00\x00\x00"},
		{x.client, x.server, string(k.Client1[:])},
		{x.server, x.client, string(k.Server1[:])},
		{x.client, x.server, string(k.Client2[:])},
		{x.server, x.client, string(k.Server2[:])},
	} {
		x.say(step.from, step.data)
		x.expect(step.to, step.data)
	}
	a, b := tera.NewSession(k, tera.CurrentConstants), tera.NewSession(k, tera.CurrentConstants)
	return &teraEnd{x.client, &a.ToClient, &a.ToServer}, &teraEnd{x.server, &b.ToServer, &b.ToClient}
}

// A TERA session with a real key exchange survives changes in both directions, and its recording reads as one session.
func TestOperateTERA(t *testing.T) {
	leaks(t)
	x := newStage(t, Config{
		Rewriter: func(transport.Conn) transport.Rewriter { return tera.NewRewriter(tera.Options{}) },
		Identify: func(_ transport.Conn, f *transport.Frame) {
			if len(f.Bytes) >= 4 {
				f.Key, f.HasKey = schema.Key{Dir: f.Dir, Code: uint32(binary.LittleEndian.Uint16(f.Bytes[2:]))}, true
			}
		},
		Record: &Record{Create: folder(t.TempDir())},
	})
	x.operate(true)
	client, server := shakeTERA(t, x)
	talk := func(note string) {
		t.Helper()
		for i := range 20 {
			client.send(t, 5000, fmt.Sprint(note, i))
			server.expect(t, 5000, fmt.Sprint(note, i))
			server.send(t, 6000, fmt.Sprint(note, i))
			client.expect(t, 6000, fmt.Sprint(note, i))
		}
	}
	client.send(t, 19900, "version")
	server.expect(t, 19900, "version")
	talk("unchanged")
	if open, _ := x.s.Conns(); open[0].Mode != "operating" {
		t.Fatalf("%+v", open[0])
	}
	x.intercept(ofCode(7000))
	x.rules(
		Rule{ID: "drop", On: true, Match: ofCode(7001), Action: RuleDrop},
		Rule{ID: "change", On: true, Match: ofCode(7002), Action: RuleReplace, Replace: func(f *transport.Frame) ([]byte, error) {
			return append(f.Bytes[:4:4], strings.Repeat("longer ", 100)...), nil // the length is updated
		}},
	)
	client.send(t, 7001, "gone")
	talk("after drop")
	client.send(t, 7002, "x")
	server.expect(t, 7002, strings.Repeat("longer ", 100))
	server.send(t, 7002, "y")
	client.expect(t, 7002, strings.Repeat("longer ", 100))
	talk("after change")
	client.send(t, 7000, "held")
	client.send(t, 5000, "behind")
	h := x.held(1)[0]
	eventually(t, "one waits behind it", func() bool { return x.s.State().Operate.Behind == 1 })
	if err := x.s.Send(0, schema.ToServer, transport.Outgoing{Bytes: []byte(teraMessage(5001, "before it"))}, "eve"); err != nil {
		t.Fatal(err)
	}
	server.expect(t, 5001, "before it")
	x.decide(h.ID, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(teraMessage(7003, "else"))}})
	server.expect(t, 7003, "else")
	server.expect(t, 5000, "behind")
	if err := x.s.Send(0, schema.ToClient, transport.Outgoing{Bytes: []byte(teraMessage(6001, "hello"))}, "eve"); err != nil {
		t.Fatal(err)
	}
	client.expect(t, 6001, "hello")
	talk("after injection")
	x.operate(false)
	talk("after switching off")
	x.end()

	var seen []string
	x.s.Log().Each(0, x.s.Log().Len(), func(_ int, e entryOf, data []byte) bool {
		if e.Flags != 0 && e.Kind == transport.Message && e.Code != 5000 { // 5000 waits behind another one, which is noted from half a millisecond on
			seen = append(seen, fmt.Sprint(e.Code, " ", len(data)))
		}
		return true
	})
	if got, want := strings.Join(seen, ", "), "7001 8, 7002 5, 7002 704, 7002 5, 7002 704, 5001 13, 7000 8, 7003 8, 6001 9"; got != want {
		t.Errorf("%s, want %s", got, want)
	}

	// The recording has the sent data: both streams can be deciphered to the end.
	var kinds [4]int
	var last string
	_, err := pcap.Read(strings.NewReader(string(files(t, x.s)[0])), packet.Options{New: func(transport.Conn) transport.Transport { return tera.New(tera.Options{}) }}, func(f *transport.Frame) {
		kinds[f.Kind]++
		last = string(f.Bytes)
	})
	if err != nil || kinds[transport.Message] != 1+5*2*20+3+4-1 || kinds[transport.Problem]+kinds[transport.Opaque] > 0 || last != teraMessage(6000, "after switching off19") {
		t.Errorf("%v, %v, last %q", err, kinds, last)
	}
}

// lossy is a socket that loses, duplicates and delays datagrams.
type lossy struct {
	net.Conn
	mu   sync.Mutex
	rng  *rand.Rand
	loss float64
}

func (l *lossy) Write(b []byte) (int, error) {
	l.mu.Lock()
	lost, twice, late := l.rng.Float64() < l.loss, l.rng.Float64() < l.loss, time.Duration(l.rng.IntN(3))*5*time.Millisecond
	l.mu.Unlock()
	b = append([]byte(nil), b...)
	send := func() { _, _ = l.Conn.Write(b) }
	switch {
	case lost:
	case late > 0 && l.loss > 0:
		time.AfterFunc(late, send)
	default:
		send()
	}
	if twice {
		send()
	}
	return len(b), nil
}

// gamer is a minimal SubSpace client or server: it numbers, retransmits, acknowledges and reorders packets.
type gamer struct {
	t      *testing.T
	write  func([]byte)
	cipher *subspace.Cipher

	mu     sync.Mutex
	number int32
	flight map[int32][]byte
	next   int32
	early  map[int32][]byte
	got    []string // reliable, in order
	heard  map[string]int
	core   [][]byte
}

func newGamer(t *testing.T, write func([]byte)) *gamer {
	return &gamer{t: t, write: write, flight: map[int32][]byte{}, early: map[int32][]byte{}, heard: map[string]int{}}
}

// put sends a datagram. The caller holds the lock.
func (g *gamer) put(data []byte) {
	if g.cipher != nil {
		sealed := make([]byte, len(data))
		g.cipher.Encrypt(sealed, data)
		data = sealed
	}
	g.write(data)
}

func (g *gamer) say(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.put([]byte(text))
}

// tell sends a reliable message.
func (g *gamer) tell(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	data := append(binary.LittleEndian.AppendUint32([]byte{0, 3}, uint32(g.number)), text...)
	g.flight[g.number] = data
	g.number++
	g.put(data)
}

// again retransmits unacknowledged packets.
func (g *gamer) again() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, data := range g.flight {
		g.put(data)
	}
}

func (g *gamer) receive(data []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cipher != nil {
		clear := make([]byte, len(data))
		g.cipher.Decrypt(clear, data)
		data = clear
	}
	g.read(append([]byte(nil), data...), false)
}

func (g *gamer) read(data []byte, reliable bool) {
	switch {
	case len(data) < 2 || data[0] != 0:
		if reliable {
			g.got = append(g.got, string(data))
		} else {
			g.heard[string(data)]++
		}
	case data[1] == 3:
		n := int32(binary.LittleEndian.Uint32(data[2:]))
		g.put(binary.LittleEndian.AppendUint32([]byte{0, 4}, uint32(n)))
		if n >= g.next && n < g.next+100 {
			g.early[n] = data[6:]
		}
		for g.early[g.next] != nil {
			inner := g.early[g.next]
			delete(g.early, g.next)
			g.next++
			g.read(inner, true)
		}
	case data[1] == 4:
		delete(g.flight, int32(binary.LittleEndian.Uint32(data[2:])))
	case data[1] == 14:
		for rest := data[2:]; len(rest) > 0; rest = rest[1+int(rest[0]):] {
			g.read(rest[1:1+int(rest[0])], reliable)
		}
	default:
		g.core = append(g.core, data)
	}
}

func (g *gamer) reliable() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.got...)
}

// game is a SubSpace client and server connected through a session.
type game struct {
	*stage
	client, server *gamer
}

// newGame returns a game whose datagrams are lost, duplicated and reordered on both sides of the proxy.
func newGame(t *testing.T, loss float64, key uint32, cfg Config) *game {
	t.Helper()
	var mu sync.Mutex
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(7, uint64(loss*100))) }
	up, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var to *net.UDPAddr
	server := newGamer(t, nil)
	back := &lossy{rng: rng()}
	server.write = func(b []byte) { _, _ = back.Write(b) }
	first := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		buf := make([]byte, 1<<16)
		for {
			n, from, err := up.ReadFromUDP(buf)
			if err != nil {
				return
			}
			mu.Lock()
			if to == nil {
				to = from
				back.Conn = sendTo{up, from}
				close(first)
			}
			mu.Unlock()
			server.receive(buf[:n])
		}
	})
	p := newProxy(t)
	inner := p.opts.Dial
	var leg *lossy
	p.opts.Dial = func(ctx context.Context, network string, a netip.AddrPort) (net.Conn, error) {
		c, err := inner(ctx, network, a)
		leg = &lossy{Conn: c, rng: rng()}
		return leg, err
	}
	cfg.Network, cfg.Pairs = "udp", []Pair{{"127.0.0.1:0", up.LocalAddr().String()}}
	cfg.Rewriter = func(transport.Conn) transport.Rewriter { return subspace.NewRewriter(subspace.Options{}) }
	g := &game{stage: &stage{t: t, s: start(t, p, cfg)}, server: server}
	c := dialUDP(t, g.s.State().Pairs[0].Listen)
	front := &lossy{Conn: c, rng: rng()}
	g.client = newGamer(t, func(b []byte) { _, _ = front.Write(b) })
	all.Go(func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			g.client.receive(buf[:n])
		}
	})
	quit := make(chan struct{})
	all.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				g.client.again()
				g.server.again()
			case <-quit:
				return
			}
		}
	})
	t.Cleanup(func() {
		close(quit)
		_ = c.Close()
		_ = up.Close()
		all.Wait()
	})
	hello := binary.LittleEndian.AppendUint32([]byte{0, 1}, -key)
	g.client.say(string(append(hello, 1, 0)))
	<-first
	eventually(t, "the handshake arrives", func() bool { server.mu.Lock(); defer server.mu.Unlock(); return len(server.core) == 1 })
	server.say(string(binary.LittleEndian.AppendUint32([]byte{0, 2}, key)))
	eventually(t, "the answer arrives", func() bool { g.client.mu.Lock(); defer g.client.mu.Unlock(); return len(g.client.core) == 1 })
	if key != 0 {
		for _, x := range []*gamer{g.client, g.server} {
			x.mu.Lock()
			x.cipher = subspace.NewCipher(key, subspace.Signed)
			x.mu.Unlock()
		}
	}
	for _, l := range []*lossy{back, front, leg} {
		l.mu.Lock()
		l.loss = loss
		l.mu.Unlock()
	}
	return g
}

// sendTo is the socket of a server with a single client.
type sendTo struct {
	*net.UDPConn
	to *net.UDPAddr
}

func (s sendTo) Write(b []byte) (int, error) { return s.WriteToUDP(b, s.to) }

func (g *game) arrives(at *gamer, want []string) {
	g.t.Helper()
	eventually(g.t, "all arrives", func() bool { return len(at.reliable()) >= len(want) })
	if got := at.reliable(); strings.Join(got, "|") != strings.Join(want, "|") {
		for i := range got {
			if i >= len(want) || got[i] != want[i] {
				g.t.Fatalf("message %d of %d is %q (%d are wanted)", i, len(got), got[i], len(want))
			}
		}
	}
}

// A SubSpace session over a bad network delivers each reliable message once and in order, with the requested changes.
func TestOperateSubSpace(t *testing.T) {
	for _, test := range []struct {
		loss float64
		key  uint32
	}{{0, 0}, {0, 0x12345678}, {0.2, 0}, {0.2, 0x12345678}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			leaks(t)
			record := &Record{Create: folder(t.TempDir())}
			g := newGame(t, test.loss, test.key, Config{Record: record})
			g.operate(true)
			g.rules(
				Rule{ID: "drop", On: true, Match: ofCode(0x21), Action: RuleDrop},
				Rule{ID: "change", On: true, Match: ofCode(0x22), Action: RuleReplace, Replace: func(f *transport.Frame) ([]byte, error) {
					return append([]byte{0x22}, strings.ToUpper(string(f.Bytes[1:]))...), nil
				}},
				Rule{ID: "late", On: true, Match: ofCode(0x23), Action: RuleDelay, Delay: 100 * time.Millisecond},
			)
			g.intercept(ofCode(0x24))
			var want [2][]string
			for i := range 30 {
				for way, from := range []*gamer{g.client, g.server} {
					from.tell(fmt.Sprintf("\x20plain %d", i))
					from.tell(fmt.Sprintf("\x21gone %d", i))
					from.tell(fmt.Sprintf("\x22changed %d", i))
					want[way] = append(want[way], fmt.Sprintf("\x20plain %d", i), fmt.Sprintf("\x22CHANGED %d", i))
				}
				g.client.say("\x25" + fmt.Sprint("loose ", i))
				time.Sleep(time.Millisecond) // the window of a receiver is limited
				if i%10 == 9 {
					g.arrives(g.server, want[0])
					g.arrives(g.client, want[1])
				}
			}
			g.client.tell("\x23late")
			g.client.tell("\x24held")
			g.client.tell("\x20behind")
			held := g.held(1)
			g.arrives(g.server, append(want[0], "\x23late"))
			time.Sleep(400 * time.Millisecond) // longer than the retransmission timeout of the sender
			if err := g.s.Send(0, schema.ToServer, transport.Outgoing{Bytes: []byte("\x26own")}, "eve"); err != nil {
				t.Fatal(err)
			}
			if err := g.s.Send(0, schema.ToClient, transport.Outgoing{Bytes: []byte("\x26own")}, "eve"); err != nil {
				t.Fatal(err)
			}
			g.arrives(g.server, append(want[0], "\x23late", "\x26own"))
			g.arrives(g.client, append(want[1], "\x26own"))
			g.decide(held[0].ID, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("\x24released")}})
			g.arrives(g.server, append(want[0], "\x23late", "\x26own", "\x24released", "\x20behind"))
			g.client.tell("\x20goes on")
			g.arrives(g.server, append(want[0], "\x23late", "\x26own", "\x24released", "\x20behind", "\x20goes on"))
			eventually(t, "all is acknowledged", func() bool {
				g.client.mu.Lock()
				defer g.client.mu.Unlock()
				return len(g.client.flight) == 0
			})
			g.server.mu.Lock()
			if test.loss == 0 && len(g.server.heard) != 30 {
				t.Errorf("%d loose messages arrive", len(g.server.heard))
			}
			g.server.mu.Unlock()
			stop(t, g.s)
			counts := map[string]int{}
			for _, row := range g.rows() {
				f := strings.Fields(row)
				if f[2] == "message" {
					counts[f[1]]++
				}
			}
			if got := counts["c2sD"]; got != 30 {
				t.Errorf("%d messages are dropped", got)
			}
			if counts["c2sMD"] != 31 || counts["c2sM"] != 31 || counts["s2cMD"] != 30 || counts["c2sI"] != 1 || counts["s2cI"] != 1 {
				t.Errorf("%v", counts)
			}
			// The recording has the data sent to the server: all messages can be read, in order.
			var got []string
			_, err := pcap.Read(strings.NewReader(string(files(t, g.s)[0])), packet.Options{New: func(transport.Conn) transport.Transport { return subspace.New(subspace.Options{}) }}, func(f *transport.Frame) {
				if f.Kind == transport.Message && f.Dir == schema.ToServer && f.Bytes[0] != 0x25 {
					got = append(got, string(f.Bytes))
				}
			})
			if want := append(want[0], "\x23late", "\x26own", "\x24released", "\x20behind", "\x20goes on"); err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%v, the recording has %d messages, %d are wanted\n%q", err, len(got), len(want), got)
			}
		})
	}
}

// At the end of a UDP session held messages pass, and nothing hangs.
func TestSubSpaceEnds(t *testing.T) {
	for _, way := range []string{"stop", "off", "again"} {
		t.Run(way, func(t *testing.T) {
			leaks(t)
			g := newGame(t, 0, 0, Config{})
			g.operate(true)
			g.intercept(ofCode(0x24))
			g.client.tell("\x24held")
			g.client.say("\x24loose")
			g.held(2)
			switch way {
			case "stop":
				stop(t, g.s)
			case "off":
				g.operate(false)
			case "again": // client and server restart: their old session is gone
				g.client.say("\x00\x01\x00\x00\x00\x00\x01\x00")
				eventually(t, "the request arrives", func() bool { g.server.mu.Lock(); defer g.server.mu.Unlock(); return len(g.server.core) == 2 })
				g.server.say("\x00\x02\x00\x00\x00\x00")
				eventually(t, "nothing is held", func() bool { return len(g.s.Held()) == 0 })
				if !hasEvent(g.s, "held messages are dropped") {
					t.Errorf("%+v", g.s.Events(0))
				}
				return
			}
			g.arrives(g.server, []string{"\x24held"})
			eventually(t, "the loose one arrives", func() bool {
				g.server.mu.Lock()
				defer g.server.mu.Unlock()
				return g.server.heard["\x24loose"] == 1
			})
		})
	}
}

// Datagrams of any kind, including empty ones, pass an observing rewriter unchanged, and break nothing in an operating one.
func TestDatagramsThroughRewriter(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, func(b []byte) [][]byte { return [][]byte{b} })
	s := start(t, newProxy(t), Config{
		Network: "udp", Pairs: []Pair{{"127.0.0.1:0", addr}},
		Rewriter: func(transport.Conn) transport.Rewriter { return subspace.NewRewriter(subspace.Options{}) },
	})
	c := dialUDP(t, s.State().Pairs[0].Listen)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 6, 8, 512, 1472, 65507} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		got, err := exchange(c, data)
		if err != nil || string(got) != string(data) {
			t.Fatalf("%d bytes: %d come back, %v", n, len(got), err)
		}
	}
	if err := s.Operate(true, "x"); err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		data := make([]byte, rng.IntN(20))
		for i := range data {
			data[i] = byte(rng.IntN(16))
		}
		_, _ = c.Write(data)
	}
	stop(t, s)
	if _, ended := s.Conns(); len(ended) != 1 || ended[0].Why != "the session ended" {
		t.Errorf("%+v", ended)
	}
}
