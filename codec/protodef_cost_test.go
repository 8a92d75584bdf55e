package codec_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/benchtest"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// costly defines messages of which a few bytes claim many values.
const costly = `{"types": {
	"deep": ["container", [{"name": "next", "type": ["option", "deep"]}]],
	"wide": ["container", [{"name": "kids", "type": ["array", {"countType": "varint", "type": "wide"}]}]],
	"bits": ["container", [{"name": "b", "type": ["array", {"countType": "varint", "type": "wide"}]}, {"name": "next", "type": ["option", "bits"]}]],
	"packet": ["container", [
		{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {
			"0": "depth", "1": "width", "2": "void", "3": "empty", "4": "computed", "5": "text", "6": "tags", "7": "both", "8": "until", "9": "choices"
		}}]},
		{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {
			"depth": ["container", [{"name": "d", "type": "deep"}]],
			"width": ["container", [{"name": "w", "type": "wide"}]],
			"void": ["container", [{"name": "l", "type": ["array", {"countType": "varint", "type": "void"}]}]],
			"empty": ["container", [{"name": "n", "type": "u8"}, {"name": "l", "type": ["array", {"countType": "varint", "type": ["container", [
				{"name": "x", "type": ["switch", {"compareTo": "../n", "fields": {"1": "i8"}, "default": "void"}]}
			]]}]}]],
			"computed": ["container", [{"name": "a", "type": "u32"}, {"name": "b", "type": "u32"}, {"name": "l", "type": ["array", {"count": "a * b", "type": ["array", {"count": "a", "type": "u8"}]}]}]],
			"text": ["container", [{"name": "s", "type": ["array", {"countType": "varint", "type": ["pstring", {"countType": "varint"}]}]}]],
			"tags": ["container", [{"name": "root", "type": "nbt"}]],
			"both": ["container", [{"name": "b", "type": "bits"}]],
			"until": ["container", [{"name": "l", "type": ["entityMetadataLoop", {"endVal": 255, "type": ["container", [
				{"name": "k", "type": "varint"}, {"name": "o", "type": ["option", ["array", {"countType": "varint", "type": "void"}]]}
			]]}]}]],
			"choices": ["container", [{"name": "l", "type": ["array", {"countType": "varint", "type": ["option", ["option", ["option", "void"]]]}]}]]
		}}]}
	]]
}}`

// claims are bytes after the code of a message that repeat, each of which claims as much as possible.
var claims = [][]byte{
	{0},
	{1},
	{2},
	{0x7f},
	{0xff},
	{0xff, 0xff, 0xff, 0xff, 0x07},
	{0x80, 0x80, 0x04},
	{1, 0},
	{0, 1},
	{10, 0, 0},
	{9, 0, 0, 9, 0, 0, 0, 1},
	{0x03, 0x00},
	{1, 1, 0xff, 0xff, 0x03},
	{9, 9, 0, 0, 0xff, 0xff},
	{0, 0, 0xff, 0xff},
}

// TestCostOfProtodef: no message of 64 KiB takes much time or memory to decode, and its results are bounded. Times are
// those of the processor, and twice the limits on an idle machine, which are 50 ms for decoding. Texts have up to 8 MB.
func TestCostOfProtodef(t *testing.T) {
	s, ds := protodef.Parse([]*source.File{source.New("costly.json", costly)}, schema.Options{})
	if len(ds) > 0 {
		t.Fatal(ds.Render())
	}
	programs := slices.Clone(protodefPrograms())
	for _, m := range s.Messages {
		programs = append(programs, must(codec.Compile(m)))
	}
	const size = 1 << 16
	for _, p := range programs {
		for k, c := range claims {
			for _, head := range [][]byte{nil, {0xff, 0xff, 0xff, 0xff, 0x07}} {
				code := codec.AppendVarint(nil, uint64(p.Message.Key.Code), schema.LEB128, 32)
				data := slices.Concat(code, head, bytes.Repeat(c, size/len(c)))
				var rec codec.Record
				var text []byte
				var fields []view.FieldValue
				for _, x := range []struct {
					what  string
					most  time.Duration
					bytes uint64
					do    func()
				}{
					{"Decode", 100 * time.Millisecond, 64 << 20, func() { p.Decode(&rec, data) }},
					{"JSON", 200 * time.Millisecond, 128 << 20, func() { text = value.AppendJSON(nil, &rec) }},
					{"fields", time.Second, 512 << 20, func() { fields = view.Fields(&rec) }},
				} {
					if took, grown := benchtest.Cost(x.most, x.do); took > x.most || grown > x.bytes {
						t.Errorf("%s: %s of claim %d: %v, %d MB, %d nodes, %d bytes of JSON, %d fields", p.Message.Name, x.what, k, took, grown>>20, len(rec.Nodes), len(text), len(fields))
					}
				}
			}
		}
	}
}

// BenchmarkCostOfProtodef decodes the message with the most nodes that the test found.
func BenchmarkCostOfProtodef(b *testing.B) {
	s, _ := protodef.Parse([]*source.File{source.New("costly.json", costly)}, schema.Options{})
	for _, m := range s.Messages {
		if m.Name != "empty" {
			continue
		}
		p := must(codec.Compile(m))
		data := append([]byte{3, 0xff, 0xff, 0xff, 0xff, 0x07}, bytes.Repeat([]byte{2}, 1<<16)...)
		b.Run("fresh", func(b *testing.B) {
			for range b.N {
				var rec codec.Record
				p.Decode(&rec, data)
			}
		})
		b.Run("reused", func(b *testing.B) {
			var rec codec.Record
			for range b.N {
				p.Decode(&rec, data)
			}
		})
	}
}

// TestAllocationsOfProtodef: a reused Record does not allocate for any kind of contents.
func TestAllocationsOfProtodef(t *testing.T) {
	for i, p := range protodefPrograms() {
		for _, e := range value.Examples(p, 3, uint64(i), 0) {
			if e.Status != codec.OK {
				continue
			}
			var rec, in, out codec.Record
			var leaves []codec.Leaf
			var text []byte
			p.Decode(&rec, e.Data)
			for _, c := range []struct {
				what string
				do   func()
			}{
				{"Decode", func() { p.Decode(&rec, e.Data) }},
				{"AppendLeaves", func() { leaves = rec.AppendLeaves(leaves[:0]) }},
				{"AppendJSON", func() { text = value.AppendJSON(text[:0], &rec) }},
				{"Encode", func() {
					if err := p.Encode(&out, &rec); err != nil {
						t.Fatal(err)
					}
				}},
				{"Encode of values", func() {
					if err := p.Encode(&out, &in); err != nil {
						t.Fatal(err)
					}
				}},
			} {
				if c.what == "Encode of values" {
					if err := value.ParseJSON(&in, p, e.Value); err != nil {
						t.Fatal(err)
					}
					in.Code = rec.Code
				}
				c.do()
				if p.Packed() && c.what != "AppendLeaves" && c.what != "AppendJSON" {
					continue // libraries allocate
				}
				if n := testing.AllocsPerRun(10, c.do); n != 0 {
					t.Errorf("%s: %s allocates %v times for %s", p.Message.Name, c.what, n, e.Value)
				}
			}
		}
	}
}
