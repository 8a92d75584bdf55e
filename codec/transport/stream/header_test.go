package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// headedGame has a header with a length that is part of the message, and checksums in front and behind.
const headedGame = `
frame length u16 be including all at 2 keep
code u8 at 1
field magic u8 at 0 = 0xfe
field session u32 le at 4
checksum head sum8 at 8 over 0 to 8
checksum crc crc16-modbus le at -2
`

// packed is likewise compressed, with a length that is not part of the message.
const packed = `
compress zlib size varint from 20
frame length u16 be
code u8 at 1
field magic u8 at 0 = 0xfe
field session u32 le at 2
checksum head sum8 at 6 over 0 to 6
checksum crc crc16-modbus le at -2
`

func headedLibrary(t testing.TB) *library {
	return newLibrary(t, message("MOVE", "", 1, number("x", 32)), message("SAY", "", 2, blob("text")))
}

// made returns a message of the envelope whose lengths and checksums are wrong.
func made(h *envelope.Header, code byte, session uint32, contents []byte) []byte {
	m := slices.Concat(bytes.Repeat([]byte{9}, h.Size), contents, []byte{9, 9})
	m[0], m[1] = 0xfe, code
	binary.LittleEndian.PutUint32(m[sessionOf(h):], session)
	return m
}

// sealed is made with the right ones.
func sealed(h *envelope.Header, code byte, session uint32, contents []byte) []byte {
	m := made(h, code, session, contents)
	h.Seal(m, nil)
	return m
}

// sessionOf returns the place of the session in a message.
func sessionOf(h *envelope.Header) int {
	all := h.Parts()
	return all[slices.IndexFunc(all, func(p envelope.Part) bool { return p.Name == "session" })].At
}

// randomContents returns the contents of a message of headedLibrary.
func randomContents(rng *rand.Rand) (code byte, contents []byte) {
	if rng.IntN(2) == 0 {
		return 1, random(rng, 4)
	}
	b := random(rng, rng.IntN(60))
	return 2, append([]byte{byte(len(b))}, b...)
}

