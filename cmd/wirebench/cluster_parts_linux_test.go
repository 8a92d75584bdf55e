package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/server/bus/bustest"
	"wirebench/server/collab"
	"wirebench/server/rooms"
	"wirebench/server/socket"
	"wirebench/server/wsconn"
)

// way is a way to a server that can be cut: connections stay, and nothing passes until it is mended, as when a network drops all packets.
type way struct {
	addr string
	mu   sync.Mutex
	open chan struct{} // closed while it is not cut
}

func newWay(t *testing.T, to string) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{addr: l.Addr().String(), open: make(chan struct{})}
	close(w.open)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(ctx, c, to)
		}
	}()
	return w
}

func (w *way) carry(ctx context.Context, c net.Conn, to string) {
	defer c.Close()
	if !w.passes(ctx) {
		return
	}
	up, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer up.Close()
	defer context.AfterFunc(ctx, func() { c.Close(); up.Close() })()
	pipe := func(to, from net.Conn) {
		defer to.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if err != nil || !w.passes(ctx) {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	done := make(chan struct{})
	go func() { pipe(up, c); close(done) }()
	pipe(c, up)
	<-done
}

// passes waits while the way is cut. It returns false at the end of the test.
func (w *way) passes(ctx context.Context) bool {
	w.mu.Lock()
	open := w.open
	w.mu.Unlock()
	select {
	case <-open:
		return true
	case <-ctx.Done():
		return false
	}
}

// cut cuts the way, or mends it.
func (w *way) cut(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if is {
		w.open = make(chan struct{})
	} else {
		close(w.open)
	}
}

// node is a workbench of a cluster.
type node struct {
	t          *testing.T
	addr, data string
	nats       string        // URLs
	ways       []*way        // to the servers of NATS
	host       *bustest.Host // or instead of them a host of its own
	proc       *running
	down       bool // it was killed
}

func (n *node) kill() {
	n.down = true
	n.proc.kill()
}

func (n *node) start() {
	n.t.Helper()
	n.down = false
	listen, advertised := n.addr, "http://"+n.addr
	if n.host != nil {
		listen, advertised = ":8080", "http://"+n.host.Inside+":8080"
	}
	args := []string{"serve", "--token", clusterToken, "--listen", listen, "--advertise", advertised, "--data", n.data, "--cluster", n.nats, "--nats", n.nats, "--nats-replicas", "3", "--nats-bytes", "200000000"}
	n.proc = startOn(n.t, n.host, "This node of the cluster is at", args...)
}

// cut cuts the node from NATS and the other node, or mends that. People reach it.
func (n *node) cut(is bool) {
	n.t.Helper()
	if n.host != nil {
		if err := n.host.Cut(is); err != nil {
			n.t.Fatal(err)
		}
	}
	for _, w := range n.ways {
		w.cut(is)
	}
}

// authorize sets the token of a request.
func authorize(h http.Header) http.Header {
	h.Set("Authorization", "Bearer "+clusterToken)
	return h
}

// leads reports whether the node says that it serves.
func (n *node) leads() bool {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	req, _ := http.NewRequestWithContext(ctx, "GET", "http://"+n.addr+"/metrics", nil)
	authorize(req.Header)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return strings.Contains(string(text), "\nwirebench_cluster_leads 1\n")
}

// call asks a server. The error says why there is no answer, or why that is none that is wanted.
func call(addr, method, path string, body, into any, patience time.Duration) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	text, plain := body.(string)
	sent := []byte(text)
	if body != nil && !plain {
		sent, _ = json.Marshal(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+"/api/v1/projects"+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	authorize(req.Header)
	switch method {
	case "PATCH":
		req.Header.Set("Content-Type", "application/merge-patch+json")
	case "PUT":
		req.Header.Set("Content-Type", "text/plain")
	case "POST":
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %d %.300s", method, path, res.StatusCode, got)
	}
	if into != nil {
		return json.Unmarshal(got, into)
	}
	return nil
}

// channelOf opens a channel of a page.
func channelOf(ctx context.Context, addr, kind, with string) (*wsconn.Conn, error) {
	c, err := wsconn.Dial(ctx, "ws://"+addr+"/ws/one/page", authorize(http.Header{}), 64<<20)
	if err != nil {
		return nil, err
	}
	if err := c.Write(ctx, fmt.Appendf(nil, `{"id":1,"open":%q,"with":%s}`, kind, with)); err != nil {
		c.Drop()
		return nil, err
	}
	return c, nil
}

// hear waits for the next message of the channel.
func hear(ctx context.Context, c *wsconn.Conn, into any) error {
	for {
		text, err := c.Read(ctx)
		if err != nil {
			return err
		}
		var m socket.Down
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		switch {
		case m.Closed != nil:
			return fmt.Errorf("the channel is closed: %s", *m.Closed)
		case m.Message != nil:
			return json.Unmarshal(m.Message, into)
		}
	}
}

// A person at a page: writes line after line into a definition, and now and then a comment and a setting. What is not confirmed is looked for
// when the page is connected again, and written again if it is not there, as a browser does.
type editor struct {
	*testing.T
	name, file string
	addr       string // of the node whose page it is
	pause      time.Duration

	mu       sync.Mutex
	lines    int // confirmed
	comments []string
	settings map[string]string
	again    int // connections
}

const confirmTime = 20 * time.Second // without a word, a page connects again

func (e *editor) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := e.connected(ctx)
		if ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

// connected edits until the connection is lost.
func (e *editor) connected(ctx context.Context) error {
	one, stop := context.WithTimeout(ctx, confirmTime)
	c, err := channelOf(one, e.addr, "text", fmt.Sprintf(`{"file":%q,"have":{},"name":%q}`, e.file, e.name))
	stop()
	if err != nil {
		return err
	}
	defer c.Drop()
	e.mu.Lock()
	e.again++
	client := fmt.Sprintf("%s-%d", e.name, e.again)
	e.mu.Unlock()
	var text collab.Text
	version, started, asked := 0, false, -1 // the line that was sent
	for ctx.Err() == nil {
		if started && asked < 0 {
			line := e.line(e.confirmed())
			if strings.Contains(text.String(), line) { // its confirmation was lost
				e.confirm()
				continue
			}
			change, err := json.Marshal(collab.Between(text, collab.NewText(text.String()+line)))
			if err != nil {
				return err
			}
			asked = e.confirmed()
			if err := c.Write(ctx, fmt.Appendf(nil, `{"id":1,"message":{"push":{"client":%q,"version":%d,"changes":[%s]}}}`, client, version, change)); err != nil {
				return err
			}
		}
		one, stop := context.WithTimeout(ctx, confirmTime)
		var m rooms.Message
		err := hear(one, c, &m)
		stop()
		if err != nil {
			return err
		}
		if m.Start != nil {
			started, version, asked = true, m.Start.Version, -1
			if m.Start.Text != nil {
				text = collab.NewText(*m.Start.Text)
			}
		}
		for _, u := range m.Updates {
			if text, err = u.Change.Apply(text); err != nil {
				e.Errorf("%s: an update does not fit: %v", e.name, err)
				return err
			}
			version++
			if u.Client == client {
				asked = -1
				e.confirm()
				e.beside()
				select {
				case <-ctx.Done():
				case <-time.After(e.pause):
				}
			}
		}
	}
	return ctx.Err()
}

func (e *editor) line(n int) string { return fmt.Sprintf("# %s %d.\n", e.name, n) }

func (e *editor) confirmed() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lines
}

func (e *editor) confirm() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines++
}

// beside writes a comment and a setting. Those that are not confirmed are not written again: they are there once or not at all.
func (e *editor) beside() {
	n := e.confirmed()
	if n%8 != 0 {
		return
	}
	comment := fmt.Sprintf("comment %s %d.", e.name, n)
	if call(e.addr, "POST", "/one/threads", map[string]any{"file": e.file, "line": 1, "name": e.name, "text": comment}, nil, confirmTime) == nil {
		e.mu.Lock()
		e.comments = append(e.comments, comment)
		e.mu.Unlock()
	}
	name := fmt.Sprintf("%s_%d", strings.ToUpper(e.name), n)
	if call(e.addr, "PATCH", "/one/settings", map[string]any{"constants": map[string]string{name: strconv.Itoa(n)}}, nil, confirmTime) == nil {
		e.mu.Lock()
		e.settings[name] = strconv.Itoa(n)
		e.mu.Unlock()
	}
}

// lane is a game that is relayed: its client sends numbered frames, and its server notes what comes.
type lane struct {
	*testing.T
	name  string
	via   string // address of the listener
	game  string // address of the server
	every time.Duration
	most  int // frames each time

	mu    sync.Mutex
	sent  []int64 // when each frame was sent, in nanoseconds since 1970
	conns []*played
}

// played is a connection: frames with the numbers from first on.
type played struct {
	first, sent, received int
	settled               int  // of frames that were in a workbench when the collector was killed
	killed                bool // the collector was killed
}

const laneText = "group: clmsg\n\npacket: num\n   __group = clmsg\n   seq     = uint32\n   at      = uint64\n"

const frameSize = 1 + 4 + 8

func newLane(t *testing.T, host *bustest.Host, name string, perSecond int) *lane {
	t.Helper()
	here, via := "127.0.0.1:0", ""
	if host != nil {
		here, via = bustest.Tester+":0", host.Outside+":7801"
	}
	l, err := net.Listen("tcp", here)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if host == nil {
		via = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePorts(t, "tcp", 1)))
	}
	x := &lane{T: t, name: name, via: via, game: l.Addr().String(), every: 20 * time.Millisecond, most: max(1, perSecond/50)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go x.serve(c)
		}
	}()
	return x
}

