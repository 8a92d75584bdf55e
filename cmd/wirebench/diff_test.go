package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sampleTERA = "../../defs/library/tera/demo.pcapng"

// Diff compares messages, frames and captures, and tells by its exit status whether they are the same.
func TestDiff(t *testing.T) {
	const hello = "26002c4e02000c001c00d2040c001400e903000014000000d20700004c0061006e006e000000"
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{hello, hello}, 0, []string{"the same"}},
		{[]string{hello, strings.Replace(hello, "d204", "d304", 1)}, 1, []string{"password  1234  1235"}},
		{[]string{hello, strings.Replace(hello, "e9030000", "01000000", 1)}, 1, []string{"members[0].player_id  1001  1"}},
		{[]string{"--json", hello, strings.Replace(hello, "d204", "d304", 1)}, 1, []string{`{"path":"password","a":"1234","b":"1235","same":false}`}},
		{[]string{"0102", "0103"}, 1, []string{"bytes 0x0001, 0x0001  02  03"}},
		{[]string{"--protocol", "tera", sampleTERA, sampleTERA}, 0, []string{"the same"}},
		{[]string{"--protocol", "tera", sampleTERA + "#13", sampleTERA + "#14"}, 1, []string{"position.x  81800", "time"}},
		{[]string{"--protocol", "tera", sampleTERA + "#13", sampleTERA + "#13"}, 0, []string{"the same"}},
		{[]string{"--protocol", "tera", sampleTERA + "#13", sampleTERA}, 2, []string{"CAPTURE#N"}},
		{[]string{"--protocol", "tera", sampleTERA + "#100000", sampleTERA + "#1"}, 2, []string{"has no frame 100000"}},
		{[]string{sampleTERA}, 2, []string{"takes two"}},
		{[]string{"--protocol", "tera", "nothing.pcap", sampleTERA}, 2, []string{"nothing.pcap"}},
	} {
		out, errs, status := cli(t, "", append([]string{"diff"}, c.args...)...)
		if status != c.status {
			t.Errorf("%.80q: status %d\n%s%s", c.args, status, out, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%.80q lacks %q:\n%s%s", c.args, want, out, errs)
			}
		}
	}
}

// Captures are compared by pairs of messages of a type, in their order.
func TestDiffCaptures(t *testing.T) {
	def := writeTemp(t, "game.def", "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\npacket: ping\n   __group = clmsg\n")
	a := writeTemp(t, "a.txt", "00000000  01 02 00 68 69 02 02 01  02 00 68 6f               ...hi... ..ho\n")
	b := writeTemp(t, "b.txt", "00000000  01 02 00 68 69 02 01 02  00 68 61                  ...hi... .ha\n")
	out, errs, status := cli(t, "", "diff", "--library", def, a, b)
	if status != 1 || !strings.Contains(out, "ping      2 and 1 messages") || !strings.Contains(out, `say.text  differs 1 times, first in frames 4 and 3: "ho" and "ha"`) {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	out, _, _ = cli(t, "", "diff", "--json", "--library", def, a, b)
	if want := `{"name":"ping","a":2,"b":1}` + "\n" + `{"name":"say","path":"text","a":2,"b":2,"differ":1,"first_a":4,"first_b":3,"value_a":"\"ho\"","value_b":"\"ha\""}` + "\n"; out != want {
		t.Errorf("%s\nnot\n%s", out, want)
	}
}

// writeTemp writes a file into a folder of the test.
func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
