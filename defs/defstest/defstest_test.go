package defstest

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

func TestNewCase(t *testing.T) {
	archive := txtar.Parse([]byte("What it shows: a = b.\npatch=73\n-- in.def --\nint32 a\n-- raw.def.quoted --\n\"\\ufeffa\\r\\n\"\n\"b\"\n-- out --\nx\n"))
	c, err := newCase(archive, []string{"out"})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(c.Settings, map[string]string{"patch": "73"}) {
		t.Errorf("settings %v", c.Settings)
	}
	if len(c.Files) != 2 || c.File("in.def") != "int32 a\n" || c.File("raw.def") != "\ufeffa\r\nb" || c.File("out") != "" {
		t.Errorf("files %q", c.Files)
	}
	archive.Files[1].Data = []byte("no literal\n")
	if _, err := newCase(archive, nil); err == nil {
		t.Error("accepted text that is not a string literal")
	}
}

// TestRun runs a case with a correct golden section, and one whose golden section is empty and missing.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"full": "-- in --\na\n-- out --\na\n", "empty": "-- in --\n"} {
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs := 0
	Run(t, filepath.Join(dir, "*.txtar"), []string{"out"}, func(_ *testing.T, c *Case) map[string]string {
		runs++
		return map[string]string{"out": c.File("in")}
	})
	if runs != 2 {
		t.Errorf("%d cases ran", runs)
	}
}
