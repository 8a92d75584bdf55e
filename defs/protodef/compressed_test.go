package protodef_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/pack"
	"wirebench/codec/redact"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/benchtest"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

const items = `["container", [{"name": "name", "type": ["pstring", {"countType": "varint"}]}, {"name": "ids", "type": ["array", {"countType": "varint", "type": "varint"}]}]]`

func packed(t testing.TB, method schema.Packing, plain []byte) []byte {
	t.Helper()
	data, err := new(pack.Codecs).Compress(nil, method, plain)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sized returns data after their size as a varint of two bytes at most.
func sized(data []byte) []byte {
	return append(codec.AppendVarint(nil, uint64(len(data)), schema.LEB128, 32), data...)
}

// roundTrip checks that a message is encoded as it was, and returns its values.
func roundTrip(t *testing.T, p *codec.Program, data []byte) (rec *codec.Record, text string) {
	t.Helper()
	rec = &codec.Record{}
	p.Decode(rec, data)
	if rec.Status() != codec.OK || rec.Used != len(data) || !bytes.Equal(rec.Message(), data) {
		t.Fatalf("%s, %d of %d bytes: %v", rec.Status(), rec.Used, len(data), view.Problems(rec))
	}
	for _, x := range rec.AllProblems() {
		t.Errorf("%s", x.Message(rec))
	}
	text = string(value.AppendJSON(nil, rec))
	var built, out codec.Record
	if err := value.ParseJSON(&built, p, []byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, in := range []*codec.Record{rec, &built} {
		if err := p.Encode(&out, in); err != nil {
			t.Fatal(err)
		}
		if again := string(value.AppendJSON(nil, &out)); again != text {
			t.Fatalf("%s, not %s", again, text)
		}
		if in == rec && !bytes.Equal(out.Message(), data) {
			t.Errorf("unchanged contents are compressed as %x, not %x", out.Message(), data)
		}
	}
	return rec, text
}

func TestCompressed(t *testing.T) {
	plain := slices.Concat([]byte{5}, []byte("hello"), []byte{200, 1}, bytes.Repeat([]byte{7}, 200))
	want := `{"name":"hello","ids":[` + strings.TrimSuffix(strings.Repeat("7,", 200), ",") + `]}`
	for _, name := range schema.Packings() {
		method, _ := schema.PackingNamed(name)
		t.Run(name, func(t *testing.T) {
			of := fmt.Sprintf(`{"method": %q, "type": %s`, name, items)
			p := compile(t, `["container", [{"name": "a", "type": "u8"}, {"name": "c", "type": ["compressed", `+of+`, "lengthType": "varint"}]}, {"name": "b", "type": "u8"}]]`)
			rec, text := roundTrip(t, p, slices.Concat([]byte{9}, sized(packed(t, method, plain)), []byte{8}))
			if text != `{"x":{"a":9,"c":`+want+`,"b":8}}` {
				t.Error(text)
			}
			// The compressed bytes are covered once; values in them lie there.
			at, inside := uint32(0), 0
			for _, f := range view.Fields(rec) {
				if f.Overlap {
					if inside++; f.BitOffset < 8 || f.BitOffset+f.BitLength > uint32(rec.Size()-1)*8 {
						t.Errorf("%s at %d", f.Path, f.BitOffset)
					}
					continue
				}
				if f.BitOffset != at {
					t.Errorf("%s at %d, not at %d", f.Path, f.BitOffset, at)
				}
				at = f.BitOffset + f.BitLength
			}
			if at != uint32(rec.Size())*8 || inside != 203 || rec.Fit() != codec.Exact {
				t.Error(at, rec.Size()*8, inside, rec.Fit())
			}
			rest := compile(t, `["container", [{"name": "a", "type": "u8"}, {"name": "c", "type": ["compressed", `+of+`}]}]]`)
			if _, text := roundTrip(t, rest, slices.Concat([]byte{9}, packed(t, method, plain))); text != `{"x":{"a":9,"c":`+want+`}}` {
				t.Error(text)
			}
			data := slices.Concat([]byte{9}, sized(packed(t, method, plain)), []byte{8})
			for n := range data { // cut off, and changed
				var rec codec.Record
				if p.Decode(&rec, data[:n]); rec.Status() == codec.OK {
					t.Errorf("ok with %d of %d bytes", n, len(data))
				}
				view.Of(&rec, true)
				wrong := bytes.Clone(data)
				wrong[n] ^= 0x55
				p.Decode(&rec, wrong)
				view.Of(&rec, true)
			}
		})
	}
}

// Compressed contents are found in compressed contents, in lists and after values that select them; numbers of variable size before them
// change their size.
func TestCompressedInside(t *testing.T) {
	inner := `["compressed", {"method": "deflate", "lengthType": "varint", "type": ["array", {"rest": true, "type": "u16"}]}]`
	p := compile(t, `["container", [{"name": "list", "type": ["array", {"countType": "u8", "type":
		["compressed", {"method": "zlib", "lengthType": "varint", "type": ["container", [{"name": "n", "type": "u8"}, {"anon": true, "type": ["align", 4]},
		{"name": "in", "type": ["switch", {"compareTo": "n", "fields": {"1": `+inner+`}, "default": "void"}]}]]}]}]}]]`)
	for _, text := range []string{
		`{"x":{"list":[{"n":1,"in":[1,2,3]},{"n":0,"in":null},{"n":1,"in":[]}]}}`,
		`{"x":{"list":[]}}`,
		`{"x":{"list":[{"n":1,"in":[` + strings.Repeat("4660,", 999) + `7]}]}}`,
	} {
		var in, out codec.Record
		if err := value.ParseJSON(&in, p, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := p.Encode(&out, &in); err != nil {
			t.Fatal(err)
		}
		if _, got := roundTrip(t, p, bytes.Clone(out.Message())); got != text {
			t.Errorf("%.200s, not %.200s", got, text)
		}
	}
}

// What is left over in decompressed contents is reported, and where they end too early.
func TestCompressedFaults(t *testing.T) {
	p := compile(t, `["compressed", {"method": "zlib", "lengthType": "u16", "type": ["container", [{"name": "a", "type": "u32"}]]}]`)
	with := func(data []byte) []byte { return append([]byte{byte(len(data) >> 8), byte(len(data))}, data...) }
	for _, c := range []struct {
		data []byte
		want string
	}{
		{with(packed(t, schema.Zlib, []byte{1, 2, 3, 4, 5, 6})), "unexplained-bytes 2 bytes that the definition does not explain"},
		{with(packed(t, schema.Zlib, []byte{1, 2})), `past-frame 4 bytes expected from 0x00 on, but the decompressed contents end at 0x02`},
		{with([]byte{1, 2, 3}), `not-decompressed "x" is not valid zlib data`},
		{with(packed(t, schema.Zlib, make([]byte, 5<<20))), `too-large-decompressed "x" cannot be decompressed: all such contents of a message may have 4194304 bytes`},
		{[]byte{0, 9, 1}, "truncated the message is truncated after 3 bytes; at least 11 are needed"},
	} {
		var rec codec.Record
		p.Decode(&rec, c.data)
		x := view.Problems(&rec)
		if len(x) != 1 || x[0].Code+" "+x[0].Message != c.want {
			t.Errorf("%+v, not %s", x, c.want)
		}
		for _, x := range x {
			if int(x.BitOffset+x.BitLength) > len(c.data)*8 {
				t.Errorf("%+v in %d bytes", x, len(c.data))
			}
		}
	}
	var in, out codec.Record
	large, _ := json.Marshal(map[string]any{"x": strings.Repeat("ab", 5<<20)})
	buffer := compile(t, `["compressed", {"method": "zlib", "lengthType": "u32", "type": ["buffer", {"rest": true}]}]`)
	if err := value.ParseJSON(&in, buffer, large); err != nil {
		t.Fatal(err)
	}
	if err := buffer.Encode(&out, &in); err == nil || !strings.Contains(err.Error(), "may have 4194304 bytes") {
		t.Error(err)
	}
	small := compile(t, `["compressed", {"method": "deflate", "lengthType": "u8", "type": ["buffer", {"rest": true}]}]`)
	noise := make([]byte, 300)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	if err := value.ParseJSON(&in, small, []byte(fmt.Sprintf(`{"x":"%x"}`, noise))); err != nil {
		t.Fatal(err)
	}
	if err := small.Encode(&out, &in); err == nil || !strings.Contains(err.Error(), "does not fit its number, uint8") {
		t.Error(err)
	}
}

// A message of many compressed groups, or of groups that expand greatly, costs no more than others.
func TestCompressedBombs(t *testing.T) {
	many := compile(t, `["array", {"rest": true, "type": ["compressed", {"method": "zlib", "lengthType": "u8", "type": ["buffer", {"rest": true}]}]}]`)
	one := sized(packed(t, schema.Zlib, nil))
	nested := packed(t, schema.Zlib, make([]byte, 4<<20-100))
	for range 3 {
		nested = packed(t, schema.Zlib, nested)
	}
	deep := compile(t, `["compressed", {"method": "zlib", "type": ["compressed", {"method": "zlib", "type": ["compressed", {"method": "zlib", "type": ["compressed", {"method": "zlib", "type": ["array", {"rest": true, "type": ["option", "void"]}]}]}]}]}]`)
	options := compile(t, `["compressed", {"method": "zstd", "type": ["array", {"rest": true, "type": ["option", ["option", "u8"]]}]}]`)
	for _, c := range []struct {
		p    *codec.Program
		data []byte
	}{{many, bytes.Repeat(one, 64<<10/len(one))}, {deep, nested}, {options, packed(t, schema.Zstd, make([]byte, 4<<20-1))}} {
		var rec codec.Record
		const most = 100 * time.Millisecond // 50 ms on an idle machine
		if took, used := benchtest.Cost(most, func() { rec = codec.Record{}; c.p.Decode(&rec, c.data) }); took > most || used > 64<<20 {
			t.Errorf("%s, %d bytes allocated, for %d bytes", took, used, len(c.data))
		}
		if len(rec.Nodes) > 1<<20 || cap(rec.Data) > 16<<20 {
			t.Error(len(rec.Nodes), cap(rec.Data))
		}
		if rec.Status() != codec.Illegal {
			t.Error(rec.Status())
		}
	}
}

// Secrets in compressed contents do not survive redaction; the rest of the contents does. Each method, also in another.
func TestCompressedRedaction(t *testing.T) {
	rules, err := redact.ParseRules("name")
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range schema.Packings() {
		for _, nested := range []bool{false, true} {
			inner := `["compressed", {"method": "` + method + `", "lengthType": "varint", "type": ` + items + `}]`
			if nested {
				inner = `["compressed", {"method": "zlib", "lengthType": "u16", "type": ["container", [{"name": "n", "type": "u8"}, {"name": "in", "type": ` + inner + `}]]}]`
			}
			p := compile(t, `["container", [{"name": "a", "type": "u8"}, {"name": "c", "type": `+inner+`}]]`)
			m, _ := schema.PackingNamed(method)
			data := packed(t, m, slices.Concat([]byte{5}, []byte("hello"), []byte{1, 7}))
			data = append([]byte{byte(len(data))}, data...)
			if nested {
				data = packed(t, schema.Zlib, append([]byte{3}, data...))
				data = append([]byte{byte(len(data) >> 8), byte(len(data))}, data...)
			}
			data = append([]byte{9}, data...)
			var rec, now codec.Record
			if p.Decode(&rec, data); rec.Status() != codec.OK {
				t.Fatal(method, rec.AllProblems())
			}
			out, n := redact.NewWith(rules, nil).Bytes(nil, &rec)
			p.Decode(&now, out)
			was, is := string(value.AppendJSON(nil, &rec)), string(value.AppendJSON(nil, &now))
			at := strings.Index(was, "hello")
			if n != 1 || now.Status() != codec.OK || len(is) != len(was) || is[:at] != was[:at] || is[at+5:] != was[at+5:] || is == was {
				t.Errorf("%s, nested %t: %d replaced, %v: %s, was %s", method, nested, n, now.Status(), is, was)
			}
		}
	}
}

// A compressed tag tree of the npm package minecraft-protocol, or none.
func TestCompressedTree(t *testing.T) {
	p := compile(t, `"compressedNbt"`)
	tree := packed(t, schema.Gzip, []byte("\x0a\x00\x00\x01\x00\x01b\x05\x00"))
	_, text := roundTrip(t, p, slices.Concat([]byte{0, byte(len(tree))}, tree))
	if text != `{"x":{"type":"compound","name":"","value":[{"type":"byte","name":"b","value":5}]}}` {
		t.Error(text)
	}
	if _, text := roundTrip(t, p, []byte{0xff, 0xff}); text != `{"x":null}` {
		t.Error(text)
	}
}

// Contents at a position of the message are a mistake in compressed contents.
func TestCompressedPosition(t *testing.T) {
	const text = `{"types": {"far": ["at", {"position": "1", "type": "u8"}], "m": ["container", [{"name": "a", "type": "far"},
		{"name": "x", "type": ["compressed", {"method": "zlib", "type": ["container", [{"name": "z", "type": "far"}]]}]}]]}}`
	s, ds := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
	if len(ds) != 1 || ds[0].Message != "contents at a position of the message cannot be in compressed contents" || len(s.Messages) != 1 || !s.Messages[0].Broken {
		t.Errorf("%v", ds.Render())
	}
}

// A record that had compressed contents serves messages without.
func TestCompressedThenOthers(t *testing.T) {
	p, plain := compile(t, `["compressed", {"method": "zlib", "type": "u32"}]`), compile(t, `"u32"`)
	var rec, in codec.Record
	for range 2 {
		p.Decode(&rec, packed(t, schema.Zlib, []byte{1, 2, 3, 4}))
		if err := value.ParseJSON(&in, plain, []byte(`{"x":5}`)); err != nil {
			t.Fatal(err)
		}
		if err := plain.Encode(&rec, &in); err != nil || !bytes.Equal(rec.Message(), []byte{0, 0, 0, 5}) {
			t.Fatalf("%x, %v", rec.Message(), err)
		}
		p.Decode(&in, packed(t, schema.Zlib, []byte{1, 2, 3, 4}))
		if plain.Decode(&in, []byte{0, 0, 0, 6}); len(in.Message()) != 4 || in.Unexplained() != 0 {
			t.Fatalf("%x", in.Message())
		}
		p.Decode(&in, packed(t, schema.Zlib, []byte{1, 2, 3, 4}))
	}
}
