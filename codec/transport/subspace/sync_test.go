package subspace_test

import (
	"fmt"
	"testing"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// TestSyncCounts compares the counts in a client's sync requests with the capture.
func TestSyncCounts(t *testing.T) {
	trans := subspace.New(subspace.Options{})
	note := ""
	feed := func(dir schema.Dir, data ...byte) {
		trans.Feed(transport.Segment{Dir: dir, Bytes: data}, func(f *transport.Frame) { note = f.Note })
	}
	const c2s, s2c = schema.ToServer, schema.ToClient
	sync := func(sent, received byte, want string) {
		t.Helper()
		if feed(c2s, 0, 5, 100, 0, 0, 0, sent, 0, 0, 0, received, 0, 0, 0); note != want {
			t.Errorf("%q, want %q", note, want)
		}
	}
	feed(c2s, 0, 1, 0xF6, 0xFF, 0xFF, 0xFF, 1, 0)
	feed(s2c, 0, 2, 0xF6, 0xFF, 0xFF, 0xFF)
	sync(1, 1, "")
	for range 5 {
		feed(s2c, 7, 1)
	}
	feed(c2s, 7, 2)
	sync(3, 6, "")
	feed(s2c, 7, 1)
	sync(5, 6, "since the last one its sender counts 2 datagrams sent and 0 received; the capture has 1 and 1")
	sync(6, 6, "")
	// the short form is of old servers
	for dir, want := range map[schema.Dir]string{s2c: "", c2s: "servers ignore it because of its size"} {
		if feed(dir, 0, 5, 100, 0, 0, 0); note != want {
			t.Errorf("the short form %v: %q, want %q", dir, note, want)
		}
	}
}

// TestCorporaSyncCountsOfACapture: the relay between the two ends drops 12 %, after the capture point in this direction.
func TestCorporaSyncCountsOfACapture(t *testing.T) { corpora.Run(t, testSyncCountsOfACapture) }

func testSyncCountsOfACapture(t *testing.T, c *corpora.Corpus) {
	names, of := sessions(t, c, "plain-lossy-serverside")
	for _, session := range names {
		lost, captured := 0, 0
		for _, f := range play(subspace.Options{}, of[session]) {
			var sent, received, out, in int
			if n, _ := fmt.Sscanf(f.Note, "since the last one its sender counts %d datagrams sent and %d received; the capture has %d and %d",
				&sent, &received, &out, &in); n == 4 && f.Dir == schema.ToServer {
				lost += in - received
				captured += in
			}
		}
		if part := float64(lost) / float64(captured); !(part > 0.005 && part < 0.25) {
			t.Errorf("%s: %d of %d datagrams were lost", session, lost, captured)
		}
	}
}
