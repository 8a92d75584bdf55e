package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

var at = time.Unix(1_700_000_000, 0)

// parse returns an envelope without errors.
func parse(t testing.TB, text string) *envelope.Envelope {
	t.Helper()
	e, diags := envelope.Parse(source.New("test", text))
	if diags.HasErrors() {
		t.Fatal(diags.Render())
	}
	return e
}

// library is Definitions made of code.
type library struct {
	messages map[schema.Key]*schema.Message
	programs map[*schema.Message]*codec.Program
	behind   map[*schema.Message]*schema.Message
}

// newLibrary returns the messages that tests use: a code of one byte, then the fields.
func newLibrary(t testing.TB, all ...*schema.Message) *library {
	t.Helper()
	l := &library{map[schema.Key]*schema.Message{}, map[*schema.Message]*codec.Program{}, map[*schema.Message]*schema.Message{}}
	for _, m := range all {
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			if m.Key.Dir == schema.Both || m.Key.Dir == dir {
				l.messages[schema.Key{Dir: dir, Group: m.Key.Group, Code: m.Key.Code}] = m
			}
		}
		l.programs[m] = p
	}
	return l
}

func (l *library) Lookup(k schema.Key) *schema.Message { return l.messages[k] }

func (l *library) Program(m *schema.Message) (*codec.Program, error) { return l.programs[m], nil }

func (l *library) Behind(h *envelope.Header, m *schema.Message) *schema.Message {
	if l.behind[m] == nil {
		out := h.Of(m)
		p, err := codec.Compile(out)
		if err != nil {
			panic(err)
		}
		l.behind[m], l.programs[out] = out, p
	}
	return l.behind[m]
}

// message returns a definition with a code of one byte.
func message(name, group string, code uint32, fields ...*schema.Field) *schema.Message {
	s := &schema.Struct{Fields: fields, Wire: []schema.Item{{Kind: schema.Code, Bits: 8}}}
	for _, f := range fields {
		if _, is := f.Type.(*schema.Blob); is {
			s.Wire = append(s.Wire, schema.Item{Kind: schema.Count, Field: f, Bits: 8})
		}
		s.Wire = append(s.Wire, schema.Item{Kind: schema.Value, Field: f})
	}
	return &schema.Message{Name: name, Version: 1, Key: schema.Key{Group: group, Code: code}, HasKey: true, Body: s}
}

func number(name string, bits int) *schema.Field {
	return &schema.Field{Name: name, Type: &schema.Number{Bits: bits, Kind: schema.Signed}}
}

func blob(name string) *schema.Field {
	return &schema.Field{Name: name, Type: &schema.Blob{Extent: schema.Extent{Size: schema.Counted}}}
}

// told writes frames as lines.
type told struct {
	strings.Builder
	messages [2][]string
	keys     []schema.Key
}

func (b *told) emit(f *transport.Frame) {
	if f.Kind == transport.Message {
		b.messages[envelope.Way(f.Dir)] = append(b.messages[envelope.Way(f.Dir)], string(f.Bytes))
		b.keys = append(b.keys, f.Key)
	}
	fmt.Fprintf(b, "%v %v %d %x", f.Kind, f.Dir, f.Offset, f.Bytes)
	if f.Key.Group != "" {
		fmt.Fprintf(b, " %s", f.Key.Group)
	}
	if f.HasKey {
		fmt.Fprintf(b, " code %d", f.Key.Code)
	}
	if f.Name != "" {
		fmt.Fprintf(b, " %s", f.Name)
	}
	for _, s := range f.From {
		fmt.Fprintf(b, " %d:%d+%d", s.Packet, s.Off, s.Len)
	}
	if len(f.Via) > 0 {
		fmt.Fprintf(b, " via %s", f.Via)
	}
	if f.Note != "" {
		fmt.Fprintf(b, " (%s)", f.Note)
	}
	b.WriteByte('\n')
}

