package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"wirebench/defs/benchtest"
	"wirebench/server/access"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/wsconn"
)

// testLog is a log that can be read while it is written.
type testLog struct{ servertest.Log }

// line returns the first line that contains all parts, "" if there is none.
func (l *testLog) line(parts ...string) string {
lines:
	for line := range strings.Lines(l.String()) {
		for _, p := range parts {
			if !strings.Contains(line, p) {
				continue lines
			}
		}
		return line
	}
	return ""
}

// keepLog redirects the log of an unused server.
func keepLog(s *Server) *testLog {
	l := &testLog{}
	s.Log = slog.New(slog.NewTextHandler(l, nil))
	s.api.Log, s.workbench.Log = s.Log, s.Log
	return l
}

func carrying(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// reading lists the routes other than GET that viewers may use, since they change nothing, or nothing here.
var reading = []string{
	"POST /p/{project}/definitions", "POST /api/v1/decode", "POST /api/v1/encode", "POST /api/v1/projects/{project}/decode", "POST /api/v1/projects/{project}/encode", "POST /api/v1/projects/{project}/layout", "POST /api/v1/projects/{project}/compare", "POST /api/v1/projects/{project}/scores", "POST /api/v1/projects/{project}/paste", "POST /api/v1/projects/{project}/framing",
	"POST /api/v1/projects/{project}/envelope/frames", "POST /api/v1/projects/{project}/filter", "POST /api/v1/projects/{project}/emit", "POST /api/v1/projects/{project}/captures/{id}/script", "POST /api/v1/projects/{project}/captures/{id}/copy",
	"POST /mcp", // its tools ask with the same roles
}

// people are accounts with tokens, by name.
func people(t testing.TB, grants map[string]access.Grants) (*access.Accounts, map[string]string) {
	t.Helper()
	accounts, err := access.OpenAccounts(&access.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{}
	for name, g := range grants {
		first := g
		if len(g) == 0 { // a token is made for some role
			first = access.Grants{"lost": access.Viewer}
		}
		_, secret, err := accounts.Invite(access.Principal{Name: "test"}, "", first)
		if err != nil {
			t.Fatal(err)
		}
		id, err := accounts.Accept(secret, name, "", "a long password")
		if err != nil {
			t.Fatal(err)
		}
		if _, tokens[name], err = accounts.MakeToken(id, "test", access.Grants{access.Everywhere: access.Admin}, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := accounts.Grant(id, g, false); err != nil {
			t.Fatal(err)
		}
	}
	return accounts, tokens
}

// walk calls a function for each route of a server.
func walk(t testing.TB, s *Server, call func(method, pattern string)) {
	t.Helper()
	err := chi.Walk(s.router, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		call(method, pattern)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each route is permitted exactly for the roles of the access policy: without a token, for each role in the project and in all projects, and
// for somebody of another project, who cannot tell whether this one exists.
func TestEveryRouteForEveryRole(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	s := testServer(t)
	log := keepLog(s)
	grants := map[string]access.Grants{"admin": {access.Everywhere: access.Admin}, "elsewhere": {"another": access.Operator}, "none": {}}
	for r := access.Viewer; r < access.Admin; r++ {
		grants[r.String()] = access.Grants{"one": r}
		grants["all-"+r.String()] = access.Grants{access.Everywhere: r}
	}
	accounts, tokens := people(t, grants)
	h := access.NewDoor(access.Config{Accounts: accounts}).Guard(s)
	asked := 0
	walk(t, s, func(method, pattern string) {
		if strings.HasPrefix(pattern, "/api/v1/access/") { // not for tokens: see TestEveryEntryForEveryCredential
			return
		}
		route := method + " " + pattern
		path := strings.NewReplacer("{project}", "one", "{file}", "C_JOIN.1.def", "{id}", "xyz", "{at}", "2026-03-01T18:04:05Z").Replace(pattern)
		ask := func(name string) *httptest.ResponseRecorder {
			asked++
			body := "{}"
			if pattern == "/api/v1/projects/{project}" { // nothing may change before all have asked
				body = "{"
			}
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			if name != "" {
				r.Header = carrying(tokens[name])
			}
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		need := s.guard().Needs(route)
		switch {
		case need > access.Admin:
			t.Errorf("%s is not in the table of access: what does it need?", route)
			return
		case need > access.Viewer && method == "GET" || need <= access.Viewer && method != "GET" && !slices.Contains(reading, route):
			t.Errorf("%s needs %s", route, need)
		}
		if w := ask(""); (w.Code == http.StatusUnauthorized) != (need > access.Nobody) {
			t.Errorf("nobody asks for %s: %d %s", route, w.Code, w.Body)
		}
		ofProject := strings.Contains(pattern, "{project}")
		everywhere := route == "GET /metrics" || route == "POST /projects" || route == "POST /api/v1/projects"
		for name, g := range grants {
			have := g.Any()
			switch {
			case ofProject:
				have = g.In("one")
			case everywhere:
				have = g.In("")
			}
			w := ask(name)
			refused := w.Code == http.StatusForbidden || w.Code == http.StatusNotFound && strings.Contains(w.Body.String(), "project one not found")
			if refused != (have < need) {
				t.Errorf("%s asks for %s, which needs %s: %d %s", name, route, need, w.Code, w.Body)
			}
			if have < need && w.Header().Get("Content-Type") != "application/problem+json" && strings.HasPrefix(path, "/api") {
				t.Errorf("%s is refused as %s", route, w.Header().Get("Content-Type"))
			}
			if ofProject && have == access.Nobody && need > access.Nobody && w.Code == http.StatusForbidden && strings.HasPrefix(path, "/api") {
				t.Errorf("%s learns from %s that the project exists: %s", name, route, w.Body)
			}
			if have < need && have > access.Nobody && log.line("level=WARN", "msg=refused", have.String()+" 192.0.2.1", "method="+method, "path="+path) == "" {
				t.Errorf("the refusal of %s for %s is not in the log", route, name)
			}
		}
		if item := s.document.Paths[pattern]; item != nil && need > access.Viewer {
			op := map[string]*huma.Operation{"PUT": item.Put, "PATCH": item.Patch, "POST": item.Post, "DELETE": item.Delete}[method]
			if op.Responses["403"] == nil {
				t.Errorf("the document does not say that %s may be refused", route)
			}
		}
	})
	t.Logf("%d requests", asked)
	for _, method := range []string{"GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "QUERY", "post"} {
		r := httptest.NewRequest(method, "/api/one/nothing/there", nil)
		r.Header = carrying(tokens["viewer"])
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code < 400 {
			t.Errorf("%s of no route: %d", method, w.Code)
		}
	}
}

// Lists name only the projects that somebody may see, and a capture is only copied where one may store it.
func TestProjectsOfOthers(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"a.def": "group: x\n"})
	accounts, tokens := people(t, map[string]access.Grants{"in": {"one": access.Viewer}, "out": {"two": access.Operator}, "none": {}})
	h := access.NewDoor(access.Config{Accounts: accounts}).Guard(s)
	get := func(name, path string) (int, string) {
		r := httptest.NewRequest("GET", path, nil)
		r.Header = carrying(tokens[name])
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for name, seen := range map[string]bool{"in": true, "out": false} {
		for _, path := range []string{"/api/v1/projects", "/projects"} {
			if code, body := get(name, path); code != 200 || strings.Contains(body, "One protocol") != seen {
				t.Errorf("%s at %s: %d %s", name, path, code, body)
			}
		}
	}
	if code, body := get("none", "/projects"); code != 403 || !strings.Contains(body, "no role here yet") {
		t.Errorf("without a role: %d %s", code, body)
	}
	if code, _ := get("out", "/"); code != 302 {
		t.Errorf("home: %d", code)
	}
}

// files returns the texts below a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var viewedFiles = map[string]string{
	"C_JOIN.1.def": servertest.JoinText, "protocol.1.map": "C_JOIN 1\n", "C_JOIN.1.samples.jsonl": servertest.Samples["C_JOIN.1.samples.jsonl"],
}

const viewedHex = "12000100080039304c0061006e006e000000"

// pageActions are actions that store something, with the fields that the page sends.
var pageActions = map[string]string{
	"save":    `"set":{"definition":"byte edited\n"}`,
	"version": `"set":{"definition":"byte edited\n"}`,
	"delete":  `"set":{}`,
	"keep":    `"set":{"input":"` + strings.Replace(viewedHex, "3930", "3931", 1) + `"},"about":"another"`,
	"drop":    `"set":{}`,
}

// Buttons of an open page that store something work for operators; viewers get a notice that nothing was stored, and keep their text.
func TestViewersPageActions(t *testing.T) {
	for action, fields := range pageActions {
		for _, token := range []string{"look", "all"} {
			t.Run(action+" with "+token, func(t *testing.T) {
				s, dir := testServerOf(t, viewedFiles)
				log := keepLog(s)
				srv := httptest.NewServer(access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s))
				t.Cleanup(srv.Close)
				p := &openPage{t: t, conn: dialChannel(t, t.Context(), srv.URL, carrying(token), "page", "null"), html: map[string]string{}}
				p.do(`"set":{"message":"C_JOIN.1","input":"` + viewedHex + `"}`)
				if token == "all" {
					p.has("an operator", map[string]string{"definition-head": `value="save"`, "bytes-head": `value="drop:0"`})
				} else {
					p.has("a viewer", map[string]string{"definition-head": `!value="save"`, "bytes-head": `!value="drop:0"`})
				}
				before := files(t, dir)
				name := action
				if action == "drop" {
					name = "drop:0"
				}
				p.do(`"action":"` + name + `",` + fields)
				if token == "all" {
					if cmp.Equal(before, files(t, dir)) {
						t.Errorf("nothing was stored: the test tries nothing. %s", p.html["notices"])
					}
					p.has("an operator", map[string]string{"notices": "!View only"})
					return
				}
				if d := cmp.Diff(before, files(t, dir)); d != "" {
					t.Errorf("a viewer has changed %s", d)
				}
				p.has("a viewer", map[string]string{"notices": "View only", "definition-head": `!value="save"`, "bytes-head": `!value="keep"`})
				if strings.Contains(fields, "edited") {
					p.has("what was typed", map[string]string{"definition-head": "not saved"})
				}
				if log.line("msg=refused", "viewer 127.0.0.1", "method=GET", "path=/ws/one/page", `what="page action `+action+`"`) == "" {
					t.Error("the refusal is not in the log")
				}
				p.do(`"set":{"value":"{\"channel_name\":\"Bo\",\"password\":7}"},"action":"encode"`)
				p.has("a viewer encodes", map[string]string{"notices": "!View only", "fields-head": "code 1"})
			})
		}
	}
}

// The same without scripts: the page comes back with the text and a notice.
func TestViewersForm(t *testing.T) {
	s, dir := testServerOf(t, viewedFiles)
	log := keepLog(s)
	h := access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s)
	before := files(t, dir)
	post := func(form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/p/one/definitions", strings.NewReader(form.Encode()))
		r.Header = carrying("look")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for action := range pageActions {
		if action == "drop" {
			action = "drop:0"
		}
		w := post(url.Values{"action": {action}, "message": {"C_JOIN.1"}, "definition": {"byte edited\n"}, "input": {viewedHex}, "about": {"x"}})
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "byte edited") || !strings.Contains(w.Body.String(), "View only: nothing") {
			t.Errorf("%s: %d %s", action, w.Code, w.Body)
		}
		if log.line("msg=refused", "viewer", "method=POST", "path=/p/one/definitions", strings.TrimSuffix(action, ":0")) == "" {
			t.Errorf("%s: the refusal is not in the log", action)
		}
	}
	if d := cmp.Diff(before, files(t, dir)); d != "" {
		t.Errorf("a viewer has changed %s", d)
	}
	for _, action := range []string{"decode", "layout", "format", "encode", "emit:go", "svg"} {
		w := post(url.Values{"action": {action}, "message": {"C_JOIN.1"}, "definition": {"byte edited\n"}, "input": {"0500010007"}, "value": {`{"edited":1}`}})
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "nothing was changed") {
			t.Errorf("%s: %d %s", action, w.Code, w.Body)
		}
	}
}

// The pages of viewers are marked, and lack buttons that would be refused; those of operators have them.
func TestViewersPages(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	x := servertest.Keep(t, s, "chat.pcapng", servertest.Chat(t, 5))
	offered := []string{`value="save"`, `value="version"`, `value="delete"`, `value="keep"`, `action="/p/one/upload"`, ">Use</button>"}
	for _, path := range []string{"/p/one/definitions/C_SAY.1", "/p/one/captures/" + x.ID, "/nothing"} {
		page := func(h http.Handler, header http.Header) string {
			r := httptest.NewRequest("GET", path, nil)
			r.Header = header
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Body.String()
		}
		looks, all, bare := page(access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s), carrying("look")), page(access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s), carrying("all")), page(s, http.Header{})
		if !strings.Contains(looks, "data-look-only") || !strings.Contains(looks, ">View only<") {
			t.Errorf("%s does not say that the page is view-only", path)
		}
		for _, text := range offered {
			if strings.Contains(looks, text) {
				t.Errorf("%s offers %s to a viewer", path, text)
			}
		}
		for name, text := range map[string]string{"an operator": all, "somebody where no token is asked for": bare} {
			if strings.Contains(text, "data-look-only") || strings.Contains(text, ">View only<") {
				t.Errorf("%s: %s has view-only access", path, name)
			}
			if strings.HasPrefix(path, "/p/one/definitions?") && (!strings.Contains(text, `value="save"`) || !strings.Contains(text, `action="/p/one/upload"`)) {
				t.Errorf("%s: buttons of %s are missing", path, name)
			}
		}
	}
}

