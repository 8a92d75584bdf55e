package codec_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// words returns a message of 16-bit numbers and sets its length.
func words(w ...uint16) []byte {
	b := make([]byte, 2*len(w))
	for i, v := range w {
		binary.LittleEndian.PutUint16(b[2*i:], v)
	}
	return sized(b)
}

func sized(b []byte) []byte {
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	return b
}

// hostile is a message that claims more than it contains.
type hostile struct {
	name, def string
	data      []byte
	want      codec.Status
	problem   codec.ProblemCode // its last problem, if it is not OK
	nodes     int               // maximum
	text      int               // maximum bytes of JSON
}

func hostiles() []hostile {
	const nested = "array a\n- array b\n- - array c\n- - - byte x\n"
	const bare = "array a\n"
	var out []hostile
	add := func(name, def string, want codec.Status, problem codec.ProblemCode, nodes, text int, data []byte) {
		out = append(out, hostile{name, def, data, want, problem, nodes, text})
	}
	add("loop_of_one", "array<int16> a\n", codec.Illegal, codec.ChainCycle, 4, 100, words(0, 0, 65535, 8, 8, 8, 1))
	add("loop_of_two", "array<int16> a\n", codec.Illegal, codec.ChainCycle, 5, 100, words(0, 0, 65535, 8, 8, 14, 1, 14, 8, 2))
	add("nested_loops", nested, codec.Illegal, codec.ChainCycle, 50, 1000, words(0, 0, 65535, 8, 8, 8, 65535, 8, 65535, 8, 65535, 8))
	// Each element of a continuing chain is also the start of an inner continuing chain, and so on.
	chain := make([]uint16, 4, 32000)
	chain[2], chain[3] = 65535, 8
	for at := 8; len(chain) < 32000; at += 8 {
		chain = append(chain, uint16(at), uint16(at+8), 65535, uint16(at+8))
	}
	add("nested_counts", nested, codec.Illegal, codec.TooComplex, 270_000, 40<<20, words(chain...))
	add("offset_into_header", bare, codec.Illegal, codec.OffsetInHeader, 3, 100, words(0, 0, 1, 2))
	add("offset_past_end", bare, codec.Illegal, codec.OffsetOutside, 3, 100, words(0, 0, 1, 65535))
	add("offset_at_end", bare, codec.Illegal, codec.PastFrame, 4, 100, words(0, 0, 1, 8))
	add("text_offset_into_header", "string s\n", codec.Illegal, codec.OffsetInHeader, 3, 100, words(0, 0, 3))
	add("text_offset_past_end", "string s\n", codec.Illegal, codec.OffsetOutside, 3, 100, words(0, 0, 9))
	add("text_without_end", "string s\n", codec.Illegal, codec.NotTerminated, 3, 100, words(0, 0, 6, 'a', 'b'))
	add("bytes_past_end", "bytes s\n", codec.Illegal, codec.ContentsOutside, 3, 100, words(0, 0, 8, 3, 1))
	// Every element refers to the same text, which is as long as the message permits.
	shared := make([]byte, 65534)
	n := 600
	at := uint16(8)
	for i := range n {
		next := at + 6
		if i == n-1 {
			next = 0
		}
		for k, v := range []uint16{at, next, uint16(8 + 6*n)} {
			binary.LittleEndian.PutUint16(shared[int(at)+2*k:], v)
		}
		at += 6
	}
	for i := 8 + 6*n; i < len(shared)-2; i += 2 {
		shared[i] = 1 // a character that takes six bytes in JSON
	}
	binary.LittleEndian.PutUint16(shared[4:], uint16(n))
	binary.LittleEndian.PutUint16(shared[6:], 8)
	add("one_text_for_all", "array a\n- string s\n", codec.Illegal, codec.TooComplex, 2000, 10<<20, sized(shared))
	// A chain of jumps back and forth: every other step checks whether the position was visited.
	zigzag := make([]uint16, 32760)
	zigzag[2], zigzag[3] = 65535, 8
	lo, hi := 8, 2*len(zigzag)-4
	for lo+4 < hi {
		zigzag[lo/2], zigzag[lo/2+1] = uint16(lo), uint16(hi)
		zigzag[hi/2], zigzag[hi/2+1] = uint16(hi), uint16(lo+4)
		lo, hi = lo+4, hi-4
	}
	add("zigzag", bare, codec.Illegal, codec.TooComplex, 20_000, 100_000, words(zigzag...))
	add("childless", bare, codec.Illegal, codec.ChainCycle, 5, 100, words(0, 0, 65535, 8, 8, 8))
	// A valid message with as many empty elements as fit.
	many := make([]uint16, 4, 32760)
	for at := 8; len(many) < 32758; at += 4 {
		many = append(many, uint16(at), uint16(at+4))
	}
	many[len(many)-1] = 0
	many[2], many[3] = uint16(len(many)/2-2), 8
	add("many_childless", bare, codec.OK, 0, 17_000, 100_000, words(many...))
	return out
}

