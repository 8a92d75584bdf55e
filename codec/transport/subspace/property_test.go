package subspace_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// origin identifies a message independently of the order.
func origin(f frame) string { return dirName(f.Dir) + hex.EncodeToString(f.Bytes) }

// counted counts messages.
func counted(frames []frame) map[string]int {
	n := map[string]int{}
	for _, f := range frames {
		if f.Kind == transport.Message {
			n[origin(f)]++
		}
	}
	return n
}

// disturb delays, duplicates and drops datagrams, except the handshakes. It returns the result, and the dropped packets.
func disturb(random *rand.Rand, segments []transport.Segment, window int, double, drop float64) (all []transport.Segment, lost map[uint32]bool) {
	type late struct {
		transport.Segment
		place int
	}
	var some []late
	lost = map[uint32]bool{}
	for i, seg := range segments {
		if b := seg.Bytes; len(b) > 1 && b[0] == 0 && (b[1] < 3 || b[1] == 7) {
			some = append(some, late{seg, i})
			continue
		}
		if random.Float64() < drop {
			lost[seg.Packet] = true
			continue
		}
		some = append(some, late{seg, i + random.IntN(window+1)})
		if random.Float64() < double {
			some = append(some, late{seg, i + random.IntN(window+1)})
		}
	}
	slices.SortStableFunc(some, func(a, b late) int { return a.place - b.place })
	for i, s := range some {
		s.At = segments[0].At.Add(time.Duration(i) * time.Millisecond)
		all = append(all, s.Segment)
	}
	return all, lost
}

// TestCorporaOrderDoesNotMatter: reordered and duplicated datagrams of real captures yield the reliable messages in the same order, and each other
// message once per copy of its datagram.
func TestCorporaOrderDoesNotMatter(t *testing.T) { corpora.Run(t, testOrderDoesNotMatter) }

func testOrderDoesNotMatter(t *testing.T, c *corpora.Corpus) {
	for _, name := range []string{"plain-session", "vie-session", "plain-lossy-serverside"} {
		names, of := sessions(t, c, name)
		for _, session := range names {
			segments := of[session]
			if len(segments) < 50 {
				continue
			}
			// Up to the first disconnect, so that there is one session.
			for i, seg := range segments {
				if len(seg.Bytes) == 2 && seg.Bytes[0] == 0 && seg.Bytes[1] == 7 {
					segments = segments[:i]
					break
				}
			}
			inOrder := func(frames []frame) (all []string) {
				for _, f := range frames {
					if f.Kind == transport.Message && slices.ContainsFunc(f.Via, isReliable) {
						all = append(all, origin(f))
					}
				}
				return all
			}
			whole := play(subspace.Options{}, segments)
			byDir := func(frames []frame, dir schema.Dir) (some []frame) {
				for _, f := range frames {
					if f.Dir == dir {
						some = append(some, f)
					}
				}
				return some
			}
			for seed := range uint64(15) {
				random := rand.New(rand.NewPCG(seed, 9))
				shuffled, _ := disturb(random, segments, 1+3*int(seed), 0.2, 0)
				got := play(subspace.Options{}, shuffled)
				for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
					want, have := inOrder(byDir(whole, dir)), inOrder(byDir(got, dir))
					if !slices.Equal(want, have) {
						t.Fatalf("%s, seed %d: reliable messages differ", session, seed)
					}
				}
				for m, n := range counted(whole) {
					if counted(got)[m] < n {
						t.Fatalf("%s, seed %d: %s is not there", session, seed, m)
					}
				}
			}
		}
	}
}

func isReliable(via string) bool { return len(via) > 9 && via[:9] == "reliable:" }

// inDoubt reports whether a chunked message was reported as a problem, with all its bytes: after a missing packet, which may have been its
// first part.
func inDoubt(got []frame, want frame) bool {
	return len(want.Via) > 0 && want.Via[len(want.Via)-1] == "chunk" && slices.ContainsFunc(got, func(f frame) bool {
		return f.Kind == transport.Problem && bytes.Equal(f.Bytes, want.Bytes) && slices.Equal(f.From, want.From)
	})
}

