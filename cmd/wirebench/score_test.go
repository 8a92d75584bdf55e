package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckAgainst scores definitions with each kind of defect on the demo of a game.
func TestCheckAgainst(t *testing.T) {
	const library, capture = "../../defs/library/tera", "../../defs/library/tera/demo.pcapng"
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(library, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	codes, err := filepath.Glob(library + "/*.map")
	if err != nil || len(codes) != 1 {
		t.Fatal(codes, err)
	}
	maps := text(filepath.Base(codes[0]))
	dir := write(t, map[string]string{
		filepath.Base(codes[0]):   maps,
		"C_PONG.1.def":            text("C_PONG.1.def"),
		"C_CHECK_VERSION.1.def":   "",                              // leftover
		"C_USE_ITEM.1.def":        "byte[200] a\n",                 // over
		"C_PLAYER_LOCATION.1.def": "string a\nbytes b\n",           // differ, or doubtful
		"C_CHAT.1.def":            "array a\n- int32 x\nint32 b\n", // likewise
		"C_WHISPER.2.def":         "byte a\n",
		"C_WHISPER.1.def":         "byte[9999] a\n", // not the highest version
		"S_NONE.1.def":            "byte a\n",
	})
	out, errs, status := cli(t, "", "check", "--against", capture, dir)
	if status != 1 {
		t.Errorf("status %d\n%s", status, errs)
	}
	got := map[string]string{}
	for _, line := range lines(out) {
		name, counts, _ := strings.Cut(line, " ")
		got[name] = counts
	}
	for name, want := range map[string]string{
		"C_PONG.1": "4 4 0 0 0 0", "C_CHECK_VERSION.1": "1 0 1 0 0 0", "C_USE_ITEM.1": "3 0 0 3 0 0", "C_WHISPER.2": "1 0 1 0 0 0",
	} {
		if got[name] != want {
			t.Errorf("%s %s, want %s\n%s", name, got[name], want, out)
		}
	}
	if _, there := got["S_NONE.1"]; there || got["C_WHISPER.1"] != "" {
		t.Errorf("scores without frames:\n%s", out)
	}
	for _, want := range []string{"C_CHECK_VERSION.1: frame ", "bytes that the definition does not explain", "C_USE_ITEM.1: frame "} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in\n%s", want, errs)
		}
	}

	// Captures may be among the paths, and the same one counts twice.
	junit := filepath.Join(t.TempDir(), "scores.xml")
	out, _, status = cli(t, "", "check", "--against", capture, capture, filepath.Join(dir, "C_PONG.1.def"), codes[0], "--json", "--junit", junit)
	var score struct {
		Message                                                  string
		Version, Frames, Clean, Leftover, Over, Differ, Doubtful int
	}
	if err := json.Unmarshal([]byte(out), &score); status != 0 || err != nil || score.Message != "C_PONG" || score.Version != 1 || score.Frames != 8 || score.Clean != 8 {
		t.Errorf("status %d, %v: %s", status, err, out)
	}
	b, _ := os.ReadFile(junit)
	if !strings.Contains(string(b), `<testsuite name="wirebench check" tests="1" failures="0">`) {
		t.Errorf("%s", b)
	}
	if _, _, status = cli(t, "", "check", "--against", capture, dir, "--junit", junit); status != 1 {
		t.Errorf("status %d", status)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	b, _ = os.ReadFile(junit)
	if err := xml.Unmarshal(b, &suite); err != nil || suite.Tests != len(got) || suite.Failures != len(got)-1 || len(suite.Cases) != len(got) {
		t.Errorf("%v %+v\n%s", err, suite, b)
	}
	for _, c := range suite.Cases {
		if c.Name == "C_USE_ITEM.1" && (c.Failure == nil || c.Failure.Message != "of 3 frames: 3 over") {
			t.Errorf("%+v", c)
		}
	}

	for _, args := range [][]string{{"--against", capture}, {"--against", "nowhere.pcap", dir}, {"--against", capture, "--port", "0", dir}, {"--against", capture, capture}} {
		if _, errs, status := cli(t, "", append([]string{"check"}, args...)...); status != 2 || errs == "" {
			t.Errorf("%v: status %d, %s", args, status, errs)
		}
	}
	if _, errs, status := cli(t, "", "check", "--against", capture, write(t, map[string]string{filepath.Base(codes[0]): maps, "C_PONG.1.def": text("C_PONG.1.def"), "S_BAD.1.def": "in32 x\n"})); status != 1 || !strings.Contains(errs, "unknown-type") {
		t.Errorf("status %d, %s", status, errs)
	}
}
