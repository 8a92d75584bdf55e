package server

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

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
		reads := op.Method == http.MethodPut || op.Method == http.MethodPatch || op.Method == http.MethodPost && !slices.Contains([]string{"copy-capture", "undo-change", "redo-change", "start-demo"}, op.OperationID)
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