// TestCorporaLossLosesOnlyWhatIsLost: without some datagrams, all messages are read that had no byte in them, or that were repeated in others.
func TestCorporaLossLosesOnlyWhatIsLost(t *testing.T) { corpora.Run(t, testLossLosesOnlyWhatIsLost) }

func testLossLosesOnlyWhatIsLost(t *testing.T, c *corpora.Corpus) {
	for _, name := range []string{"plain-session", "vie-session", "plain-lossy-serverside", "sim-directory-list"} {
		names, of := sessions(t, c, name)
		for _, session := range names {
			segments := of[session]
			whole := play(subspace.Options{}, segments)
			for seed := range uint64(60) {
				random := rand.New(rand.NewPCG(seed, 10))
				window := int(seed % 4 * 5)
				rest, lost := disturb(random, segments, window, 0.1, 0.02+0.1*random.Float64())
				got := play(subspace.Options{}, rest)
				have := counted(got)
				for _, f := range whole {
					if f.Kind != transport.Message || slices.ContainsFunc(f.From, func(s transport.Source) bool { return lost[s.Packet] }) {
						continue
					}
					if window > 0 && len(f.From) > 1 {
						continue // a part received after its turn was given up is not joined
					}
					if have[origin(f)] == 0 && !inDoubt(got, f) {
						t.Fatalf("%s, seed %d: packet %d is there, but not its message %x via %v", session, seed, f.From[0].Packet, f.Bytes, f.Via)
					}
				}
				if window > 0 {
					continue
				}
				// No message is invented: missing data is reported as doubtful.
				all := counted(whole)
				for _, f := range got {
					if f.Kind == transport.Message && all[origin(f)] == 0 && !f.Resumed {
						t.Fatalf("%s, seed %d: a message that never was: %x via %v from %v", session, seed, f.Bytes, f.Via, f.From)
					}
				}
			}
		}
	}
}

// TestCorporaTruncatedDatagramsAreHarmless truncates datagrams, as captures with a snapshot length do.
func TestCorporaTruncatedDatagramsAreHarmless(t *testing.T) {
	corpora.Run(t, testTruncatedDatagramsAreHarmless)
}

func testTruncatedDatagramsAreHarmless(t *testing.T, c *corpora.Corpus) {
	names, of := sessions(t, c, "vie-session")
	for _, session := range names {
		for size := range 40 {
			var cut []transport.Segment
			for _, seg := range of[session] {
				seg.Bytes = seg.Bytes[:min(size, len(seg.Bytes))]
				cut = append(cut, seg)
			}
			play(subspace.Options{}, cut)
		}
	}
}

// TestRandomWindow: numbered packets shuffled within the window are delivered in order.
func TestRandomWindow(t *testing.T) {
	const packets = 3000
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 11))
		segments := []transport.Segment{
			{Dir: schema.ToServer, Bytes: []byte{0, 1, 0xF6, 0xFF, 0xFF, 0xFF, 1, 0}, Packet: 1},
			{Dir: schema.ToClient, Bytes: []byte{0, 2, 0xF6, 0xFF, 0xFF, 0xFF}, Packet: 2},
		}
		for i := range packets {
			segments = append(segments, transport.Segment{
				Dir: schema.ToClient, Packet: uint32(3 + i), Bytes: []byte{0, 3, byte(i), byte(i >> 8), 0, 0, 7, byte(i), byte(i >> 8)},
			})
		}
		shuffled, lost := disturb(random, segments, 800, 0.3, 0.01)
		next := 0
		for _, f := range play(subspace.Options{}, shuffled) {
			if f.Kind != transport.Message {
				continue
			}
			for lost[uint32(3+next)] {
				next++
			}
			if got := int(f.Bytes[1]) | int(f.Bytes[2])<<8; got != next {
				t.Fatalf("seed %d: %d instead of %d", seed, got, next)
			}
			next++
		}
		for lost[uint32(3+next)] {
			next++
		}
		if next != packets {
			t.Fatalf("seed %d: %d packets", seed, next)
		}
	}
}
