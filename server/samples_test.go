package server

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"wirebench/server/servertest"
)

func TestSamples(t *testing.T) {
	s, dir := testServerOf(t, map[string]string{
		"C_JOIN.1.def": "string name\n", "sub/C_LIST.2.def": "byte a\n", "protocol.1.map": "C_JOIN 1\n",
		"C_JOIN.1.samples.jsonl": "{\"message\":\"C_JOIN.1\",\"hex\":\"0600 0100 0600\",\"about\":\"by hand\"}\nnot one\n",
	})
	const join, list = " /api/one/definitions/C_JOIN.1.def/samples", " /api/one/definitions/C_LIST.2.def/samples"
	talk(t, s, []exchange{
		{"those in the file", "GET" + join, "", 200, []string{`{"samples":[{"message":"C_JOIN.1","hex":"0600 0100 0600","about":"by hand"}]}`}, nil},
		{"none", "GET" + list, "", 200, []string{`{"samples":[]}`}, nil},
		{"of a map", "GET /api/one/definitions/protocol.1.map/samples", "", 422, []string{"is a code map"}, nil},
		{"of nothing", "GET /api/one/definitions/C_NONE.1.def/samples", "", 404, nil, nil},
		{"add", "POST" + list, `{"hex":"05 00\n0100 FF","about":"  a\nbyte "}`, 201, []string{`{"samples":[{"message":"C_LIST.2","hex":"05000100ff","about":"a byte"}]}`}, nil},
		{"add with commas", "POST" + list, `{"hex":"0x05, 0x00, 0x01, 0x00, 0x00","message":"C_LIST"}`, 201, []string{`"hex":"0500010000"`}, nil},
		{"add the same again", "POST" + list, `{"hex":"0500 0100 ff"}`, 409, []string{"already a sample: a byte"}, nil},
		{"add what is not hex", "POST" + list, `{"hex":"05 0g"}`, 422, []string{`"location":"body.hex"`, "is not a hex digit"}, nil},
		{"add half a byte", "POST" + list, `{"hex":"050"}`, 422, []string{"odd number"}, nil},
		{"add nothing", "POST" + list, `{"hex":" "}`, 422, []string{"a sample cannot be empty"}, nil},
		{"add without hex", "POST" + list, `{}`, 422, []string{"hex"}, nil},
		{"add a message of another file", "POST" + list, `{"hex":"00","message":"C_JOIN.1"}`, 422, []string{"defines: C_LIST.2", `"location":"body.message"`}, nil},
		{"add too much", "POST" + list, `{"hex":"` + strings.Repeat("00", 1<<20+1) + `"}`, 422, []string{"1048576 bytes"}, nil},
		{"add with a long text", "POST" + list, `{"hex":"01","about":"` + strings.Repeat("x", 501) + `"}`, 422, []string{"about"}, nil},
		{"the list counts them", "GET /api/one/definitions?q=list", "", 200, []string{`"samples":2`}, nil},
		{"remove in another spelling", "DELETE" + list, `{"hex":"05 00 01 00 FF"}`, 200, []string{`{"samples":[{"message":"C_LIST.2","hex":"0500010000"}]}`}, nil},
		{"remove what is gone", "DELETE" + list, `{"hex":"05000100ff"}`, 404, []string{"no such sample"}, nil},
		{"remove one of another message", "DELETE" + join, `{"hex":"060001000600","message":"C_JOIN.7"}`, 404, nil, nil},
		{"remove one written by hand", "DELETE" + join, `{"hex":"060001000600","message":"C_JOIN.1"}`, 200, []string{`{"samples":[]}`}, nil},
		{"remove the last", "DELETE" + list, `{"hex":"0500010000"}`, 200, []string{`{"samples":[]}`}, nil},
	})
	if got := servertest.OnDisk(t, dir, "C_JOIN.1.samples.jsonl"); got != "not one\n" {
		t.Errorf("a line that is no sample has become %q", got)
	}
	if got := servertest.OnDisk(t, dir, "sub/C_LIST.2.samples.jsonl"); got != "" {
		t.Errorf("an empty file of samples: %q", got)
	}
}

func TestSamplesHaveABound(t *testing.T) {
	var lines strings.Builder
	for i := range 199 {
		fmt.Fprintf(&lines, "{\"message\":\"C_A.1\",\"hex\":\"%04x\"}\n", i)
	}
	s, _ := testServerOf(t, map[string]string{"C_A.1.def": "byte a\n", "C_A.1.samples.jsonl": lines.String()})
	talk(t, s, []exchange{
		{"the last one", "POST /api/one/definitions/C_A.1.def/samples", `{"hex":"ff"}`, 201, nil, nil},
		{"one more", "POST /api/one/definitions/C_A.1.def/samples", `{"hex":"fe"}`, 422, []string{"at most 200 samples"}, nil},
	})
}

// Concurrent additions of samples lose nothing.
func TestSamplesAtTheSameTime(t *testing.T) {
	const many = 16
	s, dir := testServerOf(t, map[string]string{"C_A.1.def": "byte a\n"})
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			if status, answer := ask(s, "POST /api/one/definitions/C_A.1.def/samples", fmt.Sprintf(`{"hex":"%02x"}`, i)); status != 201 {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
	wg.Wait()
	text := servertest.OnDisk(t, dir, "C_A.1.samples.jsonl")
	for i := range many {
		if strings.Count(text, fmt.Sprintf(`"hex":"%02x"`, i)) != 1 {
			t.Errorf("sample %d is not in\n%s", i, text)
		}
	}
}
