package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/server/bus"
	"wirebench/server/bus/bustest"
	"wirebench/server/cluster"
	"wirebench/server/projects"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// shellWords splits a line into words as a shell does.
func shellWords(line string) (out []string) {
	word, in, quoted := "", false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, in = !quoted, true
		case r == ' ' && !quoted:
			if in {
				out = append(out, word)
			}
			word, in = "", false
		default:
			word, in = word+string(r), true
		}
	}
	return append(out, word)
}

// curl returns the request of a curl command line. files are the files that it names.
func curl(t *testing.T, line string, files map[string]string) *http.Request {
	t.Helper()
	args := shellWords(line)
	if args[0] != "curl" {
		t.Fatalf("%s: not curl", line)
	}
	method, address, header := "", "", http.Header{}
	var body io.Reader
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for args = args[1:]; len(args) > 0; args = args[1:] {
		if !strings.HasPrefix(args[0], "-") {
			address = args[0]
			continue
		}
		switch option, value := args[0], args[1]; option {
		case "-X":
			method = value
		case "-H":
			name, text, _ := strings.Cut(value, ": ")
			header.Set(name, text)
		case "-d", "--data-binary":
			if name, ok := strings.CutPrefix(value, "@"); ok {
				value = files[name]
			}
			body = strings.NewReader(value)
		case "-F":
			name, text, _ := strings.Cut(value, "=")
			body = &form
			if file, ok := strings.CutPrefix(text, "@"); ok {
				w, err := parts.CreateFormFile(name, file)
				if err != nil {
					t.Fatal(err)
				}
				io.WriteString(w, files[file])
			} else if err := parts.WriteField(name, text); err != nil {
				t.Fatal(err)
			}
			header.Set("Content-Type", parts.FormDataContentType())
		default:
			t.Fatalf("%s: what is %s?", line, option)
		}
		args = args[1:]
	}
	if err := parts.Close(); err != nil {
		t.Fatal(err)
	}
	if method == "" {
		method = "GET"
		if body != nil {
			method = "POST"
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	return r
}

// called is a client of a test.
type called struct {
	*api.Client
	t      *testing.T
	cookie *http.Cookie
	sent   *http.Request
	status int
}

// RoundTrip notes the status of the answer.
func (c *called) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.sent = r; c.cookie != nil {
		r.AddCookie(c.cookie)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		c.status = res.StatusCode
	}
	return res, err
}

func clientOf(t *testing.T, base string) *called {
	c := &called{t: t}
	c.Client = &api.Client{Base: base, HTTP: &http.Client{Transport: c}}
	return c
}

// do calls an operation by its name as a request asks for it, and returns the status and the body of the answer. The client must send the same.
func (c *called) do(id string, as *http.Request) (status int, body string) {
	c.t.Helper()
	o, err := c.Operation(id)
	if err != nil {
		c.t.Fatal(err)
	}
	given := as.URL.Query()
	asked, parts := strings.Split(as.URL.EscapedPath(), "/"), strings.Split(o.Path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, "{"); ok && i < len(asked) {
			given.Set(strings.TrimSuffix(name, "}"), unescaped(asked[i]))
		}
	}
	for _, name := range []string{"If-Match", "Accept"} {
		if value := as.Header.Get(name); value != "" {
			given.Set(name, value)
		}
	}
	var answer bytes.Buffer
	c.sent, c.status = nil, 0
	err = c.Call(c.t.Context(), id, given, api.Body{Type: as.Header.Get("Content-Type"), Data: as.Body}, &answer)
	var refused *api.RefusedError
	switch {
	case errors.As(err, &refused):
		return refused.Status, err.Error()
	case err != nil:
		c.t.Fatalf("%s: %v", id, err)
	case c.sent.Method != as.Method || c.sent.URL.EscapedPath() != as.URL.EscapedPath() || c.sent.URL.Query().Encode() != as.URL.Query().Encode():
		c.t.Errorf("%s: the client asks for %s %s, not %s %s", id, c.sent.Method, c.sent.URL, as.Method, as.URL)
	}
	return c.status, answer.String()
}

