package server

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"wirebench/defs/benchtest"
	"wirebench/server/answer"
	"wirebench/server/servertest"
)

// Addresses of earlier versions, in bookmarks and programs, lead to the current ones.
func TestEarlierAddresses(t *testing.T) {
	s := serverOf(t, servertest.OpenWorkspace(t, t.TempDir(), nil))
	for _, c := range []struct{ path, to string }{
		{"/w/one", "/p/one/definitions"},
		{"/w/one?message=C_SAY.1&sample=2", "/p/one/definitions/C_SAY.1?sample=2"},
		{"/w/one?message=s2c%2Fchat", "/p/one/definitions/s2c%2Fchat"},
		{"/w/one?new=C_X.1", "/p/one/definitions?new=C_X.1"},
		{"/w/one/captures/x?f=a%2Bb", "/p/one/captures/x?f=a%2Bb"},
		{"/w/a%20b%2Fc/captures/x", "/p/a%20b%2Fc/captures/x"},
		{"/p/one", "/p/one/definitions"},
		{"/p/one/definitions?message=C_SAY.1&filter=x", "/p/one/definitions/C_SAY.1?filter=x"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
		if to := w.Header().Get("Location"); w.Code/100 != 3 || to != c.to {
			t.Errorf("%s: %d %s, want %s", c.path, w.Code, to, c.to)
		}
	}
	for _, c := range []struct {
		path string
		want int
	}{
		{"/api/one", 200},
		{"/api/v1/one", 200},
		{"/api/one/definitions", 200},
		{"/api/v1/one/definitions", 200},
		{"/api/v1", 404},
		{"/api/nosuch", 404},
		{"/api/openapi.json", 200},
		{"/api/docs", 200},
		{"/api/v1/v1", 404},
		{"/api/v1/projects/one/settings", 200},
		{"/api/projects/one/settings/in-force", 200},
		{"/api/v1/projects", 200},
		{"/api/projects", 200},
		{"/api/v1/one/", 404},
		{"/api/v1/one/definitions/", 404},
		{"/api//one", 404},
		{"/api/", 404},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.path, w.Code, c.want)
		}
	}
}

// Addresses of operations of earlier versions lead to the current ones. Names stay as they are escaped, and names of other addresses are left alone.
func TestOperationAddress(t *testing.T) {
	for _, c := range []struct{ method, path, to string }{
		{"GET", "/api/v1/one", "/api/v1/projects/one/settings"},
		{"PATCH", "/api/one", "/api/v1/projects/one/settings"},
		{"GET", "/api/one/settings", "/api/v1/projects/one/settings/in-force"},
		{"GET", "/api/v1/one/settings", "/api/v1/projects/one/settings/in-force"},
		{"GET", "/api/v1/projects/settings", "/api/v1/projects/settings"},
		{"GET", "/api/v1/projects/one/settings", "/api/v1/projects/one/settings"},
		{"GET", "/api/one/captures/x/settings", "/api/v1/projects/one/captures/x/settings"},
		{"PUT", "/api/one/definitions/a%2Fb.def", "/api/v1/projects/one/definitions/a%2Fb.def"},
		{"GET", "/api/v1/a%2Fb/definitions", "/api/v1/projects/a%2Fb/definitions"},
		{"GET", "/api/one/definitions/projects", "/api/v1/projects/one/definitions/projects"},
		{"GET", "/api/projects/projects", "/api/v1/projects/projects"},
		{"GET", "/api/pro%6Aects/one", "/api/v1/projects/pro%6Aects/one"},
		{"GET", "/api/v1/projects", "/api/v1/projects"},
		{"GET", "/api/v1/projects/", "/api/v1/projects/"},
		{"POST", "/api/decode", "/api/v1/decode"},
		{"POST", "/api/v1/decode", "/api/v1/decode"},
		{"GET", "/api/v1/decode", "/api/v1/projects/decode/settings"}, // of a project that has the name
		{"POST", "/api/decode/decode", "/api/v1/projects/decode/decode"},
		{"POST", "/api/one/decode", "/api/v1/projects/one/decode"},
		{"GET", "/api/one/", "/api/v1/projects/one/"},
		{"GET", "/api/docs", "/api/docs"},
		{"GET", "/api/openapi-3.0.json", "/api/openapi-3.0.json"},
		{"GET", "/api/schemas/x.json", "/api/schemas/x.json"},
		{"GET", "/api/v1/docs", "/api/v1/projects/docs/settings"},
		{"GET", "/api/v1", "/api/v1"},
		{"GET", "/api/v1/", "/api/v1/"},
		{"GET", "/api//one", "/api//one"},
		{"GET", "/apix/one", "/apix/one"},
		{"GET", "/ws/one/live", "/ws/one/live"},
	} {
		if to := operationAddress(c.method, c.path); to != c.to {
			t.Errorf("%s %s leads to %s, want %s", c.method, c.path, to, c.to)
		}
		if again := operationAddress(c.method, c.to); again != c.to {
			t.Errorf("%s %s leads to %s", c.method, c.to, again)
		}
	}
}

