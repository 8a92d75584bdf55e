package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestUsage runs commands with wrong usage: the exit status is exitUsage, and the message names the flag or argument and the correct form.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		args []string
		want string // part of standard error
		not  string
	}{
		{[]string{"decod"}, `unknown command "decod"; did you mean "decode"?`, ""},
		{[]string{"help", "decod"}, `did you mean "decode"?`, ""},
		{[]string{"help", "frames", "x"}, `unknown command "x"`, ""},
		{[]string{"completion", "csh"}, `unknown command "csh"`, ""},
		{[]string{long}, "unknown command", ""},
		{[]string{"check"}, "check needs a path", ""},
		{[]string{"fmt"}, "fmt needs a path", ""},
		{[]string{"emit"}, "emit needs --target", `""`},
		{[]string{"emit", "--target", "cobol"}, "--target cobol: must be one of c,", ""},
		{[]string{"emit", "x"}, `unexpected argument "x": emit takes no arguments`, ""},
		{[]string{"layout", "--message", "C_JOIN", "x"}, `unexpected argument "x"`, ""},
		{[]string{"paste", "a", "b"}, `unexpected argument "b"`, ""},
		{[]string{"demo", "x"}, `unexpected argument "x"`, "command"},
		{[]string{"proxy", "x"}, `unexpected argument "x"`, "command"},
		{[]string{"serve", "x"}, `unexpected argument "x"`, "command"},
		{[]string{"replay", "--to", "127.0.0.1:1"}, "replay needs a capture or script", ""},
		{[]string{"replay", "a", "b", "--to", "127.0.0.1:1"}, `unexpected argument "b"`, ""},

		{[]string{"frames", "--port", "x"}, "--port x: must be a whole number, or several", "strconv"},
		{[]string{"frames", "--port"}, "--port needs a whole number", ""},
		{[]string{"frames", "--json=maybe"}, "--json maybe: must be true or false", "strconv"},
		{[]string{"demo", "--for", "x"}, "--for x: must be a time such as 30s", "time:"},
		{[]string{"demo", "--for", "-1s"}, "--for -1s", ""},
		{[]string{"demo", "--rate", "x"}, "--rate x: must be a number", ""},
		{[]string{"demo", "--rate", "NaN"}, "--rate NaN: must be 0.1 to 1000", "tera:"},
		{[]string{"demo", "--protocol", "tera", "--via", "nowhere"}, "the port is missing", ""},
		{[]string{"decode", "--integrity-count", "-1"}, "a whole number from 0", "strconv"},
		{[]string{"decode", "--protocol", "x"}, "--protocol x: must be one of tera, muta, subspace", ""},
		{[]string{"decode", "--protocol", "x", "--library", dir}, "--protocol x: must be one of tera, muta, subspace", ""},
		{[]string{"decode", "--form", "x"}, "--form x: must be one of hex,", ""},
		{[]string{"paste", "--form", "x"}, "--form x: must be one of hex,", ""},
		{[]string{"decode", "--message", long}, "no definition", ""},
		{[]string{"frames", "--keys", filepath.Join(dir, "no")}, "--keys: open", ""},
		{[]string{"frames", "--keys", dir}, "--keys: read", ""},
		{[]string{"frames", "--filter", long}, "8192 bytes", ""},

		{[]string{"decode", dir}, "is a directory", "read input"},
		{[]string{"decode", "--paste", dir}, "is a directory", ""},
		{[]string{"encode", "--message", "C_EDIT_PRIVATE_CHANNEL", dir}, "is a directory", ""},
		{[]string{"paste", dir}, "is a directory", ""},
		{[]string{"frames", dir}, "is a directory", ""},
		{[]string{"replay", dir, "--to", "127.0.0.1:1"}, "is a directory", ""},
		{[]string{"frames", filepath.Join(dir, "no")}, "no such file", ""},
		{[]string{"paste", filepath.Join(dir, "no")}, "no such file", ""},
		{[]string{"replay", filepath.Join(dir, "no"), "--to", "127.0.0.1:1"}, "no such file", ""},
		{[]string{"replay", "-", "--to", "127.0.0.1:1"}, "standard input is neither a script nor a capture", ""},

		{[]string{"proxy", "--listen", ":0", "--upstream", "nowhere"}, "--upstream nowhere: the port is missing", ""},
		{[]string{"proxy", "--listen", "::1:5", "--upstream", "127.0.0.1:1"}, "--listen ::1:5: must be HOST:PORT", ""},
		{[]string{"proxy", "--listen", ":0", "--upstream", "127.0.0.1:1", "--ports", "99999"}, "--ports 99999: must be 1 to 16", "--allow"},
		{[]string{"proxy", "--listen", ":0", "--upstream", "127.0.0.1:1", "--ports", "-1"}, "--ports -1: must be 1 to 16", ""},
		{[]string{"serve", "--listen", "nowhere", "--data", dir}, "--listen nowhere: the port is missing", ""},
		{[]string{"health", "--listen", "nowhere"}, "--listen nowhere: the port is missing", ""},
		{[]string{"replay", "x", "--to", "127.0.0.1:1", "--time", "-1s"}, "--time -1s", ""},
		{[]string{"replay", "x", "--to", "127.0.0.1:1", "--speed", "0"}, "--speed 0", ""},
		{[]string{"replay", "x", "--to", "127.0.0.1:1", "--tolerance", "x"}, "--tolerance x: must be exact, fields or shape", ""},
		{[]string{"replay", "x", "--to", "127.0.0.1:1", "--var", "x"}, "--var", ""},
	} {
		out, said, status := cli(t, "", c.args...)
		if status != exitUsage || out != "" || !strings.Contains(said, c.want) || c.not != "" && strings.Contains(said, c.not) {
			t.Errorf("%.80q: status %d, %q\nstderr: %.500s\nwant: %s\nnot: %s", c.args, status, out, said, c.want, c.not)
		}
		if len(said) > maxError+100 {
			t.Errorf("%.80q: standard error has %d bytes", c.args, len(said))
		}
	}
}

