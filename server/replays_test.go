package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"wirebench/server/frames"
	"wirebench/server/objects"
	"wirebench/server/relay"
	"wirebench/server/replay"
	"wirebench/server/runs"
	"wirebench/server/servertest"
)

// replayTest is a server with a recorded conversation: three messages of a client, and an answer to each.
type replayTest struct {
	*testing.T
	s       *Server
	base    string
	ctx     context.Context
	game    string // address of the game, which still runs
	capture string // id
}

func newReplayTest(t *testing.T) *replayTest {
	lake, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lake.Close() })
	s := newServer(t, Config{Projects: servertest.Fixed(t, servertest.CaptureWorkspace(t, "muta", map[string]string{"game.def": servertest.PingText})), GitRemote: "origin", Lake: lake, LakeEvery: time.Minute})
	srv := httptest.NewServer(s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(func() { cancel(); s.Close(); srv.Close() })
	x := &replayTest{T: t, s: s, base: srv.URL, ctx: ctx, game: servertest.EchoGame(t)}
	x.capture = servertest.Record(x.T, x.base, x.game, "aaaa", "bbbb", "cccc")
	return x
}

func (x *replayTest) api(method, path, body string, into any) int {
	x.Helper()
	return servertest.Call(x.T, x.ctx, x.base, method, path, body, into)
}

// start starts a replay of the capture, and returns its id.
func (x *replayTest) start(body string) (id, listen string) {
	x.Helper()
	var out struct{ ID, Listen string }
	if code := x.api("POST", "/api/one/captures/"+x.capture+"/replay", body, &out); code != 201 || out.ID == "" {
		x.Fatalf("start %s: %d", body, code)
	}
	return out.ID, out.Listen
}

type gotReplay struct {
	runs.Info
	Results []runs.Result
}

