package muta_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/corpora"
	"wirebench/defs/diag"
	"wirebench/defs/muta"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// vector is a row of the public vectors: a definition, and the result of decoding a message or encoding a value.
type vector struct {
	Text      string          `json:"def_text"`
	Constants map[string]any  `json:"constants"`
	Group     string          `json:"group"`
	Message   string          `json:"message"`
	Value     json.RawMessage `json:"value"`
	Hex       string          `json:"hex"`
	Outcome   string          `json:"outcome"`
	Consumed  int             `json:"consumed"`
	Note      string          `json:"note"`
}

// options returns the constants of the row.
func (v *vector) options() schema.Options {
	o := schema.Options{Constants: map[string]string{}}
	for name, value := range v.Constants {
		o.Constants[name] = fmt.Sprint(value)
	}
	return o
}

// mistakes are the expected codes of the rows with invalid definitions, by the start of their notes.
var mistakes = map[string]string{
	"duplicate field":     "duplicate-name",
	"undefined group":     "undefined-group",
	"recursive struct":    "recursive-struct",
	"symbolic max":        "missing-length-type",
	"max does not fit":    "max-too-large",
	"min > max":           "min-above-max",
	"length type without": "length-without-array",
	"missing =":           "malformed-line",
	"duplicate packet":    "duplicate-name",
}

// TestCorporaVectors checks every row: values, bytes, outcomes, numbers of bytes consumed, and errors of definitions.
func TestCorporaVectors(t *testing.T) { corpora.Run(t, testVectors) }

func testVectors(t *testing.T, c *corpora.Corpus) {
	ran := map[string]int{}
	for n, v := range corpora.Rows[vector](t, c, "muta/vectors.jsonl") {
		ran[v.Outcome]++
		t.Run(fmt.Sprintf("%d_%s", n+1, v.Note), func(t *testing.T) { v.run(t) })
	}
	want := map[string]int{"ok": 42, "incomplete": 97, "illegal": 13, "encode_error": 3, "def_error": 9}
	if !c.Own {
		want = map[string]int{"ok": 14, "incomplete": 200, "illegal": 19, "encode_error": 3, "def_error": 9}
	}
	if !reflect.DeepEqual(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}

func (v *vector) run(t *testing.T) {
	s, diags := muta.Parse([]*source.File{source.New("vector.def", v.Text)}, v.options())
	if v.Outcome == "def_error" {
		v.refusedDefinition(t, s, diags)
		return
	}
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	if v.Outcome == "encode_error" {
		p := v.named(t, s)
		var in, out codec.Record
		if err := value.ParseJSON(&in, p, v.Value); err != nil {
			return // refused before encoding
		}
		in.Code = p.Message.Key.Code
		if err := p.Encode(&out, &in); err == nil {
			t.Errorf("encoding %s gives %x", v.Value, out.Data)
		}
		return
	}
	data, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	status, p := v.choose(t, s, data)
	var rec codec.Record
	if p != nil {
		p.Decode(&rec, data)
		status = rec.Status().String()
	}
	if status != v.Outcome {
		t.Fatalf("%s is %s, want %s", v.Hex, status, v.Outcome)
	}
	if v.Outcome != "ok" {
		return
	}
	if p.Message.Name != v.Message || rec.Used != v.Consumed {
		t.Errorf("%s of %d bytes, want %s of %d", p.Message.Name, rec.Used, v.Message, v.Consumed)
	}
	if got := value.AppendJSON(nil, &rec); !same(t, got, v.Value) {
		t.Errorf("the value is\n%s, want\n%s", got, v.Value)
	}
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, v.Value); err != nil {
		t.Fatal(err)
	}
	in.Code = p.Message.Key.Code
	if err := p.Encode(&out, &in); err != nil || !bytes.Equal(out.Data, data[:v.Consumed]) {
		t.Errorf("encoding gives %x, want %s (%v)", out.Data, v.Hex, err)
	}
}

// refusedDefinition checks that the definition has the expected error and no other.
func (v *vector) refusedDefinition(t *testing.T, s *schema.Schema, diags diag.List) {
	if len(diags) != 1 || diags[0].Severity != diag.Error {
		t.Fatalf("want one error:\n%s", diags.Render())
	}
	for start, code := range mistakes {
		if strings.HasPrefix(v.Note, start) {
			if diags[0].Code != code {
				t.Errorf("want %s:\n%s", code, diags.Render())
			}
			for _, m := range s.Messages {
				if m.Broken {
					return
				}
			}
			t.Error("no message is broken")
			return
		}
	}
	t.Errorf("no code for %q:\n%s", v.Note, diags.Render())
}

// named compiles the named message of the row.
func (v *vector) named(t *testing.T, s *schema.Schema) *codec.Program {
	for _, m := range s.Messages {
		if m.Name == v.Message && m.Key.Group == v.Group {
			return compile(t, m)
		}
	}
	t.Fatalf("no message %s of %s", v.Message, v.Group)
	return nil
}

// choose finds the message of the bytes by their id, as a framer does. If there is none, it returns the resulting status.
func (v *vector) choose(t *testing.T, s *schema.Schema, data []byte) (status string, p *codec.Program) {
	var first codec.Record
	compile(t, s.Messages[0]).Decode(&first, data)
	if !first.HasCode() {
		return "incomplete", nil
	}
	m := s.Lookup(schema.Key{Group: v.Group, Code: first.Code})
	if m == nil {
		return "illegal", nil
	}
	return "", compile(t, m)
}

func compile(t *testing.T, m *schema.Message) *codec.Program {
	t.Helper()
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// same compares two JSON texts.
func same(t *testing.T, a, b []byte) bool {
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
