package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite transcripts and frozen outputs, and fail")

// TestTranscripts runs the command lines of the console blocks in the README and the manual and compares their output. It supports echo, and
// tail -1 after a pipe; standard error is appended to standard output.
func TestTranscripts(t *testing.T) {
	for name, least := range map[string]int{"README.md": 1, "web/docs/cli.md": 4, "web/docs/protos.md": 1} {
		t.Run(name, func(t *testing.T) { transcripts(t, "../../"+name, least) })
	}
}

// transcripts checks the console blocks of a file, at least least of them.
func transcripts(t *testing.T, name string, least int) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```console\n")
	if len(parts) <= least {
		t.Fatalf("%d console blocks", len(parts)-1)
	}
	for i, part := range parts[1:] {
		block, rest, ok := strings.Cut(part, "```")
		if !ok {
			t.Fatal("a console block has no end")
		}
		var got strings.Builder
		for line := range strings.Lines(block) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				got.WriteString(line)
				got.WriteString(shell(t, strings.TrimSpace(command)))
			}
		}
		if got.String() != block {
			t.Errorf("the text shows\n%s\nbut the output is\n%s", block, got.String())
		}
		parts[i+1] = got.String() + "```" + rest
	}
	if *update && t.Failed() {
		if err := os.WriteFile(name, []byte(strings.Join(parts, "```console\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shell runs "[echo WORDS |] wirebench ARGS [| tail -1]" in this process.
func shell(t *testing.T, line string) string {
	t.Helper()
	stdin := ""
	if rest, ok := strings.CutPrefix(line, "echo "); ok {
		words, command, _ := strings.Cut(rest, " | ")
		stdin, line = strings.Trim(words, "'")+"\n", command
	}
	line, last := strings.CutSuffix(line, " | tail -1")
	args := strings.Fields(line)
	if len(args) == 0 || args[0] != "wirebench" {
		t.Fatalf("not a command line of wirebench: %s", line)
	}
	stdout, stderr, _ := cli(t, stdin, args[1:]...)
	out := stdout + stderr
	if last {
		l := lines(out)
		out = l[len(l)-1] + "\n"
	}
	return out
}
