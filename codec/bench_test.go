package codec_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/benchtest"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// shape is one kind of message, or a mix, with the operations of programs and of manual code.
type shape struct {
	name     string
	programs [5]*codec.Program // by code
	messages [][]byte
	hand     hand
}

// hand holds the manual operations on one message.
type hand struct {
	read  func(b []byte) bool
	spans func(dst []span, b []byte) []span
	write func(dst, b []byte) []byte // decodes it, and encodes it anew
	json  func(e *json.Encoder, b []byte) error
}

// Manual code writes its results to package variables, so that the compiler cannot eliminate it.
var (
	heldS shapeS
	heldM shapeM
	heldL shapeL
	heldT shapeT
)

const (
	codeS = iota + 1
	codeM
	codeL
	codeT
)

func codeOf(b []byte) uint16 { return binary.LittleEndian.Uint16(b[2:]) }

var handS = hand{
	read:  func(b []byte) bool { return heldS.read(b) },
	spans: spansS,
	write: func(dst, b []byte) []byte { heldS.read(b); return heldS.write(dst, codeS) },
	json:  func(e *json.Encoder, b []byte) error { heldS.read(b); return e.Encode(&heldS) },
}

var handM = hand{
	read:  func(b []byte) bool { return heldM.read(b) },
	spans: spansM,
	write: func(dst, b []byte) []byte { heldM.read(b); return heldM.write(dst, codeM) },
	json: func(e *json.Encoder, b []byte) error {
		m := &heldM
		m.read(b)
		return e.Encode(&shapeMText{m.ID, string(m.Name), m.Level, m.Race, m.Class, m.MapID, m.Guild, m.Gold, m.Health, m.Mana})
	},
}

var handL = hand{
	read:  func(b []byte) bool { return heldL.read(b) },
	spans: spansL,
	write: func(dst, b []byte) []byte { heldL.read(b); return heldL.write(dst, codeL) },
	json:  func(e *json.Encoder, b []byte) error { heldL.read(b); return e.Encode(&heldL) },
}

var handT = hand{
	read:  func(b []byte) bool { return heldT.read(b) },
	spans: spansT,
	write: func(dst, b []byte) []byte { heldT.read(b); return heldT.write(dst, codeT) },
	json:  func(e *json.Encoder, b []byte) error { heldT.read(b); return e.Encode(&heldT) },
}

// handX selects the code by the message's code, like a program that knows all messages.
var handX = hand{
	read: func(b []byte) bool {
		switch codeOf(b) {
		case codeS:
			return heldS.read(b)
		case codeM:
			return heldM.read(b)
		case codeL:
			return heldL.read(b)
		}
		return false
	},
	spans: func(dst []span, b []byte) []span {
		switch codeOf(b) {
		case codeS:
			return spansS(dst, b)
		case codeM:
			return spansM(dst, b)
		case codeL:
			return spansL(dst, b)
		}
		return dst
	},
	write: func(dst, b []byte) []byte {
		switch codeOf(b) {
		case codeS:
			return handS.write(dst, b)
		case codeM:
			return handM.write(dst, b)
		case codeL:
			return handL.write(dst, b)
		}
		return dst
	},
	json: func(e *json.Encoder, b []byte) error {
		switch codeOf(b) {
		case codeS:
			return handS.json(e, b)
		case codeM:
			return handM.json(e, b)
		case codeL:
			return handL.json(e, b)
		}
		return nil
	},
}

