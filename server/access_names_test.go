package server

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"wirebench/defs/benchtest"
	"wirebench/server/access"
	"wirebench/server/projects"
	"wirebench/server/servertest"
)

// Somebody who may see one project learns from no entry that another exists: not from its name of now, not from an earlier one, whether it is
// open, archived or deleted. The answer is that for a project that never existed, and none names one that was not asked for.
func TestNamesOfOthers(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	s := projectServer(t, t.TempDir(), projects.Options{})
	make := func(name string) {
		t.Helper()
		if code := servertest.Ask(t, s, "POST", "/api/v1/projects", "application/json", `{"name":"`+name+`","title":"`+name+`","protocol":"muta"}`, nil); code != 201 {
			t.Fatal(code)
		}
	}
	change := func(name, body string) {
		t.Helper()
		if code := servertest.Ask(t, s, "PATCH", "/api/v1/projects/"+name, "application/json", body, nil); code != 200 {
			t.Fatal(code)
		}
	}
	for _, name := range []string{"mine", "zsecret-first", "zsecret-shelf", "zsecret-gone", "aaa-zsecret"} {
		make(name)
	}
	change("zsecret-first", `{"name":"zsecret-open"}`)
	change("zsecret-shelf", `{"name":"zsecret-archive"}`)
	change("zsecret-archive", `{"state":"archived"}`)
	if code := servertest.Ask(t, s, "DELETE", "/api/v1/projects/zsecret-gone", "", "", nil); code != 204 {
		t.Fatal(code)
	}
	m := doorOf(t, s)
	m.door.Projects = s.projectNames
	headers := map[string]http.Header{}
	for r := access.Viewer; r < access.Admin; r++ {
		id := m.person(r.String(), access.Grants{"mine": r})
		headers["session of "+r.String()], headers["token of "+r.String()] = m.session(id), m.token(id, access.Grants{"mine": r}, time.Time{})
	}
	others := []string{"zsecret-open", "zsecret-first", "zsecret-archive", "zsecret-shelf", "zsecret-gone", "aaa-zsecret"}
	varies := regexp.MustCompile(`nonce[-=]"?[A-Z0-9]+|\d{4}-\d\d-\d\d \d\d:\d\d`)
	asked := 0
	ask := func(header http.Header, method, path, body, kind, name string) (int, string) {
		t.Helper()
		asked++
		r := httptest.NewRequest(method, strings.ReplaceAll(path, "NAME", name), strings.NewReader(strings.ReplaceAll(body, "NAME", name)))
		r.Header = header.Clone()
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		m.h.ServeHTTP(w, r)
		text := w.Body.String()
		for _, header := range []string{"Location", "Allow", "Link"} {
			text += "\n" + w.Header().Get(header)
		}
		text = varies.ReplaceAllString(strings.ReplaceAll(text, name, "NAME"), "")
		if at := strings.Index(text, "zsecret"); at >= 0 {
			t.Errorf("%s %s of %s: an answer names another: …%.80s", method, path, name, text[max(0, at-40):])
		}
		return w.Code, text
	}
	same := func(who, method, path, body, kind string) {
		t.Helper()
		code, never := ask(headers[who], method, path, body, kind, "never-there")
		for _, name := range others {
			if c, text := ask(headers[who], method, path, body, kind, name); c != code || text != never {
				t.Errorf("%s asks %s %s %s of %s: %d, and of one that never existed: %d\n%s", who, method, path, body, name, c, code, cmp.Diff(never, text))
			}
		}
	}
	routes := []string{}
	for _, of := range []chi.Routes{s.router, m.door.Pages()} {
		m.must(chi.Walk(of, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			routes = append(routes, method+" "+pattern)
			return nil
		}))
	}
	for _, who := range slices.Sorted(maps.Keys(headers)) {
		if who != "token of viewer" && who != "session of operator" { // the other roles are between these
			continue
		}
		for _, route := range routes {
			method, pattern, _ := strings.Cut(route, " ")
			if pattern == "/access/out" {
				continue
			}
			fill := strings.NewReplacer("{file}", "a.def", "{id}", "xyz", "{at}", "2026-03-01T18:04:05Z", "{message}", "a", "{secret}", "x", "{n}", "1", "{page}", "start", "{schema}", "x.json", "*", "x")
			mine := fill.Replace(strings.NewReplacer("{project}", "mine").Replace(pattern))
			if path := fill.Replace(strings.NewReplacer("{project}", "NAME").Replace(pattern)); path != mine {
				same(who, method, path, "{}", "application/json")
				same(who, method, strings.Replace(path, "/api/v1/", "/api/", 1), "{}", "application/json")
				same(who, method, strings.Replace(path, "/p/", "/w/", 1), "{}", "application/json")
			}
			if method == "GET" || method == "POST" && strings.HasPrefix(pattern, "/access") { // lists that name no project
				ask(headers[who], method, mine, "{}", "application/json", "never-there")
			}
		}
		// Names in bodies and queries.
		same(who, "POST", "/api/v1/mine/captures/xyz/copy?to=NAME", "{}", "application/json")
		same(who, "POST", "/api/v1/projects", `{"name":"x","copy":"NAME"}`, "application/json")
		same(who, "POST", "/api/v1/projects", `{"name":"NAME","protocol":"muta"}`, "application/json")
		same(who, "PATCH", "/api/v1/projects/mine", `{"name":"NAME"}`, "application/json")
		same(who, "POST", "/projects/mine", "action=rename&name=NAME", "application/x-www-form-urlencoded")
		same(who, "POST", "/access/me", "do=token&name=x&role=viewer&project=NAME", "application/x-www-form-urlencoded")
	}
	t.Logf("%d requests", asked)

	// Those of one project that is archived, or that had another name, learn nothing of the others either.
	headers["archived"] = m.session(m.person("archived", access.Grants{"zsecret-archive": access.Operator}))
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		for _, name := range []string{"zsecret-shelf", "zsecret-archive"} {
			for _, path := range []string{"/api/v1/NAME", "/p/NAME/definitions", "/api/v1/NAME/settings"} {
				r := httptest.NewRequest(method, strings.ReplaceAll(path, "NAME", name), strings.NewReader("{}"))
				r.Header = headers["archived"].Clone()
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				m.h.ServeHTTP(w, r)
				if text := strings.ReplaceAll(w.Body.String(), name, ""); strings.Contains(text, "mine") || strings.Contains(text, "zsecret-open") || strings.Contains(text, "zsecret-gone") {
					t.Errorf("%s %s of %s: %s", method, path, name, text)
				}
			}
		}
	}
	headers["renamed"] = m.session(m.person("renamed", access.Grants{"zsecret-open": access.Operator}))
	for _, method := range []string{"PATCH", "DELETE"} {
		r := httptest.NewRequest(method, "/api/v1/projects/zsecret-first", strings.NewReader("{}"))
		r.Header = headers["renamed"].Clone()
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		m.h.ServeHTTP(w, r)
		if text := w.Body.String(); strings.Contains(text, "mine") || strings.Contains(text, "zsecret-archive") {
			t.Errorf("%s of an earlier name: %s", method, text)
		}
	}
}

// What lists projects for people does so by projects.Seen, and roles are compared in the table of access only. A new list fails here until
// it does.
func TestOnePlaceDecides(t *testing.T) {
	lists := regexp.MustCompile(`Projects\.(All|List|First)\(\)`)
	roles := regexp.MustCompile(`access\.(Nobody|Viewer|Commenter|Author|Operator|Admin)\b`)
	allowed := map[string]bool{"api/operations.go": true, "api/operation.go": true} // the table, and what the document says of it
	for _, dir := range []string{".", "api", "page", "rooms", "socket", "publish", "workspace", "captures", "relay", "runs"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || allowed[file] {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if at := lists.Find(text); at != nil {
				t.Errorf("%s has %s: list what somebody sees by Seen", file, at)
			}
			if at := roles.Find(text); at != nil {
				t.Errorf("%s has %s: give what needs it a row in the table of access", file, at)
			}
		}
	}
}
