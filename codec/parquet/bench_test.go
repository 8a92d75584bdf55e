package parquet

import (
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// eight is a message of eight fields.
const eight = `uint64 who
uint32 place
float x
float y
float z
int16 turn
byte kind
string text
`

// BenchmarkWrite writes messages of eight fields. Its baseline writes the same messages as JSON.
func BenchmarkWrite(b *testing.B) {
	s, ds := defs.Load([]*source.File{source.New("C_EIGHT.1.def", eight)}, "tera", schema.Options{})
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		b.Fatal(ds, err)
	}
	const rows = 1 << 15
	rng := rand.New(rand.NewPCG(1, 1))
	var data []byte
	var spans []columns.Span
	frames := make([]Frame, rows)
	examples := value.Examples(p, 64, 1, 4660)
	for i := range rows {
		e := examples[rng.IntN(len(examples))].Data
		spans = append(spans, columns.Span{Off: uint32(len(data)), Len: uint32(len(e))})
		data = append(data, e...)
		frames[i] = Frame{Capture: "a.pcap", Conn: "10.0.0.1:4000-10.0.0.2:7801", Dir: schema.ToServer, At: time.Unix(1e9, int64(i)*1e6+int64(rng.IntN(1e5))), N: uint64(i), Code: 4660, HasCode: true, Length: uint32(len(e))}
	}
	data = append(data, make([]byte, 8)...)
	b.Run("json", func(b *testing.B) {
		var rec codec.Record
		var text []byte
		for b.Loop() {
			for _, s := range spans {
				p.Decode(&rec, data[s.Off:][:s.Len])
				text = value.AppendJSON(text[:0], &rec)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	})
	b.Run("parquet", func(b *testing.B) {
		var set columns.Set
		set.SelectWhole(p)
		sc := Of(p)
		n := counter(0)
		for b.Loop() {
			n = 0
			w := NewWriter(&n, sc, nil)
			set.Reset()
			set.Append(p, data, spans)
			if err := w.Write(&set, frames); err != nil {
				b.Fatal(err)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		b.ReportMetric(float64(n)/rows, "B/row")
	})
}

type counter int

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

var _ io.Writer = new(counter)
