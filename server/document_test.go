package server

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/api"
	"wirebench/server/projects"
)

// Each operation of the document has a group, a summary and a description, and each of its parameters, bodies and answers is described.
func TestDocumentSaysEverything(t *testing.T) {
	s := testServer(t)
	var groups []string
	for _, tag := range s.document.Tags {
		if tag.Description == "" {
			t.Errorf("group %s has no description", tag.Name)
		}
		groups = append(groups, tag.Name)
	}
	used := map[string]bool{}
	operations(s, func(path string, op *huma.Operation) {
		name := op.Method + " " + path
		if len(op.Tags) != 1 || !slices.Contains(groups, op.Tags[0]) {
			t.Errorf("%s has the groups %v", name, op.Tags)
		} else {
			used[op.Tags[0]] = true
		}
		if op.Summary == "" || !strings.Contains(op.Description, "Needs the role ") {
			t.Errorf("%s has the summary %q and the description %q", name, op.Summary, op.Description)
		}
		for _, p := range op.Parameters {
			if p.Description == "" || p.Schema == nil {
				t.Errorf("%s does not describe %s", name, p.Name)
			}
		}
		reads := op.Method == http.MethodPut || op.Method == http.MethodPatch || op.Method == http.MethodPost && !slices.Contains([]string{"copy-capture", "undo-change", "redo-change", "start-demo", "rewrite-lake"}, op.OperationID)
		if reads != (op.RequestBody != nil) && op.OperationID != "drop-sample" {
			t.Errorf("%s: body %t", name, op.RequestBody != nil)
		}
		if op.RequestBody != nil {
			for kind, media := range op.RequestBody.Content {
				if media.Schema == nil {
					t.Errorf("%s does not describe its body as %s", name, kind)
				}
			}
		}
		located := []string{"add-capture", "copy-capture", "start-proxy", "start-demo", "start-replay", "make-project", "upload-any", "version", "copy", "write"}
		if made := op.Responses["201"]; slices.Contains(located, op.OperationID) && (made == nil || made.Headers["Location"] == nil) {
			t.Errorf("%s does not describe the address of what is new", name)
		}
		for code, answer := range op.Responses {
			if answer.Description == "" || code >= "400" && answer.Content["application/problem+json"] == nil {
				t.Errorf("%s does not describe its answer %s", name, code)
			}
		}
	})
	if len(used) != len(groups) {
		t.Errorf("groups without operations: %v of %v are used", used, groups)
	}
	if groups[0] != "start" || s.document.Paths["/api/v1/decode"].Post.Tags[0] != "start" || s.document.Paths["/api/v1/decode"].Post.RequestBody.Content["application/json"].Example == nil {
		t.Error("the first requests are not first, or have no example")
	}
	decode := s.document.Paths["/api/v1/projects/{project}/decode"].Post
	if decode.RequestBody.Content[streamType] == nil || decode.Responses["200"].Content[streamType] == nil {
		t.Error("streams of messages are not described")
	}
	if got := s.document.Servers[0].URL; got != "/" {
		t.Errorf("server %s", got)
	}
}

// A new project is answered with its address.
func TestNewProjectsHaveAnAddress(t *testing.T) {
	s := projectServer(t, t.TempDir(), projects.Options{})
	talk(t, s, []exchange{
		{"of JSON", "POST /api/v1/projects", `{"title": "My game", "protocol": "tera"}`, 201, []string{"Location: /api/v1/projects/my-game"}, nil},
		{"of a form", "POST /api/v1/projects; Content-Type: multipart/form-data;boundary=x", formText("name=other", "C_NEW.1.def=uint32 id\n"), 201, []string{"Location: /api/v1/projects/other"}, nil},
	})
}

// A new capture is answered with an address that works.
func TestNewCapturesHaveAnAddress(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n"})
	r := httptest.NewRequest("POST", "/api/one/captures?name=follow.txt", strings.NewReader("00000000  01 02 00 68 69\n"))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if status, text := ask(s, "GET "+w.Header().Get("Location")+"; Accept: application/json", ""); w.Code != http.StatusCreated || status != http.StatusOK {
		t.Errorf("%d %v: %d %s", w.Code, w.Header(), status, text)
	}
}

// Each route of the API is a row of the table of operations, each row is a route and in the document, and no two have the same name.
func TestEveryRouteHasARow(t *testing.T) {
	s := testServer(t)
	rows, names, described := s.api.Needs(), map[string]bool{}, map[string]bool{}
	operations(s, func(path string, op *huma.Operation) { described[op.Method+" "+path] = true })
	routes := map[string]bool{}
	walk(t, s, func(method, pattern string) {
		route := method + " " + pattern
		routes[route] = true
		if _, ok := rows[route]; !ok && strings.HasPrefix(pattern, "/api/v1/") {
			t.Errorf("%s has no row", route)
		}
	})
	for route, needs := range rows {
		o := s.api.At(route)
		switch {
		case !routes[route]:
			t.Errorf("%s has no route", route)
		case !described[route]:
			t.Errorf("%s is not in the document", route)
		case needs.Name != o.Method+" "+o.Path || o.Most <= 0 || o.OperationID == "":
			t.Errorf("%s: %+v", route, o)
		case names[o.OperationID] || s.api.Operation(o.OperationID) != o:
			t.Errorf("%s has the name %s of another", route, o.OperationID)
		}
		names[o.OperationID] = true
	}
	if len(described) != len(rows) {
		t.Errorf("%d operations are in the document, of %d rows", len(described), len(rows))
	}
}

// A body has the limit of its row: what is larger is refused, and a stream has no limit.
func TestBodiesHaveTheLimitOfTheirRow(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n"})
	for _, c := range []struct {
		request string
		bytes   int
		status  int
	}{
		{"POST /api/v1/projects/one/decode; Content-Type: application/json", api.MaxBody + 2, http.StatusRequestEntityTooLarge},
		{"POST /api/v1/projects/one/decode; Content-Type: application/x-ndjson", api.MaxBody + 2, http.StatusOK},
		{"POST /api/v1/projects/one/layout; Content-Type: application/x-ndjson", api.MaxBody + 2, http.StatusRequestEntityTooLarge}, // it takes no stream
		{"PUT /api/v1/projects/one/definitions/upload; Content-Type: text/plain", api.MaxBody + 2, http.StatusRequestEntityTooLarge},
		{"POST /api/one/upload; Content-Type: multipart/form-data;boundary=x", api.MaxUpload + 2, http.StatusRequestEntityTooLarge},
	} {
		if status, text := ask(s, c.request, strings.Repeat("\n", c.bytes)); status != c.status {
			t.Errorf("%s: %d, want %d: %.300s", c.request, status, c.status, text)
		}
	}
}
