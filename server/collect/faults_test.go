package collect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirebench/codec/pcap"
	"wirebench/server/bus"
	"wirebench/server/bus/bustest"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/store"
)

// What makes no sense is removed from the stream and logged, and what comes after it is received: whoever may publish cannot stop a project,
// nor write to captures of others.
func TestRefused(t *testing.T) {
	server := bustest.Start(t)
	home := t.TempDir()
	bench := open(t, home, "one", server.URL)
	mine, err := bench.ws.Captures.Add("mine.pcapng", time.Now(), strings.NewReader("uploaded"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	b := newBlocks()
	good := b.piece(3, 100)
	id, theirs := store.NewCaptureID(time.Now()), store.NewCaptureID(time.Now())
	told := func(change func(*about)) string {
		a := about{Name: "live", Added: time.Now()}
		change(&a)
		text, _ := json.Marshal(a)
		return string(text)
	}
	put := func(by, capture, offset, about string, data []byte) {
		t.Helper()
		m := nats.NewMsg(subjectOf("one", by, "game"))
		m.Data = data
		for name, v := range map[string]string{headCapture: capture, headOffset: offset, headAbout: about} {
			if v != "" {
				m.Header.Set(name, v)
			}
		}
		until(t, "the stream takes it", func() bool {
			_, err := js.PublishMsg(t.Context(), m)
			return err == nil
		})
	}
	put("host1", theirs, "0", told(func(*about) {}), good)
	until(t, "it is received", func() bool { return bytes.Equal(bench.bytesOf(t, theirs), good) })
	bench.close() // the next one knows from the disk whose captures these are
	bench = open(t, home, "one", server.URL)
	hostile := []struct{ capture, offset, about string }{
		{"", "0", ""},
		{"../../etc/passwd", "0", ""},
		{"20261301-000000-0123456789abcdef", "0", ""},
		{mine.ID, "8", ""},
		{mine.ID, "0", told(func(*about) {})},
		{theirs, fmt.Sprint(len(good)), ""}, // of another collector
		{id, "", ""},
		{id, "-1", ""},
		{id, "9223372036854775807", ""},
		{id, "99999999999999999999", ""},
		{id, "0x10", ""},
		{id, "0", "{"},
		{id, "0", `[]`},
		{id, "0", `{"name":7}`},
		{id, "0", `{"added":"0001-01-01T00:00:00Z"}`},
		{id, "0", told(func(a *about) { a.Unrecorded = -1 })},
		{id, "0", told(func(a *about) { a.Changes = -1 })},
		{id, "0", strings.Repeat("x", maxAbout+1)},
		{id, fmt.Sprint(store.MaxCaptureBytes), ""},
	}
	for _, h := range hostile {
		put("host2", h.capture, h.offset, h.about, good)
	}
	put("host2", id, "0", "", []byte("no capture begins so"))
	put("host2", id, "0", told(func(*about) {}), good)
	put("host2", id, fmt.Sprint(len(good)), told(func(a *about) { a.Ended = true }), nil)
	until(t, "the good capture is whole", func() bool {
		x, err := bench.ws.Captures.Get(id)
		return err == nil && !x.Unfinished
	}, &bench.out)
	if got := bench.bytesOf(t, id); !bytes.Equal(got, good) {
		t.Errorf("%d bytes, want %d", len(got), len(good))
	}
	if got := bench.bytesOf(t, mine.ID); string(got) != "uploaded" {
		t.Errorf("somebody's capture is %q", got)
	}
	if got := bench.bytesOf(t, theirs); !bytes.Equal(got, good) {
		t.Errorf("the capture of another collector has %d bytes", len(got))
	}
	if n := bench.receiver.count.Refused.Load(); n != int64(len(hostile))+1 {
		t.Errorf("%d messages are refused, want %d:\n%s", n, len(hostile)+1, &bench.out)
	}
	if n := strings.Count(bench.out.String(), "is refused"); n != len(hostile)+1 {
		t.Errorf("%d are logged", n)
	}
	if list, _ := bench.ws.Captures.List(); len(list) != 3 {
		t.Errorf("%d captures", len(list))
	}
	until(t, "nothing is left in the stream", func() bool {
		s, err := js.Stream(t.Context(), streamName)
		return err == nil && s.CachedInfo().State.Msgs == 0
	})
}

// Bytes that are lost in the stream, or with a capture that somebody deletes, are named, and what comes after them is received, and can be read.
func TestLost(t *testing.T) {
	server := bustest.Start(t)
	home := t.TempDir()
	bench := open(t, home, "one", server.URL)
	from := send(t, t.TempDir(), server.URL, MinSpool)
	id, f := record(t, from.spool, "one")
	b := newBlocks()
	write := func() []byte {
		t.Helper()
		data := b.piece(10, 500)
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
		until(t, "it is published", func() bool { return from.spool.Waiting().Bytes == 0 })
		return data
	}
	first := write()
	until(t, "the first bytes", func() bool { return bytes.Equal(bench.bytesOf(t, id), first) })
	bench.close()
	lost := write()
	js, err := jetstream.New(from.conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), streamName)
	if err == nil {
		err = stream.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	bench = open(t, home, "one", server.URL)
	third := write()
	rest := restOf(id, 1)
	until(t, "the bytes after the loss", func() bool { return bytes.HasSuffix(bench.bytesOf(t, rest), third) }, &bench.out)
	x, err := bench.ws.Captures.Get(rest)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d bytes", len(lost)); !strings.Contains(x.Lacks(), want) || !strings.Contains(x.Name, "after a loss") {
		t.Errorf("%s lacks %q, want %s", x.Name, x.Lacks(), want)
	}
	if packets := packetsOf(t, bench.bytesOf(t, rest)); packets != 10 {
		t.Errorf("%d packets can be read, want 10", packets)
	}
	if got := bench.receiver.count.Lost.Load(); got != int64(len(lost)) {
		t.Errorf("%d bytes are counted as lost, want %d", got, len(lost))
	}
	if err := bench.ws.Captures.Remove(rest); err != nil {
		t.Fatal(err)
	}
	fourth := write()
	until(t, "the bytes after the deletion", func() bool { return bytes.HasSuffix(bench.bytesOf(t, rest), fourth) }, &bench.out)
	bench.close() // it finds its place again
	bench = open(t, home, "one", server.URL)
	fifth := write()
	_ = f.Close()
	until(t, "the end", func() bool {
		x, err := bench.ws.Captures.Get(rest)
		return err == nil && !x.Unfinished
	}, &bench.out)
	if got := bench.bytesOf(t, rest); !bytes.HasSuffix(got, append(fourth, fifth...)) || bytes.Contains(got, third) {
		t.Errorf("%d bytes at the end", len(got))
	}
}

func packetsOf(t *testing.T, data []byte) int {
	t.Helper()
	r, err := pcap.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		if _, err := r.Next(); err != nil {
			return n
		}
		n++
	}
}

