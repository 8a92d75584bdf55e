package protobuf

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// peers are definitions with all that the language has for bytes.
var peers = map[string]string{
	"two.proto": `syntax = "proto2";
package two;
message All {
  optional int32 a = 1; optional int64 b = 2; optional uint32 c = 3; optional uint64 d = 4; optional sint32 e = 5; optional sint64 f = 6;
  optional fixed32 g = 7; optional fixed64 h = 8; optional sfixed32 i = 9; optional sfixed64 j = 10; optional float k = 11; optional double l = 12;
  optional bool m = 13; optional string n = 14; optional bytes o = 15; optional E p = 16 [default = SECOND];
  repeated int32 ra = 21; repeated sint64 rf = 26 [packed = true]; repeated fixed32 rg = 27 [packed = true]; repeated double rl = 32;
  repeated string rn = 34; repeated bytes ro = 35; repeated E rp = 36 [packed = true];
  optional All inner = 41; repeated All inners = 42;
  optional group Pair = 43 { required string key = 1; optional All all = 2; repeated group Deep = 3 { optional bool on = 1; } }
  map<string, int32> counts = 50; map<int64, All> alls = 51; map<bool, E> flags = 52;
  oneof choice { string text = 60; uint32 code = 61; Other other = 62; }
  message Other { optional string name = 2; optional uint32 unknown = 1; }
  extensions 1000 to 2000;
  enum E { option allow_alias = true; ZERO = 0; SECOND = 2; DEUX = 2; LESS = -1; }
}
`,
	"three.proto": `syntax = "proto3";
import "two.proto";
import "google/protobuf/timestamp.proto";
message Three {
  repeated int32 a = 1; repeated bool b = 2; repeated uint64 c = 3 [packed = false];
  optional string name = 536870911;
  google.protobuf.Timestamp at = 5; two.All.Other other = 6; repeated Three more = 7;
  Kind kind = 8; float x = 9;
  enum Kind { NONE = 0; SOME = 1; }
}
`,
	"edition.proto": `edition = "2023";
option features.repeated_field_encoding = EXPANDED;
message Ed {
  int32 a = 1; repeated int32 b = 2; repeated int32 c = 3 [features.repeated_field_encoding = PACKED];
  Ed d = 4 [features.message_encoding = DELIMITED]; repeated Ed e = 5;
}
`,
}

func peerFiles() (files []*source.File) {
	for _, name := range []string{"two.proto", "three.proto", "edition.proto"} {
		files = append(files, source.New(name, peers[name]))
	}
	return files
}

// sources returns texts as files, by name.
func sources(texts map[string]string) (files []*source.File) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, source.New(name, texts[name]))
	}
	return files
}

// descriptors returns the messages of definitions as the library of the language has them.
func descriptors(t testing.TB, texts map[string]string, names ...string) map[string]protoreflect.MessageDescriptor {
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(texts)})}
	files, err := c.Compile(context.Background(), names...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]protoreflect.MessageDescriptor{}
	for _, f := range files {
		for i := range f.Messages().Len() {
			out[string(f.Messages().Get(i).Name())] = f.Messages().Get(i)
		}
	}
	return out
}

type filler struct{ rng *rand.Rand }

// fill sets some fields of a message to random values.
func (x filler) fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if x.rng.IntN(3) > 0 && f.Cardinality() != protoreflect.Required || f.Message() != nil && depth > 2 && f.Cardinality() != protoreflect.Required {
			continue
		}
		switch {
		case f.IsList():
			l := m.Mutable(f).List()
			for range x.rng.IntN(4) {
				l.Append(x.value(f, l.NewElement, depth))
			}
		case f.IsMap():
			e := m.Mutable(f).Map()
			for range x.rng.IntN(3) {
				e.Set(x.value(f.MapKey(), nil, depth).MapKey(), x.value(f.MapValue(), e.NewValue, depth))
			}
		default:
			m.Set(f, x.value(f, func() protoreflect.Value { return m.NewField(f) }, depth))
		}
	}
}

func (x filler) value(f protoreflect.FieldDescriptor, fresh func() protoreflect.Value, depth int) protoreflect.Value {
	n := x.rng.Uint64() >> x.rng.IntN(64)
	if x.rng.IntN(4) == 0 {
		n = -n
	}
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n&1 == 1)
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		if x.rng.IntN(4) == 0 && !f.Enum().IsClosed() {
			return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n))
		}
		return protoreflect.ValueOfEnum(values.Get(x.rng.IntN(values.Len())).Number())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(n)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(int32(n)) / 8)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(int32(n)) / 8)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString([]string{"", "a", "naïve", "\x00\"\n", "家"}[n%5])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(marshalled(n))
	}
	v := fresh()
	x.fill(v.Message(), depth+1)
	return v
}

func marshalled(n uint64) []byte {
	b := []byte{}
	for ; n > 0; n >>= 8 {
		b = append(b, byte(n))
	}
	return b
}

// plainValue returns what JSON has for a value.
func plainValue(f protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return v.Bool()
	case protoreflect.EnumKind:
		if x := f.Enum().Values().ByNumber(v.Enum()); x != nil {
			return string(x.Name())
		}
		return float64(v.Enum())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return float64(v.Int())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return float64(v.Uint())
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return strconv.FormatInt(v.Int(), 10)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return strconv.FormatUint(v.Uint(), 10)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return v.Float()
	case protoreflect.StringKind:
		return v.String()
	case protoreflect.BytesKind:
		return hex.EncodeToString(v.Bytes())
	}
	return plainMessage(v.Message())
}

