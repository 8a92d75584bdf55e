package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/server/workspace"
)

// BenchmarkDecode decodes a file of hex lines as the command line does, and in the same run as bare calls of the engine: a message of 38
// bytes, and one of about 430 with 2 kB of JSON.
func BenchmarkDecode(b *testing.B) {
	library, _ := smallMessages(b, 1)
	if err := os.WriteFile(filepath.Join(library, "S_MANY.1.def"), []byte("array members\n- uint64 id\n- float hp\n- int32 level\n- uint32 cls\n- bool alive\nstring name\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(library, "protocol.1.map"), []byte("S_MOVE 20001\nS_MANY 20002\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	lib, err := workspace.ReadFS(os.DirFS(library))
	if err != nil {
		b.Fatal(err)
	}
	snap, err := workspace.Build(lib, workspace.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	members := []any{}
	for i := range 16 {
		members = append(members, map[string]any{"id": "9000000000001", "hp": 0.5 + float64(i), "level": 60 + i, "cls": i, "alive": i%2 == 0})
	}
	for _, c := range []struct {
		name, message string
		value         any
	}{
		{"small", "S_MOVE", map[string]any{"gameId": "77", "hp": 100}},
		{"large", "S_MANY", map[string]any{"members": members, "name": "Lann"}},
	} {
		m, err := snap.Find(c.message)
		if err != nil {
			b.Fatal(err)
		}
		p, err := snap.Program(m)
		if err != nil {
			b.Fatal(err)
		}
		text, _ := json.Marshal(c.value)
		var in, out codec.Record
		if err := value.ParseJSON(&in, p, text); err != nil {
			b.Fatal(err)
		}
		in.Code = m.Key.Code
		if err := p.Encode(&out, &in); err != nil {
			b.Fatal(err)
		}
		data := bytes.Clone(out.Data)
		const n = 100_000
		lines := bytes.Repeat(append(hex.AppendEncode(nil, data), '\n'), n)
		perMessage := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/message")
		}
		b.Run(c.name+"/command", func(b *testing.B) {
			for b.Loop() {
				var errs bytes.Buffer
				if status := run(context.Background(), []string{"decode", "--json", "--library", library}, bytes.NewReader(lines), io.Discard, &errs); status != exitOK {
					b.Fatal(errs.String())
				}
			}
			perMessage(b)
		})
		b.Run(c.name+"/engine", func(b *testing.B) {
			var rec codec.Record
			var values []byte
			for b.Loop() {
				for range n {
					p.Decode(&rec, data)
					values = value.AppendJSON(values[:0], &rec)
				}
			}
			perMessage(b)
			b.ReportMetric(float64(len(data)), "bytes")
			b.ReportMetric(float64(len(values)), "json")
		})
	}
}
