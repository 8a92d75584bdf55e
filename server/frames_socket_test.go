package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/defs/schema"
	"wirebench/server/servertest"
	"wirebench/server/socket"
	"wirebench/server/supervise"
	"wirebench/server/wsconn"
)

// listClient is a page with an open frame list.
type listClient struct {
	*testing.T
	conn *channelConn
	ctx  context.Context
	id   int
	st   map[string]json.RawMessage // the state: all keys received
}

func openList(t *testing.T, s *Server, data []byte) *listClient {
	t.Helper()
	x := servertest.Keep(t, s, "chat.pcapng", data)
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return dialList(t, ctx, srv.URL, x.ID)
}

// dialList opens the list of a capture.
func dialList(t *testing.T, ctx context.Context, address, id string) *listClient {
	t.Helper()
	return &listClient{T: t, conn: dialChannel(t, ctx, address, nil, "frames", `{"capture":"`+id+`"}`), ctx: ctx, st: map[string]json.RawMessage{}}
}

func (c *listClient) send(text string) {
	c.Helper()
	if err := c.conn.Write(c.ctx, []byte(text)); err != nil {
		c.Fatal(err)
	}
}

// read waits for the next message, and records it if it is a state.
func (c *listClient) read() map[string]json.RawMessage {
	c.Helper()
	text, err := c.conn.Read(c.ctx)
	if err != nil {
		c.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil {
		c.Fatalf("%v in %s", err, text)
	}
	if st, ok := m["state"]; ok {
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(st, &keys); err != nil {
			c.Fatal(err)
		}
		for k, v := range keys {
			c.st[k] = v
		}
		c.takeConns(keys["conn_changes"])
	}
	return m
}

// takeConns applies changes of connections.
func (c *listClient) takeConns(changes json.RawMessage) {
	c.Helper()
	var changed map[int]listConn
	var conns []listConn
	if changes == nil {
		return
	}
	if err := errors.Join(json.Unmarshal(changes, &changed), json.Unmarshal(c.st["conns"], &conns)); err != nil {
		c.Fatal(err)
	}
	for i, conn := range changed {
		for len(conns) <= i {
			conns = append(conns, listConn{})
		}
		conns[i] = conn
	}
	c.st["conns"], _ = json.Marshal(conns)
}

// view requests a list and waits until it is done.
func (c *listClient) view(seq int, rest string) {
	c.Helper()
	c.send(fmt.Sprintf(`{"view":{"seq":%d%s}}`, seq, rest))
	for {
		c.read()
		if string(c.st["seq"]) == fmt.Sprint(seq) && string(c.st["done"]) == "true" {
			return
		}
	}
}

// ask sends a query and returns the result of its kind.
func (c *listClient) ask(kind, answer, rest string) string {
	c.Helper()
	c.id++
	c.send(fmt.Sprintf(`{%q:{"id":%d%s}}`, kind, c.id, rest))
	for {
		m := c.read()
		if f, ok := m["failed"]; ok {
			return "failed: " + string(f)
		}
		if a, ok := m[answer]; ok {
			return string(a)
		}
	}
}

func TestListOfFrames(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	c := openList(t, s, servertest.Chat(t, 1000))
	has := func(what, got string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("%s lacks %s: %.600s", what, p, got)
			}
		}
	}
	c.view(1, "")
	if got := string(c.st["fit"]) + "/" + string(c.st["total"]); got != "1000/1000" {
		t.Fatalf("all frames: %s", got)
	}
	has("connections", string(c.st["conns"]), `"10.0.0.2:4000-10.0.0.1:7801"`, `"frames":1000`)
	rows := c.ask("rows", "rows", `,"seq":1,"from":3,"count":2`)
	has("rows", rows, `"n":4`, `"code":4097`, `"code":30583`, `"d":10000`, `"name":"C_SAY"`, `text \"text 3\"`, `"type":"C_SAY"`, `"n":5`, `"status":"unknown"`, `"type":"op == 0x7777 && dir == s2c"`)

	// A filter by a value, a chip, columns, colors.
	c.view(2, `,"filter":".text contains \"99\"","chips":["time >= 0"],"columns":["C_SAY.text",".text","C_OTHER.text"],"colors":[{"filter":"C_SAY","hue":3}],"highlight":".text == \"text 99\""`)
	if got := string(c.st["fit"]); got != "8" { // 99, 199 and so on are from the server
		t.Errorf("frames with 99: %s", got)
	}
	has("rows", c.ask("rows", "rows", `,"seq":2,"from":0,"count":1`), `"cells":["text 990","text 990",""]`, `"hue":3`)
	has("find", c.ask("find", "found", `,"text":"text 995","as":"text","from":0`), `"pos":4`, `"n":996`)
	has("find around the end", c.ask("find", "found", `,"text":".text == \"text 990\"","as":"filter","from":7`), `"pos":0`)
	has("find back", c.ask("find", "found", `,"text":"990","as":"regex","from":0,"back":true`), `"pos":0`)
	has("find nothing", c.ask("find", "found", `,"text":"ff ff ff ff","as":"hex","from":7`), `"pos":-1`)
	has("find with a mistake", c.ask("find", "found", `,"text":".text ==","as":"filter","from":7`), `"pos":-1`, `"mistakes":[{"in":"find"`)

	// An invalid filter leaves the list unchanged, and is reported with its position.
	c.view(3, `,"filter":".txet == 1"`)
	has("mistakes", string(c.st["mistakes"]), `"in":"filter"`, `"start":0`, "text")
	if got := string(c.st["fit"]); got != "8" {
		t.Errorf("with a wrong filter: %s", got)
	}
	c.view(4, `,"filter":"dir == s2c"`)
	has("step", c.ask("step", "found", `,"n":5,"by":"type"`), `"pos":1`, `"n":10`)
	has("step back", c.ask("step", "found", `,"n":11,"by":"conn","back":true`), `"pos":1`, `"n":10`)
	has("where", c.ask("where", "found", `,"n":6`), `"pos":1`, `"n":10`)
	has("types", c.ask("types", "types", ""), `"total":200`, `"count":200`, `"defined":false`, `"code":30583`)
	has("table of bytes", c.ask("table", "table", `,"type":"op == 0x7777","from":0,"count":1`), `"total":200`, `"path":"0x04"`, `"constant":true`, `"guess":"u16 length?`)

	c.view(5, "")
	has("types", c.ask("types", "types", ""), `"type":"C_SAY"`, `"count":800`, `"bad":0`)
	has("timeline", c.ask("timeline", "timeline", `,"buckets":10`), `"c2s":[80,80,80,80,80,80,80,80,80,80]`, `"s2c":[20,20,`)
	table := c.ask("table", "table", `,"type":"C_SAY","from":0,"count":2,"sort":"text","desc":true`)
	has("table", table, `"total":800`, `"path":"text"`, `"filter":"*.text"`, `"distinct":800`, `"cells":["text 998"]`)
	has("diff", c.ask("diff", "diff", `,"a":1,"b":2`), `"path":"text"`, `"a":"\"text 0\""`, `"b":"\"text 1\""`, `"same":false`)
	has("diff of different ones", c.ask("diff", "diff", `,"a":1,"b":5`), "different definitions", `"type":"equal"`)
	has("frame", c.ask("frame", "frame", `,"n":3`), `"hex":"`, `"name":"C_SAY.1"`, `"dir":"c2s"`, `"sources":[{"packet":6,"off":0`)
	has("a frame that is not there", c.ask("frame", "frame", `,"n":3000`), "failed", "frame 3000 is not in memory")

	// An unsaved definition is used at once; while it has mistakes the last valid one is.
	c.view(6, `,"draft":{"name":"C_SAY.1","text":"uint16 start\nbyte first\n"},"filter":".first == 116"`)
	if got := string(c.st["fit"]); got != "800" {
		t.Errorf("by the draft: %s, %s", got, c.st["mistakes"])
	}
	c.view(7, `,"draft":{"name":"C_SAY.1","text":"uint16 start\nbyt first\n"},"filter":".first == 116"`)
	if got := string(c.st["fit"]); got != "800" || string(c.st["mistakes"]) != "[]" {
		t.Errorf("by a wrong draft: %s, %s", got, c.st["mistakes"])
	}
}

