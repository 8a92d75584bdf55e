package library_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

var update = flag.Bool("update", false, "encode the samples anew, and fail")

// load reads the definitions of a dialect as the program does.
func load(t *testing.T, d defs.Dialect) (*schema.Schema, []*source.File) {
	t.Helper()
	fsys, ok := library.Dialect(d.Name)
	if !ok {
		t.Fatalf("no definitions of %s ship with the program", d.Name)
	}
	var list []*source.File
	var o schema.Options
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		f := source.New(name, string(text))
		switch {
		case defs.IsCodeMap(name):
			codes, ds := defs.ParseCodeMap(f)
			if len(ds) > 0 {
				t.Error(ds.Render())
			}
			o.Codes = codes
		case strings.HasSuffix(name, ".def"):
			list = append(list, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s, ds := defs.Load(list, d.Name, o)
	if len(ds) > 0 {
		t.Error(ds.Render())
	}
	return s, list
}

// The definitions are examples to others: no diagnostics, canonical form, a code each.
func TestDefinitions(t *testing.T) {
	for _, d := range defs.Dialects {
		s, files := load(t, d)
		for _, f := range files {
			if text, _ := d.Format(f); text != f.Text {
				if *update {
					if err := os.WriteFile(d.Name+"/"+f.Name, []byte(text), 0o644); err != nil {
						t.Error(err)
					}
				}
				t.Errorf("%s is not in canonical form", f.Name)
			}
		}
		for _, m := range s.Messages {
			if !m.HasKey {
				t.Errorf("%s has no code", m.Name)
			}
			if _, err := codec.Compile(m); err != nil {
				t.Error(err)
			}
		}
		for name := range s.Codes {
			if s.Find(name, 0) == nil {
				t.Errorf("%s has a code but no definition", name)
			}
		}
	}
}

// row is a sample as the file has it: the hex is made from the value, and then broken if the sample says so.
type row struct {
	Message string            `json:"message"`
	About   string            `json:"about"`
	Status  string            `json:"status,omitempty"`
	Cut     int               `json:"cut,omitempty"`   // bytes that are left
	Patch   map[string]string `json:"patch,omitempty"` // byte offset → new bytes in hex
	Value   json.RawMessage   `json:"value"`
	Hex     string            `json:"hex"`
}

// TestSamples encodes the values of the samples and compares with the bytes that ship.
func TestSamples(t *testing.T) {
	for _, d := range defs.Dialects {
		s, _ := load(t, d)
		path := d.Name + "/samples.json"
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var rows []row
		if err := json.Unmarshal(text, &rows); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			r := &rows[i]
			if got := sample(t, s, r); got != r.Hex {
				t.Errorf("%s: %s is now %s", r.Message, r.Hex, got)
				r.Hex = got
			}
		}
		if len(library.Samples(d.Name)) != len(rows) {
			t.Errorf("%d samples of %d", len(library.Samples(d.Name)), len(rows))
		}
		if !*update || !t.Failed() {
			continue
		}
		var out bytes.Buffer
		for i, r := range rows {
			var line bytes.Buffer
			e := json.NewEncoder(&line)
			e.SetEscapeHTML(false)
			if err := e.Encode(r); err != nil {
				t.Fatal(err)
			}
			out.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0] + strings.TrimSuffix(line.String(), "\n"))
		}
		if err := os.WriteFile(path, append(out.Bytes(), "\n]\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sample makes the bytes of a sample and looks whether they decode as it says, found by their code.
func sample(t *testing.T, s *schema.Schema, r *row) string {
	t.Helper()
	name, version, _ := strings.Cut(r.Message, ".")
	n, _ := strconv.Atoi(version)
	m := s.Find(name, n)
	if m == nil {
		t.Fatalf("no definition of %s", r.Message)
	}
	if s.Lookup(m.Key) != m {
		t.Errorf("%s is not what its code %d finds", r.Message, m.Key.Code)
	}
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	// "@N" stands for N bytes of a pattern, too long to write down.
	value := r.Value
	if at := bytes.Index(value, []byte(`"@`)); at >= 0 {
		var size int
		fmt.Sscanf(string(value[at+2:]), "%d", &size)
		pattern := make([]byte, size)
		for i := range pattern {
			pattern[i] = byte(i * i / 64)
		}
		value = []byte(strings.Replace(string(value), fmt.Sprintf("@%d", size), hex.EncodeToString(pattern), 1))
	}
	var in, out, back codec.Record
	if err := p.ParseJSON(&in, value); err != nil {
		t.Fatalf("%s: %v", r.Message, err)
	}
	in.Code = m.Key.Code
	if err := p.Encode(&out, &in); err != nil {
		t.Fatalf("%s: %v", r.Message, err)
	}
	data := out.Data
	if r.Cut > 0 {
		data = data[:r.Cut]
	}
	for at, with := range r.Patch {
		b, err := hex.DecodeString(with)
		i, _ := strconv.Atoi(at)
		if err != nil || i+len(b) > len(data) {
			t.Fatalf("%s: bad patch at %s", r.Message, at)
		}
		copy(data[i:], b)
	}
	p.Decode(&back, data)
	want := r.Status
	if want == "" {
		want = "ok"
		if w := back.AppendWarnings(nil); len(w) > 0 {
			t.Errorf("%s: %s", r.Message, back.Transcript())
		}
	}
	if back.Status().String() != want {
		t.Errorf("%s is %s, not %s", r.Message, back.Status(), want)
	}
	return hex.EncodeToString(data)
}
