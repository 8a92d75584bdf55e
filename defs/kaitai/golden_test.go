package kaitai_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/defstest"
	"wirebench/defs/kaitai"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestGolden parses the files of each case as one set. Each line of the file "messages" is a message and its bytes; "values" has what they are read
// as. A value without problems is encoded as the same bytes.
func TestGolden(t *testing.T) {
	defstest.Run(t, "testdata/*.txtar", []string{"diagnostics", "values"}, func(t *testing.T, c *defstest.Case) map[string]string {
		var files []*source.File
		messages := ""
		for _, in := range c.Files {
			if in.Name == "messages" {
				messages = in.Text
				continue
			}
			files = append(files, source.New(in.Name, in.Text))
		}
		s, diags := kaitai.Parse(files, schema.Options{})
		var values strings.Builder
		for line := range strings.Lines(messages) {
			name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
			data, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
			m := s.Find(name, 0)
			if err != nil || m == nil {
				t.Fatalf("%s: no such message, or no bytes: %v", line, err)
			}
			read(t, &values, m, data)
		}
		return map[string]string{"diagnostics": diags.Render(), "values": values.String()}
	})
}

// read writes what a message is read as.
func read(t *testing.T, out *strings.Builder, m *schema.Message, data []byte) {
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	var rec, built, again codec.Record
	p.Decode(&rec, data)
	text := value.AppendJSON(nil, &rec)
	fmt.Fprintf(out, "%s %s\n", m.Name, text)
	for _, q := range rec.AllProblems() {
		fmt.Fprintf(out, "  %s\n", q.Message(&rec))
	}
	if len(rec.Problems) > 0 || m.Broken {
		return
	}
	if err := value.ParseJSON(&built, p, text); err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	var over value.Over
	if err := over.Encode(&again, &built, &rec); err != nil {
		fmt.Fprintf(out, "  not encoded: %v\n", err)
	} else if !bytes.Equal(again.Message(), data) {
		fmt.Fprintf(out, "  encoded as %x\n", again.Message())
	}
}
