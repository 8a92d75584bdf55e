package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/cmd/wirebench/demo"
	"wirebench/server/wsconn"
)

// watched are the messages of a live stream, by direction.
type watched struct {
	messages [2][]string // in hex
	missed   int
	wrong    []listedFrame // unexpected frames
	end      chan struct{}
}

// watch reads the live stream of a workspace until its session ends.
func watch(t *testing.T, addr, workspace string) *watched {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	conn, err := wsconn.Dial(ctx, "ws://"+addr+"/ws/"+workspace+"/live?since=0&value=1", nil, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{end: make(chan struct{})}
	go func() {
		defer close(w.end)
		defer conn.Drop()
		for {
			text, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var b struct {
				Frames []listedFrame
				Missed int
			}
			if err := json.Unmarshal(text, &b); err != nil {
				w.wrong = append(w.wrong, listedFrame{Kind: err.Error()})
				return
			}
			w.missed += b.Missed
			for _, f := range b.Frames {
				w.take(f)
			}
		}
	}()
	return w
}

func (w *watched) take(f listedFrame) {
	switch {
	case f.Kind == "problem" || f.Kind == "opaque" || len(f.From) == 0 || f.Kind == "message" && f.Status != "ok":
		w.wrong = append(w.wrong, f)
	case f.Kind == "message" && f.Dir == "c2s":
		w.messages[0] = append(w.messages[0], f.Hex)
	case f.Kind == "message":
		w.messages[1] = append(w.messages[1], f.Hex)
	}
}

// stopRelaying ends all sessions of a workspace.
func stopRelaying(t *testing.T, addr, workspace string) {
	t.Helper()
	var all struct {
		Proxies []struct {
			ID      string
			Running bool
		}
	}
	_, body := get(t, "http://"+addr+"/api/"+workspace+"/proxies")
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatalf("%v %s", err, body)
	}
	var ids []string
	for _, p := range all.Proxies {
		if p.Running {
			ids = append(ids, p.ID)
		}
	}
	req, err := http.NewRequest("DELETE", "http://"+addr+"/api/"+workspace+"/proxies?id="+strings.Join(ids, ","), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		t.Fatalf("stop: %s", res.Status)
	}
}

// recorded returns the messages of the newest capture of a workspace; the other capture is the sample.
func recorded(t *testing.T, addr, workspace string) (messages [2][]string) {
	t.Helper()
	var all struct{ Captures []struct{ ID string } }
	_, body := get(t, "http://"+addr+"/api/"+workspace+"/captures")
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Captures) != 2 {
		t.Fatalf("captures: %s", body)
	}
	w := watched{}
	for from := 0; ; {
		var page struct {
			Frames []listedFrame
			Done   bool
		}
		_, body := get(t, fmt.Sprintf("http://%s/api/%s/captures/%s/frames?count=1000&from=%d", addr, workspace, all.Captures[0].ID, from))
		if err := json.Unmarshal([]byte(body), &page); err != nil || !page.Done {
			t.Fatalf("frames: %.300s", body)
		}
		for _, f := range page.Frames {
			w.take(f)
		}
		if from += len(page.Frames); len(page.Frames) == 0 {
			break
		}
	}
	for _, f := range w.wrong[:min(len(w.wrong), 5)] {
		t.Errorf("recorded: %+v", f)
	}
	return w.messages
}

func relayFlag(t *testing.T, g *demo.Game) (via, flag string) {
	via = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePorts(t, g.Network, g.Ports)))
	return via, g.Protocol + "=" + via + ">" + g.Addr
}

