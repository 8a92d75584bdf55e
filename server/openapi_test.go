package server

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"wirebench/server/servertest"
)

// The document passes an OpenAPI linter.
func TestOpenAPILint(t *testing.T) {
	const dir = "testdata/redocly"
	tool, err := filepath.Abs(filepath.Join(dir, "node_modules", ".bin", "redocly"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tool); err != nil {
		if os.Getenv("WIREBENCH_BROWSER") == "required" {
			t.Fatal("the packages are missing, and WIREBENCH_BROWSER=required: npm ci in server/" + dir)
		}
		t.Skip("redocly is not installed: npm ci in server/" + dir)
	}
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
	cmd := exec.CommandContext(t.Context(), tool, "lint", "openapi.json")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
