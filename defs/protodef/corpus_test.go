package protodef_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/corpora"
	"wirebench/defs/diag"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// load compiles the definitions of a file.
func load(t testing.TB, c *corpora.Corpus, name string) *schema.Schema {
	t.Helper()
	s, diags := protodef.Parse([]*source.File{source.New(path.Base(name), c.Text(t, name))}, schema.Options{})
	for _, d := range diags {
		if d.Severity == diag.Error { // a published definition has 65 flags in a number of 64 bits
			t.Errorf("%s: %s", name, d.Message)
		}
	}
	return s
}

// TestCorporaCompiles checks that all messages of published definitions compile.
func TestCorporaCompiles(t *testing.T) { corpora.Run(t, testCorpusCompiles) }

func testCorpusCompiles(t *testing.T, c *corpora.Corpus) {
	for _, name := range c.Glob(t, "protodef/*.json") {
		s := load(t, c, name)
		if len(s.Messages) < 100 && !c.Own || len(s.Messages) < 14 {
			t.Errorf("%s: %d messages", name, len(s.Messages))
		}
		for _, m := range s.Messages {
			if _, err := codec.Compile(m); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// sample is a message as another program read it.
type sample struct {
	Dir, State, Name, Hex string
	Value                 any
	Encodes               bool // the other program writes the same bytes
}

// TestCorporaMessages checks that messages have the values that node-protodef reads, and that their values are encoded as the same bytes.
func TestCorporaMessages(t *testing.T) {
	corpora.Run(t, func(t *testing.T, c *corpora.Corpus) {
		for _, name := range c.Glob(t, "protodef/messages-*.jsonl") {
			t.Run(path.Base(name), func(t *testing.T) { checkMessages(t, c, name) })
		}
	})
}

func checkMessages(t *testing.T, c *corpora.Corpus, name string) {
	s := load(t, c, strings.Replace(strings.TrimSuffix(name, "l"), "messages-", "pc-", 1))
	programs := map[string]*codec.Program{}
	var rec, built, out codec.Record
	n, wrong, odd := 0, 0, 0
	sc := bufio.NewScanner(bytes.NewReader(c.Read(t, name)))
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var m sample
		d := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		n++
		id := m.Dir + " " + m.State + " " + m.Name
		p := programs[id]
		for _, x := range s.Messages {
			if p == nil && x.Name == m.Name && x.Key.Dir == schema.DirNamed(m.Dir) && x.Key.Group == m.State {
				var err error
				if p, err = codec.Compile(x); err != nil {
					t.Fatal(err)
				}
				programs[id] = p
			}
		}
		if p == nil {
			t.Fatalf("no message %s", id)
		}
		data, err := hex.DecodeString(m.Hex)
		if err != nil {
			t.Fatal(err)
		}
		p.Decode(&rec, data)
		text := value.AppendJSON(nil, &rec)
		fail := func(format string, args ...any) {
			if wrong++; wrong < 20 {
				short := m.Hex
				if len(short) > 200 {
					short = short[:200] + "…"
				}
				t.Errorf("%s (%d bytes, %s): %s", id, len(data), short, fmt.Sprintf(format, args...))
			}
		}
		if rec.Status() != codec.OK || rec.Used != len(data) {
			why := ""
			for _, q := range rec.Problems {
				why += q.Message(&rec) + "; "
			}
			fail("%s, %d of %d bytes: %s", rec.Status(), rec.Used, len(data), why)
			continue
		}
		d = json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var ours any
		if err := d.Decode(&ours); err != nil {
			t.Fatalf("%s: %v: %s", id, err, text)
		}
		if err := sameValue("", m.Value, ours); err != nil {
			fail("%v", err)
			continue
		}
		if err := value.ParseJSON(&built, p, text); err != nil {
			fail("%v", err)
			continue
		}
		built.Code = rec.Code
		if err := p.Encode(&out, &built); err != nil {
			fail("%v", err)
			continue
		}
		if !bytes.Equal(out.Data, data) {
			if !m.Encodes {
				odd++
				continue
			}
			k := 0
			for k < min(len(data), len(out.Data)) && data[k] == out.Data[k] {
				k++
			}
			fail("encoded %d bytes, the first difference is at %d", len(out.Data), k)
		}
	}
	t.Logf("%d messages of %d kinds, %d wrong, %d that neither program writes alike", n, len(programs), wrong, odd)
	if n < 100 {
		t.Errorf("%d messages", n)
	}
}

// sameValue compares a value of node-protodef with one of ours. The differences in form are those that the package documentation lists.
func sameValue(path string, node, ours any) error {
	differ := func() error {
		a, _ := json.Marshal(node)
		b, _ := json.Marshal(ours)
		return fmt.Errorf("%s: %.200s in node, %.200s here", path, a, b)
	}
	switch x := node.(type) {
	case nil:
		if ours != nil && ours != "NaN" && ours != "Infinity" && ours != "-Infinity" { // which JSON does not have
			return differ()
		}
	case map[string]any:
		if text, ok := x["$i64"]; ok && len(x) == 1 {
			if ours != text {
				return differ()
			}
			return nil
		}
		if text, ok := x["$hex"]; ok && len(x) == 1 {
			if ours != text {
				return differ()
			}
			return nil
		}
		if list, ok := ours.([]any); ok { // a compound of tags
			object := map[string]any{}
			for _, e := range list {
				tag, ok := e.(map[string]any)
				name, _ := tag["name"].(string)
				if !ok {
					return differ()
				}
				object[name] = map[string]any{"type": tag["type"], "value": tag["value"]}
			}
			ours = object
		}
		y, ok := ours.(map[string]any)
		if !ok {
			return differ()
		}
		for k, v := range x {
			if k == "_enum_type" { // is not sent
				continue
			}
			if err := sameValue(path+"."+k, v, y[k]); err != nil {
				return err
			}
		}
		for k, v := range y {
			tag, _ := v.(map[string]any)
			if _, there := x[k]; !there && v != nil && tag["type"] != "end" {
				return fmt.Errorf("%s.%s: only here: %v", path, k, v)
			}
		}
	case []any:
		y, ok := ours.([]any)
		if !ok || len(x) != len(y) {
			return differ()
		}
		for i := range x {
			if err := sameValue(fmt.Sprintf("%s[%d]", path, i), x[i], y[i]); err != nil {
				return err
			}
		}
	case json.Number:
		y, ok := ours.(json.Number)
		if s, text := ours.(string); text { // of 64 bits
			y, ok = json.Number(s), true
		}
		a, _ := x.Float64()
		b, _ := y.Float64()
		if !ok || a != b && (float32(a) != float32(b) || !strings.ContainsAny(string(x), ".e")) {
			return differ()
		}
	default:
		if node != ours {
			return differ()
		}
	}
	return nil
}