// The pages of a server show the messages that both ends of a game report, in each protocol, with the ciphers; and the recording has the same
// messages.
func TestServerShowsTheDemo(t *testing.T) {
	for _, protocol := range demo.Protocols() {
		t.Run(protocol, func(t *testing.T) {
			var d diary
			g, err := demo.Start(t.Context(), demo.Options{Protocol: protocol, Rate: 400, Seed: 4, Seen: d.note})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			via, flag := relayFlag(t, g)
			addr, out := started(t, "serve", "--listen", "127.0.0.1:0", "--proxy", flag)
			until(t, "it relays", func() bool { return strings.Contains(out.String(), "is relayed to") })
			w := watch(t, addr, protocol)
			play(t, g, &d, via, 200)
			play(t, g, &d, via, 300) // a second connection
			stopRelaying(t, addr, protocol)
			g.Close() // no more events
			<-w.end
			if w.missed != 0 || len(w.wrong) > 0 {
				t.Errorf("%d missed; %+v", w.missed, w.wrong[:min(len(w.wrong), 5)])
			}
			kept := recorded(t, addr, protocol)
			for i := range 2 {
				for _, list := range [][]string{w.messages[i], kept[i], d.sent[i], d.got[i]} {
					if g.Network == "udp" {
						slices.Sort(list) // datagrams may be reordered
					}
				}
				if protocol == unacknowledged {
					if len(d.got[i]) < 200 || !contains(d.sent[i], w.messages[i]) || !slices.Equal(w.messages[i], kept[i]) || !contains(kept[i], d.got[i]) {
						t.Errorf("direction %d: %d messages were sent, %d came, %d were shown, %d are recorded, or others", i, len(d.sent[i]), len(d.got[i]), len(w.messages[i]), len(kept[i]))
					}
					continue
				}
				if len(d.sent[i]) < 200 || !slices.Equal(d.sent[i], d.got[i]) || !slices.Equal(w.messages[i], d.sent[i]) || !slices.Equal(kept[i], d.sent[i]) {
					t.Errorf("direction %d: %d messages were sent, %d came, %d were shown, %d are recorded, or others", i, len(d.sent[i]), len(d.got[i]), len(w.messages[i]), len(kept[i]))
				}
			}
		})
	}
}

// unacknowledged is the protocol whose ends do not know whether the other one is still there: its server goes on sending to clients that have ended.
const unacknowledged = "mavlink"

// contains reports whether all elements of a list, with their numbers, are among those of another one.
func contains(all, some []string) bool {
	n := map[string]int{}
	for _, s := range all {
		n[s]++
	}
	return !slices.ContainsFunc(some, func(s string) bool { n[s]--; return n[s] < 0 })
}

// badLine relays datagrams, and drops, duplicates and delays some of them.
type badLine struct {
	mu                     sync.Mutex
	rng                    *rand.Rand
	mended                 bool
	lost, doubled, delayed int
}

// mend makes it reliable.
func (b *badLine) mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mended = true
}

// fate decides about a datagram: how many times it is sent, and whether after the next one.
func (b *badLine) fate() (times int, later bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mended {
		return 1, false
	}
	switch x := b.rng.IntN(100); {
	case x < 12:
		b.lost++
		return 0, false
	case x < 18:
		b.doubled++
		return 2, false
	case x < 28:
		b.delayed++
		return 1, true
	}
	return 1, false
}

// pump relays datagrams until its socket is closed.
func (b *badLine) pump(read func([]byte) (int, netip.AddrPort, error), write func([]byte, netip.AddrPort)) {
	buf := make([]byte, 2048)
	var waiting []byte
	for {
		n, from, err := read(buf)
		if err != nil {
			return
		}
		times, later := b.fate()
		if later && waiting == nil {
			waiting = slices.Clone(buf[:n])
			continue
		}
		for range times {
			write(buf[:n], from)
		}
		if waiting != nil {
			write(waiting, from)
			waiting = nil
		}
	}
}

