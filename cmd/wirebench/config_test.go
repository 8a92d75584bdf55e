package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Settings come from the command line, the environment, the file and the default, in this order; each is printed with its source, and the
// output is a file again. Unknown ones and wrong values are errors.
func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wirebench.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("listen = '0.0.0.0:9000'\nallow-upstream = ['a:1', 'b:2']\ncapture-bytes = 5\ndata = '/x'\ntoken = 'a secret of the file'\n")
	t.Setenv("WIREBENCH_SERVE_DATA", "/env")
	t.Setenv("WIREBENCH_SERVE_ALLOW_LIBRARY", "/one, /two\n/three")
	out, errs, status := cli(t, "", "config", "--config", file, "--listen", "127.0.0.1:1")
	if status != 0 {
		t.Fatal(status, errs)
	}
	for _, want := range []string{
		`listen = "127.0.0.1:1" # command line`, `data = "/env" # WIREBENCH_SERVE_DATA`, `capture-bytes = 5 # ` + file, `allow-upstream = ["a:1", "b:2"] # ` + file,
		`allow-library = ["/one", "/two", "/three"] # WIREBENCH_SERVE_ALLOW_LIBRARY`, `token = "…" # ` + file, `tls-cert = "" # default`, "integrity = false # default",
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("lacks %s:\n%s", want, out)
		}
	}
	if strings.Contains(out, "secret of the file") {
		t.Error("a secret is printed")
	}
	write(out)
	if again, errs, status := cli(t, "", "config", "--config", file); status != 0 || strings.Count(again, "\n") != strings.Count(out, "\n") {
		t.Errorf("%d %s", status, errs)
	}
	for text, want := range map[string]string{
		"lisden = 'x'": "unknown: lisden", "listen = [1]": "must be one value", "capture-bytes = 'x'": "must be a whole number", "listen =": "line 1", "[table]\na = 1": "unknown: table",
		"config = 'y'": "unknown: config", "allow-upstream = [[1]]": "must be one value",
	} {
		write(text)
		if _, errs, status := cli(t, "", "config", "--config", file); status != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", text, status, errs)
		}
	}
}
