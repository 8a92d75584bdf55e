package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// libraryFiles returns the embedded definitions of a protocol.
func libraryFiles(t testing.TB, dialect string) map[string]string {
	t.Helper()
	fsys, ok := library.Dialect(dialect)
	if !ok {
		t.Fatal(dialect)
	}
	out := map[string]string{}
	names, err := fs.Glob(fsys, "*.def")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

// notesOf returns the notes of a capture from the API.
func notesOf(t *testing.T, s *Server, id string) store.Notes {
	t.Helper()
	var all struct{ Captures []store.Capture }
	if code := servertest.Request(t, s, "GET", "/api/one/captures", nil, &all); code != 200 {
		t.Fatal(code)
	}
	for _, x := range all.Captures {
		if x.ID == id {
			return x.Notes
		}
	}
	t.Fatal("no capture ", id)
	return store.Notes{}
}

// Marks, notes and markers of the sample capture stay with their messages when a definition that determines message boundaries is changed,
// and return when it is restored.
func TestNotesStayWhenDefinitionsCut(t *testing.T) {
	files := libraryFiles(t, "muta")
	s := captureServer(t, "muta", files)
	recorded, ok := library.Recorded("muta")
	if !ok {
		t.Fatal("no sample")
	}
	x := servertest.Keep(t, s, "muta.pcapng", recorded.Data)
	first := servertest.ToldFrames(t, s, x.ID)
	marks := []uint64{1, 2, 7, 73, 84, 123, 150, 178}
	notes := map[string]string{}
	for n := uint64(1); n < uint64(len(first)); n += 5 {
		notes[strconv.FormatUint(n, 10)] = "note " + strconv.FormatUint(n, 10)
	}
	body, _ := json.Marshal(map[string]any{"mark": marks, "notes": notes})
	if code, text := servertest.Patch(t, s, x.ID, string(body)); code != 200 {
		t.Fatal(code, text)
	}
	for _, n := range []int{4, 8, 71, 140} {
		if code := requestJSON(t, s, "POST", "/api/one/captures/"+x.ID+"/markers", fmt.Sprintf(`{"text":"at %d","n":%d,"at":"2026-03-01T00:00:%02dZ"}`, n, n, n%60)); code != 201 {
			t.Fatal(code)
		}
	}
	before := notesOf(t, s, x.ID)
	if len(before.Marked) != len(marks) || len(before.Frames) != len(notes) || len(before.Markers) != 4 {
		t.Fatalf("%+v", before)
	}
	text := files["login.def"]
	servertest.Define(t, s, "login.def", strings.Replace(text, "level = uint8 [1, 60]", "level = uint8 [1, 3]", 1))
	second := servertest.ToldFrames(t, s, x.ID)
	if len(second) == len(first) {
		t.Fatal("the frames are cut as before")
	}
	after := notesOf(t, s, x.ID)
	stays, lost, nowhere := 0, 0, 0
	at := map[string]uint64{}
	for n, all := range after.Frames {
		for _, one := range strings.Split(all, "\n") {
			at[one] = n
		}
	}
	for n, note := range before.Frames {
		now, ok := at[note]
		switch {
		case !ok && slices.ContainsFunc(after.Noted, func(x store.Noted) bool { return x.Note == note && x.N == 0 }):
			nowhere++
		case !ok:
			t.Errorf("%s is gone", note)
		case first[n] == second[now]:
			stays++
		case slices.Contains(second, first[n]) && strings.Contains(first[n], `"`):
			lost++ // unless another message has the same content
		}
	}
	if stays < 5 || lost > 2 || nowhere > 10 {
		t.Errorf("%d notes are with their messages, %d of messages that are still there are not, %d are nowhere", stays, lost, nowhere)
	}
	servertest.Define(t, s, "login.def", text)
	servertest.ToldFrames(t, s, x.ID)
	if got := notesOf(t, s, x.ID); !got.Same(before) {
		t.Errorf("changed back:\n%+v\nbefore:\n%+v", got, before)
	}
}

func requestJSON(t *testing.T, s *Server, method, path, body string) int {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code
}

// Another framing gives other frames; notes stay with their bytes, and return.
func TestNotesStayWhenFramingChanges(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "raw.bin&framing=fixed:4", []byte("aaaabbbbccccdddd"))
	if code, text := servertest.Patch(t, s, x.ID, `{"mark":[2],"notes":{"2":"b","3":"c","4":"d"}}`); code != 200 {
		t.Fatal(code, text)
	}
	for _, c := range []struct{ framing, marked, notes string }{
		{"fixed:8", "[1]", "map[1:b 2:c\nd]"},
		{"fixed:2", "[3]", "map[3:b 5:c 7:d]"},
		{"whole", "[1]", "map[1:b\nc\nd]"},
		{"fixed:4", "[2]", "map[2:b 3:c 4:d]"},
	} {
		if code, text := servertest.Patch(t, s, x.ID, `{"framing":"`+c.framing+`"}`); code != 200 {
			t.Fatal(code, text)
		}
		servertest.ToldFrames(t, s, x.ID)
		if got := notesOf(t, s, x.ID); fmt.Sprint(got.Marked) != c.marked || fmt.Sprint(got.Frames) != c.notes {
			t.Errorf("%s: %v %v", c.framing, got.Marked, got.Frames)
		}
	}
}

