package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
)

// No operation ignores a query parameter or a field of its body that it does not know, or a body if it takes none.
func TestUnknownNamesAreRefused(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_JOIN.1.def": "int32 id\n", "protocol.1.map": "C_JOIN 1\n"})
	ask := func(op *huma.Operation, target, kind, body string) (int, string) {
		r := httptest.NewRequest(op.Method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		s.router.ServeHTTP(w, access.As(r, access.Principal{Kind: access.BySession, Grants: access.Grants{access.Everywhere: access.Admin}}))
		return w.Code, w.Body.String()
	}
	operations(s, func(path string, op *huma.Operation) {
		target := strings.NewReplacer("{project}", "one", "{file}", "C_JOIN.1.def", "{id}", "xyz", "{at}", "2026-03-01T18:04:05Z", "{n}", "1").Replace(path)
		kinds := []string{"application/json"}
		if op.RequestBody != nil {
			kinds = nil
			for kind := range op.RequestBody.Content {
				kinds = append(kinds, kind)
			}
		}
		for _, kind := range kinds {
			body := "{}"
			if op.RequestBody == nil {
				body = ""
				if code, text := ask(op, target, kind, "{}"); op.OperationID != "live" && (code != http.StatusUnprocessableEntity || !strings.Contains(text, "takes no body")) {
					t.Errorf("%s %s, a body: %d %.200s", op.Method, path, code, text)
				}
			}
			if code, text := ask(op, target+"?nothing_of_the_kind=1", kind, body); code != http.StatusUnprocessableEntity || !strings.Contains(text, "nothing_of_the_kind") {
				t.Errorf("%s %s, a query parameter, %s: %d %.200s", op.Method, path, kind, code, text)
			}
			if op.RequestBody == nil || !strings.Contains(kind, "json") {
				continue
			}
			want := http.StatusUnprocessableEntity
			if kind == streamType { // the answer of the line says so
				want = http.StatusOK
			}
			if code, text := ask(op, target, kind, `{"nothing_of_the_kind": 1}`); code != want || !strings.Contains(text, "nothing_of_the_kind") {
				t.Errorf("%s %s, a field, %s: %d %.200s", op.Method, path, kind, code, text)
			}
		}
	})
}

// An unknown name is answered by the nearest known one, wherever it stands.
func TestUnknownNamesHaveNeighbours(t *testing.T) {
	s := testServer(t)
	for _, c := range []struct{ request, body, want string }{
		{"POST /api/v1/one/decode", `{"mesage": "C_JOIN", "hex": ""}`, `did you mean \"message\"?`},
		{"POST /api/v1/one/decode", `{"hex": "", "settings": {"pacth": "90"}}`, `did you mean \"patch\"?`},
		{"POST /api/decode", `{"project": "one", "hexx": ""}`, `did you mean \"hex\"?`},
		{"PUT /api/v1/one/codes", `{"codes": [{"message": "C_JOIN", "cod": 1}]}`, `did you mean \"code\"?`},
		{"POST /api/v1/one/layout", `{"zzzzzzzz": 1}`, "known are field, message, settings, text"},
		{"POST /api/v1/projects", `{"titel": "a"}`, `did you mean \"title\"?`},
		{"PATCH /api/v1/one", `{"contants": {}}`, `did you mean \"constants\"?`},
		{"GET /api/v1/one/search?querry=a", "", "known are limit, q"},
		{"GET /api/v1/one/threads?fiel=a", "", `did you mean \"file\"?`},
		{"GET /api/v1/projects?a=b", "", "none is known here"},
		{"GET /ws/one/live?filtr=a", "", `did you mean \"filter\"?`},
		{"POST /api/v1/one/decode?mesage=a; Content-Type: application/x-ndjson", "00", `did you mean \"message\"?`},
	} {
		if status, text := ask(s, c.request, c.body); status != http.StatusUnprocessableEntity || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d, no %s in %s", c.request, c.body, status, c.want, text[strings.Index(text, "\n\n")+1:])
		}
	}
}
