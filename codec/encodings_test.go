package codec_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// textMessages has one message with the texts of a dialect: their bytes without zeros, which may end them.
var textMessages = map[string]struct {
	text  string
	bytes func(b []byte) []byte // the message
}{
	"muta": {"group: g\n\npacket: p\n   __group = g\n   one  = char\n   many = char {0, 2000}\n", func(b []byte) []byte {
		n := len(b) - 1
		return append([]byte{1, byte(n), byte(n >> 8), b[0]}, b[1:]...)
	}},
	"mavlink": {`<mavlink><messages><message id="1" name="P"><field type="char[100]" name="a"/><field type="char" name="b"/></message></messages></mavlink>`, func(b []byte) []byte {
		return append(append(make([]byte, 0, 101), b[:min(len(b), 100)]...), make([]byte, 101-min(len(b), 100))...)
	}},
	"c": {"struct p {\n\tchar a[100];\n\tchar b;\n\tchar rest[];\n};\n", func(b []byte) []byte {
		return append(append(append(make([]byte, 0, 101), b[:min(len(b), 100)]...), make([]byte, 101-min(len(b), 100))...), b...)
	}},
	"subspace": {"direction c2s\n\n0x40 p (c2s)\noffset size comment\n0      1    type 0x40\n1      8    text fixed\n9      ?    cstr zero\n?      ?    text rest\n", func(b []byte) []byte {
		out := append([]byte{0x40}, make([]byte, 8)...)
		n := copy(out[1:], b[:min(len(b), 8)])
		return append(append(append(out, b[n:]...), 0), b...)
	}},
}

// TestEncodingsKeepAllBytes: with every value of the option "encoding", values are written back as the same bytes, whether these are valid
// in the encoding or not. The bytes are every single one, every pair, and random ones.
func TestEncodingsKeepAllBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var pairs [][]byte
	for a := 1; a < 256; a++ {
		pairs = append(pairs, []byte{byte(a)})
		all := []byte{byte(a)}
		for b := 1; b < 256; b++ {
			all = append(all, byte(a), byte(b))
		}
		pairs = append(pairs, all)
	}
	for range 100 {
		b := make([]byte, 1+rng.IntN(40))
		for i := range b {
			b[i] = byte(1 + rng.IntN(255))
		}
		pairs = append(pairs, b)
	}
	for _, d := range defs.Dialects {
		of, ok := textMessages[d.Name]
		if has := slices.ContainsFunc(d.Options, func(o schema.Option) bool { return o.Name == schema.Encoding.Name }); has != ok {
			t.Errorf("%s: option %v, case %v", d.Name, has, ok)
		}
		for _, encoding := range schema.Encoding.Values {
			if !ok {
				break
			}
			s, ds := defs.Load([]*source.File{source.New("a"+d.Ext, of.text)}, d.Name, schema.Options{Values: map[string]string{"encoding": encoding}})
			if len(ds) > 0 {
				t.Fatal(ds.Render())
			}
			p, err := codec.Compile(s.Messages[0])
			if err != nil {
				t.Fatal(err)
			}
			var rec, in, out codec.Record
			for _, b := range pairs {
				data := of.bytes(b)
				p.Decode(&rec, data)
				if rec.Status() != codec.OK || rec.Unexplained() > 0 {
					t.Fatal(view.Transcript(&rec))
				}
				text := value.AppendJSON(nil, &rec)
				if !json.Valid(text) {
					t.Fatalf("%s: %x is %s", encoding, b, text)
				}
				if err := value.ParseJSON(&in, p, text); err != nil {
					t.Fatalf("%s %s: %x is %s: %v", d.Name, encoding, b, text, err)
				}
				in.Code = rec.Code
				if err := p.Encode(&out, &in); err != nil || !bytes.Equal(out.Data, data) {
					t.Fatalf("%s %s: %x is %s, and then %x (%v)", d.Name, encoding, data, text, out.Data, err)
				}
			}
		}
	}
}

// TestEncodings has texts as people write them, with the bytes in their encodings: both ways, and bytes that are not valid are visible.
func TestEncodings(t *testing.T) {
	for _, c := range []struct{ encoding, bytes, json string }{
		{"latin1", "\xc3\x84\xc3\xa4kk\xc3\xb6nen", "\"\u00c3\\u0084\u00c3\u00a4kk\u00c3\u00b6nen\""},
		{"", "\xc4\xe4", `"Ää"`},
		{"utf-8", "\xc3\x84\xc3\xa4kk\xc3\xb6nen", `"Ääkkönen"`},
		{"utf-8", "\xc3\x84\xe4\xf0\x9f", `"Ä\udce4\udcf0\udc9f"`},
		{"windows-1251", "\xcf\xf0\xe8\xe2\xe5\xf2", `"Привет"`},
		{"windows-1252", "\x80\x81", `"€\udc81"`},
		{"gbk", "\xc4\xe3\xba\xc3\xff", `"你好\udcff"`},
		{"euc-kr", "\xb0\xa1a\x80", `"가a\udc80"`},
		{"shift_jis", "\x93\xfa\x96\x7b", `"日本"`},
	} {
		for dialect, of := range textMessages {
			o := schema.Options{Values: map[string]string{"encoding": c.encoding}}
			s, _ := defs.Load([]*source.File{source.New("a"+ext(dialect), of.text)}, dialect, o)
			p, err := codec.Compile(s.Messages[0])
			if err != nil {
				t.Fatal(err)
			}
			data := of.bytes([]byte("?" + c.bytes))
			if dialect == "subspace" || dialect == "mavlink" || dialect == "c" {
				data = of.bytes([]byte(c.bytes))
			}
			var rec codec.Record
			p.Decode(&rec, data)
			if text := value.AppendJSON(nil, &rec); !bytes.Contains(text, []byte(":"+c.json)) {
				t.Errorf("%s %s: %s, want %s", dialect, c.encoding, text, c.json)
			}
		}
	}
}

// ext returns the extension of definitions of a dialect.
func ext(dialect string) string {
	d, _ := defs.Find(dialect)
	return d.Ext
}