// A page with an unsaved definition has its own frame numbers; changes by these numbers reach the right frame, and do not renumber notes
// for other pages.
func TestNotesOfADraft(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	c := openList(t, s, []byte(servertest.Follow))
	all, _ := s.Projects.Find("one").Captures.List()
	id := all[0].ID
	c.view(1, "")
	if code, text := servertest.Patch(t, s, id, `{"mark":[5],"notes":{"5":"hello","3":"the second ping"}}`); code != 200 {
		t.Fatal(code, text)
	}
	// With an additional byte the three pings are one and a half.
	draft := strings.Replace(servertest.SayAndPing, "packet: ping\n   __group = clmsg\n", "packet: ping\n   __group = clmsg\n   more = uint8\n", 1)
	quoted, _ := json.Marshal(draft)
	c.view(2, `,"draft":{"name":"game.def","text":`+string(quoted)+`}`)
	var noted []store.Noted
	if json.Unmarshal(c.st["noted"], &noted) != nil || len(noted) != 2 || noted[1].Note != "hello" || !noted[1].Mark || noted[1].N == 5 || noted[1].N == 0 {
		t.Fatalf("by the draft: %s", c.st["noted"])
	}
	hello := noted[1].ID.String()
	if got := notesOf(t, s, id); fmt.Sprint(got.Marked, got.Frames) != "[5] map[3:the second ping 5:hello]" {
		t.Fatalf("the draft has changed %+v", got)
	}
	if got := c.ask("where", "found", `,"n":1`); !strings.Contains(got, `"n":1`) || !strings.Contains(got, `"meant":1`) {
		t.Error(got)
	}
	if got := c.ask("where", "found", `,"frame":"`+hello+`"`); !strings.Contains(got, fmt.Sprintf(`"meant":%d`, noted[1].N)) {
		t.Error(got)
	}
	if got := c.ask("where", "found", `,"frame":"9:0:0"`); !strings.Contains(got, `"pos":-1`) {
		t.Error("a frame that is not there:", got)
	}
	first := notedAt(t, s, id, 1)
	if code, text := servertest.Patch(t, s, id, `{"mark":["`+first+`"],"notes":{"`+first+`":"said"},"unmark":["`+hello+`"]}`); code != 200 {
		t.Fatal(code, text)
	}
	if got := notesOf(t, s, id); fmt.Sprint(got.Marked, got.Frames) != "[1] map[1:said 3:the second ping 5:hello]" {
		t.Fatalf("%+v", got)
	}
	c.view(3, "")
	for {
		noted = nil
		if err := json.Unmarshal(c.st["noted"], &noted); err != nil {
			t.Fatal(err)
		}
		if len(noted) == 3 && noted[2].N == 5 {
			break
		}
		c.read()
	}
	if noted[0].Note != "said" || noted[1].N != 3 || noted[2].ID.String() != hello {
		t.Errorf("by the stored ones again: %+v", noted)
	}
}

// notedAt returns the identity of a frame from the API.
func notedAt(t *testing.T, s *Server, id string, n int) string {
	t.Helper()
	var f struct {
		Row struct{ ID string }
	}
	if code := servertest.Request(t, s, "GET", fmt.Sprintf("/api/one/captures/%s/frames/%d", id, n), nil, &f); code != 200 || f.Row.ID == "" {
		t.Fatalf("frame %d: %d %+v", n, code, f)
	}
	return f.Row.ID
}

