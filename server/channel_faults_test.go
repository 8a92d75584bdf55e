package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"wirebench/server/servertest"
	"wirebench/server/socket"
	"wirebench/server/supervise"
	"wirebench/server/wsconn"
)

// A fault, or something that cannot be read, in one of the channels of a page ends that channel alone: the page learns why, and another
// channel of the same connection, another page and requests go on.
func TestFaultsOfChannels(t *testing.T) {
	const file = "game.def"
	pane := `{"n":1,"set":{"definition":"group: clmsg\n","input":"00","value":"","edits":{}}}`
	list := `{"view":{"seq":1}}`
	text := fmt.Sprintf(`{"file":%q,"have":{},"name":"Ann"}`, file)
	for _, c := range []struct {
		name       string
		spoil      func(s *Server, capture string)
		open, with string
		say        string
		want       string // in the reason, or in a message
		part       string // whose fault is counted, "" for no fault
		otherOpen  string
		otherWith  string
		otherSay   string
	}{
		{"page", func(s *Server, _ string) { s.workbench.Budget = nil }, "page", `{}`, pane, "this page ended by a fault of the program", "page", "text", text, ""},
		{"score of a page", func(s *Server, _ string) { s.workbench.Scores = nil }, "page", `{}`, `{"n":1,"set":{"message":"say","definition":"group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n","input":"00","value":"","edits":{},"score":true}}`, "this page ended by a fault of the program", "page", "text", text, ""},
		{"list", func(s *Server, _ string) { s.captures = nil }, "frames", `{"capture":"CAPTURE"}`, list, "this list ended by a fault of the program", "list", "text", text, ""},
		{"capture that cannot be read", func(s *Server, id string) {
			path := s.Projects.Find("one").Captures.Path(id)
			if os.Remove(path) != nil || os.Mkdir(path, 0o755) != nil {
				t.Fatal("no directory in its place")
			}
		}, "frames", `{"capture":"CAPTURE"}`, list, `{"gone":true}`, "", "text", text, ""},
		{"capture that is gone", func(s *Server, id string) { _ = os.Remove(s.Projects.Find("one").Captures.Path(id)) }, "frames", `{"capture":"CAPTURE"}`, list, `{"gone":true}`, "", "text", text, ""},
		{"people of a shared text", func(s *Server, _ string) { s.rooms.Changed = func(string) { panic("spoiled") } }, "text", text, "", "ended by a fault of the program", "shared text", "page", `{}`, pane},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := captureServer(t, "muta", map[string]string{file: servertest.PingText}, "00000000  01 02 00 68 69\n")
			t.Cleanup(s.Close)
			all, err := s.Projects.Find("one").Captures.List()
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			c.spoil(s, all[0].ID)
			h := httptest.NewServer(s)
			t.Cleanup(h.Close)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			before := supervise.Counts()[c.part]
			conn, err := wsconn.Dial(ctx, "ws"+strings.TrimPrefix(h.URL, "http")+"/ws/one/page", nil, 64<<20)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(conn.Drop)
			say := func(format string, args ...any) {
				t.Helper()
				if err := conn.Write(ctx, fmt.Appendf(nil, format, args...)); err != nil {
					t.Fatal(err)
				}
			}
			hear := func(id int) socket.Down {
				t.Helper()
				for {
					text, err := conn.Read(ctx)
					if err != nil {
						t.Fatal(err)
					}
					var m socket.Down
					if err := json.Unmarshal(text, &m); err != nil {
						t.Fatal(err)
					}
					if m.ID == id && (m.Closed != nil || m.Message != nil) {
						return m
					}
				}
			}
			say(`{"id":1,"open":%q,"with":%s}`, c.open, strings.ReplaceAll(c.with, "CAPTURE", all[0].ID))
			if c.say != "" {
				say(`{"id":1,"message":%s}`, c.say)
			}
			for {
				m := hear(1)
				got := string(m.Message)
				if m.Closed != nil {
					got = *m.Closed
				}
				if strings.Contains(got, c.want) {
					break
				}
				if m.Closed != nil {
					t.Fatalf("closed: %s", got)
				}
			}
			if n := supervise.Counts()[c.part] - before; c.part != "" && n != 1 {
				t.Errorf("%d faults are counted", n)
			}
			say(`{"id":2,"open":%q,"with":%s}`, c.otherOpen, c.otherWith)
			if c.otherSay != "" {
				say(`{"id":2,"message":%s}`, c.otherSay)
			}
			if m := hear(2); m.Closed != nil {
				t.Errorf("another channel of the connection: %s", *m.Closed)
			}
			if r, err := http.Get(h.URL + "/healthz"); err != nil || r.StatusCode != http.StatusOK {
				t.Errorf("health: %v %v", r, err)
			}
		})
	}
}
