package tera

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// reading is the result of reading a script: the number of messages in each direction, and whether any frame was opaque.
func reading(s *script, o Options) (messages [3]int, opaque bool) {
	tr := New(o)
	emit := func(f *transport.Frame) {
		switch f.Kind {
		case transport.Message:
			messages[f.Dir]++
		case transport.Opaque:
			opaque = true
		}
	}
	for _, seg := range s.segs {
		tr.Feed(seg, emit)
	}
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
		tr.Feed(transport.Segment{Dir: dir, At: at, End: true}, emit)
	}
	tr.Flush(at, emit)
	return messages, opaque
}

// Streams that frame from their first byte are plain, even if an error or a gap occurs before a direction alone is sufficient evidence.
func TestEarlyFaults(t *testing.T) {
	talk := messageRow(9, 21000, "0123456789")
	one := message(22000, "0123456789")
	noise := make([]byte, maxProbe+5000)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	longest := message(30000, string(noise[:65531]))

	for _, c := range []struct {
		name     string
		s        *script
		c2s, s2c int
		opaque   bool
	}{
		{"the client errs behind its only message", new(script).s2c(talk).c2s(one).c2s([]byte{1, 0}), 1, 9, false},
		{"the server errs behind its only message", new(script).c2s(talk).s2c(one).s2c([]byte{0, 0}), 9, 1, false},
		{"both err", new(script).c2s(one).c2s([]byte{2, 0}).s2c(one).s2c([]byte{3, 0}), 1, 1, false},
		{"an error and no message", new(script).c2s(talk).s2c([]byte{0, 0, 9, 9}), 0, 0, true},
		{"an error behind what is no message", new(script).c2s(talk).s2c(message(0, "0123456789")).s2c([]byte{0, 0}), 0, 0, true},
		{"a gap inside a first message", new(script).c2s(talk).s2c(one[:6]).lose(schema.ToClient, one[6:9]).s2c(one[9:]).s2c(one), 9, 1, false},
		{"a gap behind a first message", new(script).c2s(talk).s2c(one).s2c(one[:5]).lose(schema.ToClient, bytes.Repeat([]byte{1}, 30)).s2c(message(22001, "")), 9, 2, false},
		{"the longest message, from the middle on", func() *script {
			s := new(script).c2s(message(checkVersionCode, "12345678")).c2s(talk).s2c(one).s2c(longest).s2c(talk)
			s.segs[2].Start = false
			return s
		}(), 10, 11, false},
		{"noise from the middle on", func() *script {
			s := new(script).c2s(noise).s2c(noise)
			s.segs[0].Start, s.segs[1].Start = false, false
			return s
		}(), 0, 0, true},
	} {
		messages, opaque := reading(c.s, Options{})
		got := [2]int{messages[schema.ToServer], messages[schema.ToClient]}
		if got != [2]int{c.c2s, c.s2c} || opaque != c.opaque {
			t.Errorf("%s: %d and %d messages, opaque %v", c.name, got[0], got[1], opaque)
		}
	}
}

// A gap inside a message does not end the search for the constants, and a coincidental C_CHECK_VERSION code with an impossible length does
// not decide it.
func TestTrialGoesOn(t *testing.T) {
	for _, c := range []Constants{CurrentConstants, OldConstants} {
		s := new(script).shake(c)
		first := message(21000, strings.Repeat("x", 40))
		s.s2c(first[:9]).lose(schema.ToClient, first[9:20]).s2c(first[20:])
		s.s2c(messageRow(5, 22000, "0123456789"))
		messages, opaque := reading(s, Options{})
		if messages[schema.ToClient] != 5 || opaque {
			t.Errorf("constants %v: %d messages, opaque %v", c, messages[schema.ToClient], opaque)
		}
	}

	var w walker
	w.walk(&Options{}, schema.ToServer, message(checkVersionCode, strings.Repeat("x", 60000)))
	if w.verdict == good {
		t.Error("a C_CHECK_VERSION of 60,004 bytes is believed")
	}
	w = walker{}
	w.walk(&Options{}, schema.ToServer, message(checkVersionCode, "01234567"))
	if w.verdict != good {
		t.Error("C_CHECK_VERSION is not believed")
	}
}