// some returns a random message of a shape. Positions are realistic: a few digits before the point, noise after it.
func some(r *rand.Rand, code uint16) []byte {
	b := make([]byte, 600)
	position := func() float32 { return float32(r.Float64()*2000 - 1000) }
	elem := func() elemL {
		return elemL{r.Uint64() >> 8, position(), position(), r.Uint32() >> 12, r.Int32() >> 16, uint8(r.IntN(5))}
	}
	switch code {
	case codeS:
		m := shapeS{r.Uint32(), position(), position(), position(), int16(r.Uint32()), uint16(r.IntN(300)), uint16(r.IntN(16)), r.Uint32()}
		return m.write(b, code)
	case codeM:
		m := shapeM{r.Uint64(), []byte("abcdefghijklmnopqrstuvwxyzabcdef")[:12+r.IntN(15)], uint16(r.IntN(70)), 1, 2, r.Uint32() >> 20, r.Uint32(), r.Uint64() >> 24, r.Uint32() >> 16, r.Uint32() >> 16}
		return m.write(b, code)
	case codeL:
		m := shapeL{Kind: r.Uint32(), Flags: 3}
		for range 20 {
			m.List = append(m.List, elem())
		}
		return m.write(b, code)
	}
	m := shapeT{Kind: r.Uint32(), Flags: 3}
	for range 20 {
		m.List = append(m.List, elem())
	}
	return m.write(b, code)
}

func shapes(t testing.TB) []shape {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	all := [5]*codec.Program{}
	for i, m := range []*schema.Message{schemaS(), schemaM(), schemaL(), schemaT()} {
		all[i+1] = program(t, m)
	}
	// Enough messages that branch predictors cannot learn their order, and few enough that they stay in the cache.
	const bytes = 1 << 18
	make1 := func(name string, h hand, code func() uint16) shape {
		s := shape{name: name, programs: all, hand: h}
		for size := 0; size < bytes; {
			m := some(r, code())
			s.messages = append(s.messages, m)
			size += len(m)
		}
		return s
	}
	only := func(c uint16) func() uint16 { return func() uint16 { return c } }
	mix := func() uint16 {
		switch k := r.IntN(100); {
		case k < 70:
			return codeS
		case k < 95:
			return codeM
		}
		return codeL
	}
	return []shape{
		make1("S", handS, only(codeS)), make1("M", handM, only(codeM)), make1("L", handL, only(codeL)), make1("X", handX, mix),
		make1("T", handT, only(codeT)),
	}
}

// job is one operation on messages, by a program or by manual code.
type job struct {
	name string
	run  func(rounds int) // over all messages of the shape
}

// jobs alternates the operations to compare: program, hand, program, hand, ...
func (s *shape) jobs(t testing.TB) []job {
	var rec, out codec.Record
	var leaves []codec.Leaf
	var spans []span
	var text []byte
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	dst := make([]byte, 1024)
	each := func(do func(b []byte)) func(int) {
		return func(rounds int) {
			for range rounds {
				for _, b := range s.messages {
					do(b)
				}
			}
		}
	}
	h := &s.hand
	return []job{
		{"rows", each(func(b []byte) {
			s.programs[codeOf(b)].Decode(&rec, b)
			leaves = rec.AppendLeaves(leaves[:0])
		})},
		{"rows by hand", each(func(b []byte) { spans = h.spans(spans[:0], b) })},
		{"encode", each(func(b []byte) {
			p := s.programs[codeOf(b)]
			p.Decode(&rec, b)
			if err := p.Encode(&out, &rec); err != nil {
				t.Fatal(err)
			}
		})},
		{"encode by hand", each(func(b []byte) { h.write(dst, b) })},
		{"json", each(func(b []byte) {
			s.programs[codeOf(b)].Decode(&rec, b)
			text = value.AppendJSON(text[:0], &rec)
		})},
		{"json by hand", each(func(b []byte) {
			buf.Reset()
			if err := h.json(enc, b); err != nil {
				t.Fatal(err)
			}
		})},
	}
}

