package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// allCommands returns the commands of the tree, the root among them.
func allCommands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, sub := range root.Commands() {
		all = append(all, allCommands(sub)...)
	}
	return all
}

// flagsOf returns the flags of a command, those of the commands above it among them.
func flagsOf(cmd *cobra.Command) (all []*pflag.Flag) {
	for _, set := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		set.VisitAll(func(f *pflag.Flag) {
			if settable(f) {
				all = append(all, f)
			}
		})
	}
	return all
}

// prepared runs what precedes each run of a command, and returns the flags that the environment has set.
func prepared(t *testing.T, root, cmd *cobra.Command) (set []string, said string, err error) {
	t.Helper()
	var errs bytes.Buffer
	root.SetErr(&errs)
	if err := cmd.ParseFlags(nil); err != nil {
		t.Fatal(err)
	}
	err = root.PersistentPreRunE(cmd, nil)
	for _, f := range flagsOf(cmd) {
		if f.Annotations[fromEnv] != nil {
			set = append(set, f.Name)
		}
	}
	return set, errs.String(), err
}

// withoutVariables unsets the variables of the program for a test.
func withoutVariables(t *testing.T) {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, variablePrefix) {
			t.Setenv(name, "")
		}
	}
}

// Each variable belongs to one command and one flag, and changes no other command: neither do the older names, which serve alone
// understands, with a note. config and health have the settings of serve.
func TestVariables(t *testing.T) {
	withoutVariables(t)
	file := filepath.Join(t.TempDir(), "empty.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	value := func(f *pflag.Flag) string {
		switch {
		case f.Name == "config":
			return file
		case f.Value.Type() == "duration":
			return "1s"
		}
		return "1"
	}
	root := newRoot()
	all := allCommands(root)
	owners, newer, older, serves := map[string]string{}, map[string]string{}, map[string]string{}, []string{}
	for _, cmd := range all {
		prefix := variablesOf(cmd)
		if prefix == "WIREBENCH_SERVE_" {
			serves = append(serves, cmd.CommandPath())
		}
		for _, f := range flagsOf(cmd) {
			name := variable(cmd, f.Name)
			owner := strings.TrimSuffix(name, inUpper(f.Name))
			if before, ok := owners[name]; ok && before != owner+" "+f.Name {
				t.Errorf("%s belongs to %s and to %s", name, before, owner+" "+f.Name)
			}
			if !strings.HasPrefix(prefix, owner) {
				t.Errorf("%s of %s is not named for it", name, cmd.CommandPath())
			}
			owners[name], newer[name], older[olderVariable(f.Name)] = owner+" "+f.Name, value(f), "1"
		}
	}
	if want := []string{"wirebench", "wirebench config", "wirebench health", "wirebench serve"}; !slices.Equal(serves, want) {
		t.Errorf("the settings of serve are those of %s", serves)
	}
	for _, f := range flagsOf(root) {
		older[olderVariable(f.Name)] = value(f)
	}
	for name := range older {
		if owners[name] != "" {
			t.Errorf("%s is an older name, and %s", name, owners[name])
		}
	}
	if len(newer) < 200 || len(older) < 50 {
		t.Fatalf("%d variables, %d older names", len(newer), len(older))
	}
	for _, env := range []map[string]string{newer, older} {
		for name, value := range env {
			t.Setenv(name, value)
		}
		for i := range all {
			root := newRoot()
			cmd := allCommands(root)[i]
			server := slices.Contains(serves, cmd.CommandPath())
			_, said, err := prepared(t, root, cmd)
			if err != nil {
				t.Errorf("%s: %v", cmd.CommandPath(), err)
			}
			for _, f := range flagsOf(cmd) {
				want := variable(cmd, f.Name)
				if _, isOlder := env[olderVariable(f.Name)]; isOlder {
					before := olderVariable(f.Name)
					note := before + " has no effect: the variable of --" + f.Name + " is " + want + "\n"
					if server {
						note, want = before+" (now "+want+")", before
					} else {
						want = ""
					}
					if cmd.Name() != "health" && !strings.Contains(said, note) {
						t.Errorf("%s does not say %q:\n%s", cmd.CommandPath(), note, said)
					}
				}
				if got := strings.Join(f.Annotations[fromEnv], ","); got != want || f.Changed != (want != "") {
					t.Errorf("--%s of %s is set by %q, not by %q", f.Name, cmd.CommandPath(), got, want)
				}
			}
		}
		for name := range env {
			os.Setenv(name, "")
		}
	}
}