// Each example of the API page works: none fails, and the status of its response is documented.
func TestExamplesOfTheDocs(t *testing.T) {
	x := newReplayTest(t)
	page := httptest.NewRecorder()
	x.s.ServeHTTP(page, httptest.NewRequest("GET", "/api/docs", nil))

	ops, paths := map[string]*huma.Operation{}, map[string]string{}
	operations(x.s, func(path string, op *huma.Operation) { ops[op.OperationID], paths[op.OperationID] = op, path })
	text := func(method, path string) string {
		w := httptest.NewRecorder()
		x.s.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Body.String()
	}
	const file = "/api/one/definitions/game.def"
	session, replay, marker, definition := "", "", "", ""
	client := clientOf(t, x.base)
	run := func(id string) {
		if id == "history" { // so that there is one
			if _, err := x.s.Projects.Find("one").Save("game.def", []byte("# changed\n"+x.s.Projects.Find("one").Now().File("game.def").Text), nil); err != nil {
				t.Fatal(err)
			}
		}
		op := ops[id]
		if op == nil {
			t.Errorf("there is no operation %s", id)
			return
		}
		delete(ops, id)
		line := x.s.example(access.Principal{Grants: access.Grants{access.Everywhere: access.Admin}}, paths[id], op)
		if shown := strings.NewReplacer("&", "&amp;", "'", "&#39;", `"`, "&#34;", ">", "&gt;", "<", "&lt;").Replace(line); !strings.Contains(page.Body.String(), shown) {
			t.Errorf("the page does not show %s", line)
		}
		one := x.capture
		if strings.Contains(paths[id], "/proxies") {
			one = session
		} else if strings.Contains(paths[id], "/replays") {
			one = replay
		} else if strings.Contains(paths[id], "/history/") {
			var past api.HistoryList
			_ = json.Unmarshal([]byte(text("GET", file+"/history")), &past)
			if len(past.Revisions) == 0 {
				t.Fatal("the definition has no history")
			}
			one = past.Revisions[0].ID
		}
		if strings.Contains(paths[id], "/threads/") {
			var list api.ThreadList
			_ = json.Unmarshal([]byte(text("GET", "/api/v1/one/threads?closed=true")), &list)
			one = list.Threads[len(list.Threads)-1].ID
			if strings.HasSuffix(id, "-suggestion") {
				now := x.s.Projects.Find("one").Now().File("game.def").Text
				made, err := x.s.Projects.Find("one").Begin("ann", workspace.NewThread{File: "game.def", Text: "why", Suggestion: &workspace.Suggestion{Base: now, Text: "# suggested\n" + now}})
				if err != nil {
					t.Fatal(err)
				}
				one = made.ID
			}
		}
		if strings.Contains(paths[id], "/capsules/") {
			one = x.capsule(t)
		}
		var about store.Capture
		_ = json.Unmarshal([]byte(text("GET", "/api/one/captures/"+x.capture+"?")), &about)
		kept, err := x.s.Projects.Find("one").Captures.Get(x.capture)
		if err == nil {
			about = kept
		}
		revision := strings.Trim(etagOf(x.s, file), `"`)
		line = strings.NewReplacer("http://HOST", x.base, "/ID", "/"+url.PathEscape(one), "=ID", "="+url.QueryEscape(one), "/AT", "/"+url.PathEscape(marker),
			"REVISION", revision, "SIZE", fmt.Sprint(about.Size), "OTHER", "one", "UPSTREAM", x.game).Replace(line)
		status, body := client.do(id, curl(t, line, map[string]string{"game.def": definition, "session.pcap": "0100020068690a", "more": ""}))
		switch {
		case status >= 300 && !(strings.HasPrefix(id, "git-") && status == 404) && !(id == "send" && status < 500) && !(id == "version" && status < 500) && !((strings.HasPrefix(id, "give-code") || strings.Contains(id, "envelope")) && status == 422) && !(strings.HasSuffix(id, "do-change") && status == 404) && !(id == "start-demo" && status == 404):
			t.Errorf("%s: %d %s", line, status, body)
		case op.Responses[fmt.Sprint(status)] == nil:
			t.Errorf("%s: %d is not documented", line, status)
		}
		var made struct {
			ID string
			At string
		}
		_ = json.Unmarshal([]byte(body), &made)
		switch id {
		case "start-proxy":
			session = made.ID
		case "start-replay":
			replay = made.ID
		case "add-marker":
			marker = made.At
		case "read":
			definition = body
		}
	}
	for _, id := range strings.Fields(`decode-any encode-any lake rewrite-lake workspace project-settings definitions people scores score search read decode encode layout paste filter framing envelope-frames envelopes use-envelope emit settings
		write history revision name-revision forget-history begin-thread threads answer-thread resolve-thread merged-suggestion accept-suggestion drop-thread make-capsule capsules capsule drop-capsule git git-text git-commit git-pull give-code give-codes copy rename definitions-zip reference compare-definitions changes undo-change redo-change add-sample samples drop-sample version upload upload-any
		captures add-capture capture retention capture-settings proposals frames rows frame types where find timeline problems connections replies graph follow map fields differences compare packets patch-capture export elsewhere copy-capture add-marker patch-marker related drop-marker
		make-script start-replay replays replay stop-replay
		start-proxy proxies proxy operate held decide send set-rules rules stop-proxies start-demo
		append-capture drop-capture delete`) {
		run(id)
	}
	for _, id := range strings.Fields("projects project make-project change-project delete-project") { // the projects of this server are fixed
		delete(ops, id)
	}
	for id, op := range ops { // this one has no accounts
		if slices.Contains(op.Tags, "access") {
			delete(ops, id)
		}
	}
	delete(ops, "live")       // a websocket, tested elsewhere
	delete(ops, "stop-proxy") // same as stop-proxies
	for id := range ops {
		t.Errorf("the example of %s is not tried", id)
	}
}

