package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"wirebench/defs/corpora"
)

type mutaVector struct {
	Text      string          `json:"def_text"`
	Constants map[string]any  `json:"constants"`
	Group     string          `json:"group"`
	Message   string          `json:"message"`
	Value     json.RawMessage `json:"value"`
	Hex       string          `json:"hex"`
	Outcome   string          `json:"outcome"`
	Consumed  int             `json:"consumed"`
	Note      string          `json:"note"`
}

// Every vector of MUTA: values, bytes, outcomes, bytes used, and mistakes of definitions.
func TestCorporaMutaVectorsByCommandLine(t *testing.T) {
	corpora.Run(t, testMutaVectorsByCommandLine)
}

func testMutaVectorsByCommandLine(t *testing.T, c *corpora.Corpus) {
	dir, n := t.TempDir(), map[string]int{}
	for line, v := range corpora.Rows[mutaVector](t, c, "muta/vectors.jsonl") {
		n[v.Outcome]++
		file := filepath.Join(dir, "game.def")
		if err := os.WriteFile(file, []byte(v.Text), 0o644); err != nil {
			t.Fatal(err)
		}
		flags := []string{"--library", dir, "--protocol", "muta"}
		for _, name := range sortedKeys(v.Constants) {
			flags = append(flags, "--const", fmt.Sprintf("%s=%v", name, v.Constants[name]))
		}
		t.Run(fmt.Sprintf("%d_%s", line+1, v.Note), func(t *testing.T) {
			switch v.Outcome {
			case "def_error":
				if out, errs, status := cli(t, "", append([]string{"check", file}, flags[2:]...)...); status != 1 || !strings.Contains(out+errs, "error:") {
					t.Errorf("check: status %d\n%s%s", status, out, errs)
				}
				return
			case "encode_error":
				out, errs, status := cli(t, string(v.Value)+"\n", append([]string{"encode", "--message", v.Message, "--group", v.Group}, flags...)...)
				if status != 1 || strings.TrimSpace(out) != "" {
					t.Errorf("encode: status %d %q\n%s", status, out, errs)
				}
				return
			}
			mutaDecodes(t, v, flags)
			if v.Outcome != "ok" || v.Value == nil || string(v.Value) == "null" {
				return
			}
			whole := v.Hex[:2*v.Consumed]
			if out, errs, _ := cli(t, string(v.Value)+"\n", append([]string{"encode", "--message", v.Message, "--group", v.Group}, flags...)...); strings.TrimSpace(out) != whole {
				t.Errorf("encode\n got %s\nwant %s\n%s", strings.TrimSpace(out), whole, errs)
			}
		})
	}
	if n["ok"] < 14 || n["incomplete"] < 97 || n["illegal"] < 13 || n["def_error"] != 9 || n["encode_error"] != 3 {
		t.Errorf("vectors: %v", n)
	}
}

// mutaDecodes decodes by the id, as in a stream, and by name if the vector names the message.
func mutaDecodes(t *testing.T, v mutaVector, flags []string) {
	t.Helper()
	ways := [][]string{{"--group", v.Group}}
	if v.Outcome == "ok" {
		ways = append(ways, []string{"--group", v.Group, "--message", v.Message})
	}
	for _, way := range ways {
		out, errs, _ := cli(t, v.Hex+"\n", append(append([]string{"decode", "--json", "--fields"}, way...), flags...)...)
		var got struct {
			Message string          `json:"message"`
			Status  string          `json:"status"`
			Used    int             `json:"used"`
			Value   json.RawMessage `json:"value"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v: %v\n%s%s", way, err, out, errs)
		}
		if got.Status != v.Outcome || v.Outcome == "ok" && (got.Used != v.Consumed || got.Message != v.Message) {
			t.Errorf("%v: %s, %d bytes, %s; want %s, %d bytes, %s\n%s", way, got.Status, got.Used, got.Message, v.Outcome, v.Consumed, v.Message, out)
		}
		if v.Outcome != "ok" || v.Value == nil {
			continue
		}
		var a, b any
		if json.Unmarshal(got.Value, &a) != nil || json.Unmarshal(v.Value, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%v: value\n got %s\nwant %s", way, got.Value, v.Value)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
