package stream

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// talk returns the traffic of two endpoints: the messages of say, alternately, each in a segment of its own.
func talk(t testing.TB, o Options, n int, say func(i, way int) []byte) Sample {
	t.Helper()
	ends := [2]*Endpoint{NewEndpoint(o, schema.ToServer), NewEndpoint(o, schema.ToClient)}
	var s Sample
	for i := range n {
		way := i % 2
		err := ends[way].Send(transport.Outgoing{Bytes: say(i, way)}, at, &transport.Relay{Out: func(seg transport.Segment) {
			data := slices.Clone(seg.Bytes)
			s = append(s, transport.Segment{Dir: seg.Dir, At: at, Packet: uint32(i + 1), Bytes: data, Start: i < 2})
			ends[1-way].Feed(data, false, at, &transport.Relay{})
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestDetectFramings(t *testing.T) {
	for _, frame := range []string{
		"length u16 le", "length u16 be", "length u32 le", "length u32 be", "length u16 le including itself", "length u32 be including itself",
		"length u24 be", "length varint", "length u16 be including all at 2", "length u16 le at 2", "length u16 le plus 3", "length u64 le",
		"delimiter 0a", "delimiter 0d 0a",
	} {
		t.Run(frame, func(t *testing.T) {
			o := Options{Envelope: parse(t, "frame "+frame+"\ncode u8\n")}
			rng := rand.New(rand.NewPCG(1, 5))
			s := talk(t, o, 200, func(int, int) []byte {
				m := random(rng, 4+rng.IntN(40+rng.IntN(400)))
				if strings.HasPrefix(frame, "delimiter") {
					for i := range m {
						m[i] = m[i]&0x3f + 0x20
					}
				}
				return m
			})
			found := Detect([]Sample{s}, false, nil)
			if len(found) == 0 {
				t.Fatal("nothing is detected")
			}
			if f := found[0].Envelope.States[0].Frame[0].String(); f != frame {
				for i := range found {
					t.Logf("%.3f %v\n%s", found[i].score, &found[i], found[i].Text)
				}
				t.Errorf("detected %q", f)
			}
			if found[0].Used != found[0].Total {
				t.Error(found[0].String())
			}
		})
	}
}

func TestDetectCompression(t *testing.T) {
	for _, packed := range []string{"zlib size varint", "zlib size u32 be", "gzip flag u8", "zstd size u16 le", "lz4-block size varint", "zlib"} {
		t.Run(packed, func(t *testing.T) {
			o := Options{Envelope: parse(t, "frame length u16 be\ncode u8\ncompress "+packed+" off\n9: compress on\n")}
			s := talk(t, o, 100, func(i, _ int) []byte {
				if i == 5 {
					return []byte{9, 1, 2}
				}
				return []byte(fmt.Sprintf("\x07 message %d of a hundred messages, messages, messages", i))
			})
			found := Detect([]Sample{s}, false, nil)
			if len(found) == 0 {
				t.Fatal("nothing is detected")
			}
			if c := &found[0]; c.Used != c.Total || c.Packed < 90 || !strings.Contains(c.Text, "9 to-client: compress "+packed+" ") {
				t.Errorf("%v\n%s", c, c.Text)
			}
		})
	}
}

// TestDetectStates finds the states of a protocol from the groups of its definitions.
func TestDetectStates(t *testing.T) {
	lib := &groupLibrary{newLibrary(t,
		message("HELLO", "hand", 0, number("version", 32)), message("LOGIN", "login", 0, blob("name")), message("OK", "login", 1, number("id", 64)),
		message("MOVE", "play", 0, number("x", 16), number("y", 16)), message("CHAT", "play", 1, blob("text")),
	), []string{"hand", "login", "play"}}
	o := Options{Envelope: parse(t, "frame length u16 be\ncode u8\nstate hand\n HELLO -> login\nstate login\n OK -> play\nstate play\n"), Definitions: lib}
	rng := rand.New(rand.NewPCG(1, 6))
	s := talk(t, o, 60, func(i, _ int) []byte {
		switch i {
		case 0:
			return []byte{0, 1, 2, 3, 4}
		case 1, 2:
			return []byte{0, 3, 'a', 'b', 'c'}
		case 3:
			return append([]byte{1}, random(rng, 8)...)
		}
		if i%3 == 0 {
			return append([]byte{1, 20}, random(rng, 20)...)
		}
		return append([]byte{0}, random(rng, 4)...)
	})
	found := Detect([]Sample{s}, false, lib)
	if len(found) == 0 {
		t.Fatal("nothing is detected")
	}
	if c := &found[0]; c.Exact != 60 || !strings.Contains(c.Text, "HELLO") || !strings.Contains(c.Text, `OK to-client -> play`) {
		t.Errorf("%v\n%s", c, c.Text)
	}
}

// TestDetectRules refines rules by definitions: names, the field with the least size of compressed messages, the field that chooses a state.
func TestDetectRules(t *testing.T) {
	lib := &groupLibrary{newLibrary(t,
		message("HELLO", "hand", 0, number("version", 32), number("next", 8)),
		message("ASK", "status", 0, number("time", 64)), message("STATUS", "status", 9, blob("text")),
		message("LOGIN", "login", 7, blob("name")), message("PACK", "login", 2, number("threshold", 16)), message("OK", "login", 1, number("id", 64)),
		message("MOVE", "play", 0, number("x", 16), number("y", 16)), message("CHAT", "play", 1, blob("text")),
	), []string{"hand", "login", "play", "status"}}
	o := Options{Envelope: parse(t, `frame length u16 be
code u8
state hand
  HELLO when next = 1 -> status
  HELLO when next = 2 -> login
state status
state login
  PACK to-client: compress zlib size u16 be from threshold
  OK -> play
state play
`), Definitions: lib}
	rng := rand.New(rand.NewPCG(1, 9))
	login := func() Sample {
		return talk(t, o, 60, func(i, _ int) []byte {
			switch i {
			case 0:
				return []byte{0, 0, 2, 0, 0, 2}
			case 1, 2:
				return []byte{7, 3, 'a', 'b', 'c'}
			case 3:
				return []byte{2, 60, 0}
			case 4:
				return []byte{7, 3, 'a', 'b', 'c'}
			case 5:
				return append([]byte{1}, random(rng, 8)...)
			}
			if i%3 == 0 {
				n := 40 + rng.IntN(60)
				return append([]byte{1, byte(n)}, bytes.Repeat([]byte("x"), n)...)
			}
			return append([]byte{0}, random(rng, 4)...)
		})
	}
	status := talk(t, o, 12, func(i, _ int) []byte {
		if i == 0 {
			return []byte{0, 0, 2, 0, 0, 1}
		}
		return append([]byte{0}, random(rng, 8)...)
	})
	rules := func(samples ...Sample) string {
		t.Helper()
		found := Detect(samples, false, lib)
		if len(found) == 0 {
			t.Fatal("nothing is detected")
		}
		if c := &found[0]; c.Exact < c.Frames {
			t.Errorf("%v", c)
		}
		return found[0].Text
	}
	for _, want := range []string{"HELLO to-server when next = 2 -> login\n", "state login\n  PACK to-client: compress zlib size u16 be from threshold\n  OK to-client -> play\n"} {
		if text := rules(login(), login()); !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	for _, want := range []string{"HELLO to-server when next = 1 -> status\n", "HELLO to-server when next = 2 -> login\n", "state status\n"} {
		if text := rules(login(), status); !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}

type groupLibrary struct {
	*library
	groups []string
}

func (l *groupLibrary) Groups() []string { return l.groups }

func TestDetectDatagrams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	var s Sample
	for i := range 50 {
		s = append(s, transport.Segment{Dir: dirs[i%2], At: at, Bytes: random(rng, 1+rng.IntN(100))})
	}
	found := Detect([]Sample{s}, true, nil)
	if len(found) == 0 || found[0].Used != found[0].Total || found[0].Envelope.States[0].Frame[0].String() != "datagram" {
		t.Errorf("%v", found)
	}
}

// TestDetectNothing: random bytes have no envelope of which all bytes are in frames that end where segments end.
func TestDetectNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	var s Sample
	for i := range 50 {
		s = append(s, transport.Segment{Dir: dirs[i%2], At: at, Bytes: random(rng, 200+rng.IntN(1000)), Start: i < 2})
	}
	for _, c := range Detect([]Sample{s}, false, nil) {
		if c.Aligned > 0.3 {
			t.Errorf("%v\n%s", &c, c.Text)
		}
	}
	if Detect(nil, false, nil) != nil {
		t.Error("a capture without bytes has candidates")
	}
}

// TestDetectIsBounded detects in traffic that is slow to walk.
func TestDetectIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine and much work, with -short")
	}
	var x codecs
	bomb, _ := x.Compress(nil, schema.Zstd, make([]byte, 4<<20))
	for name, unit := range map[string][]byte{
		"zeros": make([]byte, 1000), "ones": bytes.Repeat([]byte{1}, 1000), "lines": bytes.Repeat([]byte("\n"), 1000),
		"bombs": slices.Concat([]byte{byte(len(bomb) >> 8), byte(len(bomb)), 0, 0, 0x40, 0}, bomb),
	} {
		var s Sample
		for i := range 500 {
			s = append(s, transport.Segment{Dir: dirs[i%2], At: at, Bytes: unit, Start: i < 2})
		}
		start := time.Now()
		Detect([]Sample{s, s}, false, nil)
		Detect([]Sample{s, s}, false, gameGroups(t))
		if d := time.Since(start); d > time.Minute { // other programs may run
			t.Errorf("%s take %v", name, d)
		} else {
			t.Logf("%s take %v", name, d)
		}
	}
}

func gameGroups(t testing.TB) Library {
	return &groupLibrary{gameLibrary(t), []string{"first", "second"}}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte("\x03abc\x02de\x01f\x04ghij"), uint8(3), false)
	f.Add([]byte("\x03\x00abc\x02\x00de\x01\x00f\x04\x00ghij"), uint8(5), true)
	f.Fuzz(func(t *testing.T, wire []byte, split uint8, udp bool) {
		if len(wire) > 4<<10 {
			return
		}
		var s Sample
		for i, rest := 0, wire; len(rest) > 0; i++ {
			n := min(int(split)+1, len(rest))
			s = append(s, transport.Segment{Dir: dirs[i%2], At: at, Bytes: rest[:n], Start: i < 2})
			rest = rest[n:]
		}
		for _, lib := range []Library{nil, gameGroups(t)} {
			for _, c := range Detect([]Sample{s, s}, udp, lib) {
				if c.Used > c.Total || c.Used == 0 {
					t.Fatalf("%v\n%s", &c, c.Text)
				}
			}
		}
	})
}