// TestByHand checks that both sides of the benchmarks produce the same results.
func TestByHand(t *testing.T) {
	for _, s := range shapes(t) {
		var rec, out codec.Record
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		dst := make([]byte, 1024)
		for _, b := range s.messages[:50] {
			p := s.programs[codeOf(b)]
			p.Decode(&rec, b)
			if rec.Status() != codec.OK || !s.hand.read(b) {
				t.Fatalf("%s: %x: %v: %s", s.name, b, rec.Status(), problems(&rec))
			}
			spans, leaves := s.hand.spans(nil, b), rec.AppendLeaves(nil)
			if len(spans) != len(leaves) {
				t.Fatalf("%s: %d leaves, %d spans by hand", s.name, len(leaves), len(spans))
			}
			for i, l := range leaves {
				if x := (span{l.Field, uint16(l.Len), l.Off, l.Raw}); x != spans[i] {
					t.Fatalf("%s: leaf %+v, by hand %+v", s.name, x, spans[i])
				}
			}
			if err := p.Encode(&out, &rec); err != nil || !bytes.Equal(out.Data, b) || !bytes.Equal(s.hand.write(dst, b), b) {
				t.Fatalf("%s: %v, %x, want %x", s.name, err, out.Data, b)
			}
			buf.Reset()
			if err := s.hand.json(enc, b); err != nil {
				t.Fatal(err)
			}
			if s.name == "S" || s.name == "M" { // 32-bit floats are formatted differently there
				continue
			}
			if got := value.AppendJSON(nil, &rec); strings.Count(string(got), ",") != strings.Count(buf.String(), ",") {
				t.Fatalf("%s:\n got %s\nwant %s", s.name, got, buf.Bytes())
			}
		}
	}
}

// limits holds the maximum ratios, the target ratios, and the ratios at which the benchmark fails, for the mix (X) and for any shape; 0 =
// report only. JSON ratios are inverted: how many times as fast.
var limits = []struct {
	name             string
	must, aim        float64
	failMix, failAny float64
}{{"rows", 4, 1.8, 0, 0}, {"encode", 4, 2, 4, 4}, {"json", 1.0 / 2, 1.0 / 3, 1.0 / 2, 0.6}}

// BenchmarkMustRatios compares programs with manual code for the same messages, interleaved, and uses the minimum time of many rounds of each.
func BenchmarkMustRatios(b *testing.B) {
	for _, s := range shapes(b) {
		jobs := s.jobs(b)
		best := make([]float64, len(jobs))
		for i := range best {
			best[i] = math.Inf(1)
			jobs[i].run(2)
		}
		most := func(l int) float64 {
			if s.name == "X" {
				return cmp.Or(limits[l].failMix, math.Inf(1))
			}
			return cmp.Or(limits[l].failAny, math.Inf(1))
		}
		over := func(l int) bool { return best[2*l]/best[2*l+1] > most(l) }
		const rounds, more = 21, 5
		for k := 0; k < rounds || k < more*rounds && (over(1) || over(2)); k++ {
			for i, j := range jobs {
				n := 4
				if strings.HasPrefix(j.name, "json") {
					n = 1
				}
				start := time.Now()
				j.run(n)
				best[i] = min(best[i], float64(time.Since(start).Nanoseconds())/float64(n*len(s.messages)))
			}
		}
		var line strings.Builder
		fmt.Fprintf(&line, "%s:", s.name)
		for i, l := range limits {
			ratio := best[2*i] / best[2*i+1]
			fmt.Fprintf(&line, "  %s %.1f/%.1f = %.2f", l.name, best[2*i], best[2*i+1], ratio)
			switch {
			case ratio > l.must:
				line.WriteString(" OVER")
			case ratio > l.aim:
				line.WriteString(" ok")
			default:
				line.WriteString(" aim")
			}
			benchtest.Within(b, s.name+"-"+l.name+"-times-hand", ratio, most(i))
		}
		b.Log(line.String())
	}
	b.ReportMetric(0, "ns/op")
}

func BenchmarkShapes(b *testing.B) {
	for _, s := range shapes(b) {
		for _, j := range s.jobs(b) {
			b.Run(s.name+"/"+strings.ReplaceAll(j.name, " ", "_"), func(b *testing.B) {
				b.ReportAllocs()
				j.run(1)
				b.ResetTimer()
				for range b.N {
					j.run(1)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(s.messages)), "ns/message")
			})
		}
	}
}

// BenchmarkCompile compiles every definition of the corpus from its text.
func BenchmarkCompile(b *testing.B) {
	defs := corpora.Largest(b).Files(b, "tera/toolbox/definitions/*.def")
	b.ResetTimer()
	for range b.N {
		for name, text := range defs {
			s, _ := tera.Parse([]*source.File{source.New(name, text)}, schema.Options{})
			for _, m := range s.Messages {
				if _, err := codec.Compile(m); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(defs)), "µs/definition")
}
