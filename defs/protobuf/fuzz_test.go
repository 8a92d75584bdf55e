package protobuf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func FuzzParse(f *testing.F) {
	for _, text := range peers {
		f.Add(text)
	}
	f.Add("syntax = \"proto2\"; message M { optional group G = 1 { repeated M m = 2 [packed = true]; } extend N { optional int32 x = 9; } }")
	f.Add("edition = \"2023\"; import public weak \"a.proto\"; message M { map<string, Unknown> a = 1; oneof o { int32 b = 1; } reserved 5 to max; } enum E {}")
	f.Fuzz(func(t *testing.T, text string) {
		formatChecked(t, "a.proto", text)
		s, diags := Parse([]*source.File{source.New("a.proto", text)}, schema.Options{})
		for _, d := range diags {
			if d.Span.File == nil || d.Span.Start > d.Span.End || d.Span.End > len(text) {
				t.Fatalf("%s at %d to %d of %d bytes", d.Message, d.Span.Start, d.Span.End, len(text))
			}
		}
		for _, m := range s.Messages {
			if _, err := codec.Compile(m); err != nil && !m.Broken {
				t.Logf("%s: %v", m.Name, err) // the set reports it
			}
		}
	})
}

// FuzzOver decodes bytes with messages that have everything, and encodes their values over them: the bytes stay. What can be encoded without
// them has the same values.
func FuzzOver(f *testing.F) {
	s, _ := Parse(peerFiles(), schema.Options{})
	f.Add([]byte{0x08, 1}, uint8(0))
	f.Add([]byte("00"), uint8(0))
	f.Add([]byte{0}, uint8(0))
	f.Add([]byte("\x08\x01\x08\x02\xca\x02\x80\x00\xdb\x02\x0a\x00\xdc\x02\xc3\x3e\x08\x05\xc4\x3e"), uint8(1))
	f.Add([]byte("\xd2\x01\x03\x01\x02\x03\xd0\x01\x05\xd2\x01\x00"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		keeps(t, s.Messages[int(which)%len(s.Messages)], data)
	})
}

// keeps checks that the values of a message give its bytes back.
func keeps(t *testing.T, m *schema.Message, data []byte) {
	t.Helper()
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	var rec, in, out, again codec.Record
	p.Decode(&rec, data)
	text := value.AppendJSON(nil, &rec)
	if rec.Status() != codec.OK {
		return
	}
	if rec.Used != len(data) {
		t.Fatalf("%d of %d bytes are used", rec.Used, len(data))
	}
	if err := value.ParseJSON(&in, p, text); err != nil {
		t.Fatalf("%x: %v: %s", data, err, text)
	}
	var over value.Over
	if err := over.Encode(&out, &in, &rec); err != nil || !bytes.Equal(out.Message(), data) {
		t.Fatalf("%x: %v: %s: %x", data, err, text, out.Message())
	}
	if err := p.Encode(&again, &in); err != nil {
		t.Fatalf("%x: %v: %s", data, err, text)
	}
	if back := value.AppendJSON(nil, &again); !bytes.Equal(back, text) {
		t.Fatalf("%x: %s, then %s", data, text, back)
	}
}

// Messages that all refer to each other are compiled with work for each reference once: twice as many cost about twice as much.
func TestReferencesAreFollowedOnce(t *testing.T) {
	work := func(n int) float64 {
		var b strings.Builder
		b.WriteString("syntax = \"proto3\";\n")
		for i := range n {
			fmt.Fprintf(&b, "message M%d {", i)
			for k := 1; k <= 20; k++ {
				fmt.Fprintf(&b, " M%d f%d = %d;", (i+k)%n, k, k)
			}
			b.WriteString(" }\n")
		}
		files := []*source.File{source.New("a.proto", b.String())}
		return testing.AllocsPerRun(1, func() { Parse(files, schema.Options{}) })
	}
	if one, two := work(150), work(300); two > 2.5*one {
		t.Errorf("%g allocations, then %g", one, two)
	}
}