// A viewer sees held messages and rules, and cannot change them.
func TestViewerMayNotOperate(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	log := keepLog(s)
	srv := httptest.NewServer(access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s))
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	api := func(token, method, path, body string, into any) int {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, srv.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = carrying(token)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err == nil && into != nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
		return res.StatusCode
	}
	start := fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"operate":true}`, servertest.EchoGame(t))
	if code := api("look", "POST", "/api/one/proxies", start, nil); code != 403 {
		t.Errorf("a viewer starts a listener: %d", code)
	}
	var p relay.Info
	if code := api("all", "POST", "/api/one/proxies", start, &p); code != 201 {
		t.Fatalf("an operator starts a listener: %d", code)
	}
	session := "/api/v1/projects/one/proxies/" + p.ID
	for _, c := range []struct{ method, path, body string }{
		{"POST", session + "/operate", `{"on":true,"intercept":"say"}`},
		{"POST", session + "/held", `{"id":1,"verdict":"drop"}`},
		{"POST", session + "/send", `{"conn":"x","dir":"c2s","hex":"00"}`},
		{"PUT", session + "/rules", `{"rules":[]}`},
		{"POST", "/api/v1/projects/one/captures/" + p.ID + "/markers", `{"text":"here"}`},
		{"DELETE", "/api/v1/projects/one/proxies", ""},
	} {
		if code := api("look", c.method, c.path, c.body, nil); code != 403 || log.line("msg=refused", "viewer 127.0.0.1", "method="+c.method, "path="+c.path) == "" {
			t.Errorf("a viewer asks for %s %s: %d, or not logged", c.method, c.path, code)
		}
	}
	var now struct{ Proxies []relay.Info }
	if code := api("look", "GET", "/api/one/proxies", "", &now); code != 200 || len(now.Proxies) != 1 || !now.Proxies[0].Running || now.Proxies[0].Operate == nil || now.Proxies[0].Operate.On {
		t.Errorf("a viewer has changed what runs: %d %+v", code, now)
	}
	if code := api("all", "POST", session+"/operate", `{"on":true,"intercept":"say"}`, nil); code != 200 {
		t.Errorf("an operator operates: %d", code)
	}
	for _, path := range []string{session + "/held", session + "/rules"} {
		if code := api("look", "GET", path, "", nil); code != 200 {
			t.Errorf("a viewer looks at %s: %d", path, code)
		}
	}
	stream, err := wsconn.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws/one/live", carrying("look"), 1<<20)
	if err != nil {
		t.Errorf("a viewer watches: %v", err)
	} else {
		stream.Drop()
	}
}

// A page of another site gets no websocket, even if no token is required, and the refusal is logged. A new websocket needs a line here.
func TestForeignWebsocketsAreRefused(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	log := keepLog(s)
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	var p relay.Info
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q}`, servertest.EchoGame(t)), &p); code != 201 {
		t.Fatalf("start a listener: %d", code)
	}
	logged := map[string]string{
		"/ws/{project}/page": "page refused",
		"/ws/{project}/live": "live stream refused",
	}
	tried := 0
	walk(t, s, func(method, pattern string) {
		if !strings.HasPrefix(pattern, "/ws/") {
			return
		}
		tried++
		path := strings.NewReplacer("{project}", "one", "{id}", p.ID).Replace(pattern)
		address := "ws" + strings.TrimPrefix(srv.URL, "http") + path
		own, err := wsconn.Dial(ctx, address, http.Header{"Origin": {srv.URL}}, 1<<20)
		if err != nil {
			t.Errorf("%s: a page of this server is refused: %v", pattern, err)
		} else {
			own.Drop()
		}
		for i, origin := range []string{"http://elsewhere.example", "null", srv.URL + ".elsewhere.example", strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)} {
			origin = strings.Replace(origin, "elsewhere", fmt.Sprintf("e%d-%d", tried, i), 1)
			if conn, err := wsconn.Dial(ctx, address, http.Header{"Origin": {origin}}, 1<<20); err == nil {
				conn.Drop()
				t.Errorf("%s: a page of %s was let in", pattern, origin)
			}
		}
		if want := logged[pattern]; want == "" || log.line(want, fmt.Sprintf("e%d-0.example", tried)) == "" {
			t.Errorf("%s: the refusal is not in the log as %q", pattern, want)
		}
	})
	if tried != len(logged) {
		t.Errorf("%d websockets were tried, want %d", tried, len(logged))
	}
}
