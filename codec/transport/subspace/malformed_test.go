package subspace_test

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// different lists the steps of plain-malformed in which a server accepted other messages than this package, and why. Each of them has a
// note.
var different = map[string]string{
	"cluster nested 40 deep": "the server reads all 40; here 16 are read and the rest is a problem: nothing that is sent needs more",
	"fill the gap up to next+30": "the server takes 31 numbers ahead and has dropped next+32; here it was kept, as receivers with a window of 255 " +
		"and without any keep it, and follows",
	"game type 40h and FFh": "the server has no handler for them; here they are messages",
	"chunked type FF":       "as above, in chunks",
	"stream: total changes midway": "the server hands each part on as it comes, and then the news that no more will; here the parts of a message " +
		"are joined, and are a problem if they will not be whole",
	"stream: overflow":                            "as above",
	"stream: cancelled by 00 0C, then restarted":  "as above, for the stream that is cancelled; the other one is whole",
	"520-byte datagram (server truncates to 512)": "the server cuts it; here it is as long as it was sent",
	"600-byte datagram":                           "as above",
}

// TestCorporaWhatAServerMakesOfMalformedPackets compares the messages with those that a server accepted, step by step. In the capture each step
// begins with a line of chat that starts with "## ".
func TestCorporaWhatAServerMakesOfMalformedPackets(t *testing.T) {
	corpora.Run(t, testWhatAServerMakesOfMalformedPackets)
}

func testWhatAServerMakesOfMalformedPackets(t *testing.T, c *corpora.Corpus) {
	type step struct {
		Step     string
		Accepted []struct{ How, Hex string }
	}
	steps := corpora.Rows[step](t, c, "subspace/plain-malformed.server.jsonl")
	names, of := sessions(t, c, "plain-malformed")
	got := map[string][]string{}
	notes := map[string]bool{} // steps with a note
	current := ""
	for _, f := range play(subspace.Options{}, of[names[0]]) {
		if f.Dir != schema.ToServer {
			continue
		}
		if label, is := strings.CutPrefix(string(f.Bytes), "\x06\x02\x00\xff\xff## "); is && f.Kind == transport.Message {
			current = strings.TrimSuffix(label, "\x00")
			continue
		}
		if f.Kind == transport.Message {
			got[current] = append(got[current], hex.EncodeToString(f.Bytes))
		}
		if f.Note != "" {
			notes[current] = true
		}
	}
	different := maps.Clone(different)
	for _, s := range steps {
		var want []string
		for _, a := range s.Accepted {
			want = append(want, a.Hex)
		}
		why, known := different[s.Step]
		if same := slices.Equal(want, got[s.Step]); same == known {
			t.Errorf("%q (%s)\nserver %q\nhere   %q", s.Step, why, want, got[s.Step])
		}
		if known && !notes[s.Step] {
			t.Errorf("%q: nothing says that it is odd", s.Step)
		}
		delete(different, s.Step)
	}
	for step := range different {
		if !c.Own { // which has other steps
			t.Errorf("%q is no step", step)
		}
	}
	if len(steps) < 7 {
		t.Errorf("%d steps", len(steps))
	}
}