// serve is the server of the game.
func (l *lane) serve(c net.Conn) {
	defer c.Close()
	var one [frameSize]byte
	var of *played
	for {
		if _, err := io.ReadFull(c, one[:]); err != nil {
			return
		}
		n := int(binary.LittleEndian.Uint32(one[1:]))
		l.mu.Lock()
		if of == nil {
			for _, p := range l.conns {
				if p.first == n {
					of = p
				}
			}
		}
		if of == nil || n != of.first+of.received {
			l.Errorf("%s: the server of the game gets frame %d", l.name, n)
		} else {
			of.received++
		}
		l.mu.Unlock()
	}
}

// play is the client of the game: it connects again when a connection is lost. At the end it waits until the server has everything.
func (l *lane) play(ctx context.Context) {
	for ctx.Err() == nil {
		c, err := net.Dial("tcp", l.via)
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		l.connected(ctx, c)
		c.Close()
	}
}

func (l *lane) connected(ctx context.Context, c net.Conn) {
	p := &played{}
	l.mu.Lock()
	p.first = len(l.sent)
	l.conns = append(l.conns, p)
	l.mu.Unlock()
	gone := make(chan struct{}) // the relay has ended the connection
	go func() { _, _ = c.Read(make([]byte, 1)); close(gone) }()
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for {
		select {
		case <-gone:
			return
		case <-ctx.Done():
			for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				l.mu.Lock()
				received, sent := p.received, p.sent
				l.mu.Unlock()
				if received == sent {
					return
				}
				if time.Now().After(end) {
					l.Errorf("%s: the server of the game has %d of %d frames", l.name, received, sent)
					return
				}
			}
		case <-tick.C:
		}
		var out []byte
		l.mu.Lock()
		for range l.most {
			now := time.Now().UnixNano()
			out = append(out, 1)
			out = binary.LittleEndian.AppendUint32(out, uint32(len(l.sent)))
			out = binary.LittleEndian.AppendUint64(out, uint64(now))
			l.sent = append(l.sent, now)
			p.sent++
		}
		l.mu.Unlock()
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// counted is how many frames were sent.
func (l *lane) counted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sent)
}

