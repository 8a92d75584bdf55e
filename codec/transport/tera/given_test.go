package tera

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// givenKeys are the keys of script.shake.
func givenKeys() *Keys {
	rng := rand.New(rand.NewPCG(1, 2))
	return &Keys{randomKey(rng), randomKey(rng), randomKey(rng), randomKey(rng)}
}

// without removes segments from a script, and replaces them with a loss of their bytes if lost is set.
func (s *script) without(lost bool, index ...int) *script {
	out := &script{}
	for i, seg := range s.segs {
		for _, x := range index {
			if i == x {
				seg.Lost, seg.Bytes = int64(len(seg.Bytes)), nil
			}
		}
		if seg.Lost == 0 || lost {
			out.segs = append(out.segs, seg)
		}
	}
	return out
}

// behind is an encrypted connection without its key exchange.
func behind(c Constants, k *Keys) *script { return &script{leg: NewSession(k, c)} }

func TestGivenKeys(t *testing.T) {
	keys, wrong := givenKeys(), new(Keys)
	o := Options{Keys: keys}
	conversation := func(s *script) *script {
		return s.c2s(message(19900, "v")).s2c(message(19901, "hello")).c2s(message(5001, "ab"))
	}
	const told = `
c2s message 0 19900 "v"
s2c message 0 19901 "hello"
c2s message 5 5001 "ab"
`
	const rest = `
c2s message 256 19900 "v"
s2c message 260 19901 "hello"
c2s message 261 5001 "ab"
`
	missing := func(dir string, at, n int) string {
		return fmt.Sprintf("%s problem %d  missing %d via [handshake] (a part of the keys was not captured; the configured keys are used)\n", dir, at, n)
	}
	shakenLine := func(n ...int) (out string) {
		for i, line := range bytes.SplitAfter([]byte(trim(shaken)+"\n"), []byte("\n")) {
			for _, x := range n {
				if i == x {
					out += string(line)
				}
			}
		}
		return out
	}
	half := new(script).s2c(magicBytes[:]).c2s(keys.Client1[:]).s2c(keys.Server1[:50]).lose(schema.ToClient, keys.Server1[50:60]).s2c(keys.Server1[60:]).c2s(keys.Client2[:]).s2c(keys.Server2[:])
	half.leg = NewSession(keys, OldConstants)
	for _, c := range []struct {
		name string
		o    Options
		s    *script
		want string
	}{
		{"behind the exchange", o, conversation(behind(CurrentConstants, keys)), told},
		{"old constants", o, conversation(behind(OldConstants, keys)), told},
		{"constants that are told", Options{Keys: keys, Constants: OldConstants}, conversation(behind(OldConstants, keys)), told},
		{"the server first", o, behind(CurrentConstants, keys).s2c(message(19901, "hello")).c2s(message(19900, "v")), `
s2c message 0 19901 "hello"
c2s message 0 19900 "v"
`},
		{"only the client", o, behind(CurrentConstants, keys).c2s(message(19900, "v")).c2s(message(5001, "ab")), `
c2s message 0 19900 "v"
c2s message 5 5001 "ab"
`},
		{"plain", o, conversation(new(script)), told},
		{"captured in full, with other keys given", Options{Keys: wrong}, conversation(new(script).shake(CurrentConstants)), shaken + rest[1:]},
		{"a key is missing", o, conversation(new(script).shake(CurrentConstants)).without(true, 1), shakenLine(0) + missing("c2s", 0, 128) + shakenLine(2, 3, 4) + rest[1:]},
		{"two keys are missing", o, conversation(new(script).shake(CurrentConstants)).without(true, 2, 4), shakenLine(0, 1) + missing("s2c", 4, 128) + shakenLine(3) + missing("s2c", 132, 128) + rest[1:]},
		{"a part of a key is missing", o, conversation(half), shakenLine(0, 1) + missing("s2c", 54, 10) + shakenLine(3, 4) + rest[1:]},
		{"a key is missing, and none is given", Options{}, new(script).shake(CurrentConstants).c2s(message(19900, "v")).without(true, 1), shakenLine(0) + `c2s problem 0  (a part of the keys was not captured)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := tell(c.o, c.s.segs, 1<<20)
			want := c.want
			if c.o.Keys == nil {
				got, want = trim(got)[:len(shakenLine(0))], shakenLine(0) // the rest is opaque
			}
			if trim(got) != trim(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if c.o.Keys != nil {
				if small := tell(c.o, c.s.segs, 3); trim(small) != trim(want) {
					t.Errorf("in small pieces\n%s\nwant\n%s", small, want)
				}
			}
		})
	}
	if got := tell(Options{Keys: wrong}, conversation(behind(CurrentConstants, keys)).segs, 1<<20); bytes.Contains([]byte(got), []byte("message")) {
		t.Errorf("messages with wrong keys:\n%s", got)
	}
}

// tell reads segments, split into pieces of limited size.
func tell(o Options, segs []transport.Segment, most int) string {
	tr := New(o)
	var out told
	for _, seg := range segs {
		for first := true; first || len(seg.Bytes) > 0; first = false {
			part := seg
			part.Bytes = seg.Bytes[:min(most, len(seg.Bytes))]
			tr.Feed(part, out.emit)
			seg.Bytes, seg.Start = seg.Bytes[len(part.Bytes):], false
		}
	}
	tr.Flush(at, out.emit)
	return out.String()
}

// Whatever is removed from an encrypted connection whose keys are known, no message is read that was not sent, and reading continues where
// the loss is known.
func TestGivenKeysWithLosses(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := new(script).shake(CurrentConstants)
		for i := range 30 {
			s.c2s(message(19900, "v")).s2c(message(uint16(5000+i), "text of a message"))
		}
		var segs []transport.Segment
		for i, seg := range s.segs {
			if i < 5 && i > 0 && rng.IntN(2) == 0 {
				from := rng.IntN(len(seg.Bytes))
				to := from + 1 + rng.IntN(len(seg.Bytes)-from)
				head, gap, tail := seg, seg, seg
				head.Bytes, tail.Bytes = seg.Bytes[:from], seg.Bytes[to:]
				gap.Bytes, gap.Lost, gap.Start = nil, int64(to-from), seg.Start && from == 0
				tail.Start = false
				segs = append(segs, gap)
				if from > 0 {
					head.Start = seg.Start
					segs = append(segs[:len(segs)-1], head, gap)
				}
				if len(tail.Bytes) > 0 {
					segs = append(segs, tail)
				}
				continue
			}
			segs = append(segs, seg)
		}
		n := 0
		tr := New(Options{Keys: givenKeys()})
		emit := func(f *transport.Frame) {
			if f.Kind == transport.Message {
				n++
			}
		}
		for _, seg := range segs {
			tr.Feed(seg, emit)
		}
		tr.Flush(at, emit)
		if n != 60 {
			t.Fatalf("seed %d: %d messages", seed, n)
		}
	}
}

func FuzzGivenKeys(f *testing.F) {
	s := new(script).shake(CurrentConstants).c2s(message(19900, "v")).s2c(message(5000, "hello"))
	for _, seg := range s.segs {
		f.Add(seg.Bytes, uint16(3), uint16(100), uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, a, b uint16, flags uint8) {
		tr := New(Options{Keys: givenKeys()})
		emit := func(fr *transport.Frame) {
			if fr.Kind > transport.Problem || len(fr.Bytes) > 1<<20 {
				t.Error("a frame that cannot be")
			}
		}
		if flags&1 != 0 {
			tr.Feed(transport.Segment{Dir: schema.ToClient, Bytes: magicBytes[:], Start: true}, emit)
		}
		for i := 0; len(data) > 0; i++ {
			n := min(len(data), int(a)%300+1)
			dir := schema.ToServer + schema.Dir(i)%2
			seg := transport.Segment{Dir: dir, Bytes: data[:n], Start: i < 2}
			data = data[n:]
			if i%3 == int(flags>>1)%4 {
				seg = transport.Segment{Dir: dir, Lost: int64(b), Start: i < 2}
			}
			tr.Feed(seg, emit)
		}
		tr.Flush(at, emit)
	})
}