// open relays consecutive ports to those of a server, for one client at a time.
func (b *badLine) open(t *testing.T, to string, ports int) string {
	t.Helper()
	target := netip.MustParseAddrPort(to)
	first := freePorts(t, "udp", ports)
	for i := range ports {
		down, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: first + i})
		if err != nil {
			t.Fatal(err)
		}
		up, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(target.Addr(), target.Port()+uint16(i))))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { down.Close(); up.Close() })
		var mu sync.Mutex
		var client netip.AddrPort
		go b.pump(down.ReadFromUDPAddrPort, func(data []byte, from netip.AddrPort) {
			mu.Lock()
			client = from
			mu.Unlock()
			_, _ = up.Write(data)
		})
		go b.pump(up.ReadFromUDPAddrPort, func(data []byte, _ netip.AddrPort) {
			mu.Lock()
			to := client
			mu.Unlock()
			_, _ = down.WriteToUDPAddrPort(data, to)
		})
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(first))
}

// Datagrams are dropped, duplicated and reordered between client and proxy: the server side shows the messages that the server has received
// and sent, each as often.
func TestServerShowsTheDemoOverABadLine(t *testing.T) {
	var d diary
	g, err := demo.Start(t.Context(), demo.Options{Protocol: "subspace", Rate: 200, Seed: 5, Seen: d.note})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	via, flag := relayFlag(t, g)
	addr, out := started(t, "serve", "--listen", "127.0.0.1:0", "--proxy", flag)
	until(t, "it relays", func() bool { return strings.Contains(out.String(), "is relayed to") })
	line := &badLine{rng: rand.New(rand.NewPCG(5, 5))}
	w := watch(t, addr, g.Protocol)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	by := line.open(t, via, g.Ports)
	go func() { ended <- g.Client(ctx, by) }()
	until(t, "messages", func() bool { return len(ended) > 0 || d.count() >= 300 })
	line.mend() // delayed datagrams go out, so that everything sent has been on the line
	d.mu.Lock()
	before := len(d.sent[1])
	d.mu.Unlock()
	const some = 50 // sent after it
	until(t, "the client catches up", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.sent[1]) < before+some {
			return len(ended) > 0
		}
		return len(ended) > 0 || !slices.ContainsFunc(d.sent[1][before:before+some], func(m string) bool { return !slices.Contains(d.got[1], m) })
	})
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	g.Close()
	stopRelaying(t, addr, g.Protocol)
	<-w.end
	// The game ended while the server had messages waiting to be sent or acknowledged; the last frame may be a part of one.
	rest := slices.Clone(d.sent[1])
	cut := func(f listedFrame) bool {
		return f.Kind == "problem" && f.Dir == "s2c" && slices.ContainsFunc(rest, func(m string) bool { return len(m) > len(f.Hex) && strings.HasPrefix(m, f.Hex) })
	}
	for _, m := range w.messages[1] {
		if i := slices.Index(rest, m); i < 0 {
			t.Fatalf("shown more often than sent by the server: %s", m)
		} else {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	if w.missed != 0 || len(w.wrong) > 1 || len(w.wrong) == 1 && !cut(w.wrong[0]) {
		t.Errorf("%d missed; %+v", w.missed, w.wrong[:min(len(w.wrong), 5)])
	}
	if line.lost == 0 || line.doubled == 0 || line.delayed == 0 {
		t.Errorf("the line lost nothing: %+v", line)
	}
	for i, must := range [2][]string{d.got[0], append(d.sent[1][:before+some:before+some], d.got[1]...)} {
		for _, m := range must {
			if !slices.Contains(w.messages[i], m) {
				t.Errorf("direction %d: on the line, but not shown: %s", i, m)
			}
		}
	}
	slices.Sort(w.messages[0])
	slices.Sort(d.got[0])
	if !slices.Equal(w.messages[0], d.got[0]) {
		t.Errorf("%d messages came to the server, %d were shown, or others", len(d.got[0]), len(w.messages[0]))
	}
	t.Logf("of the datagrams %d were lost, %d doubled, %d delayed; %d and %d messages shown", line.lost, line.doubled, line.delayed, len(w.messages[0]), len(w.messages[1]))
}
