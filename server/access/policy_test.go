package access

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

// operationsOf returns operations of the API: method, pattern, role.
func operationsOf(rows ...string) map[string]Operation {
	out := map[string]Operation{}
	for _, row := range rows {
		i := strings.LastIndexByte(row, ' ')
		out[row[:i]] = Operation{Name: row[:i], Role: map[string]Role{"Viewer": Viewer, "Author": Author, "Operator": Operator}[row[i+1:]]}
	}
	return out
}

// For any spelling of method and path, only routes that the table allows run.
func FuzzPermit(f *testing.F) {
	routes, ran := chi.NewRouter(), "" // the routes of the table and of the API; each records that it ran
	guard := Guard{Refused: func(*http.Request) {}, Operations: operationsOf("GET /api/v1/projects/{project}/settings Viewer", "PUT /api/v1/projects/{project}/definitions/{file} Author", "POST /api/v1/projects/{project}/decode Viewer", "POST /api/v1/decode Viewer", "POST /api/v1/projects Operator")}
	routes.Use(guard.Permit(routes))
	for _, operation := range slices.Concat(Entries(), slices.Collect(maps.Keys(guard.Operations))) {
		method, pattern, _ := strings.Cut(operation, " ")
		if !strings.HasPrefix(pattern, "/") { // a part of a route
			continue
		}
		routes.MethodFunc(method, pattern, func(http.ResponseWriter, *http.Request) { ran = operation })
		f.Add(method, pattern)
		f.Add(method, strings.ReplaceAll(pattern, "/", "%2f"))
	}
	routes.Post("/api/v1/projects/{project}/new", func(http.ResponseWriter, *http.Request) { ran = "new" })
	f.Add("POST", "/api/v1/one/definitions/x%2fdecode")
	f.Add("POST", "/p/one/../one/upload")
	f.Add("POST", "/api/v1/one/decode/../upload")
	f.Add("POST", "//p//one")
	f.Add("POST", "/api/v1/projects/one/new")
	f.Fuzz(func(t *testing.T, method, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		for role := Nobody; role <= Admin; role++ {
			ran = ""
			r := As(&http.Request{Method: method, URL: u, Header: http.Header{}, Body: http.NoBody}, Principal{Grants: Grants{Everywhere: role}})
			routes.ServeHTTP(httptest.NewRecorder(), r)
			if ran != "" && role < guard.Needs(ran) {
				t.Errorf("%s %q of role %s runs %s", method, path, role, ran)
			}
		}
	})
}

func TestPermit(t *testing.T) {
	routes := chi.NewRouter()
	var refused []string
	operations := operationsOf("GET /api/v1/projects/{project}/settings Viewer", "PATCH /api/v1/projects/{project}/settings Author")
	routes.Use(Guard{Operations: operations, Refused: func(r *http.Request) { refused = append(refused, r.URL.Path) }}.Permit(routes))
	inside := func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusAccepted) }
	routes.Get("/healthz", inside)
	routes.Get("/api/v1/projects/{project}/settings", inside)
	routes.Patch("/api/v1/projects/{project}/settings", inside)
	routes.Get("/api/v1/projects/{project}/new", inside)
	for _, c := range []struct {
		method, path             string
		nobody, viewer, operator int
	}{
		{"GET", "/healthz", 202, 202, 202},
		{"GET", "/api/v1/projects/one/settings", 404, 202, 202}, // as if it did not exist
		{"PATCH", "/api/v1/projects/one/settings", 404, 403, 202},
		{"GET", "/api/v1/projects/one/new", 403, 403, 403}, // not in the table
		{"GET", "/nothing", 403, 404, 404},
		{"POST", "/nothing", 403, 403, 404},
		{"POST", "/api/v1/projects/one/settings", 403, 403, 405},
	} {
		for role, want := range []int{c.nobody, c.viewer, c.operator} {
			refused = nil
			w := httptest.NewRecorder()
			routes.ServeHTTP(w, As(httptest.NewRequest(c.method, c.path, nil), Principal{Grants: Grants{Everywhere: []Role{Nobody, Viewer, Operator}[role]}}))
			if w.Code != want || (len(refused) > 0) != (want == 403 || want == 404 && role == 0 && c.path != "/nothing") {
				t.Errorf("%s %s of role %d: %d, want %d; refused %v", c.method, c.path, role, w.Code, want, refused)
			}
		}
	}
}
