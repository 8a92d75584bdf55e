package server

import (
	"encoding/hex"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/page"
	"wirebench/server/servertest"
)

// dialCapture opens the page of a capture.
func dialCapture(t *testing.T, s *Server, id string) *openPage {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	return &openPage{t: t, conn: dialChannel(t, t.Context(), srv.URL, nil, "page", `{"capture":"`+id+`"}`), html: pageParts{}}
}

// picked waits until the page has the description of its frame.
func (p *openPage) picked() *page.Picked {
	p.t.Helper()
	for p.last.Picked == nil {
		p.receive()
	}
	return p.last.Picked
}

// A page names the frame that it shows; the server has its bytes and knows how they are read.
func TestPagePick(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	x := servertest.Keep(t, s, "chat.pcapng", servertest.Chat(t, 100))
	p := dialCapture(t, s, x.ID)
	shows := func(what string, n int, name, text string) {
		t.Helper()
		if got := p.picked(); got.N != n || got.Name != name || got.Lost != "" || len(got.Sources) == 0 {
			t.Errorf("%s: %+v", what, got)
		}
		if bytes := strings.ReplaceAll(string(p.data.Bytes), "\x00", ""); !strings.Contains(bytes, text) {
			t.Errorf("%s: the bytes are %q", what, bytes)
		}
		if set := p.last.Set; set.Input != nil || set.Edits != nil || set.Show != nil {
			t.Errorf("%s: what the page has is sent to it: %+v", what, set)
		}
	}

	p.send(`"set":{"message":"","definition":"","value":"","edits":{},"pick":{"n":3,"id":"6:0:0"}}`) // nobody has opened the capture yet
	p.receive()
	shows("a first frame", 3, "C_SAY.1", "text 2")
	p.do(`"set":{"pick":{"n":4,"id":"7:0:0"}}`)
	shows("the next one", 4, "C_SAY.1", "text 3")
	p.do(`"set":{"pick":{"n":90,"id":"7:0:0"}}`)
	shows("one with another number", 4, "C_SAY.1", "text 3")

	// Edits are of one frame, however messages are merged.
	edited := hex.EncodeToString(p.data.Bytes[:8])
	p.do(`"set":{"edits":{"0":"` + edited + `"}}`)
	if len(p.data.Bytes) != 8 || p.last.Picked != nil {
		t.Errorf("edited: %d bytes, %+v", len(p.data.Bytes), p.last.Picked)
	}
	p.send(`"set":{"edits":{"0":"` + edited[2:] + `"}}`)
	p.send(`"set":{"edits":{"0":"` + edited + `"},"show":3}`)
	p.do(`"set":{"pick":{"n":6}}`)
	shows("one without an identity", 6, "C_SAY.1", "text 5")
	p.do(`"set":{"pick":{"n":4},"edits":{"0":"` + edited + `"}}`) // after a lost connection
	if got := p.picked(); got.N != 4 || len(p.data.Bytes) != 8 {
		t.Errorf("with its edits: %+v, %d bytes", got, len(p.data.Bytes))
	}

	// The description changes when other definitions explain the frame.
	if p.do(`"set":{"pick":{"n":5}}`); p.picked().Name != "" || p.picked().Offer == nil {
		t.Errorf("an unknown message: %+v", p.picked())
	}
	p.last.Picked = nil
	for _, x := range []struct{ method, path, kind, body string }{
		{"PUT", "definitions/S_NEW.1.def", "text/plain", "string text\n"},
		{"POST", "codes", "application/json", `{"message":"S_NEW","code":30583}`},
	} {
		r := httptest.NewRequest(x.method, "/api/one/"+x.path, strings.NewReader(x.body))
		r.Header.Set("Content-Type", x.kind)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code >= 300 {
			t.Fatal(x.path, w.Code, w.Body)
		}
	}
	for p.last.Picked == nil || p.last.Picked.Name == "" {
		p.receive()
	}
	if got := p.last.Picked; got.N != 5 || got.Name != "S_NEW.1" || got.Offer != nil {
		t.Errorf("a message that was unknown: %+v", got)
	}

	p.do(`"set":{"pick":{"n":3000}}`)
	if got := p.picked(); got.Lost != "frame 3000 is not in memory" || len(p.data.Bytes) != 0 {
		t.Errorf("a frame that is not there: %+v, %d bytes", got, len(p.data.Bytes))
	}
	if p.do(`"set":{"pick":{"n":0}}`); p.last.Picked != nil || len(p.data.Bytes) != 0 {
		t.Errorf("no frame: %+v", p.last.Picked)
	}

	// A message that is held comes from the page, and a frame after it from the capture.
	p.do(`"set":{"input":"0102","form":"hex","frame":{"kind":"message","dir":"c2s","group":"","name":"","alternate":false,"about":null,"offer":""}}`)
	if string(p.data.Bytes) != "\x01\x02" || p.last.Picked != nil {
		t.Errorf("held: %x, %+v", p.data.Bytes, p.last.Picked)
	}
	p.do(`"set":{"pick":{"n":3}}`)
	shows("a frame after it", 3, "C_SAY.1", "text 2")
}

// A page waits for a frame that has not been read yet, and says if it is not in memory any more.
func TestPagePickLive(t *testing.T) {
	r := newRolling(t, 64<<10)
	p := dialCapture(t, r.s, r.id)
	p.do(`"set":{"message":"","definition":"","value":"","edits":{},"pick":{"n":2}}`)
	if p.last.Picked != nil {
		t.Errorf("before it came: %+v", p.last.Picked)
	}
	r.add(3)
	if got := p.picked(); got.N != 2 || got.Lost != "" || len(p.data.Bytes) == 0 {
		t.Errorf("%+v", got)
	}
	r.add(5000)
	had := len(p.data.Bytes)
	p.do(`"set":{"values":true}`)
	if len(p.data.Bytes) != had {
		t.Error("what is shown is gone")
	}
	p.do(`"set":{"pick":{"n":1}}`)
	if got := p.picked(); got.Lost == "" {
		t.Errorf("one that was discarded: %+v", got)
	}
}
