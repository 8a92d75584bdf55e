package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/defs/corpora"
)

// frames lists exactly the messages of the truth file of every capture, in order.
func TestCorporaFrames(t *testing.T) { corpora.Run(t, testFramesOfCorpora) }

func testFramesOfCorpora(t *testing.T, corpus *corpora.Corpus) {
	dir := corpus.Dir(t)
	teraFlags := []string{"--library", filepath.Join(dir, "tera/toolbox/definitions"), "--map", filepath.Join(dir, "tera/toolbox/protocol.387396.map")}
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"subspace/plain-session", []string{"--protocol", "subspace"}},
		{"subspace/vie-session", []string{"--protocol", "subspace"}},
		{"subspace/plain-lossy-serverside", []string{"--protocol", "subspace"}},
		{"subspace/sim-directory-list", []string{"--protocol", "subspace"}},
		{"subspace/sim-continuum-opaque", []string{"--protocol", "subspace"}},
		{"captures/muta-session", []string{"--library", filepath.Join(dir, "captures/muta-session.def")}},
		{"captures/muta-desync", []string{"--library", filepath.Join(dir, "captures/muta-session.def")}},
		{"captures/tera-session", teraFlags},
		{"captures/tera-plain", teraFlags},
		{"captures/tera-broken", teraFlags},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := truthMessages(t, corpus, c.name+".truth.jsonl")
			file := filepath.Join(dir, c.name+".pcap"+map[bool]string{true: "ng"}[strings.HasPrefix(c.name, "captures")])
			out, errs, status := cli(t, "", append(append([]string{"frames", "--json"}, c.flags...), file)...)
			if status != 0 {
				t.Fatalf("status %d\n%s", status, errs)
			}
			var got []string
			problems := 0
			for _, line := range lines(out) {
				var f struct {
					Dir, Kind, Hex, Status string
					N                      int
					Resumed                bool
				}
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				if f.Kind == "problem" {
					problems++
				}
				if f.Kind == "message" && !f.Resumed {
					got = append(got, f.Dir+" "+f.Hex)
				}
			}
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("message %d of %d, want %d:\n got %s\nwant %s", i, len(got), len(want), at(got, i), at(want, i))
				}
			}
			t.Logf("%d messages, %d problems", len(got), problems)
		})
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

// truthMessages returns the messages of a truth file, each with its direction.
func truthMessages(t *testing.T, c *corpora.Corpus, name string) (out []string) {
	t.Helper()
	for _, f := range corpora.Rows[struct{ Kind, Dir, Hex string }](t, c, name) {
		if f.Kind == "msg" {
			out = append(out, f.Dir+" "+f.Hex)
		}
	}
	return out
}

// Filters use the definitions; filtered frames keep their numbers.
func TestFramesFilter(t *testing.T) {
	file := filepath.Join(corpora.Own().Dir(t), "subspace/plain-session.pcap")
	out, _, status := cli(t, "", "frames", "--protocol", "subspace", "--json", "--value", file)
	if status != 0 {
		t.Fatal(status)
	}
	all := lines(out)
	for filter, fits := range map[string]string{
		`c2s_chat and .kind == 2`:           `"message":"c2s_chat"`,
		`core.type == 4`:                    `"message":"ack"`,
		`len > 1000`:                        "",
		`dir == s2c and not name ~ "^s2c_"`: "",
	} {
		out, errs, status := cli(t, "", "frames", "--protocol", "subspace", "--json", "--value", "--filter", filter, file)
		got := lines(out)
		if status != 0 || len(got) == 0 || len(got) == len(all) {
			t.Errorf("%s: status %d, %d frames of %d\n%s", filter, status, len(got), len(all), errs)
		}
		at := 0
		for _, line := range got {
			for at < len(all) && all[at] != line {
				at++
			}
			if at == len(all) || !strings.Contains(line, fits) {
				t.Fatalf("%s: %s", filter, line)
			}
		}
	}
	if _, errs, status := cli(t, "", "frames", "--protocol", "subspace", "--filter", "c2s_chat.txt == 5", file); status != 2 || !strings.Contains(errs, `did you mean "text"?`) || !strings.Contains(errs, "\n           ^") {
		t.Errorf("status %d\n%s", status, errs)
	}
}

func TestFramesRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.pcap")
	if err := os.WriteFile(text, []byte("no capture"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--protocol", "subspace", text}, "is not a capture"},
		{[]string{"--protocol", "subspace", filepath.Join(dir, "nothing")}, "no such file"},
		{[]string{"--protocol", "subspace", "--port", "70000", text}, "1 to 65535"},
		{[]string{"--protocol", "muta", "--group", "up=x", text}, "must be [PORT/"},
		{[]string{"--protocol", "muta", "--kind", "odd", text}, "must be one of message"},
	} {
		if _, errs, status := cli(t, "", append([]string{"frames"}, c.args...)...); status != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d\n%s", c.args, status, errs)
		}
	}
}
