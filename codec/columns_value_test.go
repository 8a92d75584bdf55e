package codec_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// TestColumnNumbers reads numbers of all kinds as Go's.
func TestColumnNumbers(t *testing.T) {
	type want struct {
		i         int64
		u         uint64
		f         float64
		isI, isU  bool
		notNumber bool
	}
	for _, c := range []struct {
		name string
		typ  schema.Type
		data []byte
		want want
	}{
		{"u8", unsigned(8), []byte{0xfe}, want{254, 254, 254, true, true, false}},
		{"u64 small", unsigned(64), []byte{1, 0, 0, 0, 0, 0, 0, 0}, want{1, 1, 1, true, true, false}},
		{"u64 large", unsigned(64), []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, want{0, 1 << 63, 1 << 63, false, true, false}},
		{"i8", integer(8), []byte{0xfe}, want{-2, 0, -2, true, false, false}},
		{"i24", integer(24), []byte{0xff, 0xff, 0x7f}, want{1<<23 - 1, 1<<23 - 1, 1<<23 - 1, true, true, false}},
		{"i64", integer(64), []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, want{math.MinInt64, 0, math.MinInt64, true, false, false}},
		{"big-endian", big(16), []byte{1, 2}, want{258, 258, 258, true, true, false}},
		{"f32", float(32), []byte{0, 0, 0xc0, 0xbf}, want{0, 0, -1.5, false, false, false}},
		{"f64", float(64), []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, want{0, 0, 1.5, false, false, false}},
		{"scaled", &schema.Number{Bits: 16, Scale: 0.25}, []byte{6, 0}, want{0, 0, 1.5, false, false, false}},
		{"scaled and signed", &schema.Number{Bits: 16, Kind: schema.Signed, Scale: 0.5}, []byte{0xff, 0xff}, want{0, 0, -0.5, false, false, false}},
		{"bool", &schema.Number{Bits: 8, Kind: schema.Bool}, []byte{7}, want{1, 1, 1, true, true, false}},
		{"text", fixedText(2), []byte{'a', 0}, want{notNumber: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(t, message("m", record(field("x", c.typ))))
			var cols columns.Set
			cols.Append(p, c.data, []columns.Span{{Len: uint32(len(c.data))}, {Len: uint32(len(c.data)) - 1}})
			i, isI := cols.Int(0, 0)
			u, isU := cols.Uint(0, 0)
			f, isF := cols.Float(0, 0)
			if i != c.want.i || isI != c.want.isI || u != c.want.u || isU != c.want.isU || f != c.want.f || isF == c.want.notNumber {
				t.Errorf("int %d %v, uint %d %v, float %v %v; want %+v", i, isI, u, isU, f, isF, c.want)
			}
			b, isB := cols.Bytes(0, 0)
			if isB != c.want.notNumber || isB && string(b) != "a" {
				t.Errorf("bytes %q %v", b, isB)
			}
			for _, row := range []int{-1, 1, 2} { // outside, cut off, outside
				_, isI = cols.Int(0, row)
				_, isU = cols.Uint(0, row)
				_, isF = cols.Float(0, row)
				_, isB = cols.Bytes(0, row)
				if isI || isU || isF || isB || cols.Has(0, row) {
					t.Errorf("there is a value in row %d", row)
				}
			}
			if cols.Has(1, 0) || cols.Rows(1) != 0 || listSize(&cols, 1, 0) != 0 || cols.Message(0, 2) != -1 || cols.Message(0, 1) != 1 {
				t.Error("there is what cannot be")
			}
		})
	}
}

// TestColumnsOfWrongSpans reads messages that are not in the data, or partly so: they are cut off there.
func TestColumnsOfWrongSpans(t *testing.T) {
	for _, s := range shapes(t) {
		if s.name == "X" {
			continue
		}
		p, data := s.programs[codeOf(s.messages[0])], s.messages[0]
		n := uint32(len(data))
		var c columns.Set
		var spans []columns.Span
		for _, at := range [][2]uint32{{0, n}, {0, n + 1}, {1, n}, {n, 0}, {n, 5}, {n + 1, 1}, {math.MaxUint32, math.MaxUint32}, {0, math.MaxUint32}, {n - 1, 1}, {0, 1}, {0, n}} {
			spans = append(spans, columns.Span{Off: at[0], Len: at[1]})
		}
		if k := c.Append(p, data, spans); k != len(spans) {
			t.Fatalf("%s: %d of %d", s.name, k, len(spans))
		}
		var frames [][]byte
		for i, at := range spans {
			from := min(uint64(at.Off), uint64(n))
			frames = append(frames, data[from:min(from+uint64(at.Len), uint64(n))])
			spans[i] = columns.Span{Off: uint32(from), Len: uint32(len(frames[i]))}
		}
		sameColumns(t, p, &c, frames, spans)
	}
}