// Every command has a help text, and every flag a description.
func TestHelp(t *testing.T) {
	for _, c := range newRoot().Commands() {
		asked, _, status := cli(t, "", c.Name(), "--help")
		if status != exitOK || !strings.Contains(asked, "Usage:\n  wirebench "+c.Name()) {
			t.Errorf("%s --help: %d %s", c.Name(), status, asked)
		}
		told, _, status := cli(t, "", "help", c.Name())
		if status != exitOK || told != asked {
			t.Errorf("help %s is not %s --help: %d %s", c.Name(), c.Name(), status, told)
		}
		for line := range strings.Lines(asked) {
			if before, _, isFlag := strings.Cut(line, "      --"); isFlag && before == "" && strings.HasSuffix(strings.TrimRight(line, "\n"), "  ") {
				t.Errorf("%s: a flag without a text: %s", c.Name(), line)
			}
		}
	}
	for _, args := range [][]string{{"help"}, {"--help"}} {
		if out, _, status := cli(t, "", args...); status != exitOK || !strings.Contains(out, "Available Commands:") {
			t.Errorf("%q: %d %s", args, status, out)
		}
	}
}

// An invalid filter is shown around the mistake, in one line whatever its length and content, with the mark below the position.
func TestWrongFilterIsShown(t *testing.T) {
	for _, filter := range []string{
		"len > 5 @@ x",
		"len ==\n\t5 @@ x",
		strings.Repeat("len == 5 || ", 300) + "len @@ 5 || " + strings.Repeat("len == 5 || ", 300),
		`name == "ä漢` + "\x1b[2J" + `" @@ x`,
	} {
		_, said, status := cli(t, "", "frames", "--filter", filter, "-")
		rows := strings.Split(said, "\n")
		if status != exitUsage || len(rows) < 3 || strings.ContainsRune(said, 0x1b) || len(rows[1]) > 4*maxBeside {
			t.Errorf("%.60q: %d\n%s", filter, status, said)
			continue
		}
		at := len([]rune(rows[2])) - 1
		if shown := []rune(rows[1]); rows[2][len(rows[2])-1] != '^' || at >= len(shown) || shown[at] != '@' {
			t.Errorf("%.60q: the mark is in the wrong place\n%s", filter, said)
		}
	}
}

// brokenOut accepts a number of bytes and then fails.
type brokenOut struct {
	left int
	err  error
}

func (b *brokenOut) Write(p []byte) (int, error) {
	if len(p) > b.left {
		n := b.left
		b.left = 0
		return n, b.err
	}
	b.left -= len(p)
	return len(p), nil
}

