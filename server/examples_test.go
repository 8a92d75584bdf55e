package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/api"
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

// curl sends the request of a curl command line. files are the files that it names.
func curl(t *testing.T, line string, files map[string]string) *http.Response {
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
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
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
		res := curl(t, line, map[string]string{"game.def": definition, "session.pcap": "0100020068690a", "more": ""})
		body, _ := io.ReadAll(res.Body)
		switch {
		case res.StatusCode >= 300 && !(strings.HasPrefix(id, "git-") && res.StatusCode == 404) && !(id == "send" && res.StatusCode < 500) && !(id == "version" && res.StatusCode < 500) && !((strings.HasPrefix(id, "give-code") || strings.Contains(id, "envelope")) && res.StatusCode == 422) && !(strings.HasSuffix(id, "do-change") && res.StatusCode == 404) && !(id == "start-demo" && res.StatusCode == 404):
			t.Errorf("%s: %d %s", line, res.StatusCode, body)
		case op.Responses[fmt.Sprint(res.StatusCode)] == nil:
			t.Errorf("%s: %d is not documented", line, res.StatusCode)
		}
		var made struct {
			ID string
			At string
		}
		_ = json.Unmarshal(body, &made)
		switch id {
		case "start-proxy":
			session = made.ID
		case "start-replay":
			replay = made.ID
		case "add-marker":
			marker = made.At
		case "read":
			definition = string(body)
		}
	}
	for _, id := range strings.Fields(`decode-any encode-any workspace project-settings definitions people scores score search read decode encode layout paste filter framing envelope-frames envelopes use-envelope emit settings
		write history revision name-revision forget-history begin-thread threads answer-thread resolve-thread merged-suggestion accept-suggestion drop-thread make-capsule capsules capsule drop-capsule git git-text git-commit git-pull give-code give-codes copy rename definitions-zip reference compare-definitions changes undo-change redo-change add-sample samples drop-sample version upload upload-any
		captures add-capture capture capture-settings proposals frames rows frame types find timeline problems connections replies graph follow map fields compare packets patch-capture export elsewhere copy-capture add-marker patch-marker related drop-marker
		make-script start-replay replays replay stop-replay
		start-proxy proxies proxy operate held decide send set-rules rules stop-proxies start-demo
		append-capture drop-capture delete`) {
		run(id)
	}
	for _, id := range strings.Fields("projects project make-project change-project delete-project") { // the projects of this server are fixed
		delete(ops, id)
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
		res := curl(t, line, nil)
		if res.StatusCode >= 300 || op.Responses[fmt.Sprint(res.StatusCode)] == nil {
			t.Errorf("%s: %d", line, res.StatusCode)
		}
	})
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