func TestExamplesOfProjects(t *testing.T) {
	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	operations(s, func(path string, op *huma.Operation) {
		if path != "/api/v1/projects" && path != "/api/v1/projects/{project}" {
			return
		}
		line := strings.ReplaceAll(s.example(access.Principal{Grants: access.Grants{access.Everywhere: access.Admin}}, path, op), "http://HOST", srv.URL)
		if status, body := clientOf(t, srv.URL).do(op.OperationID, curl(t, line, nil)); status >= 300 || op.Responses[fmt.Sprint(status)] == nil {
			t.Errorf("%s: %d %s", line, status, body)
		}
	})
}

// The examples of accounts work: for an admin who has signed in.
// nodeOf returns a node of a cluster of its own, which does nothing.
func nodeOf(t *testing.T) *cluster.Node {
	t.Helper()
	data, err := store.Claim(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	node, err := cluster.Join(t.Context(), cluster.Options{Bus: bus.Options{URL: bustest.Start(t).URL}, Data: data, URL: "http://127.0.0.1:1", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	return node
}

func TestExamplesOfAccounts(t *testing.T) {
	s := testServer(t)
	m := doorOf(t, s)
	audit, err := access.OpenAudit(filepath.Join(t.TempDir(), "audit.jsonl"), slog.New(slog.DiscardHandler))
	m.must(err)
	t.Cleanup(func() { audit.Close() })
	m.door.Audit = audit
	s.api.Door = m.door
	s.api.Cluster = nodeOf(t)
	srv := httptest.NewServer(m.h)
	t.Cleanup(srv.Close)
	admin := access.Grants{access.Everywhere: access.Admin}
	me, ann := m.person("me", admin), m.person("ann", access.Grants{"one": access.Viewer})
	m.session(ann)
	client := clientOf(t, srv.URL)
	m.session(me)
	secret, err := m.accounts.Begin(me, "127.0.0.1", "this browser")
	m.must(err)
	client.cookie = &http.Cookie{Name: m.door.Cookie(), Value: secret}
	ops := map[string]*huma.Operation{}
	operations(s, func(path string, op *huma.Operation) {
		if slices.Contains(op.Tags, "access") {
			ops[op.OperationID] = op
		}
	})
	run := func(id, of, want string) (body string) {
		t.Helper()
		op := ops[id]
		if op == nil {
			t.Fatalf("there is no operation %s", id)
		}
		delete(ops, id)
		line := strings.NewReplacer("http://HOST", srv.URL, "/ID", "/"+of, "PASSWORD", matrixPassword, "{project}", "one").Replace(s.example(access.Principal{Grants: admin}, op.Path, op))
		status, body := client.do(id, curl(t, line, nil))
		if status >= 300 || op.Responses[fmt.Sprint(status)] == nil || !strings.Contains(body, want) || strings.Contains(strings.ToLower(body), `"hash"`) {
			t.Errorf("%s: %d %s", line, status, body)
		}
		return body
	}
	id := func(body string) string {
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(body), &made); err != nil || made.ID == "" {
			t.Fatal(body)
		}
		return made.ID
	}
	token := run("make-token", "", `"token":"wb_`)
	run("account", "", `"name":"nightly"`)
	run("revoke-token", id(token), "")
	run("accounts", "", `"login":"ann"`)
	run("change-account", ann, `"one":"author"`)
	run("sign-out", ann, "")
	run("drop-account", ann, "")
	invitation := run("invite", "", "/access/join/")
	run("invitations", "", `"for":"Ann"`)
	run("withdraw-invitation", id(invitation), "")
	run("audit", "", "people: grant")
	run("cluster", "", `"connected":true`)
	x, err := m.accounts.Get(me)
	m.must(err)
	other := slices.IndexFunc(x.Sessions, func(s access.Session) bool { return s.Browser != "this browser" })
	run("end-session", x.Sessions[other].ID, "")
	run("change-password", "", "")
	for id := range ops {
		t.Errorf("the example of %s is not tried", id)
	}
	if got := m.accounts.List(); len(got) != 1 || len(m.accounts.Invitations()) != 0 || len(got[0].Tokens) != 0 || len(got[0].Sessions) != 1 {
		t.Errorf("%+v", got)
	}
}

func etagOf(s *Server, path string) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Header().Get("ETag")
}

// capsule makes a capsule, and returns its identity.
func (x *replayTest) capsule(t *testing.T) string {
	t.Helper()
	var made api.MadeCapsule
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/api/v1/one/capsules", strings.NewReader(`{"hex": "0600", "title": "one"}`))
	r.Header.Set("Content-Type", "application/json")
	if x.s.ServeHTTP(w, r); json.Unmarshal(w.Body.Bytes(), &made) != nil || made.ID == "" {
		t.Fatal(w.Body)
	}
	return made.ID
}
