package codec_test

import (
	"bytes"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// taggedProgram is the message of a definition in a language with tags.
func taggedProgram(t *testing.T) *codec.Program {
	t.Helper()
	s := load(t, "protobuf", nil, source.New("m.proto", `syntax = "proto2";
		message M { optional int32 a = 1; repeated M inner = 2; optional group G = 3 { optional M m = 1; } repeated int32 p = 4 [packed = true]; optional string s = 5; }`))
	for _, m := range s.Messages {
		if m.Name == "M" {
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatal("no message")
	return nil
}

// TestTagged has messages with their values, their problems and what they are after a change of the values over them.
func TestTagged(t *testing.T) {
	p := taggedProgram(t)
	for _, c := range []struct{ name, data, value, problem, changed, want string }{
		{"any order", "\x2a\x01x\x08\x05", `{"a":5,"s":"x"}`, "", `{"a":6,"s":"x"}`, "\x2a\x01x\x08\x06"},
		{"a place is kept", "\x2a\x01x\x08\x05", `{"a":5,"s":"x"}`, "", `{"a":300,"s":"xyz"}`, "\x2a\x03xyz\x08\xac\x02"},
		{"sent twice", "\x08\x05\x08\x06", `{"a":[5,6]}`, "sent-again", `{"a":5}`, "\x08\x05"},
		{"over-long", "\x88\x00\x85\x80\x00", `{"a":5}`, "number-not-shortest", `{"a":5,"s":"x"}`, "\x88\x00\x85\x80\x00\x2a\x01x"},
		{"negative", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", `{"a":-1}`, "", `{"a":1,"s":""}`, "\x08\x01\x2a\x00"},
		{"packed and not", "\x22\x02\x01\x02\x20\x03", `{"p":[1,2],"p_unpacked":[3]}`, "", `{"p":[1,2,3]}`, "\x22\x03\x01\x02\x03"},
		{"pieces", "\x22\x01\x01\x22\x00", `{"p":[[1],[]]}`, "sent-again", `{"p":[[1],[2]]}`, "\x22\x01\x01\x22\x01\x02"},
		{"unknown", "\x3a\x01\x07\x08\x01", `{"a":1,"unknown":[{"tag":58,"field":7,"value":"07"}]}`, "", `{"a":200,"unknown":[{"tag":58,"field":7,"value":"07"}]}`, "\x3a\x01\x07\x08\xc8\x01"},
		{"an element goes", "\x12\x00\x08\x01\x12\x02\x08\x02", `{"a":1,"inner":[{},{"a":2}]}`, "", `{"a":1,"inner":[{"a":2}]}`, "\x08\x01\x12\x02\x08\x02"},
		{"no field", "\x00\x01", "", "bad-tag", "", ""},
		{"a group that did not begin", "\x0c", "", "bad-tag", "", ""},
		{"another end", "\x1b\x24", "", "bad-tag", "", ""},
		{"another end of an unknown group", "\x3b\x0c", "", "bad-tag", "", ""},
		{"another end inside", "\x3b\x43\x3c\x3c", "", "bad-tag", "", ""},
		{"no end", "\x1b\x0a\x00", "", "truncated", "", ""},
		{"too short", "\x2a\x05abc", "", "truncated", "", ""},
		{"too long inside", "\x12\x03\x2a\x05a", "", "contents-out-of-range", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rec, in, out codec.Record
			p.Decode(&rec, []byte(c.data))
			problem := ""
			if all := rec.AllProblems(); len(all) > 0 {
				problem = all[0].Code.String()
			}
			if problem != c.problem {
				t.Errorf("%q, not %q", problem, c.problem)
			}
			if c.value == "" {
				return
			}
			if got := string(value.AppendJSON(nil, &rec)); got != c.value {
				t.Errorf("%s, not %s", got, c.value)
			}
			var over value.Over
			if err := value.ParseJSON(&in, p, []byte(c.changed)); err != nil {
				t.Fatal(err)
			}
			if err := over.Encode(&out, &in, &rec); err != nil || string(out.Message()) != c.want {
				t.Errorf("%v %x, not %x", err, out.Message(), c.want)
			}
		})
	}
}

// TestTaggedValues refuses values that would be read as others.
func TestTaggedValues(t *testing.T) {
	p := taggedProgram(t)
	for _, text := range []string{
		`{"unknown":[{"tag":8,"value":"1"}]}`, `{"unknown":[{"tag":62,"value":"1"}]}`, `{"unknown":[{"tag":2,"value":"00"}]}`, `{"unknown":[{"value":"1"}]}`,
		`{"unknown":[{"tag":59,"value":{"end":12}}]}`, `{"unknown":[{"tag":59,"value":{}}]}`, `{"a":{}}`, `{"inner":{}}`, `{"p":5}`,
	} {
		var in, out, back codec.Record
		if value.ParseJSON(&in, p, []byte(text)) != nil || p.Encode(&out, &in) != nil {
			continue
		}
		if p.Decode(&back, out.Message()); back.Status() != codec.OK || string(value.AppendJSON(nil, &back)) != text {
			t.Errorf("%s is accepted as %x", text, out.Message())
		}
	}
}

// TestTaggedHostile bounds the nodes of messages that are all nesting; TestCostOfDecoding bounds the time.
func TestTaggedHostile(t *testing.T) {
	p := taggedProgram(t)
	nested := []byte{}
	for range 400 {
		nested = append(append([]byte{0x12}, codec.AppendVarint(nil, uint64(len(nested)), schema.LEB128, 64)...), nested...)
	}
	for name, data := range map[string][]byte{
		"groups": bytes.Repeat([]byte{0x1b}, 1<<20), "unknown groups": bytes.Repeat([]byte{0x3b}, 1<<20), "pairs": bytes.Repeat([]byte{0x3b, 0x3c}, 1<<19),
		"empty messages": bytes.Repeat([]byte{0x12, 0}, 1<<19), "deep": nested, "zeros": make([]byte, 1<<20),
		"groups around": append(append(bytes.Repeat([]byte{0x3b}, 300), make([]byte, 0)...), append(bytes.Repeat([]byte{0x38, 1}, 1<<19), bytes.Repeat([]byte{0x3c}, 300)...)...),
	} {
		var rec codec.Record
		p.Decode(&rec, data)
		if len(rec.Nodes) > 10*len(data)+1<<18 {
			t.Errorf("%s: %d nodes", name, len(rec.Nodes))
		}
	}
}