// Variables that no command reads are mistakes where they could matter; those of tests, of tools and of other programs are none.
func TestUnknownVariables(t *testing.T) {
	withoutVariables(t)
	for _, c := range []struct {
		name, command string // without the prefix
		want          string // of the error, or of what is said after "note: "
	}{
		{"LISTN", "serve", "unknown environment variable WIREBENCH_LISTN; did you mean WIREBENCH_SERVE_LISTEN?"},
		{"LISTN", "", "did you mean WIREBENCH_SERVE_LISTEN?"},
		{"LISTN", "config", "did you mean WIREBENCH_SERVE_LISTEN?"},
		{"LISTN", "frames", ""},
		{"SERVE_LISTN", "serve", "did you mean WIREBENCH_SERVE_LISTEN?"},
		{"SERVE_LISTN", "", "did you mean WIREBENCH_SERVE_LISTEN?"},
		{"SERV_LISTEN", "serve", "did you mean WIREBENCH_SERVE_LISTEN?"},
		{"SERVE_LISTENING", "serve", "unknown environment variable WIREBENCH_SERVE_LISTENING: wirebench serve has no such flag"},
		{"SERVE_LISTENING", "", "wirebench has no such flag"},
		{"SERVE_LISTENING", "frames", ""},
		{"FRAME_FILTER", "frames", "did you mean WIREBENCH_FRAMES_FILTER?"},
		{"FRAMES_FILTERS", "frames", "did you mean WIREBENCH_FRAMES_FILTER?"},
		{"FRAMES_LIST", "frames", "wirebench frames has no such flag"},
		{"PROJECT_NEW_COPIES", "project new", "wirebench project new has no such flag"},
		{"PROJECT_NEW_COPIES", "project list", ""},
		{"PROJECT_TOKENS", "project list", "did you mean WIREBENCH_PROJECT_TOKEN?"},
		{"FILTER", "frames", "WIREBENCH_FILTER has no effect: the variable of --filter is WIREBENCH_FRAMES_FILTER"},
		{"TOKEN", "push", "WIREBENCH_TOKEN has no effect: the variable of --token is WIREBENCH_PUSH_TOKEN"},
		{"SOMETHING", "serve", "note: environment variables that no command reads: WIREBENCH_SOMETHING"},
		{"SOMETHING", "frames", ""},
	} {
		root := newRoot()
		cmd, _, err := root.Find(strings.Fields(c.command))
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(variablePrefix+c.name, "1")
		_, said, err := prepared(t, root, cmd)
		if err != nil {
			said = err.Error()
		}
		if c.want == "" && said != "" || !strings.Contains(said, c.want) || strings.HasPrefix(said, "note: ") != (strings.Contains(c.want, "no effect") || strings.HasPrefix(c.want, "note: ")) {
			t.Errorf("%s in %q: %q, want %q", c.name, c.command, said, c.want)
		}
		os.Setenv(variablePrefix+c.name, "")
	}

	// Kubernetes sets these in all containers beside a service of this name.
	names := map[string]bool{}
	for _, name := range strings.Fields("SERVICE_HOST SERVICE_PORT SERVICE_PORT_HTTP PORT PORT_8080_TCP PORT_8080_TCP_ADDR PORT_8080_TCP_PORT PORT_8080_TCP_PROTO") {
		names[variablePrefix+name] = true
	}
	word := regexp.MustCompile(`\bWIREBENCH_[A-Z][A-Z_]*[A-Z]\b`)
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git" || e.Name() == "testdata" || e.Name() == "static"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") && !strings.Contains(path, ".ci/") || e.Name() == "environment_test.go" || e.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		for _, name := range word.FindAllString(string(text), -1) {
			names[name] = true
		}
		return err
	})
	known := variables(newRoot())
	for name := range known {
		delete(names, name)
	}
	if err != nil || !names["WIREBENCH_BROWSER"] || len(names) < 20 {
		t.Fatalf("%v: %v", names, err)
	}
	for name := range names {
		t.Setenv(name, "1")
		root := newRoot()
		for _, cmd := range allCommands(root) {
			if set, _, err := prepared(t, root, cmd); err != nil || set != nil {
				t.Errorf("%s in %s: %s %v", name, cmd.CommandPath(), set, err)
			}
		}
		os.Setenv(name, "")
	}
}

