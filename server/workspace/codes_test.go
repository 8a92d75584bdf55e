package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/server/settings"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

func TestGiveCodes(t *testing.T) {
	const one, two = "protocol.1.map", "protocol.2.map"
	for _, c := range []struct {
		about string
		files map[string]string
		give  workspace.GivenCodes
		in    string // the map that is changed
		want  string // its text
		err   string
	}{
		{"without a map one is made", nil, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A.1", Code: 5}}}, "protocol.map", "C_A 5\n", ""},
		{"the name of a new map", nil, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 5}}, Map: "protocol.7.map"}, "protocol.7.map", "C_A 5\n", ""},
		{"the map is extended", map[string]string{one: "C_B = 2\r\nC_A = 1"}, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_C", Code: 5}}}, one, "C_B = 2\r\nC_A = 1\r\nC_C = 5", ""},
		{"a code is changed", map[string]string{one: "C_A 1 # kept\n"}, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 5}}}, one, "C_A 5 # kept\n", ""},
		{"another map", map[string]string{one: "C_A 1\n", two: "C_A 2\n"}, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 5}}, Map: two}, two, "C_A 5\n", ""},
		{"several maps", map[string]string{one: "C_A 1\n", two: "C_A 2\n"}, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 5}}}, "", "", "choose one first"},
		{"a code of another message", map[string]string{one: "C_B 5\n"}, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 5}}}, "", "", "C_B has the code 5"},
		{"taken from it", map[string]string{one: "C_B 5\nC_C 6\n"}, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 5}}, Take: true}, one, "C_A 5\nC_C 6\n", ""},
		{"too large", nil, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 1 << 16}}}, "", "", "above 65535"},
		{"not a name", nil, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C A", Code: 5}}}, "", "", "not the name"},
		{"not a map", nil, workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 5}}, Map: "C_A.1.def"}, "", "", "not the name of a code map"},
	} {
		t.Run(strings.ReplaceAll(c.about, " ", "_"), func(t *testing.T) {
			files, dir := workspacetest.Dir(t, c.files)
			w := workspacetest.Open(t, workspace.Config{Files: files})
			in, _, err := w.GiveCodes(c.give)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v", err)
				}
				return
			}
			text, _ := os.ReadFile(filepath.Join(dir, c.in))
			if err != nil || in != c.in || string(text) != c.want {
				t.Fatalf("%s has %q, error %v", in, text, err)
			}
			name := strings.TrimSuffix(c.give.Codes[0].Message, ".1")
			if len(c.files) < 2 && w.Now().Options.Codes[name] != c.give.Codes[0].Code {
				t.Error("the library does not have the code")
			}
		})
	}
}

func TestGiveCodesNamesTheOther(t *testing.T) {
	files, _ := workspacetest.Dir(t, map[string]string{"protocol.1.map": "C_B 5\n"})
	w := workspacetest.Open(t, workspace.Config{Files: files})
	_, _, err := w.GiveCodes(workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "C_A", Code: 5}}})
	var taken *workspace.CodeError
	if !errors.As(err, &taken) || taken.Other != "C_B" {
		t.Error(err)
	}
	w = workspacetest.Open(t, workspace.Config{Files: files, Dialect: "muta"})
	if _, _, err := w.GiveCodes(workspace.GivenCodes{Codes: []workspace.GivenCode{{Message: "a", Code: 5}}}); err == nil {
		t.Error("a protocol with codes in its definitions got a code map")
	}
}

// A second map does not change which one is in use, however it came, nor after a restart.
func TestSecondMapKeepsTheChoice(t *testing.T) {
	files, dir := workspacetest.Dir(t, map[string]string{"C_A.1.def": "byte a\n", "protocol.2.map": "C_A 2\n"})
	home, _ := workspacetest.Dir(t, nil)
	w := workspacetest.Open(t, workspace.Config{Files: files, Home: home})
	if err := os.WriteFile(filepath.Join(dir, "protocol.1.map"), []byte("C_A 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := w.Reload(); err != nil {
		t.Fatal(err)
	}
	again := workspacetest.Open(t, workspace.Config{Files: files, Home: home})
	for _, w := range []*workspace.Workspace{w, again} {
		if now := w.Now(); now.CodeMap != "protocol.2.map" || now.Options.Codes["C_A"] != 2 {
			t.Errorf("the map in use is %q", now.CodeMap)
		}
	}
	if err := again.Configure(func(u *settings.Settings) { u.Map = "" }); err != nil || again.Now().CodeMap != "" {
		t.Errorf("the choice cannot be taken back: %q, %v", again.Now().CodeMap, err)
	}
}
