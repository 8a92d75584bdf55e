package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/defs/benchtest"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/wsconn"
)

// liveTally counts the messages received by a page of the live stream.
type liveTally struct {
	frames, missed, next int
	wrong                string // the first thing that was not in order
}

// take counts a message of the stream. It parses as little as possible: the benchmark is of the server.
func (l *liveTally) take(text []byte) {
	const first = `{"n":`
	frames := bytes.Count(text, []byte(first))
	tail := text[max(bytes.LastIndex(text, []byte(`"next":`)), 0):]
	missed := number(tail, `"missed":`)
	if at := bytes.Index(text, []byte(first)); at >= 0 {
		if n := number(text[at:], first); n != l.next+missed+1 && l.wrong == "" {
			l.wrong = fmt.Sprintf("frame %d comes after %d, and %d were missed", n, l.next, missed)
		}
	}
	l.frames, l.missed, l.next = l.frames+frames, l.missed+missed, l.next+frames+missed
	if next := number(tail, `"next":`); next != l.next && l.wrong == "" {
		l.wrong = fmt.Sprintf("it goes on after %d, and %d were sent or missed", next, l.next)
	}
}

// number returns the number after a key, 0 if it is missing.
func number(text []byte, key string) int {
	at := bytes.Index(text, []byte(key))
	if at < 0 {
		return 0
	}
	text = text[at+len(key):]
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(string(text[:end]))
	return n
}

// drain reads a stream until it ends.
func (l *liveTally) drain(ctx context.Context, conn *wsconn.Conn) {
	for {
		text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		l.take(text)
	}
}

// sink is a server that reads everything and never answers.
func sink(t testing.TB) string {
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
			go func() { defer c.Close(); _, _ = io.Copy(io.Discard, struct{ io.Reader }{c}) }()
		}
	}()
	return l.Addr().String()
}

// sayFrame is a message of 100 bytes.
var sayFrame = append([]byte{1, 97, 0}, bytes.Repeat([]byte("7"), 97)...)

// BenchmarkLiveFrames relays 50,000 frames of 100 bytes a second: directly, through the proxy, and with three pages watching: a list with a
// filter and two live streams with values. One round is one second of traffic. The processor time is that of all ends together: the cost of
// the server is the difference to "direct". It fails if a frame is lost without notice.
func BenchmarkLiveFrames(b *testing.B) {
	for _, pages := range []int{-1, 0, 3} {
		name := map[int]string{-1: "direct", 0: "no pages", 3: "three pages"}[pages]
		b.Run(name, func(b *testing.B) { benchLive(b, pages) })
	}
}

func benchLive(b *testing.B, pages int) {
	const rate, group = 50_000, 50 // a group each millisecond, in one piece
	upstream := sink(b)
	s := captureServer(b, "muta", map[string]string{"game.def": servertest.PingText})
	srv := httptest.NewServer(s)
	defer func() { s.Close(); srv.Close() }()
	ctx, cancel := context.WithTimeout(b.Context(), time.Duration(b.N)*time.Second+5*time.Minute)
	defer cancel()
	addr := upstream
	var one *relay.Session
	if pages >= 0 {
		var err error
		if one, err = s.relays.Start(ctx, s.Projects.Find("one"), relay.Config{Listen: "127.0.0.1:0", Upstream: upstream}); err != nil {
			b.Fatal(err)
		}
		addr = one.State().Pairs[0].Listen
	}
	var tallies [2]liveTally
	var readers sync.WaitGroup
	listed := 0
	if pages > 0 {
		for i := range tallies {
			conn, err := wsconn.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws/one/live?since=0&value=1", nil, 64<<20)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Drop()
			readers.Go(func() { tallies[i].drain(ctx, conn) })
		}
		list := dialChannel(b, ctx, srv.URL, nil, "frames", `{"capture":"`+one.ID+`"}`)
		if err := list.Write(ctx, []byte(`{"view":{"seq":1,"filter":".text contains \"77\"","columns":[".text"]}}`)); err != nil {
			b.Fatal(err)
		}
		readers.Go(func() {
			for id := 1; ; id++ {
				text, err := list.Read(ctx)
				if err != nil {
					return
				}
				if !bytes.HasPrefix(text, []byte(`{"state":`)) {
					continue
				}
				listed = number(text, `"fit":`)
				ask := fmt.Sprintf(`{"rows":{"id":%d,"seq":1,"from":%d,"count":60}}`, id, listed-60) // a page that follows
				if list.Write(ctx, []byte(ask)) != nil || bytes.Contains(text, []byte(`"done":true`)) {
					return
				}
			}
		})
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	data := bytes.Repeat(sayFrame, group)
	before, begun := benchtest.CPU(), time.Now()
	b.ResetTimer()
	sent := 0
	for sent < b.N*rate {
		if ahead := time.Duration(sent)*time.Second/rate - time.Since(begun); ahead > 0 {
			time.Sleep(ahead)
		}
		if _, err := c.Write(data); err != nil {
			b.Fatal(err)
		}
		sent += group
	}
	took := time.Since(begun)
	b.StopTimer()
	b.ReportMetric(float64(sent)/took.Seconds(), "frames/s")
	b.ReportMetric((benchtest.CPU()-before).Seconds()/took.Seconds()*100, "%cpu")
	c.Close()
	if one == nil {
		return
	}
	if err := one.Stop(ctx); err != nil {
		b.Error(err)
	}
	state := one.State()
	b.ReportMetric(float64(state.Lost)/100, "lost/op")
	if n := one.Log().Len(); state.Lost == 0 && n != sent {
		b.Errorf("%d of %d frames are in the log, and nothing is said to be lost", n, sent)
	}
	if state.Record.Missed != 0 && state.Record.Why == "" {
		b.Errorf("%d packets are not recorded, and nobody says why", state.Record.Missed)
	}
	readers.Wait()
	if pages == 0 {
		return
	}
	missed := 0
	for i, l := range tallies {
		if missed += l.missed; l.next != one.Log().Len() || l.wrong != "" {
			b.Errorf("stream %d: %d sent and %d missed of %d: %s", i, l.frames, l.missed, one.Log().Len(), l.wrong)
		}
	}
	b.ReportMetric(float64(missed)/float64(2*sent)*100, "%missed")
	if state.Lost == 0 && listed != sent {
		b.Errorf("the list has %d of %d frames", listed, sent)
	}
}
