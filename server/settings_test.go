package server

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"wirebench/server/api"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

func TestSettings(t *testing.T) {
	s, _ := testServerOf(t, map[string]string{
		"C_A.1.def": "byte a\n", "C_A.2.def": "byte b\n", "C_BAD.1.def": "in32 x\n", "protocol.1.map": "C_A 1\n", "sub/protocol.2.map": "C_A 2\n",
	})
	const get, patch = "GET /api/one", "PATCH /api/one"
	const code = "GET /api/one/definitions?q=C_A.2"
	talk(t, s, []exchange{
		{"at the start", get, "", 200, []string{`{"name":"one","title":"One protocol","dialect":"tera","settings":{},"maps":["protocol.1.map","sub/protocol.2.map"],"definitions":3,"messages":3,"options":{"angle":"round","integrity":"false","patch":"","platform":"","skillid":"0"}}`}, nil},
		{"a map", patch, `{"map":"sub/protocol.2.map"}`, 200, []string{`"settings":{"map":"sub/protocol.2.map"}`, `"map":"sub/protocol.2.map","definitions"`}, nil},
		{"codes are those of the map", code, "", 200, []string{`"code":"0x0002"`}, nil},
		{"another setting leaves it", patch, `{"patch":"92.3"}`, 200, []string{`"settings":{"map":"sub/protocol.2.map","patch":"92.3"}`, `"patch":"92.30"`}, nil},
		{"as a merge patch", patch + "; Content-Type: application/merge-patch+json", `{"map":"protocol.1.map","patch":"74"}`, 200, []string{`"map":"protocol.1.map"`, `"patch":"74",`}, nil},
		{"null takes it back", patch, `{"map":null,"patch":null}`, 200, []string{`"settings":{}`, `"patch":"",`}, nil},
		{"codes are unknown again", code, "", 200, nil, []string{`"code"`}},
		{"constants are added", patch, `{"constants":{"A":"1","B":"2"}}`, 200, nil, nil},
		{"and merged", patch, `{"constants":{"B":null,"C":"3"},"platform":"console","angle":"truncate"}`, 200, []string{`"constants":{"A":"1","C":"3"}`, `"platform":"console"`}, nil},
		{"nothing", patch, `{}`, 200, []string{`"constants":{"A":"1","C":"3"}`}, nil},
		{"a map that is not there", patch, `{"map":"protocol.9.map"}`, 422, []string{"no code map", "protocol.9.map"}, nil},
		{"a patch that is none", patch, `{"patch":"new"}`, 422, []string{"is not a game version"}, nil},
		{"a platform that is none", patch, `{"platform":"wii"}`, 422, []string{"pc, console or classic"}, nil},
		{"an angle that is none", patch, `{"angle":"up"}`, 422, []string{"round or truncate"}, nil},
		{"a setting that is none", patch, `{"patches":"74"}`, 422, []string{"patches"}, nil},
		{"a number", patch, `{"patch":74}`, 422, []string{"patch must be a JSON string, not number"}, nil},
		{"a list", patch + "; Content-Type: application/json", `["patch"]`, 400, []string{"JSON object"}, nil},
		{"null", patch + "; Content-Type: application/json", `null`, 400, nil, nil},
		{"not JSON", patch, `{"patch"`, 400, nil, nil},
		{"too much", patch, `{"patch":"` + strings.Repeat(" ", api.MaxSettings) + `"}`, 413, nil, nil},
		{"what was refused has changed nothing", get, "", 200, []string{`"settings":{"angle":"truncate","constants":{"A":"1","C":"3"},"platform":"console"}`, `"patch":"",`}, nil},
		{"of no workspace", "PATCH /api/two", `{}`, 404, nil, nil},
		{"the document is no project", "PATCH /api/docs", `{}`, 405, nil, nil},
	})
}

func TestSettingsStay(t *testing.T) {
	home, _ := workspacetest.Dir(t, nil)
	files, _ := workspacetest.Dir(t, nil)
	open := func() *Server { return serverOf(t, workspacetest.Open(t, workspace.Config{Files: files, Home: home})) }
	talk(t, open(), []exchange{{"choose", "PATCH /api/one", `{"patch":"74.02"}`, 200, nil, nil}})
	talk(t, open(), []exchange{{"after a restart", "GET /api/one", "", 200, []string{`"settings":{"patch":"74.02"}`, `"patch":"74.02",`}, nil}})
}

// Concurrent changes of different settings do not undo each other.
func TestSettingsAtTheSameTime(t *testing.T) {
	s, _ := testServerOf(t, nil)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if status, answer := ask(s, "PATCH /api/one", fmt.Sprintf(`{"constants":{"C%d":"%d"}}`, i, i)); status != 200 {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
	wg.Wait()
	_, answer := ask(s, "GET /api/one", "")
	for i := range 16 {
		if want := fmt.Sprintf(`"C%d":"%d"`, i, i); !strings.Contains(answer, want) {
			t.Errorf("no %s in %s", want, answer)
		}
	}
}

func TestSettingsThatCannotBeKept(t *testing.T) {
	files, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err    error
		status int
	}{{store.ErrFull, 507}, {store.ErrReadOnly, 403}} {
		w, err := workspace.Open(workspace.Config{Name: "one", Dialect: "tera", Files: files, Home: failingHome{files, c.err}})
		if err != nil {
			t.Fatal(err)
		}
		talk(t, serverOf(t, w), []exchange{
			{"refused", "PATCH /api/one", `{"patch":"74"}`, c.status, []string{c.err.Error()}, nil},
			{"as they were", "GET /api/one", "", 200, []string{`"settings":{}`}, nil},
		})
	}
}

// failingHome is a folder that cannot be written.
type failingHome struct {
	workspace.Home
	err error
}

func (f failingHome) Write(string, []byte, *store.Revision) (store.Revision, error) { return "", f.err }
