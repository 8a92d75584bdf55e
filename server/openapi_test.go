package server

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"wirebench/defs/tooltest"
	"wirebench/server/servertest"
)

// The document passes an OpenAPI linter.
func TestToolOpenAPILint(t *testing.T) {
	dir := tooltest.Packages(t, "testdata/redocly", ".bin/redocly")
	s := testServer(t)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/api/openapi.json", nil))
	work := t.TempDir()
	for _, name := range []string{"redocly.yaml", ".redocly.lint-ignore.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		servertest.WriteFile(t, filepath.Join(work, name), string(text))
	}
	servertest.WriteFile(t, filepath.Join(work, "openapi.json"), w.Body.String())
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules/.bin/redocly"), "lint", "openapi.json")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
