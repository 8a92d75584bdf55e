package page

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/api"
	"wirebench/server/projects"
	"wirebench/server/rooms"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// Each action is permitted exactly for the roles of the access policy, by a form and over the channel of an open page. Actions for viewers
// store nothing; the others do.
func TestEveryActionForEveryRole(t *testing.T) {
	sends := map[string]string{"message": "C_JOIN.1", "definition": "byte edited\n", "input": "12000100080039314c0061006e006e000000"}
	ways := map[string]func(b *Workbench, r *http.Request, name string) (refused bool){
		"form": func(b *Workbench, r *http.Request, name string) bool {
			form := url.Values{"action": {name + ":0"}, "about": {"x"}}
			for k, v := range sends {
				form.Set(k, v)
			}
			r.PostForm = form
			w := httptest.NewRecorder()
			b.Page(w, r)
			if w.Code != http.StatusOK && w.Code != http.StatusForbidden {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
			return w.Code == http.StatusForbidden
		},
		"channel": func(b *Workbench, r *http.Request, name string) bool {
			set, _ := json.Marshal(sends)
			m := Message{Action: name + ":0", About: "x"}
			if err := json.Unmarshal(set, &m.Set); err != nil {
				t.Fatal(err)
			}
			got, err := b.newLivePage(b.Projects.First(), r).work(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			a, ok := got.(*Answer)
			return ok && (strings.Contains(a.HTML["notices"], "View only: nothing was changed") || strings.Contains(a.HTML["notices"], "not permitted"))
		},
	}
	for _, name := range append(slices.Sorted(maps.Keys(actions)), "unheard-of") {
		need := access.Needs("action " + name)
		if need > access.Admin && name != "unheard-of" {
			t.Errorf("the action %s is not in the table of access: what does it need?", name)
		}
		for role := access.Nobody; role <= access.Admin; role++ {
			for way, do := range ways {
				b, dir, log := testWorkbench(t)
				r := httptest.NewRequest("POST", "/p/one/definitions", nil)
				route := chi.NewRouteContext()
				route.URLParams.Add("project", "one")
				r = access.As(r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, route)), access.Principal{Grants: access.Grants{access.Everywhere: role}})
				before := stored(t, dir)
				refused := do(b, r, name)
				if refused != (role < need) {
					t.Errorf("%s by a %s, of a %s: refused %v", name, way, role, refused)
				}
				if logged := strings.Contains(log.String(), `msg=refused client="`+role.String()) && strings.Contains(log.String(), `"page action `+name+`"`); logged != refused {
					t.Errorf("%s by a %s, of a %s: the log has %s", name, way, role, log)
				}
				if changed := !maps.Equal(before, stored(t, dir)); changed != (need == access.Author && role >= need) {
					t.Errorf("%s by a %s, of a %s: it has stored something: %v", name, way, role, changed)
				}
			}
		}
	}
}

// testWorkbench returns a workbench with a workspace "one" of a definition with a sample, and its directory.
func testWorkbench(t testing.TB) (b *Workbench, dir string, log *bytes.Buffer) {
	t.Helper()
	files, dir := workspacetest.Dir(t, map[string]string{
		"C_JOIN.1.def": "string channel_name\nuint16 password\n", "protocol.1.map": "C_JOIN 1\n",
		"C_JOIN.1.samples.jsonl": `{"message":"C_JOIN.1","hex":"12000100080039304c0061006e006e000000","about":"a text"}` + "\n",
	})
	home, _ := workspacetest.Dir(t, nil)
	ws := workspacetest.Open(t, workspace.Config{FirstTitle: "One", Files: files, Home: home})
	set, err := projects.Fixed(ws)
	if err != nil {
		t.Fatal(err)
	}
	log = &bytes.Buffer{}
	return &Workbench{Projects: set, Budget: admit.New(1 << 30), API: &api.API{Rooms: &rooms.Set{}}, Log: slog.New(slog.NewTextHandler(log, nil))}, dir, log
}

// stored returns the texts of the files in a directory.
func stored(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range list {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = string(text)
	}
	return all
}
