package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Projects are changed in the data folder while no server runs, else by the server; with the same commands.
func TestProjectCommands(t *testing.T) {
	file := filepath.Join(write(t, joinLib), "C_JOIN.1.def")
	for _, where := range []string{"--data", "--server"} {
		t.Run(where, func(t *testing.T) {
			data := t.TempDir()
			flags := []string{"--data", data}
			if where == "--server" {
				addr, _ := started(t, "--listen", "127.0.0.1:0", "--data", data)
				flags = []string{"--server", "http://" + addr}
				if _, stderr, status := cli(t, "", "project", "list", "--data", data); status != 2 || !strings.Contains(stderr, "--server") {
					t.Errorf("a folder in use: %d %s", status, stderr)
				}
			}
			for _, c := range []struct {
				args   []string
				status int
				want   string // in the output
			}{
				{[]string{"new", "My Game", file}, 0, "my-game  My Game  tera"},
				{[]string{"new", "Copy", "--copy", "my-game", "--name", "second"}, 0, "second"},
				{[]string{"new", "Again", "--name", "second", "--protocol", "tera"}, 2, "another project has this name"},
				{[]string{"new"}, 2, "needs a title"},
				{[]string{"rename", "second", "third", "--title", "Third"}, 0, "third  Third"},
				{[]string{"rename", "third"}, 2, "--title"},
				{[]string{"archive", "third"}, 0, "archived"},
				{[]string{"remove", "third"}, 2, "not deleted"},
				{[]string{"delete", "third"}, 0, ""},
				{[]string{"open", "third"}, 0, "open"},
				{[]string{"delete", "third"}, 0, ""},
				{[]string{"remove", "third"}, 0, ""},
				{[]string{"archive", "nosuch"}, 2, "not found"},
			} {
				stdout, stderr, status := cli(t, "", append(append([]string{"project"}, c.args...), flags...)...)
				if status != c.status || !strings.Contains(stdout+stderr, c.want) {
					t.Errorf("%v: %d %s%s", c.args, status, stdout, stderr)
				}
			}
			stdout, stderr, _ := cli(t, "", append([]string{"project", "list", "--json"}, flags...)...)
			var names []string
			for line := range strings.Lines(stdout) {
				var p struct {
					Name        string
					Definitions int
				}
				if err := json.Unmarshal([]byte(line), &p); err != nil {
					t.Fatal(err)
				}
				names = append(names, p.Name)
			}
			if got := strings.Join(names, " "); got != "my-game "+strings.ReplaceAll(dialectNames(), ",", "") {
				t.Errorf("%s %s", got, stderr)
			}
			if _, err := os.Stat(filepath.Join(data, "my-game", "definitions", "C_JOIN.1.def")); err != nil {
				t.Error(err)
			}
		})
	}
}