// The frames of an operated session are the same after its end: numbers, dropped and changed messages, and users. Marks, notes and markers
// stay with their messages.
func TestFramesOfAnOperatedSessionStay(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	api := func(method, path, body string, into any) int {
		t.Helper()
		return servertest.Call(t, ctx, srv.URL, method, path, body, into)
	}
	var p relay.Info
	if code := api("POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"operate":true}`, servertest.EchoGame(t)), &p); code != 201 {
		t.Fatalf("%d %+v", code, p)
	}
	session, capture := "/api/one/proxies/"+p.ID, "/api/one/captures/"+p.ID
	if code := api("POST", session+"/operate", `{"on":true}`, nil); code != 200 {
		t.Fatal(code)
	}
	if code := api("PUT", session+"/rules", `{"rules":[{"id":"1","on":true,"filter":".text == \"drop\"","action":"drop"},{"id":"2","on":true,"filter":".text == \"edit\"","action":"replace","field":"text","value":"edis"}]}`, nil); code != 200 {
		t.Fatal(code)
	}
	c, err := net.Dial("tcp", p.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	for _, text := range []string{"aaaa", "drop", "edit", "bbbb", "drop", "cccc"} {
		if _, err := c.Write(append([]byte{1, 4, 0}, text...)); err != nil {
			t.Fatal(err)
		}
		if text != "drop" {
			var got [5]byte
			if _, err := io.ReadFull(c, got[:]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if code := api("POST", session+"/send", `{"dir":"s2c","message":"said","value":{"n":105}}`, nil); code != 204 {
		t.Errorf("send: %d", code)
	}
	type listed struct {
		Frames json.RawMessage
		Fit    int
		Total  int
	}
	list := func(filter string) (f listed) {
		t.Helper()
		if code := api("GET", capture+"/frames?count=1000&value=true&filter="+url.QueryEscape(filter), "", &f); code != 200 {
			t.Fatal(code)
		}
		return f
	}
	for list("injected").Fit == 0 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	total := list("").Total
	if code := api("PATCH", capture, fmt.Sprintf(`{"mark":[%d],"notes":{"2":"dropped","%d":"the injected one"}}`, total-1, total), nil); code != 200 {
		t.Fatal(code)
	}
	if code := api("POST", capture+"/markers", `{"text":"an edit","n":4}`, nil); code != 201 {
		t.Fatal(code)
	}
	filters := []string{"", "dropped", "modified", "injected", "note contains \"edis\" || note contains \"frame\"", "marked"}
	var before []listed
	for _, filter := range filters {
		before = append(before, list(filter))
	}
	if before[1].Fit < 2 || before[2].Fit < 2 {
		t.Fatalf("dropped %d, modified %d", before[1].Fit, before[2].Fit)
	}
	noted := notesOf(t, s, p.ID)
	c.Close()
	if code := api("DELETE", "/api/one/proxies/"+p.ID, "", nil); code != 204 {
		t.Fatal(code)
	}
	for s.captures.Runs("one", p.ID) {
		time.Sleep(5 * time.Millisecond)
	}
	same := func(when string) {
		t.Helper()
		for i, filter := range filters {
			if got := list(filter); string(got.Frames) != string(before[i].Frames) || got.Total != total {
				t.Errorf("%s, %q: %d of %d\n%s\nbefore: %d\n%s", when, filter, got.Fit, got.Total, got.Frames, total, before[i].Frames)
			}
		}
		if got := notesOf(t, s, p.ID); !got.Same(noted) {
			t.Errorf("%s: noted is %+v, was %+v", when, got, noted)
		}
	}
	same("after the end")
	// With other definitions frames are split again, which is possible for sent data only.
	servertest.Define(t, s, "game.def", servertest.PingText+"\npacket: more\n   __group = clmsg\n")
	if got := list(""); got.Total == total {
		t.Error("the frames are those of other definitions")
	}
	servertest.Define(t, s, "game.def", servertest.PingText)
	same("by the same definitions again")
}

// New keys turn opaque frames into messages; notes stay with the bytes.
func TestNotesStayWhenKeysCome(t *testing.T) {
	s := captureServer(t, "subspace", libraryFiles(t, "subspace"))
	var out bytes.Buffer
	w, err := pcap.NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	ends := pcap.NewSynthetic(w, 0, transport.Conn{Proto: transport.UDP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:5000")})
	cipher := subspace.NewCipher(0x1234abcd, subspace.Signed)
	for i := range 12 {
		// A cluster of two chat messages without a handshake, undecipherable without the key.
		text := fmt.Sprintf("text %02d", i)
		one := append([]byte{0x06, 2, 0, 0xff, 0xff}, text+"\x00"...)
		data := append([]byte{0, 0x0e, byte(len(one))}, one...)
		data = append(append(data, byte(len(one))), one...)
		cipher.Encrypt(data, data)
		if err := ends.Data(schema.ToServer, time.Unix(int64(1000+i), 0), data, ""); err != nil {
			t.Fatal(err)
		}
	}
	x := servertest.Keep(t, s, "middle.pcapng", out.Bytes())
	before := servertest.ToldFrames(t, s, x.ID)
	if code, text := servertest.Patch(t, s, x.ID, `{"notes":{"3":"the third","12":"the last"},"mark":[5]}`); code != 200 {
		t.Fatal(code, text)
	}
	if code, text := servertest.Patch(t, s, x.ID, `{"keys":"* subspace 0x1234abcd"}`); code != 200 {
		t.Fatal(code, text)
	}
	after := servertest.ToldFrames(t, s, x.ID)
	if len(after) <= len(before) {
		t.Fatalf("%d frames, then %d: %q", len(before), len(after), after)
	}
	got := notesOf(t, s, x.ID)
	at := map[string]string{}
	for n, text := range got.Frames {
		at[text] = after[n]
	}
	if len(got.Marked) != 1 || !strings.Contains(after[got.Marked[0]], "text 04") || !strings.Contains(at["the third"], "text 02") || !strings.Contains(at["the last"], "text 11") {
		t.Errorf("%+v: %v", got, at)
	}
	if code, text := servertest.Patch(t, s, x.ID, `{"keys":""}`); code != 200 {
		t.Fatal(code, text)
	}
	servertest.ToldFrames(t, s, x.ID)
	if got := notesOf(t, s, x.ID); fmt.Sprint(got.Marked, got.Frames) != "[5] map[3:the third 12:the last]" {
		t.Errorf("without the key again: %+v", got)
	}
}