// A query before there is a list, or an invalid one, gets a result or ends the connection; nothing hangs.
func TestListOfFramesHostile(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	data := servertest.Chat(t, 10)
	c := openList(t, s, data)
	if got := c.ask("rows", "rows", `,"from":0,"count":1`); !strings.Contains(got, "not ready yet") {
		t.Errorf("without a list: %s", got)
	}
	c.view(1, "")
	for _, rest := range []string{`,"from":-5,"count":1000000`, `,"from":9223372036854775807,"count":9223372036854775807`, `,"from":3,"count":-2`} {
		if got := c.ask("rows", "rows", rest); !strings.Contains(got, `"rows":[`) {
			t.Errorf("%s: %.200s", rest, got)
		}
	}
	for _, rest := range []string{`,"buckets":-3`, `,"buckets":2000000000`} {
		if got := c.ask("timeline", "timeline", rest); len(got) > 200_000 || strings.Contains(got, "failed") {
			t.Errorf("%s: %d bytes %.100s", rest, len(got), got)
		}
	}
	c.send(`{"view":{"seq":2,"chips":[` + strings.Repeat(`"",`, 100) + `""]}}`)
	if _, err := c.conn.Read(c.ctx); err == nil {
		t.Error("a view of too many chips is taken")
	}
}