// framed are framings with a function that makes frames.
var framed = []struct {
	text string
	make func(rng *rand.Rand) (message, wire []byte)
}{
	{"frame length u16 le\ncode u8", lengths(func(n int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(n)) })},
	{"frame length u32 be including itself\ncode u8", lengths(func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n+4)) })},
	{"frame length u24 be plus 3\ncode u8", lengths(func(n int) []byte { return []byte{0, byte((n - 3) >> 8), byte(n - 3)} })},
	{"frame length u56 le minus 2\ncode u8", lengths(func(n int) []byte { return []byte{byte(n + 2), byte((n + 2) >> 8), 0, 0, 0, 0, 0} })},
	{"frame length varint\ncode u8", lengths(func(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) })},
	{"frame length zigzag\ncode u8", lengths(func(n int) []byte { return binary.AppendVarint(nil, int64(n)) })},
	{"frame length varint be\ncode u8", lengths(func(n int) []byte {
		if n < 128 {
			return []byte{byte(n)}
		}
		return []byte{0x80 | byte(n>>7), byte(n & 0x7f)}
	})},
	{"frame length u16 le keep including all\ncode u8 at 2", func(rng *rand.Rand) (_, _ []byte) {
		m := random(rng, 1+rng.IntN(200))
		m = append(binary.LittleEndian.AppendUint16(nil, uint16(len(m)+2)), m...)
		return m, m
	}},
	{"frame length u8 at 3\ncode u8", func(rng *rand.Rand) (_, _ []byte) {
		m := random(rng, 3+rng.IntN(200))
		return m, slices.Concat(m[:3], []byte{byte(len(m) - 3)}, m[3:])
	}},
	{"frame length u16 be times 4 including all at 1\ncode u8", func(rng *rand.Rand) (_, _ []byte) {
		m := random(rng, 4*(1+rng.IntN(50))+2)
		return m, slices.Concat(m[:1], binary.BigEndian.AppendUint16(nil, uint16((len(m)+2+1)/4)), m[1:], nil)
	}},
	{"frame delimiter 0d 0a\ncode u8", func(rng *rand.Rand) (_, _ []byte) {
		m := bytes.ReplaceAll(append(random(rng, rng.IntN(60)), 'x'), []byte("\r\n"), []byte("\r\r"))
		return m, append(slices.Clone(m), "\r\n"...)
	}},
	{"frame delimiter 00 keep\ncode u8", func(rng *rand.Rand) (_, _ []byte) {
		m := append(bytes.ReplaceAll(random(rng, 1+rng.IntN(60)), []byte{0}, []byte{1}), 0)
		return m, m
	}},
	{"frame fixed 7\ncode u8", func(rng *rand.Rand) (_, _ []byte) { m := random(rng, 7); return m, m }},
	{"frame codes u8\n 1 = 4\n 2 = length u16 le at 1\n other = 2\ncode u8", func(rng *rand.Rand) (_, _ []byte) {
		m := random(rng, 4)
		switch m[0] = byte(1 + rng.IntN(4)); m[0] {
		case 1:
		case 2:
			m = append([]byte{2, 9, 0}, random(rng, 9)...)
		default:
			m = m[:2]
		}
		return m, m
	}},
	{"frame measured\ncode u8", func(rng *rand.Rand) (_, _ []byte) {
		if rng.IntN(2) == 0 {
			m := random(rng, 5)
			m[0] = 1
			return m, m
		}
		n := rng.IntN(20)
		m := append([]byte{2, byte(n)}, random(rng, n)...)
		return m, m
	}},
}

func lengths(length func(n int) []byte) func(rng *rand.Rand) (message, wire []byte) {
	return func(rng *rand.Rand) (_, _ []byte) {
		m := random(rng, 3+rng.IntN(300))
		return m, append(length(len(m)), m...)
	}
}

func random(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func measured(t testing.TB) *library {
	a, b := message("a", "", 1, number("n", 32)), message("b", "", 2, blob("data"))
	a.Measured, b.Measured = true, true
	return newLibrary(t, a, b)
}

// TestFramings frames streams of each framing, in pieces of any size, plain and encrypted.
func TestFramings(t *testing.T) {
	for _, f := range framed {
		for _, cipher := range []string{"", "cipher xor key hex 010203\n", "cipher aes-cfb8 key hex 000102030405060708090a0b0c0d0e0f iv hex 000102030405060708090a0b0c0d0e0f\n"} {
			t.Run(strings.ReplaceAll(f.text, "\n", "; ")+cipher, func(t *testing.T) {
				o := Options{Envelope: parse(t, cipher+f.text), Definitions: measured(t)}
				for seed := range seeds(20) {
					rng := rand.New(rand.NewPCG(seed, 1))
					var want []string
					var wire []byte
					for range 1 + rng.IntN(8) {
						m, w := f.make(rng)
						want = append(want, string(m))
						wire = append(wire, w...)
					}
					if c := o.Envelope.Cipher[0]; c.Kind != envelope.NoCipher {
						s, err := newStream(c.Kind, c.Key.Bytes, c.IV.Bytes, true)
						if err != nil {
							t.Fatal(err)
						}
						s.Apply(wire)
					}
					check := func(pieces ...[]byte) {
						t.Helper()
						var got told
						tr := New(o)
						n := 0
						for i, p := range pieces {
							buf := slices.Clone(p)
							tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Packet: uint32(i + 1), Bytes: buf, Start: i == 0}, func(f *transport.Frame) {
								for _, s := range f.From {
									n += int(s.Len)
								}
								got.emit(f)
							})
							clear(buf)
						}
						tr.Flush(at, got.emit)
						if !slices.Equal(got.messages[0], want) {
							t.Fatalf("seed %d: got\n%s\nwant %x", seed, got.String(), want)
						}
						if n != len(wire) {
							t.Fatalf("the frames have %d of %d bytes", n, len(wire))
						}
					}
					check(wire)
					if seed < 2 {
						for i := 1; i < len(wire); i++ {
							check(wire[:i], wire[i:])
						}
					}
					var pieces [][]byte
					for i := range wire {
						pieces = append(pieces, wire[i:i+1])
					}
					check(pieces...)
				}
			})
		}
	}
}