// TestColumnsAllocateNothing holds it for memory that has grown to what the messages need: right and wrong ones, simple and not. Decode
// itself remembers the elements of a wrong chain.
func TestColumnsAllocateNothing(t *testing.T) {
	check := func(name string, p *codec.Program, frames [][]byte) {
		var c columns.Set
		data, messages := packed(frames)
		do := func() {
			c.Reset()
			c.Append(p, data, messages)
		}
		c.SelectAll(p)
		do()
		var rec codec.Record
		decode := func() {
			for _, f := range frames {
				p.Decode(&rec, f)
			}
		}
		decode()
		if n, own := testing.AllocsPerRun(20, do), testing.AllocsPerRun(20, decode); n > own {
			t.Errorf("%s: %v allocations, %v of them by Decode", name, n, own)
		}
	}
	for _, s := range shapes(t) {
		if s.name != "X" {
			check(s.name, s.programs[codeOf(s.messages[0])], s.messages) // Decode allocates nothing for these: see TestNoAllocations
		}
	}
	for i, p := range fuzzPrograms() {
		r := rand.New(rand.NewPCG(uint64(i), 10))
		var frames [][]byte
		for _, e := range value.Examples(p, 4, uint64(i), 4660) {
			frames = append(frames, damaged(r, e.Data)...)
		}
		check(p.Message.Name, p, frames)
	}
}

// TestSelectedColumns holds that a choice is kept, brings the lists around a field, and ends with another program.
func TestSelectedColumns(t *testing.T) {
	p := compile(t, "C_A.1.def", "int32 n\narray list\n- int16 a\n- array inner\n- - int32 x\n- - string s\n", schema.Options{})
	other := program(t, message("m", record(field("x", unsigned(8)))))
	at := func(path string) uint16 {
		i := slices.IndexFunc(p.Fields, func(f codec.FieldInfo) bool { return f.Name == path })
		if i < 0 {
			t.Fatal("no field " + path)
		}
		return uint16(i)
	}
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, []byte(`{"n":1,"list":[{"a":2,"inner":[{"x":3,"s":"q"},{"x":4}]},{"inner":[{"x":5}]}]}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(err)
	}
	data := bytes.Clone(out.Data)
	one := []columns.Span{{Len: uint32(len(data))}}
	var c columns.Set
	c.Select(p, at("x"), 9999)
	for range 2 {
		c.Append(p, data, one)
		if got := c.Numbers(at("x")); !slices.Equal(got, []uint64{3, 4, 5}) {
			t.Errorf("x: %v", got)
		}
		if got := c.First(at("inner")); !slices.Equal(got, []uint32{0, 2, 3}) {
			t.Errorf("inner: %v", got)
		}
		if listSize(&c, at("list"), 0) != 2 || c.Numbers(at("n")) != nil || c.Spans(at("s")) != nil || c.Rows(at("a")) != 0 {
			t.Error("other fields than the chosen ones have columns, or the lists do not")
		}
		c.Reset()
	}
	two := []columns.Span{{Off: 0, Len: 1}, {Off: 1, Len: 1}}
	c.Append(p, data, one)
	if n := c.Append(other, []byte{7, 8}, two); n != 0 || c.Program != p || c.N != 1 {
		t.Errorf("%d rows of another program beside %d", n, c.N)
	}
	c.Reset()
	if n := c.Append(other, []byte{7, 8}, two); n != 2 || !slices.Equal(c.Numbers(0), []uint64{7, 8}) || c.Program != other {
		t.Errorf("of another program: %d, %v", n, c.Numbers(0))
	}
}