// A page that sends too many queries is read all the same: a cancellation overtakes waiting queries, and excess ones are refused.
func TestListOfFramesNeverStopsReading(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := wsconn.Accept(w, r, maxListMessage)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Drop()
		_ = socket.Serve(r.Context(), conn, map[string]socket.Kind{"frames": {Limit: maxListMessage, Serve: func(ctx context.Context, c *socket.Channel, _ json.RawMessage) error {
			// The list of this view never comes, so that each query waits for it.
			p := newFramesPage(nil, nil, "", c)
			p.want = &listView{Seq: 1}
			var all supervise.Group
			all.Go("list", nil, func() { p.refuse(ctx) })
			defer all.Wait()
			return p.listen(ctx, &all)
		}}}, &atomic.Int64{})
	}))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), waitForList/2)
	defer cancel()
	c := dialList(t, ctx, srv.URL, "any")
	const many = maxListJobs + maxListWaiting + 20
	for id := range many {
		c.send(fmt.Sprintf(`{"step":{"id":%d}}`, id+1))
	}
	refused, canceled := 0, 0
	for refused+canceled < many {
		switch got := string(c.read()["failed"]); {
		case strings.Contains(got, errTooMany.Error()):
			refused++
		case strings.Contains(got, errNoList.Error()), strings.Contains(got, context.Canceled.Error()):
			canceled++
		default:
			t.Fatalf("answer %s", got)
		}
		if refused == many-maxListJobs-maxListWaiting && canceled == 0 {
			for id := range many {
				c.send(fmt.Sprintf(`{"cancel":{"id":%d}}`, id+1))
			}
		}
	}
	if canceled != maxListJobs+maxListWaiting {
		t.Errorf("%d of %d questions canceled, %d refused", canceled, many, refused)
	}
}

// A filter ends with its page, also within a frame: its regular expression would run for minutes.
func TestFilterEndsWithItsPage(t *testing.T) {
	costly := `(?:a?){800}a{800}b`
	var out bytes.Buffer
	s, at := servertest.Conversation(t, &out)
	msg := append([]byte{0, 0, 0x01, 0x10, 6, 0}, bytes.Repeat([]byte("a"), 60_000)...)
	binary.LittleEndian.PutUint16(msg, uint16(len(msg)))
	for i := range 200 {
		if err := s.Data(schema.ToServer, at.Add(time.Duration(i)*time.Millisecond), msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	for name, ask := range map[string]string{
		"the list":      `{"view":{"seq":2,"filter":"bytes ~ \"` + costly + `\""}}`,
		"the highlight": `{"view":{"seq":2,"highlight":"bytes ~ \"` + costly + `\""}}`,
		"a search":      `{"find":{"id":100,"text":"bytes ~ \"` + costly + `\"","as":"filter","from":0}}`,
		"a text":        `{"find":{"id":100,"text":"` + strings.Repeat("a", 3000) + `b","as":"text","from":0}}`,
	} {
		t.Run(name, func(t *testing.T) {
			srv := captureServer(t, "tera", servertest.ChatFiles)
			c := openList(t, srv, out.Bytes())
			c.view(1, "")
			c.send(ask)
			c.send(`{"map":{"id":101,"seq":2,"buckets":10}}`)
			time.Sleep(100 * time.Millisecond) // its start is not observable
			c.conn.Drop()
			begun := time.Now()
			srv.Close()
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("the server waited %v for the filter", took)
			}
		})
	}
}
