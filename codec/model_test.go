package codec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/packettest"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// Schemas built by hand, as dialects lower to.

func field(name string, t schema.Type) *schema.Field {
	return &schema.Field{Name: name, Type: t, TypeText: fmt.Sprint(t)}
}

func unsigned(bits int) *schema.Number { return &schema.Number{Bits: bits} }
func integer(bits int) *schema.Number  { return &schema.Number{Bits: bits, Kind: schema.Signed} }
func float(bits int) *schema.Number    { return &schema.Number{Bits: bits, Kind: schema.Float} }
func big(bits int) *schema.Number      { return &schema.Number{Bits: bits, Order: schema.Big} }

func fixedText(n int) *schema.Text {
	return &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Fixed, N: n}}
}

func counted(lo, hi uint64) schema.Extent {
	e := schema.Extent{Size: schema.Counted, Max: &schema.Limit{Uint: hi}}
	if lo > 0 {
		e.Min = &schema.Limit{Uint: lo}
	}
	return e
}

func values(fields ...*schema.Field) []schema.Item {
	var items []schema.Item
	for _, f := range fields {
		items = append(items, schema.Item{Kind: schema.Value, Field: f})
	}
	return items
}

// record returns a struct whose fields are transmitted in the order of their declaration.
func record(fields ...*schema.Field) *schema.Struct {
	return &schema.Struct{Fields: fields, Wire: values(fields...)}
}

// bareList is a list whose elements are single values.
func bareList(t schema.Type, e schema.Extent) *schema.List {
	return &schema.List{Elem: record(field("", t)), Bare: true, Extent: e}
}

func program(t testing.TB, m *schema.Message) *codec.Program {
	t.Helper()
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// layoutText formats the layout, one line per row: offset, bits, role, path.
func layoutText(p *codec.Program) string {
	var b strings.Builder
	for _, r := range p.Layout() {
		fmt.Fprintf(&b, "%s: %d", r.Offset, r.MinBits)
		if r.MaxBits != r.MinBits {
			fmt.Fprintf(&b, "..%d", r.MaxBits)
		}
		fmt.Fprintf(&b, " %s", r.Role)
		if r.Path != r.Role.String() {
			fmt.Fprintf(&b, " %s", r.Path)
		}
		if r.Note != "" {
			fmt.Fprintf(&b, " (%s)", r.Note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// check decodes a message, compares its values and converts them back: JSON and record must give the same bytes and nodes. It returns the
// record.
func check(t *testing.T, p *codec.Program, message, values string) *codec.Record {
	t.Helper()
	data := packettest.Unhex(t, message)
	var rec, in, out codec.Record
	p.Decode(&rec, data)
	if rec.Status() != codec.OK || rec.Used != len(data) {
		t.Fatalf("%s: status %v, used %d of %d: %s", message, rec.Status(), rec.Used, len(data), problems(&rec))
	}
	if got := string(value.AppendJSON(nil, &rec)); got != values {
		t.Errorf("%s:\n got %s\nwant %s", message, got, values)
	}
	if err := value.ParseJSON(&in, p, []byte(values)); err != nil {
		t.Fatalf("%s: %v", values, err)
	}
	in.Code = rec.Code
	for _, src := range []*codec.Record{&in, &rec} {
		if err := p.Encode(&out, src); err != nil {
			t.Fatalf("%s: %v", values, err)
		}
		if !bytes.Equal(out.Data, data) {
			t.Errorf("%s:\n got %x\nwant %x", values, out.Data, data)
		}
		if !reflect.DeepEqual(out.Nodes, rec.Nodes) {
			t.Errorf("%s: nodes of encode and decode differ:\n%v\n%v", values, out.Nodes, rec.Nodes)
		}
	}
	if n := rec.Unexplained(); n > 0 {
		t.Errorf("%s: %d bytes belong to no field", message, n)
	}
	return &rec
}

// problems formats the problems of a record.
func problems(r *codec.Record) string {
	var words []string
	for _, p := range r.AppendWarnings(r.Problems[:len(r.Problems):len(r.Problems)]) {
		words = append(words, fmt.Sprintf("%s at %d+%d (%s)", p.Code, p.Range.Off, p.Range.Len, p.Message(r)))
	}
	return strings.Join(words, "; ")
}

// refused checks that encoding a value fails with the given error.
func refused(t *testing.T, p *codec.Program, values, want string) {
	t.Helper()
	var in, out codec.Record
	err := value.ParseJSON(&in, p, []byte(values))
	if err == nil {
		err = p.Encode(&out, &in)
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got error %v, want one with %q", values, err, want)
	}
}

// sameJSON reports whether two texts are the same value.
func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%v in %s", err, a)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return reflect.DeepEqual(x, y)
}

// TestOneValueTwice has duplicate names: the last one read determines the value, and it is written to each.
func TestOneValueTwice(t *testing.T) {
	for _, c := range []struct{ def, message, value string }{
		{"int32 a\nbyte b\nint32 a\n", "0d00 3412 05000000 07 05000000", `{"b":7,"a":5}`},
		{"vec3 a\nbyte b\nvec3 a\n", "1d00 3412 0000803f 00000040 00000000 07 0000803f 00000040 00000000", `{"b":7,"a":{"x":1,"y":2,"z":0}}`},
		{"byte[2] a\nbyte b\nbyte[2] a\n", "0900 3412 0102 07 0102", `{"b":7,"a":[1,2]}`},
		{"array l\n- vec3 a\n- vec3 a\n", "2400 3412 0100 0800 0800 0000 0000803f 00000040 00000000 0000803f 00000040 00000000", `{"l":[{"a":{"x":1,"y":2,"z":0}}]}`},
	} {
		check(t, compile(t, "C_TWICE.1.def", c.def, schema.Options{}), c.message, c.value)
	}
}
