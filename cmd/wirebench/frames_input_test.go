package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/defs/corpora"
)

// A capture may come through a pipe, invalid flags are refused, and flags without effect print a note.
func TestFramesInput(t *testing.T) {
	const lines = `{"n":1,"conn":"10.0.0.2:4000-10.0.0.1:7801","dir":"c2s","kind":"message","from":[1],"hex":"0800112233445566","flags":["injected"]}
{"n":2,"conn":"10.0.0.2:4000-10.0.0.1:7801","dir":"s2c","kind":"message","from":[2],"hex":"0400aabb","note":"odd"}
`
	for _, args := range [][]string{{"frames", "--protocol", "tera", "--json", "-"}, {"frames", "--protocol", "tera", "--json"}} {
		out, errs, status := cli(t, lines, args...)
		if status != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, `"flags":["injected"]`) || !strings.Contains(out, `"note":"odd"`) || !strings.Contains(errs, "standard input") {
			t.Errorf("%v: %d %s %s", args, status, out, errs)
		}
		again, _, _ := cli(t, out, args...)
		if again != out {
			t.Errorf("%s\nread again is\n%s", out, again)
		}
	}
	if out, _, status := cli(t, lines, "frames", "--protocol", "tera", "--filter", "injected", "-"); status != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(out, "injected") {
		t.Errorf("%d %s", status, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"frames", "--protocol", "muta", "--group", "c2s=nogroup", "-"}, "unknown group nogroup"},
		{[]string{"frames", "--protocol", "tera", "--group", "c2s=nogroup", "-"}, "nogroup"},
		{[]string{"frames", "--protocol", "tera", "no such file"}, "no such file"},
		{[]string{"frames", "--protocol", "tera", "no such file", "-"}, "no such file"},
	} {
		if out, errs, status := cli(t, lines, c.args...); status != 2 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s %s", c.args, status, out, errs)
		}
	}
	file := filepath.Join(corpora.Own().Dir(t), "captures/tera-plain.pcapng")
	if _, errs, status := cli(t, "", "frames", "--protocol", "tera", "--port", "9", file); status != 0 || !strings.Contains(errs, "port 9") {
		t.Errorf("%d %s", status, errs)
	}
	if _, errs, status := cli(t, "", "frames", "--protocol", "tera", "--port", "7801", file); status != 0 || strings.Contains(errs, "--port") {
		t.Errorf("%d %s", status, errs)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	piped, _, _ := cli(t, string(data), "frames", "--protocol", "tera", "--json", "-")
	read, _, _ := cli(t, "", "frames", "--protocol", "tera", "--json", file)
	if piped != read || read == "" {
		t.Error("a pipe and a file give different frames")
	}
}

// A capture without frames of the protocol names what was tried, and which protocol finds messages.
func TestFramesOfAnotherProtocol(t *testing.T) {
	for protocol, other := range map[string]string{"tera": "subspace", "muta": "subspace", "subspace": "tera"} {
		file := "../../defs/library/" + other + "/demo.pcapng"
		out, errs, status := cli(t, "", "frames", "--protocol", protocol, file)
		if out != "" || status != 0 || !strings.Contains(errs, "there are no frames in") || !strings.Contains(errs, "give --protocol "+other) ||
			strings.Count(errs, "\n") != 2 {
			t.Errorf("%s as %s: %d %s %s", other, protocol, status, out, errs)
		}
	}
}