// TestHostile bounds the work that hostile messages can cause, in nodes and bytes of text instead of time.
func TestHostile(t *testing.T) {
	cuts := 8
	if testing.Short() {
		cuts = 1
	}
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			p := compile(t, "C_H.1.def", h.def, schema.Options{})
			var rec codec.Record
			p.Decode(&rec, h.data)
			if rec.Status() != h.want || h.want != codec.OK && rec.Problems[len(rec.Problems)-1].Code != h.problem {
				t.Fatalf("%v: %s", rec.Status(), problems(&rec))
			}
			if len(rec.Nodes) > h.nodes {
				t.Errorf("%d nodes, at most %d are right", len(rec.Nodes), h.nodes)
			}
			text := value.AppendJSON(nil, &rec)
			if len(text) > h.text || !json.Valid(text) {
				t.Errorf("%d bytes of text, at most %d are right", len(text), h.text)
			}
			inspect(t, &rec, h.data)
			sameRecord(t, p, &rec, h.data)
			for n := 0; n < len(h.data); n += 1 + len(h.data)/cuts {
				p.Decode(&rec, h.data[:n])
				inspect(t, &rec, h.data[:n])
			}
		})
	}
}

// TestCorporaTruncation truncates every message of the vectors to every length.
func TestCorporaTruncation(t *testing.T) { corpora.Run(t, testTruncation) }

func testTruncation(t *testing.T, c *corpora.Corpus) {
	var rec codec.Record
	var text []byte
	vectors(t, c, func(i int, v vector, p *codec.Program) {
		data, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		p.Decode(&rec, data)
		sameRecord(t, p, &rec, data)
		step := 1 + len(data)/300
		for n := 0; n < len(data); n += step {
			p.Decode(&rec, data[:n])
			if rec.Status() != codec.Incomplete || rec.Used != n || len(rec.Nodes) > len(data)+4 {
				t.Fatalf("vector %d, %s, %d of %d bytes: %v, used %d, %d nodes: %s", i, v.Def, n, len(data), rec.Status(), rec.Used, len(rec.Nodes), problems(&rec))
			}
			if n%5 != 0 {
				continue
			}
			if text = value.AppendJSON(text[:0], &rec); !json.Valid(text) || len(text) > 100*(len(data)+100) {
				t.Fatalf("vector %d, %s, %d of %d bytes: %s", i, v.Def, n, len(data), text)
			}
			if n%15 == 0 { // the same with a matching length field
				cut := bytes.Clone(data[:n])
				if n >= 2 {
					sized(cut)
				}
				p.Decode(&rec, cut)
				inspect(t, &rec, cut)
				sameRecord(t, p, &rec, cut)
			}
		}
	})
}

func BenchmarkHostile(b *testing.B) {
	for _, h := range hostiles() {
		p := compile(b, "C_H.1.def", h.def, schema.Options{})
		var rec codec.Record
		var text []byte
		b.Run(h.name, func(b *testing.B) {
			for range b.N {
				p.Decode(&rec, h.data)
				text = value.AppendJSON(text[:0], &rec)
			}
			b.ReportMetric(float64(len(rec.Nodes)), "nodes")
			b.ReportMetric(float64(len(text)), "text-bytes")
		})
	}
}

// TestTooMuchFromNothing has definitions whose empty value would be huge.
func TestTooMuchFromNothing(t *testing.T) {
	var in codec.Record
	byteList := func(n int) *schema.List { return bareList(unsigned(8), schema.Extent{Size: schema.Fixed, N: n}) }
	p := program(t, message("m", record(field("a", bareList(byteList(8000), schema.Extent{Size: schema.Fixed, N: 8000})))))
	if err := value.ParseJSON(&in, p, []byte(`{}`)); err == nil {
		t.Errorf("64 million numbers out of nothing: %v", err)
	}
	big := field("big", &schema.Blob{Extent: schema.Extent{Size: schema.Fixed, N: 1 << 20}})
	list := field("list", &schema.List{Elem: record(big), Extent: schema.Extent{Size: schema.ToEnd}})
	p = program(t, message("m", record(list)))
	text := "[" + string(bytes.Repeat([]byte("{},"), 100)) + "{}]"
	if err := value.ParseJSON(&in, p, []byte(`{"list":`+text+`}`)); err == nil {
		t.Error("100 MiB out of 300 bytes")
	}
	_, err := codec.Compile(message("m", record(field("a", bareList(byteList(1<<23), schema.Extent{Size: schema.Fixed, N: 100})))))
	if err == nil {
		t.Error("a message of 800 MiB at least")
	}
	// Deep definitions and deep values.
	s := record(field("x", unsigned(8)))
	for i := range 100 {
		s = record(field(fmt.Sprint("g", i), &schema.Group{Struct: s}))
	}
	if _, err := codec.Compile(message("m", s)); err == nil {
		t.Error("a hundred groups in each other")
	}
}