// The older and the newer name of a variable may not differ; neither value is printed, as it may be a secret.
func TestVariablesThatDiffer(t *testing.T) {
	withoutVariables(t)
	t.Setenv("WIREBENCH_TOKEN", "one that was replaced")
	t.Setenv("WIREBENCH_SERVE_TOKEN", "another one")
	if out, said, status := cli(t, "", "config"); status != exitUsage || out != "" || !strings.Contains(said, "WIREBENCH_TOKEN and WIREBENCH_SERVE_TOKEN differ") || strings.Contains(said, "another one") || strings.Contains(said, "replaced") {
		t.Errorf("%d %s %s", status, out, said)
	}
	t.Setenv("WIREBENCH_TOKEN", "another one")
	if out, said, status := cli(t, "", "config"); status != 0 || !strings.Contains(out, `token = "…" # WIREBENCH_SERVE_TOKEN`) || said != "" {
		t.Errorf("%d %s %s", status, out, said)
	}
}

// What the server of a container is given is not that of the commands beside it.
func TestVariablesOfAContainer(t *testing.T) {
	withoutVariables(t)
	for _, name := range []string{"WIREBENCH_LISTEN", "WIREBENCH_SERVE_LISTEN"} {
		t.Setenv(name, "0.0.0.0:8080")
	}
	for _, args := range [][]string{{"proxy", "--upstream", "127.0.0.1:1"}, {"push", "http://127.0.0.1:1", "--project", "x"}} {
		_, said, _ := cli(t, "", args...)
		if strings.Contains(said, "0.0.0.0") || args[0] == "proxy" && !strings.Contains(said, "--listen and --upstream are required") || args[0] == "push" && !strings.Contains(said, "the input is empty") {
			t.Errorf("%s: %s", args, said)
		}
	}
	t.Setenv("WIREBENCH_FILTER", "S_CHAT")
	log := `{"dir":"c2s","name":"A","hex":"0500010007"}` + "\n"
	if out, said, status := cli(t, log, "frames", "--protocol", "tera", "-"); status != 0 || strings.Count(out, "\n") < 1 || !strings.Contains(said, "WIREBENCH_FRAMES_FILTER") {
		t.Errorf("%d %q %s", status, out, said)
	}
	// health asks where the server listens, whichever way it was told.
	file := write(t, map[string]string{"of.toml": "data = '/x'\nlisten = '127.0.0.1:3'\n"})
	for i, set := range []func(){
		func() { t.Setenv("WIREBENCH_LISTEN", "127.0.0.1:1"); t.Setenv("WIREBENCH_SERVE_LISTEN", "") },
		func() { t.Setenv("WIREBENCH_LISTEN", ""); t.Setenv("WIREBENCH_SERVE_LISTEN", "127.0.0.1:2") },
		func() { t.Setenv("WIREBENCH_SERVE_LISTEN", ""); t.Setenv("WIREBENCH_SERVE_CONFIG", file+"/of.toml") },
	} {
		set()
		if _, said, status := cli(t, "", "health"); status != exitInput || !strings.Contains(said, "127.0.0.1:"+string(rune('1'+i))+"/healthz") {
			t.Errorf("%d: %d %s", i, status, said)
		}
	}
}