// keptCaptureOf is a capture of a collector.
type keptCaptureOf struct {
	ID         string
	Unfinished bool
	Collected  *struct{ By string }
}

// captures returns the captures of a lane, the newest first.
func (l *lane) captures(addr string) ([]keptCaptureOf, error) {
	var all struct{ Captures []keptCaptureOf }
	if err := call(addr, "GET", "/one/captures", nil, &all, confirmTime); err != nil {
		return nil, err
	}
	var own []keptCaptureOf
	for _, x := range all.Captures {
		if x.Collected != nil && x.Collected.By == l.name {
			own = append(own, x)
		}
	}
	return own, nil
}

// whole reports whether the captures of a lane have an end each, and are as many as collectors had traffic.
func (l *lane) whole(own []keptCaptureOf) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	runs := 1
	for _, p := range l.conns {
		if p.killed {
			runs++
		}
	}
	return len(own) >= runs && !slices.ContainsFunc(own, func(x keptCaptureOf) bool { return x.Unfinished })
}

type framesOfCapture struct {
	Frames []struct{ Hex, Kind string }
	Done   bool
}

// numbers calls found with the number of each frame in a capture from a position on, and returns how many frames it has.
func numbers(addr, id string, from int, found func(n int)) (total int, err error) {
	for {
		var page framesOfCapture
		if err := call(addr, "GET", fmt.Sprintf("/one/captures/%s/frames?count=1000&from=%d", id, from), nil, &page, time.Minute); err != nil {
			return 0, err
		}
		for _, f := range page.Frames {
			if b, err := hex.DecodeString(f.Hex); f.Kind == "message" && err == nil && len(b) == frameSize {
				found(int(binary.LittleEndian.Uint32(b[1:])))
			}
		}
		if from += len(page.Frames); len(page.Frames) > 0 {
			continue
		}
		if page.Done {
			return from, nil
		}
		time.Sleep(50 * time.Millisecond) // it is being read
	}
}

