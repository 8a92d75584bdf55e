package codec_test

import (
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// sample is a message of one kind.
type sample struct {
	name string
	p    *codec.Program
	data []byte
}

// samples returns messages of many kinds.
func samples(t *testing.T) (samples []sample) {
	for _, s := range shapes(t) {
		if s.name != "X" {
			samples = append(samples, sample{s.name, s.programs[codeOf(s.messages[0])], s.messages[0]})
		}
	}
	var in, out codec.Record
	made := func(name string, p *codec.Program, values string) {
		if err := value.ParseJSON(&in, p, []byte(values)); err != nil {
			t.Fatal(name, err)
		}
		if err := p.Encode(&out, &in); err != nil {
			t.Fatal(name, err)
		}
		samples = append(samples, sample{name, p, append([]byte(nil), out.Message()...)})
	}
	tera := func(name, text, value string) {
		made(name, compile(t, "C_"+name+".1.def", text, schema.Options{}), value)
	}
	tera("STRINGS", "string a\narray<string> b\n", `{"a":"xyz \u00e9 \ud800","b":["1","","three"]}`)
	tera("NESTED", "array a\n- string s\n- array b\n- - int32 x\n- - bytes y\n", `{"a":[{"s":"q","b":[{"x":1,"y":"0102"},{}]},{"b":[{}]}]}`)
	tera("WEAVE", "array[interleaved] a\n- int32 x\n- string s\narray[interleaved] b\n- int16 y\n", `{"a":[{"x":1,"s":"a"},{"s":"b"}],"b":[{"y":1},{"y":2},{"y":3}]}`)
	tera("PACKED", "skillid s\ncustomize c\nvec3 v\nangle w\narray<vec3> l\n", `{"s":{"id":7},"v":{"x":1.5},"w":1.5,"l":[{"y":0.1}]}`)
	made("MUTA", program(t, squad()), `{"header":{"rank":5,"title":"ab"},"members":[{"level":5,"name":"x","items":[1,2]},{"level":60,"name":"yz"}],"at":{"x":-1,"y":1},"flag":42}`)
	made("CLUSTER", program(t, cluster()), `{"packets":[{"payload":"010203"},{"payload":""}]}`)
	made("POSITION", program(t, position()), `{"rotation":-10,"weapon":{"type":3},"extra":{"ping":4}}`)
	made("VARIANT", program(t, byValue()), `{"kind":1,"pid":5,"name":"ab"}`)
	made("ENDINGS", protodefProgram("endings"), `{"stop":7,"plain":[3,300,0],"rows":[{"key":1,"vals":[1,2]},{"key":7}],"lists":[[300,1],[2]],"tail":"x"}`)
	made("COMPUTED", protodefProgram("computed"), `{"w":2,"h":1,"by_kind":"ab","by_wide":1,"cells":[1,2],"rows":[{"a":1},{"a":2}]}`)
	made("PLACES", protodefProgram("places"), `{"text_at":18,"text":"ab","rows":[{"at":21,"name":"x"},{"at":23,"name":"yz"}],"group_at":25,"group":{"list":[1,2],"deep_at":38,"deep":"0102"},"wrapped":{"in_at":34,"in":1},"bytes_at":10,"bytes_size":0,"tail":9}`)
	return samples
}

// TestNoAllocations: a reused Record does not allocate once its memory has grown to the required size.
func TestNoAllocations(t *testing.T) {
	for _, s := range samples(t) {
		var rec, out, in codec.Record
		var leaves []codec.Leaf
		var text []byte
		s.p.Decode(&rec, s.data)
		if rec.Status() != codec.OK {
			t.Fatalf("%s: %s", s.name, problems(&rec))
		}
		values := value.AppendJSON(nil, &rec)
		for _, c := range []struct {
			what string
			do   func()
		}{
			{"Decode", func() { s.p.Decode(&rec, s.data) }},
			{"Decode of a part", func() { s.p.Decode(&out, s.data[:len(s.data)-1]) }},
			{"AppendLeaves", func() { leaves = rec.AppendLeaves(leaves[:0]) }},
			{"AppendJSON", func() { text = value.AppendJSON(text[:0], &rec) }},
			{"AppendBrief", func() { text = value.AppendBrief(text[:0], &rec, 1000) }},
			{"ParseJSON", func() {
				if err := value.ParseJSON(&in, s.p, values); err != nil {
					t.Fatal(err)
				}
			}},
			{"Encode", func() {
				if err := s.p.Encode(&out, &rec); err != nil {
					t.Fatal(err)
				}
			}},
			{"Encode of values", func() {
				if err := s.p.Encode(&out, &in); err != nil {
					t.Fatal(err)
				}
			}},
		} {
			c.do()
			if n := testing.AllocsPerRun(20, c.do); n != 0 {
				t.Errorf("%s: %s allocates %v times", s.name, c.what, n)
			}
		}
	}
}
