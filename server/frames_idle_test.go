package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wirebench/server/captures"
	"wirebench/server/live"
	"wirebench/server/servertest"
	"wirebench/server/socket"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/server/wsconn"
)

// idleList is a frame list connected to its page by a pipe, so that the test runs in one time bubble, in which time advances only while
// nothing runs.
type idleList struct {
	*framesPage
	t   *testing.T
	got chan listState // received by the page
	st  listState      // the last one examined
}

// idleCapture returns a capture of chatFiles, and the set in which it is opened.
func idleCapture(t *testing.T, data []byte) (*workspace.Workspace, *captures.Set, store.Capture) {
	files, _ := workspacetest.Dir(t, servertest.ChatFiles)
	kept := workspacetest.Captures(t)
	x, err := kept.Add("chat.pcapng", time.Now(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	ws := workspacetest.Open(t, workspace.Config{Files: files, Captures: kept})
	set := captures.NewSet(nil, nil)
	t.Cleanup(set.Close)
	return ws, set, x
}

// taken is the response to a request whose connection is hijacked.
type taken struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (h taken) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

// openIdle opens the list of a capture and requests all of it.
func openIdle(t *testing.T, ws *workspace.Workspace, set *captures.Set, id string) *idleList {
	l := &idleList{t: t, got: make(chan listState, 1000)}
	ours, theirs := net.Pipe()
	r := httptest.NewRequest("GET", "/", nil)
	for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
		r.Header.Set(k, v)
	}
	conn, err := wsconn.Accept(taken{httptest.NewRecorder(), ours}, r, maxListMessage)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = socket.Serve(ctx, conn, map[string]socket.Kind{"frames": {Limit: maxListMessage, Serve: func(ctx context.Context, c *socket.Channel, _ json.RawMessage) error {
			l.framesPage = newFramesPage(ws, set, id, c)
			return l.serve(ctx)
		}}}, &atomic.Int64{})
	}()
	t.Cleanup(func() { cancel(); theirs.Close(); <-ended })
	go l.read(theirs)
	for _, text := range []string{`{"id":1,"open":"frames"}`, `{"id":1,"message":{"view":{"seq":1}}}`} {
		frame := append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...) // RFC 6455, with a zero mask
		if _, err := theirs.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// read receives the messages to the page.
func (l *idleList) read(from io.Reader) {
	for in := bufio.NewReader(from); ; {
		head := make([]byte, 2)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		size := int(head[1])
		if size == 126 {
			if _, err := io.ReadFull(in, head); err != nil {
				return
			}
			size = int(binary.BigEndian.Uint16(head))
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			return
		}
		var m struct{ Message struct{ State *listState } }
		if err := json.Unmarshal(text, &m); err != nil {
			l.t.Errorf("%v in %s", err, text)
		} else if m.Message.State != nil {
			l.got <- *m.Message.State
		}
	}
}

// last waits until nothing runs, and returns the last state and the number of new ones.
func (l *idleList) last() (st listState, n int) {
	l.t.Helper()
	for synctest.Wait(); ; n++ {
		select {
		case l.st = <-l.got:
		default:
			return l.st, n
		}
	}
}

// idles lets time pass without changes.
func (l *idleList) idles() {
	l.t.Helper()
	time.Sleep(statePeriod) // recent changes may be sent late
	l.last()
	before := l.looks.Load()
	time.Sleep(5 * time.Second) // in total less than the time to the first ping, which is not answered here
	if st, n := l.last(); n > 0 || l.looks.Load() != before {
		l.t.Errorf("while nothing changed, the list was looked at %d times, and %d states came: %+v", l.looks.Load()-before, n, st)
	}
}

// The list of a completely read capture does nothing while nothing changes.
func TestFramesIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, set, x := idleCapture(t, servertest.Chat(t, 100))
		l := openIdle(t, ws, set, x.ID)
		if st, _ := l.last(); !st.Done || st.Total != 100 {
			t.Fatalf("%+v", st)
		}
		l.idles()
		if _, err := ws.Captures.Edit(x.ID, func(x *store.Capture) error { x.Name = "another"; return nil }); err != nil {
			t.Fatal(err)
		}
		if st, n := l.last(); n != 1 || st.Name != "another" {
			t.Errorf("%d states, %+v", n, st)
		}
	})
}

// The list of running traffic shows a frame immediately, and many frames in few states.
func TestFramesIdleLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, set, x := idleCapture(t, servertest.Chat(t, 1))
		log, done := live.NewRolling(0), make(chan struct{})
		conn := log.Connection(live.Conn{Name: "a-b", Proto: "tcp"})
		add := func() {
			if err := log.Add(conn, numberedFrame(log.Len())); err != nil {
				t.Error(err)
			}
		}
		set.Live("one", x.ID, log, done)
		l := openIdle(t, ws, set, x.ID)
		l.idles()
		add()
		if st, n := l.last(); n != 1 || st.Total != 1 {
			t.Errorf("after a frame %d states came: %+v", n, st)
		}
		l.idles()
		for range 1000 {
			add()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(statePeriod)
		if st, n := l.last(); n < 10 || n > 12 || st.Total != 1001 {
			t.Errorf("in a second with 1000 frames %d states came, the last one %+v", n, st)
		}
		l.idles()
		close(done)
		if st, n := l.last(); n != 1 || !st.Done || st.Live {
			t.Errorf("at the end of the traffic %d states came: %+v", n, st)
		}
		l.idles()
	})
}

// The list of a growing file shows a piece immediately.
func TestFramesIdleGrowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := servertest.Chat(t, 100)
		part := len(servertest.Chat(t, 60))
		ws, set, x := idleCapture(t, all[:part])
		set.Grown("one", x.ID, int64(part), time.Now())
		l := openIdle(t, ws, set, x.ID)
		time.Sleep(statePeriod)
		if st, _ := l.last(); st.Done || st.Total != 60 {
			t.Fatalf("%+v", st)
		}
		l.idles()
		y, err := ws.Captures.Append(x.ID, int64(part), bytes.NewReader(all[part:]))
		if err != nil {
			t.Fatal(err)
		}
		l.last() // the page gets one more state of its capture
		l.idles()
		set.Grown("one", x.ID, y.Size, time.Now())
		if st, n := l.last(); n != 1 {
			t.Errorf("after a piece %d states came: %+v", n, st)
		}
		time.Sleep(statePeriod)
		if st, _ := l.last(); st.Total != 100 || st.Read != int64(len(all)) {
			t.Errorf("a moment later: %+v", st)
		}
		l.idles()
	})
}
