package server

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/servertest"
)

// operations calls a function for each operation of the document.
func operations(s *Server, call func(path string, op *huma.Operation)) {
	for path, item := range s.document.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Patch, item.Post, item.Delete} {
			if op != nil {
				call(path, op)
			}
		}
	}
}

// Every response has a documented status: for missing objects, invalid bodies and missing permissions.
func TestAnswersAreDocumented(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_JOIN.1.def": "int32 id\n", "protocol.1.map": "C_JOIN 1\n"})
	guarded := access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s)
	operations(s, func(path string, op *huma.Operation) {
		if strings.HasPrefix(path, "/ws/") {
			return
		}
		ask := func(what string, h http.Handler, target, body string, header http.Header) {
			r := httptest.NewRequest(op.Method, target, strings.NewReader(body))
			if header != nil {
				r.Header = header.Clone()
			}
			if r.Header.Get("Content-Type") == "" {
				r.Header.Set("Content-Type", "application/json")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			code := http.StatusText(w.Code)
			answer := op.Responses[strings.TrimSpace(strings.Split(w.Result().Status, " ")[0])]
			switch {
			case answer == nil:
				t.Errorf("%s %s, %s: %d %s is not documented: %.200s", op.Method, path, what, w.Code, code, w.Body)
			case w.Code >= 400 && w.Header().Get("Content-Type") != "application/problem+json":
				t.Errorf("%s %s, %s: %d as %s", op.Method, path, what, w.Code, w.Header().Get("Content-Type"))
			}
		}
		fill := func(ws string) string {
			return strings.NewReplacer("{project}", ws, "{file}", "C_JOIN.1.def", "{id}", "xyz", "{at}", "2026-03-01T18:04:05Z").Replace(path)
		}
		ask("no such workspace", s, fill("none"), "{}", nil)
		ask("no such thing", s, fill("one"), "{}", nil)
		ask("no JSON", s, fill("one"), "{", nil)
		ask("a body of another kind", s, fill("one"), "[1]", nil)
		ask("a body of another type", s, fill("one"), "<a/>", http.Header{"Content-Type": {"text/xml"}})
		ask("a wrong query", s, fill("one")+"?n=x&count=-1&offset=-5&from=-1&value=maybe", "{}", nil)
		ask("no token", guarded, fill("one"), "{}", nil)
		ask("a viewer", guarded, fill("one"), "{}", carrying("look"))
		if op.Method != http.MethodGet {
			ask("another site", s, fill("one"), "{}", http.Header{"Sec-Fetch-Site": {"cross-site"}})
		}
		if op.OperationID == "" || op.Summary == "" {
			t.Errorf("%s %s has no name or summary", op.Method, path)
		}
	})
}

// A path that does not support a method lists the supported ones, and GET implies HEAD.
func TestMethods(t *testing.T) {
	s := testServer(t)
	ask := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w
	}
	for _, c := range []struct{ method, path, allow string }{
		{"DELETE", "/api/one/decode", "POST"},
		{"GET", "/api/one/decode", "POST"},
		{"HEAD", "/api/one/decode", "POST"},
		{"POST", "/api/one/definitions", "GET, HEAD"},
		{"PATCH", "/api/one/definitions/C_JOIN.1.def", "GET, HEAD, PUT, DELETE"},
		{"PUT", "/p/one/definitions", "GET, HEAD, POST"},
		{"POST", "/healthz", "GET, HEAD"},
	} {
		if w := ask(c.method, c.path); w.Code != 405 || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow: %q", c.method, c.path, w.Code, w.Header().Get("Allow"))
		}
	}
	for _, path := range []string{"/", "/p/one/definitions", "/healthz", "/metrics", "/api/docs", "/api/openapi.json", "/api/one", "/api/one/definitions/C_JOIN.1.def"} {
		get, head := ask("GET", path), ask("HEAD", path)
		if head.Code != get.Code || head.Header().Get("Content-Type") != get.Header().Get("Content-Type") {
			t.Errorf("%s: GET %d %v, HEAD %d %v", path, get.Code, get.Header(), head.Code, head.Header())
		}
	}
}

// The document describes authentication.
func TestSecurityIsDescribed(t *testing.T) {
	s := testServer(t)
	if c := s.document.Components.SecuritySchemes; c["token"] == nil || c["cookie"] == nil || len(s.document.Security) == 0 {
		t.Errorf("%+v, %+v", c, s.document.Security)
	}
	operations(s, func(path string, op *huma.Operation) {
		want := []string{"401", "429"}
		if op.Method != http.MethodGet {
			want = append(want, "403")
		}
		for _, code := range want {
			if op.Responses[code] == nil {
				t.Errorf("%s %s does not say %s", op.Method, path, code)
			}
		}
		if !strings.HasPrefix(path, "/ws/") && !slices.ContainsFunc([]string{"200", "201", "204"}, func(code string) bool { return op.Responses[code] != nil }) {
			t.Errorf("%s %s has no answer", op.Method, path)
		}
	})
}