// A write error of the output fails every command, unless the reader has closed the pipe.
func TestOutputThatIsNotTaken(t *testing.T) {
	lib := write(t, joinLib)
	untidy := write(t, map[string]string{"C_A.1.def": "int32    x\n"})
	full := errors.New("no space left")
	for _, c := range []struct {
		stdin string
		args  []string
	}{
		{joinHex, []string{"decode", "--library", lib, "--message", "C_JOIN"}},
		{joinHex, []string{"decode", "--library", lib, "--message", "C_JOIN", "--json"}},
		{"{}", []string{"encode", "--library", lib, "--message", "C_JOIN", "--code", "1"}},
		{"1200 3412", []string{"paste"}},
		{"", []string{"layout", "--library", lib, "--message", "C_JOIN"}},
		{"", []string{"layout", "--library", lib, "--message", "C_JOIN", "--json"}},
		{"", []string{"check", lib}},
		{"", []string{"fmt", untidy}},
		{"", []string{"fmt", "-l", untidy}},
		{"", []string{"emit", "--target", "md"}},
		{"", []string{"emit", "--target", "md", "--json"}},
		{"", []string{"--help"}},
		{"", []string{"help", "frames"}},
		{"", []string{"--version"}},
	} {
		for _, broken := range []struct {
			err    error
			status int
		}{{full, exitUsage}, {syscall.EPIPE, exitOK}} {
			var said bytes.Buffer
			status := run(context.Background(), c.args, strings.NewReader(c.stdin), &brokenOut{left: 3, err: broken.err}, &said)
			if status != broken.status || broken.err == full && !strings.Contains(said.String(), "no space left") {
				t.Errorf("%q: %v: status %d, want %d: %s", c.args, broken.err, status, broken.status, said.String())
			}
		}
	}
}

// Flags that select parts of the JSON output print a note without --json.
func TestOnlyWithJSON(t *testing.T) {
	lib := write(t, joinLib)
	for _, json := range []bool{false, true} {
		args := []string{"decode", "--library", lib, "--message", "C_JOIN", "--fields"}
		if json {
			args = append(args, "--json")
		}
		if _, said, status := cli(t, joinHex, args...); status != exitOK || strings.Contains(said, "without --json") == json {
			t.Errorf("json %v: %d %s", json, status, said)
		}
	}
}

// A script is read from standard input, too; and --to on the command line overrides --listen of the environment.
func TestReplayOfStandardInput(t *testing.T) {
	t.Setenv("WIREBENCH_REPLAY_LISTEN", "0.0.0.0:8080")
	script := `{"version":1,"protocol":"muta","play":"client","steps":[{"pause":"1ms"}]}`
	if out, said, status := cli(t, script, "replay", "-", "--make-script", "-"); status != exitOK || !strings.Contains(out, `"pause"`) {
		t.Errorf("%d %s %s", status, out, said)
	}
	// The port is invalid, so that the command ends there.
	if _, said, status := cli(t, script, "replay", "-", "--to", "127.0.0.1:0"); status != exitUsage || !strings.Contains(said, "--to 127.0.0.1:0: the port must be 1 to 65535") {
		t.Errorf("%d %s", status, said)
	}
	if _, said, status := cli(t, script, "replay", "-", "--to", "127.0.0.1:0", "--listen", "127.0.0.1:0"); status != exitUsage || !strings.Contains(said, "exclude each other") {
		t.Errorf("%d %s", status, said)
	}
}

// Control characters in a file are not printed to the terminal.
func TestFramesOfAHostileLog(t *testing.T) {
	log := `{"dir":"c2s","name":"S_\u001b]0;evil\u0007X","hex":"0500010007"}` + "\n" + `{"dir":"s2c","name":"A","hex":"0500010007"}` + "\n"
	out, said, status := cli(t, log, "frames", "--protocol", "tera", "-")
	if status != exitOK || out == "" || !strings.Contains(out, "evil") || strings.ContainsAny(out, "\x1b\x07") {
		t.Errorf("%d %q %s", status, out, said)
	}
}

// The note about reading standard input is for terminals; /dev/null is not one.
func TestNobodyTypes(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var said bytes.Buffer
	if status := run(context.Background(), []string{"decode"}, null, io.Discard, &said); status != exitOK || said.Len() > 0 {
		t.Errorf("%d %s", status, said.String())
	}
}