// until waits until a condition holds for a replay.
func (x *replayTest) until(id, what string, holds func(gotReplay) bool) gotReplay {
	x.Helper()
	for {
		var r gotReplay
		if code := x.api("GET", "/api/one/replays/"+id, "", &r); code != 200 {
			x.Fatalf("replay %s: %d", id, code)
		}
		if holds(r) {
			return r
		}
		if r.Done {
			x.Fatalf("it has ended before it was %s: %+v", what, r)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (x *replayTest) wait(id string) gotReplay {
	x.Helper()
	return x.until(id, "done", func(r gotReplay) bool { return r.Done })
}

// A recording is played to the same game again, to one with different answers, and to a listener of the proxy, which records it.
func TestReplay(t *testing.T) {
	x := newReplayTest(t)
	var made struct {
		Conns  []runs.Conn
		Conn   string
		Script json.RawMessage
	}
	if code := x.api("POST", "/api/one/captures/"+x.capture+"/script", `{}`, &made); code != 200 || len(made.Conns) != 1 || made.Conns[0].ToServer != 3 || made.Conns[0].ToClient != 3 {
		t.Fatalf("%d %+v", code, made)
	}
	script, err := replay.ParseScript(made.Script)
	if err != nil || len(script.Steps) != 6 || made.Conn != made.Conns[0].Conn {
		t.Fatalf("%v %s", err, made.Script)
	}

	var text struct {
		Text, Script string
		Steps        int
	}
	if code := x.api("POST", "/api/one/captures/"+x.capture+"/script", `{"as_text":true,"play":"server"}`, &text); code != 200 || text.Script != "" || text.Steps != 6 || !strings.Contains(text.Text, `"play": "server"`) {
		t.Errorf("as text: %d %+v", code, text)
	}

	id, _ := x.start(fmt.Sprintf(`{"to":%q,"speed":1000}`, x.game))
	r := x.wait(id)
	if r.Report == nil || !r.Report.OK || r.Total != 6 || len(r.Results) != 6 || r.Steps != 6 || r.Play != "client" || r.Conn != made.Conn || r.Capture != x.capture {
		t.Errorf("%+v %+v", r.Info, r.Report)
	}
	for _, one := range r.Results {
		if one.Status != "ok" || len(one.Diffs) != 0 {
			t.Errorf("%+v", one)
		}
	}
	// What was sent and received is a capture that has the same messages.
	var rows struct{ Rows []frames.Row }
	if code := x.api("GET", "/api/v1/one/captures/"+r.Recording+"/rows?filter="+url.QueryEscape("kind == message"), "", &rows); code != 200 || len(rows.Rows) != 6 || rows.Rows[0].Dir != "c2s" || rows.Rows[1].Dir != "s2c" {
		t.Errorf("the recording %q: %d %+v", r.Recording, code, rows.Rows)
	}
	var part gotReplay
	if code := x.api("GET", "/api/one/replays/"+id+"?from=4&count=1", "", &part); code != 200 || len(part.Results) != 1 || part.Results[0].Step != r.Results[4].Step || part.Total != 6 {
		t.Errorf("from 4: %d %+v", code, part)
	}
	if code := x.api("GET", "/api/one/replays/"+id+"?from=9999", "", &part); code != 200 || len(part.Results) != 0 {
		t.Errorf("from far behind: %d %+v", code, part.Results)
	}

	other, _ := json.Marshal(strings.Replace(string(made.Script), "bbbb", "bbbz", 1)) // so the answer differs; a text is a script, too
	id, _ = x.start(fmt.Sprintf(`{"to":%q,"speed":1000,"script":%s}`, x.game, other))
	r = x.wait(id)
	if r.Report == nil || r.Report.OK || r.Different != 1 || len(r.Results) != 6 || len(r.Results[3].Diffs) != 1 || r.Results[3].Diffs[0] != (replay.Difference{Path: "n", Expected: "98", Got: "122"}) {
		t.Errorf("%+v %+v", r.Info, r.Results)
	}

	var p relay.Info
	if code := x.api("POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q}`, x.game), &p); code != 201 {
		t.Fatal(code)
	}
	id, _ = x.start(fmt.Sprintf(`{"to":%q,"speed":1000}`, p.Pairs[0].Listen))
	if r = x.wait(id); r.Report == nil || !r.Report.OK {
		t.Errorf("by the proxy: %+v", r)
	}
	var f servertest.Frames
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) { // frames are observed after they passed
		f = servertest.Frames{}
		if code := x.api("GET", "/api/one/captures/"+p.ID+"/frames?filter=say", "", &f); code == 200 && f.Fit == 3 {
			break
		} else if code != 200 || time.Now().After(end) {
			t.Fatalf("the proxy saw %d of 3 (%d)", f.Fit, code)
		}
	}
	var all struct{ Replays []runs.Info }
	if code := x.api("GET", "/api/one/replays", "", &all); code != 200 || len(all.Replays) != 3 || all.Replays[0].ID != id {
		t.Errorf("%d %+v", code, all)
	}
}

// The server of a recording is played to a connecting client.
func TestReplayListens(t *testing.T) {
	x := newReplayTest(t)
	id, addr := x.start(`{"listen":"127.0.0.1:0","speed":1000}`)
	x.until(id, "listening", func(r gotReplay) bool { return r.State == "listening" && r.Listen == addr && r.Play == "server" })
	servertest.Say(x.T, addr, "aaaa", "bbbb", "cccc")
	if r := x.wait(id); r.Report == nil || !r.Report.OK || r.Report.Sent != 3 {
		t.Errorf("%+v %+v", r, r.Report)
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("it listens still, when it has ended")
	}
}

// A refused replay starts nothing, and has a reason.
func TestReplayRefused(t *testing.T) {
	x := newReplayTest(t)
	to := fmt.Sprintf(`"to":%q`, x.game)
	steps := `"script":{"version":1,"play":"%s","steps":[{"send":{"message":"%s","value":{"text":"aaaa"}}}]}`
	for _, bad := range []struct {
		body, says string
		code       int
	}{
		{`{"to":"169.254.169.254:80"}`, "link-local", 403},
		{`{"to":"203.0.113.7:80"}`, "not on the list", 403},
		{`{"to":"0.0.0.0:80"}`, "unspecified", 403},
		{`{"to":"127.0.0.1:0"}`, "no port", 403},
		{`{"to":"127.0.0.1"}`, "is not an address with a port", 422},
		{`{"to":"-x-!:80"}`, "neither an address nor a name", 422},
		{`{"listen":"0.0.0.0:0"}`, "not loopback", 403},
		{`{"listen":"[::]:0"}`, "not loopback", 403},
		{`{"listen":":0"}`, "not IP:port", 422},
		{`{"listen":"localhost:0"}`, "not IP:port", 422},
		{fmt.Sprintf(`{"listen":%q}`, x.game), "in use", 422},
		{`{}`, "is required", 422},
		{`{` + to + `,"listen":"127.0.0.1:0"}`, "is required", 422},
		{`{` + to + `,"conn":"127.0.0.1:1-127.0.0.1:2"}`, "does not exist", 422},
		{`{` + to + `,"session":7}`, "", 201}, // a session is used only with a connection
		{`{` + to + `,"speed":-1}`, "validation failed", 422},
		{`{` + to + `,"tolerance":"most"}`, "validation failed", 422},
		{`{` + to + `,"max_seconds":3601}`, "validation failed", 422},
		{`{` + to + `,"script":{"version":2}}`, "version 2", 422},
		{`{` + to + `,"script":null}`, "", 422},
		{`{` + to + `,"script":""}`, "script", 422},
		{`{` + to + `,"script":"{"}`, "script", 422},
		{`{` + to + `,"script":[]}`, "script", 422},
		{`{` + to + `,` + fmt.Sprintf(steps, "server", "svmsg/said") + `}`, "the other side", 422},
		{`{` + to + `,"script":{"version":1,"protocol":"tera","steps":[{"pause":"1s"}]}}`, "protocol", 422},
	} {
		var why struct{ Detail string }
		if code := x.api("POST", "/api/one/captures/"+x.capture+"/replay", bad.body, &why); code != bad.code || !strings.Contains(why.Detail, bad.says) {
			t.Errorf("%s: %d %q, want %d %q", bad.body, code, why.Detail, bad.code, bad.says)
		}
	}
	for _, path := range []string{"/api/one/captures/none/replay", "/api/none/captures/" + x.capture + "/replay", "/api/one/captures/none/script"} {
		if code := x.api("POST", path, `{`+to+`}`, nil); code != 404 && code != 422 {
			t.Errorf("%s: %d", path, code)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if code := x.api(method, "/api/one/replays/99", "", nil); code != 404 {
			t.Errorf("%s of none: %d", method, code)
		}
	}

	// Mistakes detected only during the run.
	id, _ := x.start(`{` + to + `,` + fmt.Sprintf(steps, "client", "clmsg/sing") + `}`)
	if r := x.wait(id); r.Error == "" || r.Report != nil {
		t.Errorf("a message without a definition: %+v", r)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	id, _ = x.start(fmt.Sprintf(`{"to":%q}`, closed.Addr()))
	if r := x.wait(id); !strings.Contains(r.Error, "connect to") {
		t.Errorf("nobody listens there: %+v", r)
	}
}

// A run can be stopped while it waits for a client and while it plays; it ends at its time limit, and with the server.
func TestReplayStops(t *testing.T) {
	x := newReplayTest(t)
	stop := func(id string) gotReplay {
		t.Helper()
		if code := x.api("DELETE", "/api/one/replays/"+id, "", nil); code != 204 {
			t.Errorf("stop: %d", code)
		}
		return x.wait(id)
	}
	waiting, _ := x.start(`{"listen":"127.0.0.1:0"}`)
	if r := stop(waiting); r.Error != "stopped" || r.Report != nil {
		t.Errorf("%+v", r)
	}
	endless := `"script":{"version":1,"play":"client","steps":[{"send":{"message":"clmsg/say","value":{"text":"aaaa"}}},{"expect":{"message":"svmsg/said"}},{"pause":"1h"}]}`
	to := fmt.Sprintf(`{"to":%q,`, x.game)
	playing, _ := x.start(to + endless + `}`)
	x.until(playing, "in the middle", func(r gotReplay) bool { return r.State == "playing" && r.Total == 2 })
	r := stop(playing)
	if r.Report == nil || r.Report.OK || r.Report.Stopped != "stopped" || r.Report.Sent != 1 || len(r.Results) != 2 {
		t.Errorf("%+v %+v", r, r.Report)
	}
	stop(playing) // stopping twice is not an error

	short, _ := x.start(to + endless + `,"max_seconds":1}`)
	if r := x.wait(short); r.Report == nil || r.Report.Stopped != "time limit reached: 1s" {
		t.Errorf("%+v %+v", r, r.Report)
	}

	x.start(`{"listen":"127.0.0.1:0"}`)
	x.start(to + endless + `}`)
	x.s.Close()
	if n := x.s.runs.Running(); n != 0 {
		t.Errorf("%d outlive the server", n)
	}
}

// The numbers of running and stored replays are limited.
func TestReplayLimits(t *testing.T) {
	x := newReplayTest(t)
	var ids []string
	for range runs.MaxRunning {
		id, _ := x.start(`{"listen":"127.0.0.1:0"}`)
		ids = append(ids, id)
	}
	if code := x.api("POST", "/api/one/captures/"+x.capture+"/replay", `{"listen":"127.0.0.1:0"}`, nil); code != 409 {
		t.Errorf("one more than may run: %d", code)
	}
	for i := range 2 * runs.MaxKept {
		if code := x.api("DELETE", "/api/one/replays/"+ids[i], "", nil); code != 204 {
			t.Fatal(code)
		}
		id, _ := x.start(`{"listen":"127.0.0.1:0"}`)
		ids = append(ids, id)
	}
	var kept struct{ Replays []runs.Info }
	if code := x.api("GET", "/api/one/replays", "", &kept); code != 200 || len(kept.Replays) != runs.MaxKept {
		t.Errorf("%d: %d are kept, want %d", code, len(kept.Replays), runs.MaxKept)
	}
	if code := x.api("GET", "/api/one/replays/"+ids[0], "", nil); code != 404 {
		t.Errorf("the oldest is still there: %d", code)
	}
}

// It also listens for datagrams, and leaves nothing open when it is stopped.
func TestReplayListensForDatagrams(t *testing.T) {
	s := captureServer(t, "subspace", nil)
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	x := &replayTest{T: t, s: s, base: srv.URL, ctx: t.Context()}
	var kept struct{ ID string }
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=talk.txt", nil, &kept); code != 201 {
		t.Fatal(code)
	}
	x.capture = kept.ID
	id, addr := x.start(`{"listen":"127.0.0.1:0","script":{"version":1,"play":"server","steps":[{"pause":"1s"}]}}`)
	if code := x.api("DELETE", "/api/one/replays/"+id, "", nil); code != 204 {
		t.Fatal(code)
	}
	if r := x.wait(id); r.Error != "stopped" || r.Listen != addr {
		t.Errorf("%+v", r)
	}
	c, err := net.ListenPacket("udp", addr)
	if err != nil {
		t.Fatalf("the address is still taken: %v", err)
	}
	c.Close()
	if code := x.api("POST", "/api/one/captures/"+x.capture+"/replay", `{"to":"127.0.0.1:9"}`, nil); code != 422 {
		t.Errorf("a capture without messages: %d", code)
	}
}
