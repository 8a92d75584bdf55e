package lake

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"wirebench/codec"
	"wirebench/codec/parquet"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// programs returns messages of an integer each, with names.
func programs(t *testing.T, names ...string) (out []*codec.Program) {
	t.Helper()
	for _, name := range names {
		s, ds := defs.Load([]*source.File{source.New("X.1.def", "uint32 number\nstring text\n")}, "tera", schema.Options{})
		m := *s.Messages[0]
		m.Name = name
		p, err := codec.Compile(&m)
		if err != nil {
			t.Fatal(err, ds)
		}
		out = append(out, p)
	}
	return out
}

// message is one of programs.
func message(number uint32) []byte {
	b := binary.LittleEndian.AppendUint16(nil, 14)
	b = append(b, 0, 0, 10, 0)
	b = binary.LittleEndian.AppendUint32(b, number)
	return append(b, 'a', 0, 0, 0)
}

// TestBounds writes many messages in a random order with limits far below what they need: each row is there once, in the file of its message, in the
// order of its message, and no more columns and bytes are held than the limits say.
func TestBounds(t *testing.T) {
	names := make([]string, 50)
	for i := range names {
		names[i] = fmt.Sprintf("M_%d", i)
	}
	ps := programs(t, names...)
	dir := filepath.Join(t.TempDir(), "lake")
	w, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.limits = limits{batch: 4 << 10, rows: 20, pending: 24 << 10, columns: 150}
	rng := rand.New(rand.NewPCG(5, 6))
	want := map[string][]uint32{}
	for i := range 4_000 {
		p := ps[rng.IntN(1+rng.IntN(len(ps)))]
		want[p.Message.Name] = append(want[p.Message.Name], uint32(i))
		if err := w.Add(p, message(uint32(i)), parquet.Frame{N: uint64(i)}); err != nil {
			t.Fatal(err)
		}
		if w.pending > w.limits.pending {
			t.Fatalf("%d bytes wait", w.pending)
		}
	}
	files, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	got, parts := map[string][]uint32{}, 0
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil || int64(len(data)) != f.Bytes {
			t.Fatal(err, len(data), f.Bytes)
		}
		file, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil || file.NumRows() != int64(f.Rows) {
			t.Fatal(err, f)
		}
		if !strings.HasPrefix(f.Path, f.Message+".1.") {
			t.Errorf("%s of %s", f.Path, f.Message)
		}
		if strings.Count(f.Path, ".") > 2 {
			parts++
		}
		for _, group := range file.RowGroups() {
			rows := group.Rows()
			buf := make([]pq.Row, 100)
			for {
				n, err := rows.ReadRows(buf)
				for _, row := range buf[:n] {
					got[f.Message] = append(got[f.Message], uint32(row[9].Int32()))
				}
				if err != nil {
					break
				}
			}
			rows.Close()
		}
	}
	if parts == 0 {
		t.Error("no file has a second part")
	}
	for name, w := range want {
		seen := map[uint32]bool{}
		for _, n := range got[name] {
			if seen[n] {
				t.Fatalf("%s: %d is twice", name, n)
			}
			seen[n] = true
		}
		for _, n := range w {
			if !seen[n] {
				t.Fatalf("%s: %d is missing", name, n)
			}
		}
		if len(seen) != len(w) {
			t.Fatalf("%s: %d rows, want %d", name, len(seen), len(w))
		}
	}
}

// TestFileNames: names are different on every file system, visible, and in the folder, whatever messages are called.
func TestFileNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "lake")
	w, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs(t, "M", "m", "../../M", "", ".", "_m", "é/x", "a.b", strings.Repeat("ü", 400), strings.Repeat("ü", 401), "CON") {
		if err := w.Add(p, message(1), parquet.Frame{}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := w.Close()
	if err != nil || len(files) != 11 {
		t.Fatal(len(files), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(files) {
		t.Fatal(len(entries), err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if seen[name] || name[0] == '.' || name[0] == '_' || len(name) > 150 {
			t.Errorf("%s", e.Name())
		}
		seen[name] = true
	}
}

// TestFailure: after an error of the disk nothing is left that looks complete, and nobody waits.
func TestFailure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	w, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.limits.batch = 1 << 10
	p := programs(t, "M")[0]
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	var failed error
	for i := 0; failed == nil && i < 1_000_000; i++ {
		failed = w.Add(p, message(1), parquet.Frame{})
	}
	if _, err := w.Close(); failed == nil || err == nil || !os.IsNotExist(err) {
		t.Fatal(failed, err)
	}
}
