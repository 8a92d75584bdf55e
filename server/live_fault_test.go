package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/api"
	"wirebench/server/live"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/wsconn"
)

// relayed is a server with one listener.
type relayed struct {
	*testing.T
	*relay.Session
	server *Server
	base   string // of its addresses
	ctx    context.Context
}

func relayOne(t *testing.T, upstream string) *relayed {
	t.Helper()
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	srv := httptest.NewServer(s)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(func() { cancel(); s.Close(); srv.Close() })
	one, err := s.relays.Start(ctx, s.Projects.Find("one"), relay.Config{Listen: "127.0.0.1:0", Upstream: upstream})
	if err != nil {
		t.Fatal(err)
	}
	return &relayed{t, one, s, srv.URL, ctx}
}

func (r *relayed) dial() *net.TCPConn {
	r.Helper()
	c, err := net.Dial("tcp", r.State().Pairs[0].Listen)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.TCPConn)
}

func (r *relayed) page(path string) *wsconn.Conn {
	r.Helper()
	conn, err := wsconn.Dial(r.ctx, "ws"+strings.TrimPrefix(r.base, "http")+path, nil, 64<<20)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(conn.Drop)
	return conn
}

// until waits for a condition.
func (r *relayed) until(what string, ok func() bool) {
	r.Helper()
	for !ok() {
		if r.ctx.Err() != nil {
			r.Fatalf("waited in vain: %s; %+v %+v", what, r.State(), r.Events(0))
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (r *relayed) fit(filter string) (f servertest.Frames) {
	r.Helper()
	if code := servertest.Call(r.T, r.ctx, r.base, "GET", "/api/one/captures/"+r.ID+"/frames?count=1000&value=true&filter="+url.QueryEscape(filter), "", &f); code != 200 {
		r.Fatalf("frames: %d", code)
	}
	return f
}

// Pages that never read delay neither traffic nor log nor other pages. When one reads at last, it gets the exact number of missed frames.
func TestStuckPages(t *testing.T) {
	r := relayOne(t, sink(t))
	stuck := r.page("/ws/one/live?since=0&value=1")
	_ = r.page("/ws/one/live?since=0&value=1")                                     // for ever
	list := dialChannel(t, r.ctx, r.base, nil, "frames", `{"capture":"`+r.ID+`"}`) // for ever, with endless queries
	asking, stop := context.WithCancel(r.ctx)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	wait.Go(func() {
		if list.Write(asking, []byte(`{"view":{"seq":1,"filter":"say"}}`)) != nil {
			return
		}
		for i := 1; list.Write(asking, fmt.Appendf(nil, `{"rows":{"id":%d,"seq":1,"from":0,"count":500}}`, i)) == nil; i++ {
			continue
		}
	})
	good := r.page("/ws/one/live?since=0")
	var read liveTally
	wait.Go(func() { read.drain(r.ctx, good) })

	c := r.dial()
	const group = 500
	groups := 400
	if testing.Short() {
		groups = 60
	}
	data := bytes.Repeat(sayFrame, group)
	for sent := range groups {
		if _, err := c.Write(data); err != nil {
			t.Fatal(err)
		}
		r.until("the log keeps up", func() bool { return r.Session.Log().Len() > (sent-100)*group })
	}
	r.until("all is in the log", func() bool { return r.Session.Log().Len() == groups*group })
	if x := r.State(); x.Lost != 0 || x.Unlogged != 0 {
		t.Errorf("%+v", x)
	}
	c.Close()
	ctx, cancel := context.WithTimeout(r.ctx, 30*time.Second)
	defer cancel()
	if err := r.Stop(ctx); err != nil {
		t.Error(err)
	}
	var late liveTally
	late.drain(r.ctx, stuck)
	stop()
	wait.Wait()
	for name, l := range map[string]liveTally{"stuck": late, "good": read} {
		if l.next != groups*group || l.frames+l.missed != l.next || l.wrong != "" {
			t.Errorf("the %s page: %d frames, %d missed: %s", name, l.frames, l.missed, l.wrong)
		}
	}
	if late.missed == 0 && !testing.Short() { // buffers may hold fewer frames
		t.Errorf("nothing is missed: the page was not stuck")
	}
	t.Logf("missed: %d by the one that was stuck, %d by the good one, of %d", late.missed, read.missed, groups*group)
	ended := make(chan struct{})
	go func() { r.server.Close(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the server does not end while pages are stuck")
	}
}

// Frames discarded by a rolling log while a page is slow are reported as missed, too.
func TestLiveStreamTellsWhatWasLetGo(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	t.Cleanup(s.Close)
	log := live.NewRolling(24 << 20)
	up, err := proxy.NewUpstreams(proxy.DefaultUpstreams, nil)
	if err != nil {
		t.Fatal(err)
	}
	through := proxy.New(proxy.Options{Upstreams: up})
	session, err := through.Start(t.Context(), proxy.Config{Network: "tcp", Pairs: []proxy.Pair{{Listen: "127.0.0.1:0", Upstream: "127.0.0.1:9"}}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	one := &relay.Session{Session: session, ID: "x", Workspace: s.Projects.Find("one")}
	ended := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, err := wsconn.Accept(w, req, 1<<10)
		if err != nil {
			ended <- err
			return
		}
		defer conn.Drop()
		ended <- streamFrames(t.Context(), conn, one, "", 0, false)
	}))
	t.Cleanup(srv.Close)
	conn, err := wsconn.Dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http"), nil, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Drop()
	index := log.Connection(live.Conn{Name: "a-b"})
	add := func(n, size int) {
		for range n {
			f := *numberedFrame(0)
			f.Bytes = bytes.Repeat([]byte{1}, size)
			if err := log.Add(index, &f); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The page stops in a batch that reaches into the next block of the log, frames from 16,384 on, more than sockets buffer. Then the log
	// discards both blocks.
	var got liveTally
	take := func() {
		t.Helper()
		text, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got.take(text)
	}
	add(50, 10)
	take()
	add(12_000, 10)
	add(8000, 2000)
	for got.next < 12_000 {
		take()
	}
	time.Sleep(300 * time.Millisecond) // until the server is blocked
	add(20_000, 2000)
	if err := session.Stop(t.Context()); err != nil { // closes the log
		t.Fatal(err)
	}
	go func() {
		if err := <-ended; !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		ended <- nil
	}()
	got.drain(t.Context(), conn)
	if <-ended; got.next != log.Len() || got.frames+got.missed != got.next || got.missed == 0 || got.wrong != "" {
		t.Errorf("%d frames and %d missed of %d: %s", got.frames, got.missed, log.Len(), got.wrong)
	}
}

// A client or a server that disconnects within a message, and an unreachable server, are events. The listener continues, and previous
// frames are shown.
func TestBrokenEnds(t *testing.T) {
	var how atomic.Value
	how.Store("echo")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	upstream := l.Addr().String()
	serve := func(l net.Listener) {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var one [7]byte
				for {
					if _, err := io.ReadFull(c, one[:]); err != nil {
						return
					}
					switch how.Load() {
					case "reset":
						_, _ = c.Write([]byte{1, 9}) // the start of an answer
						_ = c.(*net.TCPConn).SetLinger(0)
						return
					case "garbage":
						_, _ = c.Write(bytes.Repeat([]byte{0xee}, 5000))
					}
					_, _ = c.Write([]byte{1, one[6], 0, 0, 0})
				}
			}()
		}
	}
	go serve(l)
	r := relayOne(t, upstream)
	say := func(c net.Conn) error {
		if _, err := c.Write([]byte{1, 4, 0, 't', 'e', 'x', 't'}); err != nil {
			return err
		}
		_, err := io.ReadFull(c, make([]byte, 5))
		return err
	}
	works := func(want int) {
		t.Helper()
		c := r.dial()
		if err := say(c); err != nil {
			t.Error(err)
		}
		c.Close()
		r.until("the connection is seen", func() bool { return r.fit("said").Fit >= want })
	}
	works(1)

	c := r.dial() // a client that disconnects within a message
	if err := say(c); err != nil {
		t.Fatal(err)
	}
	_, _ = c.Write([]byte{1, 200, 0, 'h', 'a', 'l', 'f'})
	_ = c.SetLinger(0)
	c.Close()
	r.until("half a message is told", func() bool { return r.fit("kind == problem").Fit > 0 })
	works(3)

	how.Store("reset")
	c = r.dial()
	if err := say(c); err == nil {
		t.Error("an answer of a server that resets")
	}
	how.Store("echo")
	works(4)

	how.Store("garbage")
	c = r.dial()
	_ = say(c)
	if n, _ := io.ReadFull(c, make([]byte, 5000)); n != 5000 {
		t.Errorf("%d bytes of what is no message came through", n)
	}
	how.Store("echo")
	works(5)

	l.Close()
	if c, err := net.Dial("tcp", r.State().Pairs[0].Listen); err == nil { // it may be reset immediately
		if err := say(c); err == nil {
			t.Error("an answer of a server that is not there")
		}
		c.Close()
	}
	r.until("it is an event", func() bool {
		return strings.Contains(fmt.Sprint(r.Events(0)), "refused") || strings.Contains(fmt.Sprint(r.Events(0)), "connect")
	})
	if l, err = net.Listen("tcp", upstream); err != nil {
		t.Skip("the port was taken meanwhile: ", err)
	}
	t.Cleanup(func() { l.Close() })
	go serve(l)
	works(6)
	if x := r.State(); !x.Running || x.Lost != 0 || x.Open != 0 && x.Open > 3 {
		t.Errorf("%+v", x)
	}
}

// While a definition is broken traffic continues, and its messages are split as before. When other messages are defined, undecodable data
// is reported, and the recording has it: read with the restored definition it is complete.
func TestBrokenDefinition(t *testing.T) {
	r := relayOne(t, servertest.EchoGame(t))
	ws := r.server.Projects.Find("one")
	watching, stop := context.WithCancel(r.ctx)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	wait.Go(func() { _ = ws.Run(watching) })
	stream := r.page("/ws/one/live?since=0&value=1")
	c := r.dial()
	n := 0
	say := func(times int) {
		t.Helper()
		for range times {
			n++
			if _, err := c.Write([]byte{1, 4, 0, 't', 'e', 'x', 't'}); err != nil {
				t.Fatal(err)
			}
			var got [5]byte
			if _, err := io.ReadFull(c, got[:]); err != nil || got[1] != 't' {
				t.Fatalf("answer %d: %x %v", n, got, err)
			}
		}
	}
	change := func(text string) {
		t.Helper()
		before := ws.Now()
		if _, err := ws.Files.Write("game.def", []byte(text), nil); err != nil {
			t.Fatal(err)
		}
		r.until("the change is seen", func() bool { return ws.Now() != before })
	}
	// told returns the number of bytes of each direction in messages or in reported problems.
	told := func() (bytes [2]int, problems int) {
		log := r.Session.Log()
		log.Each(0, log.Len(), func(_ int, e live.Entry, data []byte) bool {
			x := log.Extra(e)
			way := e.Dir - schema.ToServer
			switch {
			case e.Kind == transport.Problem:
				problems++
			case e.Kind != transport.Message:
				t.Errorf("%+v", e)
			case int(x.Offset) != bytes[way] && e.Flags&live.Resumed == 0:
				t.Errorf("a message at %d comes after %d bytes: %q", x.Offset, bytes[way], x.Note)
			default:
				bytes[way] = int(x.Offset) + len(data)
			}
			return true
		})
		return bytes, problems
	}
	complete := func() bool { at, _ := told(); return at == [2]int{n * 7, n * 5} }
	say(20)
	for _, broken := range []string{
		"\x00\xff\xfe{{{{ \x80",
		strings.Replace(servertest.PingText, "char {1, 300}", "chra {1, 300}", 1),
		strings.Replace(servertest.PingText, "group: svmsg", "group: clmsg", 1),
		strings.Repeat("group: \n", 1000),
	} {
		change(broken)
		if !ws.Now().Diagnostics().HasErrors() {
			t.Fatalf("%.40q is not broken", broken)
		}
		say(20)
		r.until("all is in the log", complete)
		if _, problems := told(); problems != 0 || r.Session.Log().Len() != 2*n {
			t.Errorf("while it is %.40q: %d frames of %d messages, %d problems", broken, r.Session.Log().Len(), 2*n, problems)
		}
		change(servertest.PingText)
		say(5)
	}
	r.until("all is in the log", complete)
	if f := r.fit("said"); f.Fit != n || f.Total != 2*n {
		t.Errorf("%d of %d answers", f.Fit, n)
	}
	for _, other := range []string{"", strings.Replace(servertest.PingText, "text    = char {1, 300}", "text    = uint8", 1)} {
		change(other)
		say(20)
		r.until("it is told", func() bool { _, problems := told(); return problems > 0 })
		change(servertest.PingText)
		for tries := 0; !complete(); tries++ { // a message start is searched again after a quarter more data
			if tries > 100 {
				t.Fatalf("it does not find its place again after %.40q", other)
			}
			say(5)
			time.Sleep(2 * time.Millisecond)
		}
	}
	if x := r.State(); x.Lost != 0 || !x.Running || !x.Record.On {
		t.Errorf("%+v", x)
	}
	c.Close()
	if err := r.Stop(r.ctx); err != nil {
		t.Error(err)
	}
	streamed := 0
	for {
		text, err := stream.Read(r.ctx)
		if err != nil {
			break
		}
		var b api.LiveBatch
		if err := json.Unmarshal(text, &b); err != nil {
			t.Fatal(err)
		}
		streamed += len(b.Frames) + b.Missed
	}
	if streamed != r.Session.Log().Len() {
		t.Errorf("the stream had %d of %d frames", streamed, r.Session.Log().Len())
	}
	var f servertest.Frames
	r.until("the recording is read", func() bool { f = r.fit("said"); return f.Done })
	if f.Fit != n || f.Total != 2*n {
		t.Errorf("the recording has %d of %d answers, and %d frames", f.Fit, n, f.Total)
	}
}