// A relay runs at its pace while nothing can be published. When the spool is full, packets are counted as missing, in its events and in the
// next capture, which begins when there is room; and all that was recorded arrives.
func TestSpoolFull(t *testing.T) {
	server := bustest.Start(t)
	server.Kill()
	data, err := store.OpenData(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	echo := echoServer(t)
	up, err := proxy.NewUpstreams(proxy.DefaultUpstreams, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out quiet
	c, err := Start(t.Context(), Options{
		Name: "host1", Data: data, SpoolBytes: MinSpool, Protocol: "tera", Upstreams: up, Bus: bus.Options{URL: server.URL}, Log: out.log(),
		Answer:    func(*relay.Session, string, string, []byte) []byte { return nil },
		Listeners: []relay.Config{{Workspace: "one", Name: "game", Listen: "127.0.0.1:0", Upstream: echo}},
	})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	defer func() {
		if !closed {
			c.Close(t.Context())
		}
	}()
	one := c.Listeners()[0]
	client, err := net.Dial("tcp", one.State().Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	sent := 0
	turn := func(n int) {
		t.Helper()
		message, back := bytes.Repeat([]byte{7}, 64<<10), make([]byte, 64<<10)
		for range n {
			if _, err := client.Write(message); err != nil {
				t.Fatal(err)
			}
			if err := readFull(client, back); err != nil {
				t.Fatal(err)
			}
			sent += 2 * len(message)
		}
	}
	turn(MinSpool / (64 << 10)) // twice what the spool takes, as both directions are recorded
	until(t, "packets are missing", func() bool { return one.State().Record.Missed > 0 })
	if x := one.State(); int(x.ToServer+x.ToClient) != sent {
		t.Errorf("%d bytes are relayed, %d were sent", x.ToServer+x.ToClient, sent)
	}
	if text := eventsOf(one); !strings.Contains(text, "the spool is full") {
		t.Errorf("events: %s", text)
	}
	until(t, "the log says it", func() bool { return strings.Contains(out.String(), "the spool is full") }, &out)
	server.Again()
	bench := open(t, t.TempDir(), "one", server.URL)
	until(t, "it is published", func() bool { return c.Waiting().Bytes == 0 }, &out, &bench.out)
	until(t, "recording goes on", func() bool {
		turn(1)
		return len(one.State().Record.Files) > 1
	}, seen(func() string { return eventsOf(one) }))
	client.Close()
	if left := c.Close(t.Context()); left.Parts > 0 {
		t.Errorf("%+v is not published", left)
	}
	closed = true
	missed := one.State().Record.Missed
	until(t, "all captures are whole", func() bool {
		list, err := bench.ws.Captures.List()
		if err != nil || len(list) < 2 {
			return false
		}
		for _, x := range list {
			if x.Unfinished || x.Unrecorded != missed || !strings.Contains(x.Lacks(), fmt.Sprint(missed)) {
				return false
			}
		}
		return true
	}, &out, &bench.out)
	list, _ := bench.ws.Captures.List()
	packets := 0
	for _, x := range list {
		packets += packetsOf(t, bench.bytesOf(t, x.ID))
	}
	if want := one.State().Record.Packets; int64(packets) != want {
		t.Errorf("%d packets in the captures, %d are recorded", packets, want)
	}
	if !bytes.Contains(bench.bytesOf(t, list[0].ID), []byte("packets of the session before this file are not recorded")) {
		t.Error("the capture after the loss does not name it")
	}
}

func eventsOf(one *relay.Session) string {
	var all []string
	for _, e := range one.Events(0) {
		all = append(all, e.Text)
	}
	return strings.Join(all, "\n")
}

func readFull(c net.Conn, b []byte) error {
	for n := 0; n < len(b); {
		k, err := c.Read(b[n:])
		if err != nil {
			return err
		}
		n += k
	}
	return nil
}

// echoServer answers each connection with what it sends.
func echoServer(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

// A spool that a process left in the middle of a write is published up to its last whole block.
func TestTorn(t *testing.T) {
	server := bustest.Start(t)
	dir := t.TempDir()
	s, err := OpenSpool(dir, MinSpool)
	if err != nil {
		t.Fatal(err)
	}
	id, f := record(t, s, "one")
	b := newBlocks()
	want := b.piece(30, 700)
	next := b.piece(1, 700)
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	for cut := range len(next) {
		if _, err := f.Write(next[:cut]); err != nil { // as a system that is killed may leave it
			t.Fatal(err)
		}
		s.Close()
		if s, err = OpenSpool(dir, MinSpool); err != nil {
			t.Fatal(err)
		}
		p := s.part(id)
		if p == nil || p.end != int64(len(want)) {
			t.Fatalf("cut at %d: %+v", cut, p)
		}
		f = p
	}
	s.Close()
	bench := open(t, t.TempDir(), "one", server.URL)
	from := send(t, dir, server.URL, MinSpool)
	until(t, "it is received", func() bool {
		x, err := bench.ws.Captures.Get(id)
		return err == nil && !x.Unfinished
	}, &bench.out, &from.out)
	if got := bench.bytesOf(t, id); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// Two workbenches of one account do not share the traffic of a project between them.
func TestStranger(t *testing.T) {
	server := bustest.Start(t)
	bench := open(t, t.TempDir(), "one", server.URL)
	from := send(t, t.TempDir(), server.URL, MinSpool)
	id, f := record(t, from.spool, "one")
	b := newBlocks()
	want := b.piece(5, 100)
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	until(t, "it is received", func() bool { return bytes.Equal(bench.bytesOf(t, id), want) }, &bench.out)
	other := open(t, t.TempDir(), "one", server.URL)
	until(t, "the other is told", func() bool { return strings.Contains(other.out.String(), errStranger.Error()) })
	for range 20 {
		more := b.piece(2, 50)
		want = append(want, more...)
		if _, err := f.Write(more); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the first one has all", func() bool { return bytes.Equal(bench.bytesOf(t, id), want) }, &bench.out)
	if _, err := other.ws.Captures.Get(id); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the other has it: %v", err)
	}
	_ = f.Close()
}

// A request for messages that the stream never had, as when its server changes, is noticed while the connection stands.
func TestLostRequest(t *testing.T) {
	server := bustest.Start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var swallowed atomic.Int64
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "nats://"))
			if err != nil {
				from.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(from, to)
				from.Close()
			}()
			go func() {
				defer to.Close()
				in := bufio.NewReader(from)
				for {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					sent := []byte(line)
					words := strings.Fields(line)
					if verb := words[0]; verb == "PUB" || verb == "HPUB" {
						n, err := strconv.Atoi(words[len(words)-1])
						if err != nil {
							return
						}
						sent = append(sent, make([]byte, n+2)...)
						if _, err := io.ReadFull(in, sent[len(line):]); err != nil {
							return
						}
						if strings.HasPrefix(words[1], "$JS.API.CONSUMER.MSG.NEXT.") && swallowed.Add(1) <= 2 {
							continue
						}
					}
					if _, err := to.Write(sent); err != nil {
						return
					}
				}
			}()
		}
	}()
	bench := open(t, t.TempDir(), "one", "nats://"+l.Addr().String())
	from := send(t, t.TempDir(), server.URL, MinSpool)
	id, f := record(t, from.spool, "one")
	want := newBlocks().piece(5, 100)
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	until(t, "it is received", func() bool { return bytes.Equal(bench.bytesOf(t, id), want) }, &bench.out)
	if n := swallowed.Load(); n < 3 {
		t.Errorf("%d requests", n)
	}
	if n := bench.receiver.conn.Stats().Reconnects; n != 0 {
		t.Errorf("%d connections more", n)
	}
}

// A server of NATS that answers, but has no stream, as one that is cut off from the others, is left for another one.
func TestServerWithoutStreams(t *testing.T) {
	server := bustest.Start(t)
	server.Kill()
	urls := "nats://" + bustest.Configured(t, "") + "," + server.URL
	bench := open(t, t.TempDir(), "one", urls)
	from := send(t, t.TempDir(), urls, MinSpool)
	id, f := record(t, from.spool, "one")
	want := newBlocks().piece(5, 100)
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	until(t, "both have tried the first server", func() bool {
		return from.pub.State().Why != "" && bench.receiver.Connected()
	}, &bench.out)
	server.Again()
	until(t, "it is received", func() bool { return bytes.Equal(bench.bytesOf(t, id), want) }, &bench.out)
}

// What has no room at the workbench stays in the stream, is said once, and is received when there is room.
func TestNoRoom(t *testing.T) {
	server := bustest.Start(t)
	home := t.TempDir()
	data, err := store.OpenData(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	data.Limit(&store.Quota{Each: 1 << 20})
	all, err := data.Captures("captures")
	if err != nil {
		t.Fatal(err)
	}
	large, err := all.Add("large", time.Now(), bytes.NewReader(make([]byte, 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	bench := openWith(t, home, "one", server.URL, all)
	from := send(t, t.TempDir(), server.URL, MinSpool)
	id, f := record(t, from.spool, "one")
	b := newBlocks()
	var want []byte
	for range 10 {
		data := b.piece(50, 500)
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
		want = append(want, data...)
		until(t, "it is published", func() bool { return from.spool.Waiting().Bytes == 0 }, &from.out)
	}
	until(t, "there is no room", func() bool { return strings.Contains(bench.out.String(), "no traffic of collectors is received") }, &bench.out)
	if err := all.Remove(large.ID); err != nil {
		t.Fatal(err)
	}
	until(t, "there is room", func() bool { return bytes.Equal(bench.bytesOf(t, id), want) }, &bench.out)
	if n := strings.Count(bench.out.String(), "no traffic of collectors is received"); n > 2 { // the room that is left is in the text
		t.Errorf("it is said %d times", n)
	}
}