// plainMessage returns the JSON of a message that was read from bytes.
func plainMessage(m protoreflect.Message) map[string]any {
	out := map[string]any{}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(f.Name())
		switch {
		case f.IsList():
			all := []any{}
			for i := range v.List().Len() {
				all = append(all, plainValue(f, v.List().Get(i)))
			}
			out[name] = all
		case f.IsMap():
			all := map[string]any{}
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				all[fmt.Sprint(plainValue(f.MapKey(), k.Value()))] = plainValue(f.MapValue(), v)
				return true
			})
			out[name] = all
		default:
			out[name] = plainValue(f, v)
		}
		return true
	})
	return out
}

// asPeer changes our JSON to that of plainMessage: maps become objects, fields with the values that the language does not show go.
func asPeer(d protoreflect.MessageDescriptor, in map[string]any) map[string]any {
	out := map[string]any{}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		v, ok := in[string(f.Name())]
		if !ok {
			continue
		}
		message := func(v any) any {
			if o, ok := v.(map[string]any); ok && f.Message() != nil {
				return asPeer(f.Message(), o)
			}
			return v
		}
		switch {
		case f.IsMap():
			all := map[string]any{}
			for _, e := range v.([]any) {
				o := e.(map[string]any)
				val := o["value"]
				if x, ok := val.(map[string]any); ok {
					val = asPeer(f.MapValue().Message(), x)
				}
				all[fmt.Sprint(o["key"])] = val
			}
			v = all
		case f.IsList():
			all := []any{}
			for _, e := range v.([]any) {
				all = append(all, message(e))
			}
			v = all
		default:
			v = message(v)
		}
		out[string(f.Name())] = v
	}
	return out
}

// TestPeer compares random messages with the library of the language: its bytes have the same values here, and these values the same bytes, in
// any order of the fields.
func TestPeer(t *testing.T) {
	s, diags := Parse(peerFiles(), schema.Options{})
	if diags.HasErrors() {
		t.Fatal(diags.Render())
	}
	descs := descriptors(t, peers, "two.proto", "three.proto", "edition.proto")
	programs := map[string]*codec.Program{}
	for _, m := range s.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		programs[m.Name] = p
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var rec, in, out, again codec.Record
	for _, name := range []string{"All", "Three", "Ed"} {
		d, p := descs[name], programs[name]
		for range 400 {
			m := dynamicpb.NewMessage(d)
			filler{rng}.fill(m, 0)
			data, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			p.Decode(&rec, data)
			if rec.Status() != codec.OK {
				t.Fatalf("%s %x: %s", name, data, rec.Problems[0].Message(&rec))
			}
			text := value.AppendJSON(nil, &rec)
			var ours map[string]any
			if err := json.Unmarshal(text, &ours); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if got, want := asPeer(d, ours), plainMessage(m); !reflect.DeepEqual(got, want) {
				a, _ := json.Marshal(got)
				b, _ := json.Marshal(want)
				t.Fatalf("%s %x:\n%s\nnot\n%s", name, data, a, b)
			}
			if err := value.ParseJSON(&in, p, text); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if err := p.Encode(&out, &in); err != nil || !bytes.Equal(out.Message(), data) {
				t.Fatalf("%s %v: %s\n%x, not\n%x", name, err, text, out.Message(), data)
			}

			mixed := shuffled(rng, data)
			p.Decode(&rec, mixed)
			if rec.Status() != codec.OK {
				t.Fatalf("%x: %s", mixed, rec.Problems[0].Message(&rec))
			}
			text = value.AppendJSON(text[:0], &rec)
			if err := value.ParseJSON(&in, p, text); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			var over value.Over
			if err := over.Encode(&again, &in, &rec); err != nil || !bytes.Equal(again.Message(), mixed) {
				t.Fatalf("over %v: %s\n%x, not\n%x", err, text, again.Message(), mixed)
			}
			back := dynamicpb.NewMessage(d)
			if err := p.Encode(&out, &in); err != nil {
				t.Fatal(err)
			}
			if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(out.Message(), back); err != nil || !proto.Equal(back, m) {
				t.Fatalf("%v: %x is not %x", err, out.Message(), data)
			}
		}
	}
}

// shuffled returns the fields of a message in another order, and some that it does not have; those of one number stay in order.
func shuffled(rng *rand.Rand, data []byte) (out []byte) {
	var fields [][]byte
	for len(data) > 0 {
		_, _, size := protowire.ConsumeField(data)
		fields, data = append(fields, data[:size]), data[size:]
	}
	for i := range fields {
		k := rng.IntN(i + 1)
		a, _, _ := protowire.ConsumeTag(fields[i])
		same := false
		for j := k; j < i; j++ {
			b, _, _ := protowire.ConsumeTag(fields[j])
			same = same || a == b
		}
		if b, _, _ := protowire.ConsumeTag(fields[k]); !same && a != b {
			moved := fields[i]
			copy(fields[k+1:i+1], fields[k:i])
			fields[k] = moved
		}
	}
	return bytes.Join(fields, nil)
}
