package muta_test

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/muta"
	"wirebench/defs/schema"
	"wirebench/defs/source"

	"golang.org/x/tools/txtar"
)

// compileText compiles the last packet of a text.
func compileText(t *testing.T, text string, constants map[string]string) *codec.Program {
	t.Helper()
	s, diags := muta.Parse([]*source.File{source.New("game.def", text)}, schema.Options{Constants: constants})
	for _, d := range diags {
		if d.Code != "unresolved-constant" {
			t.Fatal(diags.Render())
		}
	}
	return compile(t, s.Messages[len(s.Messages)-1])
}

// TestBytes checks that values decode from and encode to their bytes, with both byte orders and all extensions.
func TestBytes(t *testing.T) {
	const (
		plain = "group: g\n\n"
		big   = "group: g\n   __endian = big\n   __id = uint16\n\n"
		bits  = "group: g\n   __pack = bits\n\n"
	)
	const packet = "packet: p\n   __group = g\n   "
	for _, c := range []struct{ name, text, bytes, value string }{
		{"only an id", plain + packet, "01", `{}`},
		{"lengths, values, contents", plain + packet + "a = char {300}\n b = uint16\n c = uint16 {2}\n", "01 0200 01 0500 4142 0700", `{"a":"AB","b":5,"c":[7]}`},
		{"big-endian", big + packet + "a = char {300}\n b = uint16\n c = uint16 {2}\n d = float", "0001 0002 01 0005 3f800000 4142 0007", `{"a":"AB","b":5,"c":[7],"d":1}`},
		{"an empty array", plain + packet + "a = uint32 <uint32> {9}", "01 00000000", `{"a":[]}`},
		{"an array without elements", plain + packet + "a = uint32 {0}", "01 00", `{"a":[]}`},
		{"one character", plain + packet + "a = char\n b = char", "01 41 00", "{\"a\":\"A\",\"b\":\"\\u0000\"}"},
		{
			"a struct between values",
			plain + "struct: s\n   n = char {5}\n   v = uint8\n\n" + packet + "a = uint8\n s = s\n b = uint8\n l = s {3}",
			"01 01 0a 01 07 78 0b 02 08 7979", `{"a":10,"s":{"n":"x","v":7},"b":11,"l":[{"n":"yy","v":8}]}`,
		},
		{"a struct with a struct", plain + "struct: t\n   x = u\n   y = int8\nstruct: u\n   z = int16\n\n" + packet + "t = t", "01 feff ff", `{"t":{"x":{"z":-2},"y":-1}}`},
		{"an enum", plain + "enum: e\n   A = \n   B = 5\n   C =\n\n" + packet + "a = e\n b = e {2}", "01 01 06 05", `{"a":6,"b":[5]}`},
		{"a signed enum", plain + "enum: e\n   __type = int16\n   LOW = -2\n   HIGH = 3\n\n" + packet + "a = e", "01 feff", `{"a":-2}`},

		// 3 bits, then 9 bits across a byte boundary, then 4 unused bits.
		{"bits across bytes", bits + packet + "a = uint8 [0, 7]\n b = uint16 [0, 300]", "01 6509", `{"a":5,"b":300}`},
		{"bits with a sign", bits + packet + "a = int8 [-4, 3]\n b = int8 [-1, 0]\n c = int16 [0, 3]", "01 2c", `{"a":-4,"b":-1,"c":2}`},
		{"bits of exactly one byte", bits + packet + "a = uint8 [0, 15]\n b = uint8 [0, 15]\n c = uint8", "01 21 03", `{"a":1,"b":2,"c":3}`},
		{"a number without a range starts at a byte boundary", bits + packet + "a = uint8 [0, 1]\n b = uint8\n c = uint8 [0, 1]", "01 01 ff 01", `{"a":1,"b":255,"c":1}`},
		{"a whole byte that is not aligned", bits + packet + "a = uint8 [0, 1]\n b = uint8 [0, 255]", "01 ff01", `{"a":1,"b":255}`},
		{"two whole bytes that are not aligned", bits + packet + "a = uint8 [0, 1]\n b = uint16 [0, 0xffff]", "01 0200 00", `{"a":0,"b":1}`},
		{
			"eight bytes that are not aligned", bits + packet + "a = uint8 [0, 1]\n b = uint64 [0, 0xffffffffffffffff]\n c = int64 [-9223372036854775808, 9223372036854775807]",
			"01 ffffffffffffffff 0100000000000000 00", `{"a":1,"b":"18446744073709551615","c":"0"}`,
		},
		{"only zero is legal", bits + packet + "a = uint8 [0, 0]\n b = uint8 [0, 1]", "01 02", `{"a":0,"b":1}`},
		{"an enum in bits", bits + "enum: e\n   A = 1\n   B = 2\n\n" + packet + "a = e\n b = e\n c = e", "01 19", `{"a":1,"b":2,"c":1}`},
		{"a signed enum in bits", bits + "enum: e\n   __type = int32\n   A = -1\n   B = 0\n\n" + packet + "a = e\n b = uint8 [0, 1]", "01 03", `{"a":-1,"b":1}`},
		{"bits in a struct", plain + "struct: s\n   __pack = bits\n   a = uint8 [0, 3]\n   b = uint8 [0, 3]\n\n" + packet + "s = s {2}\n c = uint8 [0, 1]", "01 02 01 0d 02", `{"s":[{"a":1,"b":3},{"a":2,"b":0}],"c":1}`},
		{"no bits in a packet of a group with bits", bits + "packet: p\n   __group = g\n   __pack = bytes\n   a = uint8 [0, 1]\n   b = uint8 [0, 1]", "01 01 01", `{"a":1,"b":1}`},
		{"elements are whole bytes", bits + packet + "a = uint8 [0, 1] {4}", "01 02 01 00", `{"a":[1,0]}`},
		{"bits in big-endian", big + packet + "__pack = bits\n a = uint16 [0, 1000]\n b = uint16", "0001 e803 0001", `{"a":1000,"b":1}`},
		{"a float is not packed", bits + packet + "a = uint8 [0, 1]\n b = float [0, 0.5]", "01 01 0000003f", `{"a":1,"b":0.5}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compileText(t, c.text, nil)
			data, err := hex.DecodeString(strings.ReplaceAll(c.bytes, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			var rec, in, out codec.Record
			p.Decode(&rec, data)
			if rec.Status() != codec.OK || rec.Used != len(data) {
				t.Fatalf("%d of %d bytes\n%s", rec.Used, len(data), view.Transcript(&rec))
			}
			if got := value.AppendJSON(nil, &rec); !same(t, got, []byte(c.value)) {
				t.Errorf("%s is %s, want %s", c.bytes, got, c.value)
			}
			if err := value.ParseJSON(&in, p, []byte(c.value)); err != nil {
				t.Fatal(err)
			}
			in.Code = rec.Code
			if err := p.Encode(&out, &in); err != nil || !bytes.Equal(out.Data, data) {
				t.Errorf("%s gives %x (%v), want %x", c.value, out.Data, err, data)
			}
			for n := range data { // shorter data is incomplete
				if p.Decode(&rec, data[:n]); rec.Status() != codec.Incomplete {
					t.Errorf("%d of %d bytes are %s", n, len(data), rec.Status())
				}
			}
		})
	}
}

// TestIllegal checks illegal messages.
func TestIllegal(t *testing.T) {
	const plain, packet = "group: g\n   __pack = bits\n\n", "packet: p\n   __group = g\n   "
	for _, c := range []struct{ name, text, bytes string }{
		{"a number below its range", plain + packet + "a = int16 [-3, 3]", "01 0c"}, // -4 in four bits
		{"a number above its range", plain + packet + "a = uint8 [0, 5]", "01 06"},
		{"an enum above its values", plain + "enum: e\n   A = 1\n   B = 2\n\n" + packet + "a = e", "01 03"},
		{"an enum below its values", plain + "enum: e\n   A = 1\n   B = 2\n\n" + packet + "a = e", "01 00"},
		{"an element out of its range", plain + packet + "a = uint8 [0, 1] {4}", "01 02 01 02"},
		{"too few elements", plain + packet + "a = uint8 {1, 4}", "01 00 00"},
		{"too many elements", plain + packet + "a = uint8 {1, 4}", "01 05 00"}, // illegal before the elements are complete
		{"not a number", plain + packet + "a = float [-1, 1]", "01 0000c07f"},
		{"above the bound of a double", plain + packet + "a = double [0, 0.5]", "01 010000000000e03f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := hex.DecodeString(strings.ReplaceAll(c.bytes, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			var rec codec.Record
			if compileText(t, c.text, nil).Decode(&rec, data); rec.Status() != codec.Illegal {
				t.Errorf("%s\n%s", rec.Status(), view.Transcript(&rec))
			}
		})
	}
}

// TestUnresolvedConstants checks constants without a value: messages are not broken, layouts are available, and decoding reports the
// missing constants.
func TestUnresolvedConstants(t *testing.T) {
	const text = `group: g

enum: e
   A = FIRST

packet: p
   __group = g
   name    = char <uint8> {MIN, MAX}
   mode    = uint8 [1, MODES]
   kind    = e
   left    = uint8
`
	p := compileText(t, text, map[string]string{"MIN": "1", "MODES": "MORE + 1"})
	if p.Message.Broken {
		t.Error("the message is broken")
	}
	if got := strings.Join(p.Unresolved, " "); got != "MAX MODES FIRST" && got != "MODES FIRST MAX" {
		t.Errorf("unresolved are %q", got)
	}
	if rows := p.Layout(); len(rows) != 6 || rows[2].At.Bits != 16 || rows[4].At.Bits != 32 {
		t.Errorf("layout %+v", rows)
	}
	var rec codec.Record
	if p.Decode(&rec, []byte{1, 1, 1, 1, 1, 65}); rec.Status() == codec.OK {
		t.Error("decoded with unresolved constants")
	}
	p = compileText(t, text, map[string]string{"MIN": "1", "MODES": "MORE + 1", "MORE": "2", "MAX": "MIN << 4", "FIRST": "1"})
	if p.Decode(&rec, []byte{1, 1, 3, 1, 9, 65}); rec.Status() != codec.OK || len(p.Unresolved) > 0 {
		t.Errorf("with all values: %s", view.Transcript(&rec))
	}
}

// FuzzCompile parses any text as a definition, and checks that messages that are not broken compile, that decoded messages round-trip byte
// for byte, and that a truncated message is never valid.
func FuzzCompile(f *testing.F) {
	for _, pattern := range []string{"testdata/*.txtar", "../library/muta/*.def"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatal("no cases", err)
		}
		for _, path := range paths {
			a, err := txtar.ParseFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(a.Comment), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0})
			for _, file := range a.Files {
				f.Add(string(file.Data), []byte{1, 1, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0})
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		s, diags := muta.Parse([]*source.File{source.New("fuzz.def", text)}, schema.Options{})
		for _, m := range s.Messages {
			if m.Broken {
				if !diags.HasErrors() {
					t.Fatalf("broken without an error\n%s", m)
				}
				continue
			}
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatalf("%v\n%s", err, m)
			}
			p.Layout()
			var rec, in, out codec.Record
			p.Decode(&rec, data)
			if rec.Status() != codec.OK || len(rec.AppendWarnings(nil)) > 0 {
				continue
			}
			if len(p.Unresolved) > 0 || rec.Used > len(data) {
				t.Fatalf("%d bytes, without values for %v\n%s", rec.Used, p.Unresolved, m)
			}
			data := data[:rec.Used]
			values := value.AppendJSON(nil, &rec)
			if err := value.ParseJSON(&in, p, values); err != nil {
				t.Fatalf("%v\n%s\n%s", err, values, m)
			}
			in.Code = rec.Code
			if err := p.Encode(&out, &in); err != nil {
				t.Fatalf("%v\n%s\n%s", err, values, m)
			}
			whole := bytes.Clone(out.Data)
			if p.Decode(&rec, whole); !bytes.Equal(value.AppendJSON(nil, &rec), values) || len(whole) != len(data) {
				t.Fatalf("%x round-trips to %x\n%s", data, whole, m)
			}
			if p.Decode(&rec, data[:len(data)-1]); rec.Status() != codec.Incomplete {
				t.Fatalf("truncated by one byte it is %s\n%s", rec.Status(), m)
			}
		}
	})
}

// An array of text becomes an array of numbers without its encoding.
func TestRetypeOfEncodedText(t *testing.T) {
	f := source.New("a.def", "group: g\npacket: p\n   __group = g\n   s = char [utf-8] <uint8> {9}\n")
	s, _ := muta.Parse([]*source.File{f}, schema.Options{})
	at := s.Messages[0].Body.Fields[0].Span
	for typ, want := range map[string]string{"uint16": "s = uint16 <uint8> {9}", "char": "s = char [utf-8] <uint8> {9}"} {
		if got, ok := muta.Edits.Retype(f, at, typ); !ok || !strings.Contains(got, want+"\n") {
			t.Errorf("%s: %v %s", typ, ok, got)
		}
	}
}
