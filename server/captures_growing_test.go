package server

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"testing"
	"time"

	"wirebench/server/servertest"
)

// gotState is the state of a list as received by a page.
type gotState struct {
	Seq, Epoch, Total, Fit int
	Size                   int64
	Done, Live             bool
}

// until waits until a condition holds for the list.
func (c *listClient) until(what string, is func(gotState) bool) (st gotState) {
	c.Helper()
	for {
		all, _ := json.Marshal(c.st)
		if st = (gotState{}); json.Unmarshal(all, &st) == nil && is(st) {
			return st
		}
		text, err := c.conn.Read(c.ctx)
		if err != nil {
			c.Fatalf("%s: %v, at %s", what, err, all)
		}
		var m struct{ State map[string]json.RawMessage }
		if err := json.Unmarshal(text, &m); err != nil {
			c.Fatal(err)
		}
		if st.Live && m.State != nil && m.State["live"] == nil { // a missing key is false
			delete(c.st, "live")
		}
		maps.Copy(c.st, m.State)
	}
}

// openListOf opens a page with the list of a stored capture.
func openListOf(t *testing.T, s *Server, id string) *listClient {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return dialList(t, ctx, srv.URL, id)
}

// The list of a capture to which another program appends grows automatically, wherever the pieces are split.
func TestListGrows(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	whole := servertest.Chat(t, 200)
	at := len(whole) / 4
	x := servertest.Keep(t, s, "chat.pcapng", whole[:at])
	id := x.ID
	l := openListOf(t, s, id)
	l.send(`{"view":{"seq":1}}`)
	first := l.until("the first piece", func(st gotState) bool { return st.Done })
	if first.Total == 0 || first.Total >= 200 || first.Live {
		t.Fatalf("%+v", first)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for at < len(whole) {
		n := min(1+random.IntN(len(whole)/6), len(whole)-at)
		servertest.Append(t, s, id, at, whole[at:at+n])
		at += n
	}
	st := l.until("all of it", func(st gotState) bool { return st.Total == 200 && st.Fit == 200 })
	if !st.Live || st.Done || st.Epoch == first.Epoch {
		t.Errorf("what is read on is no list that is running: %+v", st)
	}
	// From now on the file is not read again: the list keeps its log.
	ws := s.Projects.Find("one")
	x, err := ws.Captures.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.captures.Follow(ws, ws.Now(), x)
	if err != nil || !open.Grows() || open.Log().Len() != 200 {
		t.Fatalf("nothing reads on: %v", err)
	}
	more := servertest.Chat(t, 300)
	if !bytes.HasPrefix(more, whole) {
		t.Fatal("the longer capture does not start like the shorter one")
	}
	servertest.Append(t, s, id, at, more[at:])
	st = l.until("more of it", func(st gotState) bool { return st.Total == 300 && st.Fit == 300 })
	if open.Log().Len() != 300 || st.Size != int64(len(more)) {
		t.Errorf("%d frames, %+v", open.Log().Len(), st)
	}
	var f servertest.Frames
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+id+"/frames", nil, &f); code != 200 || f.Total != 300 || !f.Done {
		t.Errorf("the API lists %d frames: %d", f.Total, code)
	}
	l.send(`{"view":{"seq":2,"filter":"C_SAY"}}`)
	l.until("a filter", func(st gotState) bool { return st.Seq == 2 && st.Fit == 240 })
	if code := servertest.Request(t, s, "DELETE", "/api/one/captures/"+id, nil, nil); code != 204 {
		t.Errorf("delete: %d", code)
	}
}

// A growing file that must be read from its start is read again now and then.
func TestListOfRawBytesGrows(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "raw.bin&framing=prefixed:1%2Bself%2Bc2s", []byte("\x06\x01\x02\x00hi"))
	l := openListOf(t, s, x.ID)
	l.send(`{"view":{"seq":1}}`)
	l.until("the first piece", func(st gotState) bool { return st.Done && st.Total == 1 })
	servertest.Append(t, s, x.ID, 6, []byte("\x06\x01\x02\x00yo\x06\x01\x02\x00"))
	l.until("a piece", func(st gotState) bool { return st.Done && st.Total >= 2 })
	servertest.Append(t, s, x.ID, 16, []byte("ho"))
	l.until("the rest", func(st gotState) bool { return st.Done && st.Total == 3 && st.Size == 18 })
}