// aliases returns the addresses that earlier versions had for an operation.
func aliases(pattern string) []string {
	below, ok := strings.CutPrefix(pattern, "/api/v1/projects/{project}/")
	switch {
	case !ok:
		return []string{strings.Replace(pattern, "/api/v1/", "/api/", 1)}
	case below == "settings":
		return []string{"/api/v1/{project}", "/api/{project}", "/api/projects/{project}/settings"}
	case below == "settings/in-force":
		below = "settings"
	}
	return []string{"/api/v1/{project}/" + below, "/api/{project}/" + below, strings.Replace(pattern, "/api/v1/", "/api/", 1)}
}

// An operation has the same answer at all its addresses, for every credential, in its headers as well. What would change something is asked with a
// parameter that is unknown: the answer names those that are known.
func TestAliasesOfEveryOperation(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	s := captureServer(t, "tera", map[string]string{"C_JOIN.1.def": "int32 id\n", "protocol.1.map": "C_JOIN 1\n"})
	m := newMatrix(t, s)
	fill := strings.NewReplacer("{project}", "one", "{file}", "C%5FJOIN.1.def", "{id}", "x%2Fyz", "{at}", "2026-03-01T18:04:05Z", "{n}", "1")
	varies := regexp.MustCompile(`"id":"[^"]*"|X-Request-Id: .*`)
	ask := func(c credential, method, path, body string) string {
		m.asked++
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		if r.Header = c.header.Clone(); r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", m.asked>>16, m.asked>>8&255, m.asked&255) // wrong tokens of one address are delayed
		w := httptest.NewRecorder()
		m.h.ServeHTTP(w, r)
		w.Header().Del(answer.RequestID)
		var b strings.Builder
		fmt.Fprintln(&b, w.Code)
		_ = w.Header().Write(&b)
		return varies.ReplaceAllString(b.String()+w.Body.String(), "")
	}
	operations(s, func(path string, op *huma.Operation) {
		if !strings.HasPrefix(path, "/api/") {
			return
		}
		for _, alias := range aliases(path) {
			if s.document.Paths[alias] != nil {
				t.Errorf("%s is in the document", alias)
			}
			to := operationAddress(op.Method, fill.Replace(alias))
			if found := s.router.Find(chi.NewRouteContext(), op.Method, to); found != path {
				t.Errorf("%s %s leads to %s, want %s", op.Method, alias, found, path)
			}
			query := "?nothing_of_the_kind=1"
			for name, c := range m.of {
				if got, want := ask(c, op.Method, fill.Replace(alias)+query, "{}"), ask(c, op.Method, fill.Replace(path)+query, "{}"); got != want {
					t.Errorf("%s %s for %s:\n%s", op.Method, alias, name, cmp.Diff(want, got))
				}
			}
			if c := m.of["session of admin everywhere"]; op.Method == http.MethodGet {
				if got, want := ask(c, op.Method, fill.Replace(alias), ""), ask(c, op.Method, fill.Replace(path), ""); got != want {
					t.Errorf("%s %s:\n%s", op.Method, alias, cmp.Diff(want, got))
				}
			}
		}
	})
	t.Logf("%d requests", m.asked)
}

// What is made, streamed or upgraded at an alias is so as at the current address.
func TestAliasesOfChanges(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n"})
	for i, below := range []string{"/api/v1/projects/one", "/api/v1/one", "/api/one", "/api/projects/one"} {
		settings := below
		if strings.Contains(below, "projects") {
			settings += "/settings"
		}
		talk(t, s, []exchange{
			{"stream " + below, "POST " + below + "/decode?group=clmsg; Content-Type: application/x-ndjson", "01020068 69\n\"0101\"\n", 200, []string{"Content-Type: application/x-ndjson", "\"say\""}, nil},
			{"settings " + below, "PATCH " + settings, fmt.Sprintf(`{"constants":{"MAX":"%d"}}`, i), 200, []string{fmt.Sprintf(`"MAX":"%d"`, i)}, nil},
			{"settings read " + below, "GET " + settings, "", 200, []string{fmt.Sprintf(`"MAX":"%d"`, i), `"definitions":`}, nil},
			{"definition " + below, fmt.Sprintf("PUT %s/definitions/new%d.def", below, i), "group: g\n", 201, []string{fmt.Sprintf("Location: /api/v1/projects/one/definitions/new%d.def", i)}, nil},
			{"capture " + below, "POST " + below + "/captures?name=a.txt; Content-Type: application/octet-stream", "00000000  01 02 00 68 69\n", 201, []string{"Location: /api/v1/projects/one/captures/"}, nil},
			{"upload " + below, "POST " + below + "/upload; Content-Type: multipart/form-data;boundary=x", formText("", fmt.Sprintf("up%d.def=group: h\n", i)), 200, []string{`"stored":1`}, nil},
		})
	}
}

// No address is of two operations, whatever the names are: a part that one path names differs from that of the other.
func TestPathsAreNotAmbiguous(t *testing.T) {
	s := testServer(t)
	paths := slices.Sorted(maps.Keys(s.document.Paths))
	named := func(part string) bool { return !strings.HasPrefix(part, "{") }
	for i, a := range paths {
		for _, b := range paths[:i] {
			x, y := strings.Split(a, "/"), strings.Split(b, "/")
			differ := len(x) != len(y)
			for k := 0; k < min(len(x), len(y)) && !differ; k++ {
				differ = named(x[k]) && named(y[k]) && x[k] != y[k]
			}
			if !differ {
				t.Errorf("%s and %s", a, b)
			}
		}
	}
}
