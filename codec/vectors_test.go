package codec_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

func compile(t testing.TB, name, text string, o schema.Options) *codec.Program {
	t.Helper()
	s, ds := tera.Parse([]*source.File{source.New(name, text)}, o)
	if ds.HasErrors() {
		t.Fatalf("%s", ds.Render())
	}
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type vector struct {
	Def    string          `json:"def"`
	Opcode uint32          `json:"opcode"`
	Hex    string          `json:"hex"`
	Value  json.RawMessage `json:"value"`
}

// vectors calls do with each message of a corpus and its program.
func vectors(t *testing.T, c *corpora.Corpus, do func(i int, v vector, p *codec.Program)) {
	t.Helper()
	programs := map[string]*codec.Program{}
	for i, v := range corpora.Rows[vector](t, c, "tera/vectors-toolbox.jsonl") {
		if programs[v.Def] == nil {
			programs[v.Def] = compile(t, v.Def, c.Text(t, "tera/toolbox/definitions/"+v.Def), schema.Options{})
		}
		do(i, v, programs[v.Def])
	}
	if len(programs) < 70 {
		t.Errorf("messages of %d definitions", len(programs))
	}
}

func TestCorporaVectors(t *testing.T) { corpora.Run(t, testVectors) }

func testVectors(t *testing.T, c *corpora.Corpus) {
	var rec, in, out codec.Record
	vectors(t, c, func(i int, v vector, p *codec.Program) {
		data, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		p.Decode(&rec, data)
		if rec.Status() != codec.OK || rec.Used != len(data) {
			t.Fatalf("vector %d, %s: status %v, used %d of %d, problems %v", i, v.Def, rec.Status(), rec.Used, len(data), rec.Problems)
		}
		if w := rec.AppendWarnings(nil); len(w) > 0 {
			t.Errorf("vector %d, %s: warning %s", i, v.Def, w[0].Message(&rec))
		}
		var got, want any
		text := value.AppendJSON(nil, &rec)
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("vector %d, %s: %v in %s", i, v.Def, err, text)
		}
		if err := json.Unmarshal(v.Value, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("vector %d, %s:\n got %s\nwant %s", i, v.Def, text, v.Value)
		}
		if err := value.ParseJSON(&in, p, v.Value); err != nil {
			t.Fatalf("vector %d, %s: %v", i, v.Def, err)
		}
		in.Code = v.Opcode
		if err := p.Encode(&out, &in); err != nil {
			t.Fatalf("vector %d, %s: %v", i, v.Def, err)
		}
		if !bytes.Equal(out.Data, data) {
			t.Errorf("vector %d, %s:\n got %x\nwant %x", i, v.Def, out.Data, data)
		}
		if !reflect.DeepEqual(out.Nodes, rec.Nodes) {
			t.Errorf("vector %d, %s: nodes of encode and decode differ:\n%v\n%v", i, v.Def, out.Nodes, rec.Nodes)
		}
		if err := p.Encode(&out, &rec); err != nil || !bytes.Equal(out.Data, data) {
			t.Errorf("vector %d, %s: decoded and encoded again: %v\n got %x\nwant %x", i, v.Def, err, out.Data, data)
		}
		if t.Failed() && i > 20 {
			t.FailNow()
		}
	})
}

// A truncated message could be completed: it is incomplete wherever it was truncated, and never illegal.
func TestCorporaPrefixesAreIncomplete(t *testing.T) { corpora.Run(t, testPrefixes) }

func testPrefixes(t *testing.T, c *corpora.Corpus) {
	var rec codec.Record
	vectors(t, c, func(_ int, v vector, p *codec.Program) {
		data, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		step := 1 + len(data)/200
		for n := 0; n < len(data); n += step {
			p.Decode(&rec, data[:n:n])
			if rec.Status() != codec.Incomplete {
				t.Fatalf("%s cut to %d of %d bytes: %s", v.Def, n, len(data), view.Transcript(&rec))
			}
			if used := rec.Used; used != n {
				t.Fatalf("%s cut to %d bytes: used %d", v.Def, n, used)
			}
		}
	})
}