// newest returns the number of the last frame in the newest capture.
func (l *lane) newest(addr string) (int, error) {
	own, err := l.captures(addr)
	if err != nil || len(own) == 0 {
		return -1, err
	}
	var all struct{ Total int }
	if err := call(addr, "GET", fmt.Sprintf("/one/captures/%s/frames?count=1", own[0].ID), nil, &all, confirmTime); err != nil {
		return -1, err
	}
	last := -1
	_, err = numbers(addr, own[0].ID, max(0, all.Total-10), func(n int) { last = n }) // those after the messages may be no messages
	return last, err
}

// kill notes what is in the workbench, and that the collector is killed now.
func (l *lane) kill(addr string, do func()) {
	l.Helper()
	last := -1
	until(l.T, "what is collected", func() bool {
		own, err := l.captures(addr)
		if err != nil {
			return false
		}
		if len(own) == 0 {
			return true
		}
		_, err = numbers(addr, own[0].ID, 0, func(n int) { last = max(last, n) })
		return err == nil
	})
	l.mu.Lock()
	p := l.conns[len(l.conns)-1]
	p.settled, p.killed = max(0, last+1-p.first), true
	l.mu.Unlock()
	do()
}

// check compares what was relayed with what is in the captures of a server.
func (l *lane) check(addr string) (frames int) {
	l.Helper()
	own, err := l.captures(addr)
	if err != nil {
		l.Fatal(err)
	}
	times := make([]byte, l.counted())
	for _, x := range own {
		if _, err := numbers(addr, x.ID, 0, func(n int) {
			if frames++; n < len(times) && times[n] < 9 {
				times[n]++
			}
		}); err != nil {
			l.Fatal(err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	wrong, kept := 0, 0
	complain := func(format string, args ...any) {
		if wrong++; wrong <= 10 {
			l.Errorf(l.name+": "+format, args...)
		}
	}
	for _, p := range l.conns {
		missing := -1
		for i := range p.sent {
			n := p.first + i
			kept += int(times[n])
			switch {
			case times[n] > 1:
				complain("frame %d is there %d times", n, times[n])
			case times[n] == 0 && (i < p.settled || !p.killed && i < p.received):
				complain("frame %d is missing: of the connection with %d frames from %d on the server got %d, %d were settled, killed: %v", n, p.sent, p.first, p.received, p.settled, p.killed)
			case times[n] == 0 && missing < 0:
				missing = n
			case times[n] == 1 && missing >= 0:
				complain("frame %d is missing, and %d is there", missing, n)
			}
		}
	}
	if kept != frames {
		complain("%d frames are in captures, %d of them are known", frames, kept)
	}
	return frames
}

// computed returns how long a process has been computing.
func computed(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	words := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(words[11])
	system, _ := strconv.Atoi(words[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
