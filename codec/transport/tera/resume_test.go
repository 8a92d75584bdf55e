package tera

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/codec/transport/transporttest"
	"wirebench/defs/schema"
)

// knows returns definitions of the messages with some codes, without programs; nil: none.
func knows(code func(schema.Key) bool) stream.Definitions {
	if code == nil {
		return nil
	}
	return transporttest.Codes(code)
}

// someMessage returns a message with one of a few codes and an arbitrary body.
func someMessage(rng *rand.Rand, codes []uint16) []byte {
	body := make([]byte, rng.IntN(80))
	for i := range body {
		if rng.IntN(3) > 0 {
			body[i] = byte(rng.Uint32())
		}
	}
	return message(codes[rng.IntN(len(codes))], string(body))
}

func randomCodes(rng *rand.Rand, n int) (codes []uint16) {
	for range n {
		codes = append(codes, uint16(0x800+rng.IntN(0xf000)))
	}
	return codes
}

// TestFromTheMiddle: streams without their start are read, whichever of their codes are known, as soon as a direction has a few messages.
func TestFromTheMiddle(t *testing.T) {
	for _, n := range []int{10, 40, 400} {
		lost := 0
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 31))
			codes := randomCodes(rng, 10)
			s := &script{}
			s.sent[schema.ToServer], s.sent[schema.ToClient] = 1, 1
			for i := range n {
				s.send(schema.Dir(1+i%2), someMessage(rng, codes))
			}
			for i := range s.segs {
				s.segs[i].Start = false
			}
			for name, known := range map[string]func(schema.Key) bool{
				"nothing": nil,
				"others":  func(k schema.Key) bool { return k.Code%50 == 7 },
				"half":    func(k schema.Key) bool { return k.Code%50 == 7 || k.Code%2 == 0 && contains(codes, k.Code) },
				"all":     func(k schema.Key) bool { return k.Code%50 == 7 || contains(codes, k.Code) },
			} {
				got, wrong := 0, 0
				tr := New(Options{Definitions: knows(known)})
				emit := func(f *transport.Frame) {
					switch f.Kind {
					case transport.Message:
						got++
						if !contains(codes, f.Key.Code) {
							wrong++
						}
					case transport.Opaque:
						t.Errorf("%d messages, seed %d, known: %s: opaque", n, seed, name)
					}
				}
				for _, seg := range s.segs {
					tr.Feed(seg, emit)
				}
				tr.Flush(at, emit)
				lost += n - got
				if wrong > 0 || n > 10 && got < n*19/20 {
					t.Errorf("%d messages, seed %d, known: %s: %d read, %d of them wrong", n, seed, name, got, wrong)
				}
			}
		}
		t.Logf("%d messages: %d lost", n, lost)
	}
}

func contains(codes []uint16, code uint32) bool {
	for _, c := range codes {
		if uint32(c) == code {
			return true
		}
	}
	return false
}

// TestLossBetweenMessages: the loss of exactly one message costs no other, even if none of the following codes is known.
func TestLossBetweenMessages(t *testing.T) {
	gone, gaps := 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 32))
		before, after := randomCodes(rng, 12), randomCodes(rng, 12)
		s := new(script).c2s(message(19900, "v"))
		for range 20 {
			s.s2c(someMessage(rng, before))
		}
		s.lose(schema.ToClient, someMessage(rng, before))
		behind := 3 + rng.IntN(18)
		for range behind {
			s.s2c(someMessage(rng, after))
		}
		gaps++
		var known func(schema.Key) bool
		if seed%2 == 0 {
			known = func(k schema.Key) bool { return contains(before, k.Code) }
		}
		got := 0
		tr := New(Options{Definitions: knows(known)})
		emit := func(f *transport.Frame) {
			if f.Kind == transport.Message && f.Resumed {
				got++
				if !contains(after, f.Key.Code) {
					t.Errorf("seed %d: a message that is none", seed)
				}
			}
		}
		for _, seg := range s.segs {
			tr.Feed(seg, emit)
		}
		tr.Flush(at, emit)
		gone += behind - got
		if got < behind {
			t.Logf("seed %d: %d of %d", seed, got, behind)
		}
	}
	if gone > gaps/20 {
		t.Errorf("%d messages lost behind %d gaps", gone, gaps)
	}
}

// TestNoByteVanishes: each captured byte is in one frame, except for the bytes of messages that a gap cuts.
func TestNoByteVanishes(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 33))
		codes := randomCodes(rng, 10)
		s := new(script).c2s(message(19900, "v"))
		for range 5 {
			s.s2c(messageRow(3, codes[0], "x"))
		}
		for range 1 + rng.IntN(6) {
			switch rng.IntN(4) {
			case 0:
				s.lose(schema.ToClient, someMessage(rng, codes))
			case 1:
				s.raw(schema.ToClient, []byte{byte(rng.IntN(4)), 0})
			}
			noise := make([]byte, rng.IntN(300))
			for i := range noise {
				noise[i] = byte(rng.Uint32())
			}
			s.send(schema.ToClient, noise)
			for range rng.IntN(40) {
				s.send(schema.ToClient, someMessage(rng, codes))
			}
		}
		count := map[int64]int{}
		tr := New(Options{})
		cut := false
		emit := func(f *transport.Frame) {
			cut = cut || bytes.Contains([]byte(f.Note), []byte("is cut after")) || bytes.Contains([]byte(f.Note), []byte("ends inside"))
			if f.Dir == schema.ToClient {
				for i := range f.Bytes {
					count[f.Offset+int64(i)]++
				}
			}
		}
		next := int64(0)
		for _, seg := range s.segs {
			tr.Feed(seg, emit)
		}
		tr.Flush(at, emit)
		if cut {
			continue
		}
		for _, seg := range s.segs {
			if seg.Dir != schema.ToClient {
				continue
			}
			next += seg.Lost
			for range seg.Bytes {
				if count[next] != 1 {
					t.Fatalf("seed %d: byte %d is in %d frames", seed, next, count[next])
				}
				next++
			}
		}
	}
}
