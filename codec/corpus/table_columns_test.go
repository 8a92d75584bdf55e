package corpus_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/corpus"
	"wirebench/codec/value"
)

// byColumns returns the table of messages added in batches, by columns.
func byColumns(p *codec.Program, frames [][]byte, block func() int) *corpus.Table {
	t := corpus.NewTable(p)
	var c columns.Set
	for from := 0; from < len(frames); {
		to := min(from+block(), len(frames))
		data := []byte{0xa5}
		var spans []columns.Span
		var n []uint64
		for i := from; i < to; i++ {
			spans = append(spans, columns.Span{Off: uint32(len(data)), Len: uint32(len(frames[i]))})
			data = append(append(data, frames[i]...), 0x5a)
			n = append(n, frameNumber(i))
		}
		c.Reset()
		c.Append(p, data, spans)
		t.AddColumns(&c, n)
		clear(data) // the bytes must not be retained
		from = to
	}
	return t
}

func frameNumber(i int) uint64 { return uint64(3*i + 7) }

// sameByColumns compares all statistics with those of messages added one by one.
func sameByColumns(t failer, p *codec.Program, frames [][]byte, block func() int) {
	one := corpus.NewTable(p)
	for i, f := range frames {
		one.Add(frameNumber(i), f)
	}
	all := byColumns(p, frames, block)
	if diff := gocmp.Diff(one.Columns(), all.Columns()); diff != "" {
		t.Fatalf("%s: one by one and by columns: %s\n%x", p.Message.Name, diff, frames[:min(len(frames), 20)])
	}
	a, b := one.Bad()
	c, d := all.Bad()
	if a != c || b != d || one.Messages() != all.Messages() {
		t.Fatalf("%s: %d incomplete and %d illegal of %d, by columns %d and %d of %d", p.Message.Name, a, b, one.Messages(), c, d, all.Messages())
	}
}

// mixed returns valid, truncated, corrupted, repeated and random messages.
func mixed(r *rand.Rand, p *codec.Program, examples int) (frames [][]byte) {
	for _, e := range value.Examples(p, examples, r.Uint64(), 7) {
		frames = append(frames, e.Data)
		for range r.IntN(3) {
			frames = append(frames, e.Data)
		}
		if len(e.Data) == 0 {
			continue
		}
		changed := bytes.Clone(e.Data)
		for range 1 + r.IntN(3) {
			changed[r.IntN(len(changed))] = byte(r.Uint32())
		}
		frames = append(frames, e.Data[:r.IntN(len(e.Data))], changed, e.Data)
	}
	for range 4 {
		random := make([]byte, r.IntN(60))
		for k := range random {
			random[k] = byte(r.Uint32() >> (r.Uint32() % 20))
		}
		frames = append(frames, random)
	}
	return frames
}

func TestColumnsOfTheLibraryGiveTheSameFigures(t *testing.T) {
	for i, p := range libraryPrograms() {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		sameByColumns(t, p, mixed(r, p, 5), func() int { return 1 + r.IntN(30) })
	}
}

func TestColumnsOfAnyDefinitionGiveTheSameFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		frames := mixed(r, p, rapid.IntRange(0, 8).Draw(t, "examples"))
		most := rapid.IntRange(1, 60).Draw(t, "block")
		sameByColumns(t, p, frames, func() int { return 1 + r.IntN(most) })
	})
}

// TestColumnsOfManyMessagesGiveTheSameFigures has numbers and texts that repeat in runs, rise, fall, and exceed the limit of counted
// values.
func TestColumnsOfManyMessagesGiveTheSameFigures(t *testing.T) {
	p := compile(t, "tera", "C_T.1.def", "int32 run\nint64 up\nfloat any\nbool b\nstring s\nbytes data\narray<int16> marks\narray list\n- int32 id\n- string name\n")
	r := rand.New(rand.NewPCG(5, 6))
	var frames [][]byte
	var last string
	for i := range 3000 {
		if i == 0 || r.IntN(3) > 0 {
			last = fmt.Sprintf(`{"run":%d,"up":"%d","any":%g,"b":%v,"s":%q,"data":"%x","marks":[%d,%d,7],"list":[{"id":%d,"name":%q},{"id":%d,"name":"x"}]}`,
				i/40, i, r.Float32(), i%50 > 3, strings.Repeat("ü", r.IntN(3)*150), strings.Repeat("q", r.IntN(4)), 5000-i, 5000-i, i/9, fmt.Sprint("n", i/6), i)
		}
		frames = append(frames, encode(t, p, last))
	}
	for _, block := range []int{1, 7, 1024, 5000} {
		sameByColumns(t, p, frames, func() int { return block })
	}
}

// TestColumnsShareMemoryAsMessagesDo has more values than fit the memory: the same ones are counted individually.
func TestColumnsShareMemoryAsMessagesDo(t *testing.T) {
	const fields, all = 36, 40000
	p := compile(t, "tera", "C_T.1.def", manyFields(fields)+"string s\n")
	data := encode(t, p, `{"s":"0000000"}`)
	frames := make([][]byte, all)
	for i := range frames {
		f := bytes.Clone(data)
		for k := range fields {
			if k%2 == 0 || i > 100 { // so that not all need more memory at the same message
				binary32(f[6+8*k:], uint32(i+1)*0x9e3779b1)
			}
		}
		frames[i] = f
	}
	sameByColumns(t, p, frames, func() int { return 1000 })
}

func manyFields(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "uint64 n%d\n", i)
	}
	return text.String()
}

// BenchmarkTableColumns adds the messages of BenchmarkTable by columns.
func BenchmarkTableColumns(b *testing.B) {
	p, frames := benchFrames(b)
	var data []byte
	spans, n := make([]columns.Span, len(frames)), make([]uint64, len(frames))
	for i, f := range frames {
		spans[i], n[i] = columns.Span{Off: uint32(len(data)), Len: uint32(len(f))}, uint64(i)
		data = append(data, f...)
	}
	b.ResetTimer()
	for range b.N {
		t := corpus.NewTable(p)
		var c columns.Set
		const block = 512
		for i := range 1_000_000 / block {
			at := i * block & (len(frames) - 1)
			c.Reset()
			c.Append(p, data, spans[at:at+block])
			t.AddColumns(&c, n[at:at+block])
		}
		t.Columns()
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/million")
}
