package server

import (
	"strings"
	"testing"

	"wirebench/server/servertest"
)

// Frames of a packet, and names for messages without a definition: from the code map, or generated.
func TestListOfFramesPackets(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_SAY.1.def": "string text\n", "protocol.1.map": "C_SAY 4097\n"})
	c := openList(t, s, servertest.Chat(t, 20))
	c.view(1, "")
	has := func(what, got string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("%s lacks %s: %.600s", what, p, got)
			}
		}
	}
	has("the packet of frame 3", c.ask("packet", "packet", `,"n":6,"near":3`), `"n":6,"frames":[{"n":3,"name":"C_SAY","code":4097,"kind":"message"}]`)
	has("a packet without frames", c.ask("packet", "packet", `,"n":4000000000,"near":3`), `"frames":[]`)
	for _, near := range []string{"0", "-1", "21", "9223372036854775807"} {
		has("near "+near, c.ask("packet", "packet", `,"n":6,"near":`+near), "failed", "does not exist")
	}
	has("an offer", c.ask("frame", "frame", `,"n":5`), `"offer":{"name":"S_UNKNOWN_7777","map":"protocol.1.map","code":30583,"first":".1"}`)
	if got := c.ask("frame", "frame", `,"n":4`); strings.Contains(got, `"offer"`) {
		t.Errorf("an offer for what is defined: %s", got)
	}
}

func TestListOfFramesNamesOfMap(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_SAY.1.def": "string text\n", "protocol.1.map": "C_SAY 4097\nC_OTHER 30583\nS_ECHO 30583\nS_LATER 30583\n"})
	c := openList(t, s, servertest.Chat(t, 20))
	c.view(1, "")
	if got := c.ask("rows", "rows", `,"seq":1,"from":4,"count":1`); !strings.Contains(got, `"name":"S_ECHO"`) || !strings.Contains(got, `"status":"unknown"`) {
		t.Errorf("a row that the map names: %s", got)
	}
	if got := c.ask("frame", "frame", `,"n":5`); !strings.Contains(got, `"offer":{"name":"S_ECHO","code":30583,"known":true,"first":".1"}`) {
		t.Errorf("an offer that the map names: %s", got)
	}
}
