package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wirebench/defs/corpora"
	"wirebench/server/settings"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// Two sets of settings are in force at once, and follow changes of the library.
func TestAs(t *testing.T) {
	files, dir := workspacetest.Dir(t, map[string]string{
		"C_A.1.def": "byte a\nint32 b ^70\n", "C_B.1.def": "byte b\n", "protocol.27.map": "C_A 1\n", "protocol.98.map": "C_A 2\n",
	})
	w := workspacetest.Open(t, workspace.Config{Files: files})
	size := func(s *workspace.Snapshot) string {
		t.Helper()
		d, err := s.Open("C_A", "")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(d.Message.Key.Code, " ", d.Layout().MinSize)
	}
	as := func(text string) *workspace.Snapshot {
		t.Helper()
		var over settings.Settings
		if err := over.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		s, err := w.As(over)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const old, new = `{"map":"protocol.27.map","patch":"27.07"}`, `{"map":"protocol.98.map","patch":"98.02"}`
	a, b := as(old), as(new)
	if got := size(a) + ", " + size(b); got != "1 5, 2 9" {
		t.Errorf("codes and sizes: %s", got)
	}
	if as(old) != a || as(new) != b || as("{}") != w.Now() || a.ID == b.ID || a.ID == w.Now().ID {
		t.Error("the snapshots are not cached by the settings")
	}
	message, err := a.Find("C_B")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "C_A.1.def"), []byte("byte a\nint32 b ^70\nbyte c\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := w.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := size(as(old)) + ", " + size(as(new)); got != "1 6, 2 10" || as(old) == a {
		t.Errorf("after a change of the library: %s", got)
	}
	if again, err := as(old).Find("C_B"); err != nil || again != message {
		t.Error("a message whose file has not changed was compiled again")
	}
	if err := w.Configure(func(u *settings.Settings) { u.Set("angle", "truncate"); u.Set("patch", "50") }); err != nil {
		t.Fatal(err)
	}
	if v := as(old).Options.Values; v["angle"] != "truncate" || v["patch"] != "27.07" {
		t.Errorf("options %v", v)
	}
}

func TestCheckOver(t *testing.T) {
	files, _ := workspacetest.Dir(t, map[string]string{"game.def": "group: clmsg\n\npacket: ping\n   __group = clmsg\n"})
	w := workspacetest.Open(t, workspace.Config{Files: files, Dialect: "muta"})
	none := settings.Settings{}
	for text, wrong := range map[string]bool{
		`{"groups":["4000/c2s=clmsg"],"ports":[4000],"direction":"c2s"}`: false,
		`{"groups":["svmsg"]}`:     true,
		`{"groups":["c2x=clmsg"]}`: true,
		`{"ports":[70000]}`:        true,
		`{"direction":"both"}`:     true,
		`{"patch":"x"}`:            true,
		`{"map":"protocol.1.map"}`: true,
	} {
		var over settings.Settings
		if err := over.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.CheckOver(over, none); err == nil == wrong {
			t.Errorf("%s: %v", text, err)
		}
		if err := w.CheckOver(over, over); text == `{"groups":["svmsg"]}` && err != nil {
			t.Errorf("%s: what was chosen before is refused: %v", text, err)
		}
	}
}

// BenchmarkAs compiles a large library with other settings, and again after a change of one file.
func BenchmarkAs(b *testing.B) {
	texts := corpora.Largest(b).Files(b, "tera/toolbox/definitions/*.def")
	files, dir := workspacetest.Dir(b, texts)
	w := workspacetest.Open(b, workspace.Config{Files: files})
	over := settings.Settings{Options: map[string]string{"patch": "27.07"}}
	begun := time.Now()
	if _, err := w.As(over); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(begun).Microseconds()), "µs/first")
	b.Run("same", func(b *testing.B) {
		for b.Loop() {
			_, _ = w.As(over)
		}
	})
	b.Run("changed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			if err := os.WriteFile(filepath.Join(dir, "C_CHAT.1.def"), fmt.Appendf(nil, "byte a%d\n", i), 0o666); err != nil {
				b.Fatal(err)
			}
			if err := w.Reload(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			_, _ = w.As(over)
		}
	})
}
