package library_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/schema"
)

var update = flag.Bool("update", false, "format the definitions and encode the samples again, and fail if that changes a file")

// recipe is a line of samples.jsonl: a sample and the way its bytes are made. They are the encoded value, which Cut and Patch may break. The
// fields of a Sample have the same JSON names.
type recipe struct {
	Message string            `json:"message"`
	About   string            `json:"about"`
	Status  string            `json:"status"`
	Problem string            `json:"problem,omitempty"` // expected code of the problem
	Cut     int               `json:"cut,omitempty"`     // truncated size in bytes, 0 = not truncated
	Patch   map[string]string `json:"patch,omitempty"`   // bytes to overwrite, in hex, by decimal offset
	Value   json.RawMessage   `json:"value"`             // as printed by decoding
	Hex     string            `json:"hex"`
}

// readRecipes reads the recipes of the samples of a dialect.
func readRecipes(t *testing.T, path string) []recipe {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []recipe
	for line := range bytes.Lines(text) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		var r recipe
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%s:%d: %v", path, len(out)+1, err)
		}
		out = append(out, r)
	}
	return out
}

// writeRecipes is the inverse of readRecipes.
func writeRecipes(t *testing.T, path string, all []recipe) {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // keep texts readable
	for _, r := range all {
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSamples makes every sample from its value and compares it with the shipped bytes.
func TestSamples(t *testing.T) {
	for _, d := range defs.Dialects {
		s := load(t, d.Name, 0)
		path := d.Name + "/samples.jsonl"
		recipes := readRecipes(t, path)
		for i := range recipes {
			r := &recipes[i]
			t.Run(fmt.Sprintf("%s/%d_%s", d.Name, i, r.Message), func(t *testing.T) {
				value, data := makeSample(t, s, r)
				if got := hex.EncodeToString(data); got != r.Hex {
					t.Errorf("the bytes are %s, want %s", r.Hex, got)
					r.Hex = got
				}
				if !bytes.Equal(value, r.Value) {
					t.Errorf("the value is %s, decoding prints %s", r.Value, value)
					r.Value = value
				}
			})
		}
		if *update && t.Failed() {
			writeRecipes(t, path, recipes)
		}
	}
}

// makeSample returns the bytes of a sample, and its value as printed by decoding. It checks that the bytes decode with the expected status,
// that a valid sample round-trips byte for byte, and that its code finds its definition.
func makeSample(t *testing.T, s *schema.Schema, r *recipe) (values, data []byte) {
	t.Helper()
	m := find(t, s, r.Message)
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	whole := encode(t, p, r.Value)
	var rec codec.Record
	p.Decode(&rec, whole)
	if w := rec.AppendWarnings(nil); rec.Status() != codec.OK || len(w) > 0 {
		t.Fatalf("the encoded value does not decode:\n%s", view.Transcript(&rec))
	}
	values = value.AppendJSON(nil, &rec)
	if again := encode(t, p, values); !bytes.Equal(again, whole) {
		t.Errorf("encoding the decoded value gives %x\nwant %x", again, whole)
	}

	data = r.broken(t, whole)
	p.Decode(&rec, data)
	if got := rec.Status().String(); got != r.Status {
		t.Errorf("the status is %q, not %q", got, r.Status)
	}
	problem := ""
	if len(rec.Problems) > 0 {
		problem = rec.Problems[0].Code.String()
	}
	if problem != r.Problem {
		t.Errorf("the problem is %q, not %q", problem, r.Problem)
	}
	for _, dir := range []schema.Dir{m.Key.Dir, schema.Both} { // as for captures, and as for pasted messages
		if !m.HasKey || !slices.ContainsFunc(m.Body.Wire, func(it schema.Item) bool { return it.Kind == schema.Code }) {
			continue // on a separate port, or in the header of the envelope
		}
		got := s.Lookup(schema.Key{Dir: dir, Group: m.Key.Group, Code: rec.Code})
		if got == nil && dir != m.Key.Dir {
			continue // the code has a meaning in both directions
		}
		if !rec.HasCode() || got != m {
			t.Errorf("its code %d with direction %q finds %+v", rec.Code, dir, got)
		}
	}
	return values, data
}

// find returns the message of a sample.
func find(t *testing.T, s *schema.Schema, message string) *schema.Message {
	t.Helper()
	name, version, versioned := strings.Cut(message, ".")
	n := 0
	if versioned {
		n, _ = strconv.Atoi(version)
	}
	dir, bare, both := strings.Cut(name, "/") // the same name in both directions
	for _, m := range s.Messages {
		if (m.Name == name || both && m.Name == bare && m.Key.Dir.String() == dir) && (!versioned || m.Version == n) {
			return m
		}
	}
	t.Fatalf("no definition of %s", message)
	return nil
}

// encode returns the bytes of a value.
func encode(t *testing.T, p *codec.Program, values []byte) []byte {
	t.Helper()
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, values); err != nil {
		t.Fatal(err)
	}
	in.Code = p.Message.Key.Code
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(out.Data)
}

// broken returns the bytes after Cut and Patch.
func (r *recipe) broken(t *testing.T, whole []byte) []byte {
	t.Helper()
	data := bytes.Clone(whole)
	for at, with := range r.Patch {
		b, err := hex.DecodeString(with)
		i, atErr := strconv.Atoi(at)
		if err != nil || atErr != nil || i < 0 || i+len(b) > len(data) {
			t.Fatalf("cannot write %q at %q", with, at)
		}
		copy(data[i:], b)
	}
	switch {
	case r.Cut < 0 || r.Cut >= len(data):
		t.Fatalf("cannot truncate %d bytes to %d", len(data), r.Cut)
	case r.Cut > 0:
		data = data[:r.Cut]
	}
	return data
}

// TestMenu checks the samples as shown in a menu.
func TestMenu(t *testing.T) {
	for _, d := range defs.Dialects {
		recipes := readRecipes(t, d.Name+"/samples.jsonl")
		menu := library.Samples(d.Name)
		if len(menu) != len(recipes) {
			t.Fatalf("%s ships %d samples of %d", d.Name, len(menu), len(recipes))
		}
		kinds := map[string]int{}
		about := map[string]bool{}
		large, broken := 0, false
		for i, s := range menu {
			if want := (library.Sample{Message: recipes[i].Message, Hex: recipes[i].Hex, About: recipes[i].About, Status: recipes[i].Status}); s != want {
				t.Errorf("sample %d is %+v, not %+v", i, s, want)
			}
			if s.About == "" || about[s.About] || strings.HasSuffix(s.About, ".") {
				t.Errorf("%s is described as %q", s.Message, s.About)
			}
			about[s.About] = true
			kinds[s.Status]++
			large = max(large, len(s.Hex)/2)
			if onPurpose := strings.HasPrefix(s.About, "broken on purpose: "); onPurpose != (s.Status != "ok") {
				t.Errorf("%s is %s and described as %q", s.Message, s.Status, s.About)
			}
			if s.Status == "ok" && broken {
				t.Errorf("%s is after the broken samples", s.Message)
			}
			broken = s.Status != "ok"
		}
		if menu[0].Status != "ok" || kinds["ok"] < 3 || broken && kinds["incomplete"] < 1 {
			t.Errorf("%s: samples by status: %v", d.Name, kinds)
		}
		if d.Versions && large < 1900 || large > 3000 {
			t.Errorf("%s: the largest sample has %d bytes", d.Name, large)
		}
	}
}
