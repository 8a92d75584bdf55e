package codec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestCorporaReadIsWritable decodes messages with random values in every number and encodes them again: for every definition without errors, of
// every dialect, the bytes are the same.
func TestCorporaReadIsWritable(t *testing.T) {
	sets := map[string][]*schema.Schema{}
	for _, d := range defs.Dialects {
		sets[d.Name] = append(sets[d.Name], loadFiles(t, d.Name, filepath.Join("../defs/library", d.Name, "*")), load(t, d.Name, nil, d.Example))
	}
	sets["own"] = append(sets["own"], load(t, "tera", nil, source.New("C_FUZZ.1.def", twice)))
	for _, c := range corpora.All(t) {
		var files []*source.File
		for name, text := range c.Files(t, "tera/toolbox/definitions/*.def") {
			files = append(files, source.New(name, text))
		}
		sets["corpora"] = append(append(sets["corpora"], mutaCorpus(t, c)...), load(t, "tera", nil, files...))
	}
	for name, all := range sets {
		t.Run(name, func(t *testing.T) {
			rng, n := rand.New(rand.NewPCG(1, 2)), 0
			for _, s := range all {
				for _, m := range s.Messages {
					n += writable(t, rng, m)
				}
			}
			if n == 0 {
				t.Error("no messages")
			}
			t.Logf("%d messages", n)
		})
	}
}

func loadFiles(t *testing.T, dialect, pattern string) *schema.Schema {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var files []*source.File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if f := source.New(filepath.Base(path), string(text)); strings.HasSuffix(path, ".def") || strings.HasSuffix(path, ".txt") || defs.Recognizes(path, f.Text) {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		t.Fatal("no definitions: ", pattern)
	}
	return load(t, dialect, nil, files...)
}

func load(t *testing.T, dialect string, constants map[string]string, files ...*source.File) *schema.Schema {
	t.Helper()
	s, _ := defs.Load(files, dialect, schema.Options{Constants: constants})
	return s
}

// mutaCorpus returns the definitions of the vectors.
func mutaCorpus(t *testing.T, c *corpora.Corpus) (out []*schema.Schema) {
	t.Helper()
	seen := map[string]bool{}
	for _, v := range corpora.Rows[struct {
		Text      string                 `json:"def_text"`
		Constants map[string]json.Number `json:"constants"`
	}](t, c, "muta/vectors.jsonl") {
		if seen[v.Text] {
			continue
		}
		seen[v.Text] = true
		constants := map[string]string{}
		for name, n := range v.Constants {
			constants[name] = n.String()
		}
		out = append(out, load(t, "muta", constants, source.New("all.def", v.Text)))
	}
	return out
}

// writable checks messages of one definition and returns how many.
func writable(t *testing.T, rng *rand.Rand, m *schema.Message) (n int) {
	t.Helper()
	if m.Broken {
		return 0
	}
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range value.Examples(p, 4, 1, 4660) {
		for range 3 {
			if e.Status == codec.OK && checkWritable(t, p, scrambled(rng, p, e.Data)) {
				n++
			}
		}
	}
	return n
}

// checkWritable encodes the values of a message again. It returns false if the message does not round-trip by nature: it has errors, or a
// warning says that its values do not hold all of it.
func checkWritable(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, p *codec.Program, data []byte,
) bool {
	t.Helper()
	var rec, in, out codec.Record
	p.Decode(&rec, data)
	if rec.Status() != codec.OK || len(rec.AppendWarnings(nil)) > 0 {
		return false
	}
	text := value.AppendJSON(nil, &rec)
	if err := distinctNames(text); err != nil {
		t.Fatalf("%s %x: %v", p.Message.Name, data, err)
	}
	if err := value.ParseJSON(&in, p, text); err != nil {
		t.Fatalf("%s %x: %s: %v", p.Message.Name, data, text, err)
	}
	in.Code = rec.Code
	if err := p.Encode(&out, &in); err != nil || !bytes.Equal(out.Message(), data) {
		t.Fatalf("%s: %s: %v\n got %x\nwant %x", p.Message.Name, text, err, out.Message(), data)
	}
	return true
}

// distinctNames checks that no object has a name twice.
func distinctNames(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	var inside []map[string]bool // of each object and array around; nil: an array
	key := true
	for {
		tok, err := d.Token()
		if err != nil {
			return nil // the end
		}
		top := len(inside) - 1
		switch tok := tok.(type) {
		case json.Delim:
			switch tok {
			case '{':
				inside, key = append(inside, map[string]bool{}), true
			case '[':
				inside = append(inside, nil)
			default:
				inside, key = inside[:top], true
			}
			continue
		case string:
			if top >= 0 && inside[top] != nil && key {
				if inside[top][tok] {
					return fmt.Errorf("the name %q twice in %s", tok, text)
				}
				inside[top][tok], key = true, false
				continue
			}
		}
		key = true
	}
}

// scrambled is the message with random values in all numbers. Those that decide about others keep theirs.
func scrambled(rng *rand.Rand, p *codec.Program, data []byte) []byte {
	var rec codec.Record
	p.Decode(&rec, data)
	out := bytes.Clone(data)
	decides := map[int]bool{}
	for _, r := range p.Wire().Regs {
		decides[r.Field] = decides[r.Field] || r.Kind == schema.Value
	}
	for _, l := range rec.AppendLeaves(nil) {
		it := rec.Item(l)
		if l.Role != codec.RoleValue || it == nil || !it.Form.IsNumber() || decides[int(l.Field)] || rng.IntN(4) == 0 {
			continue
		}
		raw := rng.Uint64() >> rng.IntN(64) & (math.MaxUint64 >> (64 - it.Bits))
		if it.Form == codec.FormBool {
			raw &= 1
		}
		if it.Num == nil || it.Num.Legal(raw) {
			rec.PatchNumber(out, l, raw)
		}
	}
	return out
}

// Names that several fields have, in lists and groups, too.
func TestRepeatedNamesAreWritable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := definition{repeat: true, arrays: true}
		d.fieldsAt(t, 0)
		s, ds := defs.Load([]*source.File{source.New("C_ANY.1.def", d.text.String())}, "tera", schema.Options{})
		if ds.HasErrors() {
			t.Fatalf("%s\n%s", d.text.String(), ds.Render())
		}
		p, err := codec.Compile(s.Messages[0])
		if err != nil {
			t.Fatal(err)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, e := range value.Examples(p, 3, seed, 4660) {
			if e.Status == codec.OK {
				checkWritable(t, p, scrambled(rng, p, e.Data))
			}
		}
	})
}
