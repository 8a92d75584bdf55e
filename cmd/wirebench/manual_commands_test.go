package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// manual returns the pages of the manual and the README, by name.
func manual(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	entries, err := os.ReadDir("../../web/docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".md") {
			pages[e.Name()] = "../../web/docs/" + e.Name()
		}
	}
	pages["README.md"] = "../../README.md"
	for name, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	return pages
}

// foreignFlags are flags of other programs that the manual names.
var foreignFlags = map[string]string{
	"--inject-secrets": "editcap", "--build": "docker compose", "--profile": "docker compose", "--uid-owner": "iptables", "--dport": "iptables", "--to-ports": "iptables",
}

// The table of commands has each command once, with flags that it has, and says which commands have no --json; all flags that the manual names
// exist.
func TestManualOfCommands(t *testing.T) {
	pages := manual(t)
	_, table, ok := strings.Cut(pages["cli.md"], "\n## Commands\n")
	if !ok {
		t.Fatal("cli.md has no table of commands")
	}
	root := newRoot()
	want, plain := map[string]bool{}, []string{}
	for _, cmd := range allCommands(root)[1:] {
		name := strings.TrimPrefix(cmd.CommandPath(), "wirebench ")
		if strings.HasPrefix(name, "completion ") || cmd.HasSubCommands() && name != "demo" && name != "completion" {
			continue // completion SHELL is one row; project alone does nothing
		}
		want[name] = true
		if cmd.Flags().Lookup("json") == nil && cmd.InheritedFlags().Lookup("json") == nil {
			plain = append(plain, name)
		}
	}
	want["help"] = true // made by cobra when it runs
	if !slices.Contains(plain, "help") {
		plain = append(plain, "help")
	}
	code, flag := regexp.MustCompile("`([^`]+)`"), regexp.MustCompile(`--[a-z][a-z-]*`)
	for line := range strings.Lines(table) {
		cells := code.FindAllStringSubmatch(line, -1)
		if !strings.HasPrefix(line, "| `") || len(cells) == 0 {
			continue
		}
		words := strings.Fields(cells[0][1])
		cmd, _, err := root.Find(words)
		if words[0] == "help" {
			delete(want, "help")
			continue
		}
		if err != nil || cmd == root {
			t.Errorf("no such command: %s", line)
			continue
		}
		name := strings.TrimPrefix(cmd.CommandPath(), "wirebench ")
		if !want[name] {
			t.Errorf("%s has two rows, or none is due", name)
		}
		delete(want, name)
		for _, f := range flag.FindAllString(line, -1) {
			if cmd.Flags().Lookup(f[2:]) == nil && cmd.InheritedFlags().Lookup(f[2:]) == nil {
				t.Errorf("%s has no flag %s", name, f)
			}
		}
	}
	for name := range want {
		t.Errorf("%s has no row", name)
	}

	_, exceptions, ok := strings.Cut(table, "Without `--json` are ")
	if !ok {
		t.Fatal("cli.md does not say which commands have no --json")
	}
	var said []string
	for _, c := range code.FindAllStringSubmatch(exceptions, -1) {
		said = append(said, c[1])
	}
	slices.Sort(said)
	slices.Sort(plain)
	if !slices.Equal(said, plain) {
		t.Errorf("cli.md says without --json are %s; it is so for %s", said, plain)
	}

	known := map[string]bool{"--help": true, "--version": true}
	for _, cmd := range allCommands(root) {
		for _, f := range flagsOf(cmd) {
			known["--"+f.Name] = true
		}
	}
	variable := regexp.MustCompile(`WIREBENCH_[A-Z_]+[A-Z]\b`)
	variables := variables(root)
	for page, text := range pages {
		for _, f := range flag.FindAllString(text, -1) {
			if !known[f] && foreignFlags[f] == "" {
				t.Errorf("%s: no command has the flag %s", page, f)
			}
		}
		for _, v := range variable.FindAllString(text, -1) {
			if page != "contributing.md" && !variables[v] {
				t.Errorf("%s: no command reads %s", page, v)
			}
		}
	}
}

// version says the same in both forms, as --version and the server do.
func TestVersion(t *testing.T) {
	text, _, status := cli(t, "", "version")
	if status != 0 || !strings.HasPrefix(text, "wirebench "+version()+", go") {
		t.Errorf("%d %s", status, text)
	}
	if out, _, status := cli(t, "", "version", "--json"); status != 0 || !strings.HasPrefix(out, `{"version":"`+version()+`","go":"go`) {
		t.Errorf("%d %s", status, out)
	}
	if out, _, status := cli(t, "", "--version"); status != 0 || !strings.Contains(out, version()) {
		t.Errorf("%d %s", status, out)
	}
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0")
	if _, body := get(t, "http://"+addr+"/metrics"); !strings.Contains(body, `wirebench_build_info{version="`+version()+`"} 1`) {
		t.Error("/metrics does not say the version")
	}
	if _, body := get(t, "http://"+addr+"/api/openapi.json"); !strings.Contains(body, `"version":"`+version()+`"`) {
		t.Error("the description of the API does not say the version")
	}
}