// Whatever a rewriter does to messages, the lengths and the checksums of what is sent are right, fields without a stated value are those of the
// message before, and each end reads exactly what was sent to it.
func TestRewriterSeals(t *testing.T) {
	for _, more := range []string{headedGame, packed, "cipher xor key hex 0102030405" + headedGame, "carrier websocket" + headedGame} {
		o := Options{Envelope: parse(t, more), Definitions: headedLibrary(t)}
		h := o.Envelope.States[0].Header[0]
		session := sessionOf(h)
		for seed := range seeds(100) {
			rng := rand.New(rand.NewPCG(seed, 31))
			rw := NewRewriter(o)
			ends := [2]*Endpoint{NewEndpoint(o, schema.ToServer), NewEndpoint(o, schema.ToClient)}
			var want, got [2][]string
			var seen [2]uint32 // the session of the last message
			var held []uint64
			var r transport.Relay
			at := at
			var answers []transport.Segment // of the ends, for the rewriter
			feed := func() {
				for ; len(answers) > 0; answers = answers[1:] {
					rw.Feed(answers[0], &r)
				}
			}
			put := func(way int) *transport.Relay {
				return &transport.Relay{Out: func(s transport.Segment) {
					for _, b := range s.Bytes {
						answers = append(answers, transport.Segment{Dir: dirs[way], At: at, Bytes: []byte{b}, Start: true})
					}
				}}
			}
			deliver := func(s transport.Segment) {
				way := wayOf(s.Dir)
				ends[1-way].Feed(bytes.Clone(s.Bytes), s.End, at, &transport.Relay{
					Emit: func(f *transport.Frame) {
						if f.Kind == transport.Message && wayOf(f.Dir) == way {
							got[way] = append(got[way], string(f.Bytes))
						}
						if f.Kind == transport.Problem || strings.Contains(f.Note, "checksum") || f.Kind == transport.Message && !f.In(transport.MarkHeader) {
							t.Fatalf("seed %d: %s %s %x", seed, f.Kind, f.Note, f.Bytes)
						}
					},
					Out: put(1 - way).Out,
				})
			}
			replaced := func(dir schema.Dir) (transport.Outgoing, []byte) {
				code, contents := randomContents(rng)
				m := made(h, code, 0, contents)
				if rng.IntN(2) == 0 { // made by hand, with everything stated
					return transport.Outgoing{Bytes: m}, sealed(h, code, 0, contents)
				}
				return transport.Outgoing{Bytes: []byte("plain"), Alternate: m, Open: []transport.Open{{From: session, To: session + 4}}}, sealed(h, code, seen[wayOf(dir)], contents)
			}
			r = transport.Relay{
				Emit: func(f *transport.Frame) {
					if f.Kind == transport.Message {
						seen[wayOf(f.Dir)] = binary.LittleEndian.Uint32(f.Bytes[session:])
					}
				},
				Out: deliver,
				Decide: func(id uint64, f *transport.Frame) (d transport.Decision) {
					way := wayOf(f.Dir)
					switch rng.IntN(6) {
					case 0:
						return transport.Decision{Action: transport.Drop}
					case 1:
						out, m := replaced(f.Dir)
						want[way] = append(want[way], string(m))
						return transport.Decision{Action: transport.Replace, With: out}
					case 2:
						held = append(held, id)
						want[way] = append(want[way], string(f.Bytes))
						return transport.Decision{Action: transport.Hold}
					}
					want[way] = append(want[way], string(f.Bytes))
					return d
				},
				Goes: func(_ uint64, m []byte) {
					if m != nil && h.Wrong(m, nil) != nil {
						t.Fatalf("seed %d: told %x", seed, m)
					}
				},
			}
			ends[0].Start(at, put(0))
			feed()
			rw.Operate(true, at, &r)
			for range 40 {
				way := rng.IntN(2)
				code, contents := randomContents(rng)
				if err := ends[way].Send(transport.Outgoing{Bytes: sealed(h, code, rng.Uint32(), contents)}, at, put(way)); err != nil {
					t.Fatal(err)
				}
				feed()
				if rng.IntN(3) == 0 && len(held) > 0 {
					if err := rw.Release(held[0], transport.Decision{}, at, &r); err != nil && rw.held[held[0]] != nil {
						t.Fatal(err)
					}
					held = held[1:]
				}
				if rng.IntN(4) == 0 && len(rw.lines[way].queue) == 0 {
					out, m := replaced(dirs[way])
					want[way] = append(want[way], string(m))
					if err := rw.Send(dirs[way], out, at, &r); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, id := range held {
				_ = rw.Release(id, transport.Decision{}, at, &r)
			}
			for way := range want {
				if !slices.Equal(got[way], want[way]) {
					t.Fatalf("%q seed %d way %d: %d messages, want %d\n%x\n%x", more, seed, way, len(got[way]), len(want[way]), got[way], want[way])
				}
			}
		}
	}
}

// A message whose checksum or constant is wrong is read, and says so; a search takes none for the start of a message.
func TestWrongHeaders(t *testing.T) {
	o := Options{Envelope: parse(t, headedGame), Definitions: headedLibrary(t)}
	h := o.Envelope.States[0].Header[0]
	rng := rand.New(rand.NewPCG(1, 32))
	var stream []byte
	var starts []int
	for range 200 {
		code, contents := randomContents(rng)
		starts = append(starts, len(stream))
		stream = append(stream, sealed(h, code, rng.Uint32(), contents)...)
	}
	bad := bytes.Clone(stream)
	bad[starts[50]+10] ^= 1
	bad[starts[60]] ^= 1
	var notes []string
	n := 0
	New(o).Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: bad, Start: true}, func(f *transport.Frame) {
		if n++; f.Note != "" {
			notes = append(notes, fmt.Sprintf("%d %s %.20s", n, f.Kind, f.Note))
		}
	})
	if want := []string{"51 message the checksum crc is ", "61 message magic is ff, not fe"}; n != 200 || !slices.Equal(notes, want) {
		t.Errorf("%d frames: %q", n, notes)
	}
	for cut := range starts[3] {
		whole := 0
		tr := New(o)
		tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: stream[cut:]}, func(f *transport.Frame) {
			if f.Kind == transport.Message && h.Wrong(f.Bytes, nil) == nil {
				whole++
			}
		})
		if left := 200 - slices.IndexFunc(starts, func(s int) bool { return s >= cut }); whole < left {
			t.Errorf("from byte %d on: %d of %d messages", cut, whole, left)
		}
	}
}

// What a replacement of a held message does not state is as in the message itself, whatever has come behind it.
func TestReplacementKeepsHeader(t *testing.T) {
	rw := NewRewriter(Options{Envelope: parse(t, "frame length u8 including all at 1 keep\ncode u8\nfield flags u8 at 2\n"), Definitions: headedLibrary(t)})
	var sent []byte
	var held uint64
	r := &transport.Relay{
		Out: func(s transport.Segment) { sent = append(sent, s.Bytes...) },
		Decide: func(id uint64, f *transport.Frame) transport.Decision {
			if held == 0 {
				held = id
				return transport.Decision{Action: transport.Hold}
			}
			return transport.Decision{}
		},
	}
	rw.Operate(true, at, r)
	rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: []byte("\x02\x05\x07\x01a\x02\x05\x08\x01b"), Start: true}, r)
	made := []byte("\x02\x00\x00\x02cc")
	err := rw.Release(held, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: made, Alternate: made, Open: []transport.Open{{From: 2, To: 3}}}}, at, r)
	if want := "\x02\x06\x07\x02cc\x02\x05\x08\x01b"; err != nil || string(sent) != want {
		t.Errorf("%v: sent %x, want %x", err, sent, want)
	}
}
