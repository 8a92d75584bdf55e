package corpus_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"wirebench/codec"
	"wirebench/codec/corpus"
)

// benchFrames returns messages with repeating and unique numbers, a text and a list.
func benchFrames(b *testing.B) (*codec.Program, [][]byte) {
	b.Helper()
	p := compile(b, "tera", "S_BENCH.1.def",
		"uint64 id\nint32 kind\nvec3 loc\nangle w\nint32 serial\nbool alive\nint16 level\nstring name\narray marks\n- int32 id\n- int16 value\n")
	rng := rand.New(rand.NewPCG(1, 2))
	frames := make([][]byte, 1<<16)
	for i := range frames {
		frames[i] = encode(b, p, fmt.Sprintf(`{"id":"%d","kind":%d,"loc":{"x":%g,"y":%g,"z":1},"w":0,"serial":%d,"alive":true,"level":%d,"name":"name%d","marks":[{"id":%d,"value":1},{"id":5,"value":%d}]}`,
			rng.Uint64(), rng.IntN(8), rng.Float32(), rng.Float32(), i, rng.IntN(65), rng.IntN(3000), rng.IntN(100), rng.IntN(9)))
	}
	return p, frames
}

// BenchmarkTable adds a million messages in slightly more than 15 rounds of 65,536.
func BenchmarkTable(b *testing.B) {
	p, frames := benchFrames(b)
	b.ResetTimer()
	for range b.N {
		t := corpus.NewTable(p)
		for i := range 1_000_000 {
			t.Add(uint64(i), frames[i&(len(frames)-1)])
		}
		t.Columns()
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/million")
}

func BenchmarkBytes(b *testing.B) {
	_, frames := benchFrames(b)
	b.ResetTimer()
	for range b.N {
		var t corpus.Bytes
		for i := range 1_000_000 {
			t.Add(uint64(i), frames[i&(len(frames)-1)])
		}
		t.Columns()
		t.Guesses()
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/million")
}

func BenchmarkCells(b *testing.B) {
	p, frames := benchFrames(b)
	c := corpus.NewCells(p, []string{"name", "loc", "marks.id", "serial"})
	var rec codec.Record
	var out []string
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Decode(&rec, frames[i&(len(frames)-1)])
		out = c.Append(out[:0], &rec)
	}
}
