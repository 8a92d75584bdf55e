package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/defs"
	"wirebench/defs/benchtest"
	"wirebench/server/projects"
	"wirebench/server/relay"
	"wirebench/server/servertest"
)

// projectServer returns a server with a data folder.
func projectServer(t testing.TB, data string, o projects.Options) *Server {
	t.Helper()
	return newServer(t, Config{Projects: servertest.OpenProjects(t, data, o)})
}

// zipForm returns a form with fields and a zip of files.
func zipForm(t testing.TB, fields, files map[string]string) (kind, body string) {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) > 0 {
		w, err := form.CreateFormFile("files", "library.zip")
		if err == nil {
			_, err = io.WriteString(w, servertest.Zip(t, servertest.FilesOf(files)...))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return form.FormDataContentType(), out.String()
}

func TestProjectsAPI(t *testing.T) {
	const asJSON = "application/json"
	s := projectServer(t, t.TempDir(), projects.Options{})
	var all struct {
		Projects  []projects.Info
		Libraries []string
	}
	if code := servertest.Ask(t, s, "GET", "/api/v1/projects", "", "", &all); code != 200 || len(all.Projects) != len(defs.Dialects) || !all.Projects[0].Samples || all.Projects[0].Captures != 1 || all.Libraries == nil {
		t.Fatalf("%d %+v", code, all)
	}
	var made projects.Info
	if code := servertest.Ask(t, s, "POST", "/api/v1/projects", asJSON, `{"title":"My Game","protocol":"tera"}`, &made); code != 201 || made.Name != "my-game" || made.State != projects.Open {
		t.Fatalf("%d %+v", code, made)
	}
	// It is served at once, by all addresses.
	if code := servertest.Ask(t, s, "PUT", "/api/v1/my-game/definitions/C_A.1.def", "text/plain", "uint32 a\n", nil); code != 200 && code != 201 {
		t.Errorf("a definition: %d", code)
	}
	for _, path := range []string{"/api/my-game", "/api/v1/my-game", "/p/my-game/definitions/C_A.1", "/api/v1/projects/my-game", "/projects"} {
		if code := servertest.Ask(t, s, "GET", path, "", "", nil); code != 200 {
			t.Errorf("%s: %d", path, code)
		}
	}
	for body, want := range map[string]int{
		`{"title":"x"}`:                               422, // no protocol
		`{"name":"my-game","protocol":"tera"}`:        422,
		`{"name":"v1","protocol":"tera"}`:             422,
		`{"name":"x","protocol":"tera","nonsense":1}`: 422,
		`{"name":"x","library":"/etc"}`:               422,
		`{"name":"x","copy":"nosuch"}`:                404,
		`nonsense`:                                    400,
	} {
		if code := servertest.Ask(t, s, "POST", "/api/v1/projects", asJSON, body, nil); code != want {
			t.Errorf("%s: %d, want %d", body, code, want)
		}
	}
	if code := servertest.Ask(t, s, "PATCH", "/api/v1/projects/my-game", asJSON, `{"name":"game","title":"The game"}`, &made); code != 200 || made.Name != "game" || made.Definitions != 1 {
		t.Errorf("rename: %d %+v", code, made)
	}
	// Programs go on with the earlier name; a page goes to the new one.
	if code := servertest.Ask(t, s, "GET", "/api/v1/my-game", "", "", nil); code != 200 {
		t.Errorf("the earlier name: %d", code)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/p/my-game/definitions/C_A.1?sample=1", nil))
	if w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != "/p/game/definitions/C_A.1?sample=1" {
		t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
	}
	if code := servertest.Ask(t, s, "PATCH", "/api/v1/projects/game", asJSON, `{"state":"archived"}`, nil); code != 200 {
		t.Errorf("archive: %d", code)
	}
	if code := servertest.Ask(t, s, "GET", "/api/v1/game", "", "", nil); code != 404 {
		t.Errorf("an archived project: %d", code)
	}
	if code := servertest.Ask(t, s, "PATCH", "/api/v1/projects/game", asJSON, `{"state":"open"}`, &made); code != 200 || made.Definitions != 1 {
		t.Errorf("open: %d %+v", code, made)
	}
	if code := servertest.Ask(t, s, "DELETE", "/api/v1/projects/game?forever=true", "", "", nil); code != 422 {
		t.Errorf("removed for good at once: %d", code)
	}
	if code := servertest.Ask(t, s, "DELETE", "/api/v1/projects/game", "", "", nil); code != 204 {
		t.Errorf("delete: %d", code)
	}
	if code := servertest.Ask(t, s, "DELETE", "/api/v1/projects/game?forever=true", "", "", nil); code != 204 {
		t.Errorf("remove: %d", code)
	}
	if code := servertest.Ask(t, s, "GET", "/api/v1/projects/game", "", "", nil); code != 404 {
		t.Errorf("a removed project: %d", code)
	}
}

// A project in which traffic passes cannot be closed, so that nobody's recording ends by a click on another page.
func TestProjectInUse(t *testing.T) {
	s := projectServer(t, t.TempDir(), projects.Options{})
	if err := s.StartProxy(context.Background(), relay.Config{Workspace: "tera", Listen: "127.0.0.1:0", Upstream: "127.0.0.1:9"}); err != nil {
		t.Fatal(err)
	}
	var p struct{ Detail string }
	if code := servertest.Ask(t, s, "DELETE", "/api/v1/projects/tera", "", "", &p); code != 409 || !strings.Contains(p.Detail, "1 running listener") {
		t.Errorf("%d %s", code, p.Detail)
	}
	if s.Projects.Find("tera") == nil {
		t.Error("it was closed")
	}
}

func TestProjectOfAZip(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	data := t.TempDir()
	s := projectServer(t, data, projects.Options{})
	files := map[string]string{"lib/protocol.1.map": "C_M0 1\n", "lib/protocol.2.map": "C_M0 2\n", "lib/README.pdf": "x"}
	for i := range 1192 {
		files[fmt.Sprintf("lib/C_M%d.1.def", i)] = "uint32 a\nstring s\n"
	}
	kind, body := zipForm(t, map[string]string{"title": "Big"}, files)
	var made struct {
		projects.Info
		Files []struct{ File, Result string }
	}
	from := time.Now()
	if code := servertest.Ask(t, s, "POST", "/api/v1/projects", kind, body, &made); code != 201 || made.Definitions != 1192 || made.Protocol != "tera" || len(made.Files) != 1195 {
		t.Fatalf("%d %+v, %d files", code, made.Info, len(made.Files))
	}
	t.Log("1192 definitions:", time.Since(from).Round(time.Millisecond))
	// What cannot become a project leaves nothing.
	for what, c := range map[string]struct{ fields, files map[string]string }{
		"two protocols":           {map[string]string{"title": "x"}, map[string]string{"C_A.1.def": "uint32 a\n", "b.def": "group: clmsg\n\npacket: hello\n   __group = clmsg\n   a = uint8\n"}},
		"nothing usable":          {map[string]string{"title": "x", "protocol": "tera"}, map[string]string{"a.pdf": "x"}},
		"files of a copy":         {map[string]string{"title": "x", "copy": "tera"}, map[string]string{"C_A.1.def": "uint32 a\n"}},
		"an empty form":           {nil, nil},
		"a name that is reserved": {map[string]string{"name": "docs"}, map[string]string{"C_A.1.def": "uint32 a\n"}},
	} {
		kind, body := zipForm(t, c.fields, c.files)
		if code := servertest.Ask(t, s, "POST", "/api/v1/projects", kind, body, nil); code < 400 || code >= 500 {
			t.Errorf("%s: %d", what, code)
		}
	}
	entries, err := filepath.Glob(filepath.Join(data, "*", "project.json"))
	if err != nil || len(entries) != len(defs.Dialects)+1 {
		t.Errorf("%v %v", entries, err)
	}
	// Without a title it has that of the zip or of its first file, of the folder or of the copied project.
	for want, c := range map[string]struct{ fields, files map[string]string }{
		"library":  {nil, map[string]string{"C_A.1.def": "uint32 a\n"}},
		"Big copy": {map[string]string{"copy": "big"}, nil},
	} {
		var made projects.Info
		kind, body := zipForm(t, c.fields, c.files)
		if code := servertest.Ask(t, s, "POST", "/api/v1/projects", kind, body, &made); code != 201 || made.Title != want {
			t.Errorf("%d, %q and not %q", code, made.Title, want)
		}
	}
	if hidden, _ := filepath.Glob(filepath.Join(data, ".*")); len(hidden) > 0 {
		t.Errorf("left over: %v", hidden)
	}
}

// The forms of the page work without scripts.
func TestProjectForms(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "C_A.1.def"), []byte("uint32 a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := projectServer(t, t.TempDir(), projects.Options{Allowed: []string{dir}})
	kind, body := zipForm(t, map[string]string{"title": "Mine", "library": dir, "protocol": "", "copy": ""}, nil)
	post := func(path, kind, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	if w := post("/projects", kind, body); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/p/mine/definitions" {
		t.Fatalf("%d %.300s", w.Code, w.Body)
	}
	if w := post("/projects", kind, body); w.Code != 422 || !strings.Contains(w.Body.String(), "has the definitions of this folder") {
		t.Errorf("%d", w.Code)
	}
	const form = "application/x-www-form-urlencoded"
	for _, step := range []struct{ path, form, shows string }{
		{"/projects/mine", "action=rename&name=ours&title=Ours", "/p/ours"},
		{"/projects/ours", "action=archive", "Open again"},
		{"/projects/ours", "action=open", "/p/ours"},
		{"/projects/ours", "action=delete", "Remove for good"},
		{"/projects/ours", "action=remove", "New project"},
	} {
		if w := post(step.path, form, step.form); w.Code != http.StatusSeeOther {
			t.Fatalf("%s: %d %.300s", step.form, w.Code, w.Body)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/projects", nil))
		if !strings.Contains(w.Body.String(), step.shows) {
			t.Errorf("%s: the page does not show %s", step.form, step.shows)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "C_A.1.def")); err != nil {
		t.Errorf("the folder of a removed project: %v", err)
	}
	for path, f := range map[string]string{"/projects/tera": "action=nonsense", "/projects/nosuch": "action=archive"} {
		if w := post(path, form, f); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s %s: %d", path, f, w.Code)
		}
	}
}
