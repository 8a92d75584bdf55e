package kaitai_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/kaitai"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tooltest"
)

// peer is a job for values.js, which reads bytes with the JavaScript of Kaitai Struct.
type peer struct {
	Files map[string]string `json:"files"`
	Rows  []peerRow         `json:"rows"`

	Rounds int `json:"rounds"` // to measure, at least 1
}

type peerRow struct {
	File string `json:"file"`
	Hex  string `json:"hex"`
}

type peerAnswer struct {
	Refused map[string]string
	Rows    []struct {
		Value any
		Error string
	}
	Micros float64
}

func (p *peer) run(t testing.TB) (out peerAnswer) {
	t.Helper()
	node := tooltest.Path(t, "node")
	dir := tooltest.Packages(t, "../emit/testdata/kaitai", "kaitai-struct-compiler")
	input, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Join(dir, "values.js"))
	cmd.Stdin = bytes.NewReader(input)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	answer, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	for file, why := range out.Refused {
		t.Errorf("%s is refused: %s", file, why)
	}
	return out
}

// formats are the formats of the library, the example and the test data, by path, with messages of the test data by name.
func formats(t testing.TB) (files map[string]string, messages map[string][][]byte) {
	t.Helper()
	files, messages = map[string]string{}, map[string][][]byte{}
	d, _ := defs.Find("kaitai")
	files["chat.ksy"] = d.Example.Text
	messages["chat"] = [][]byte{[]byte("\x01\x00\x02\x02hi\x01\x00\x00\x00\x07")}
	library, err := filepath.Glob("../library/kaitai/*.ksy")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range library {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(text)
	}
	samples, err := os.ReadFile("../library/kaitai/samples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(samples) {
		var sample struct{ Message, Hex string }
		if err := json.Unmarshal(line, &sample); err != nil {
			t.Fatal(err)
		}
		b, _ := hex.DecodeString(sample.Hex)
		messages[sample.Message] = append(messages[sample.Message], b)
	}
	for _, name := range [...]string{"basics", "types", "peer"} {
		a, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			switch {
			case strings.HasSuffix(f.Name, ".ksy"):
				files[f.Name] = string(f.Data)
			case f.Name == "messages":
				for line := range strings.Lines(string(f.Data)) {
					name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
					b, _ := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
					messages[name] = append(messages[name], b)
				}
			}
		}
	}
	return files, messages
}

// parse compiles formats. Values of enums are numbers, as they are in JavaScript.
func parse(t testing.TB, files map[string]string) *schema.Schema {
	t.Helper()
	var list []*source.File
	for name, text := range files {
		list = append(list, source.New(name, text))
	}
	s, diags := kaitai.Parse(list, schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	seen := map[*schema.Struct]bool{}
	var plain func(s *schema.Struct)
	plain = func(s *schema.Struct) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for _, f := range s.Fields {
			if n, ok := f.Type.(*schema.Number); ok {
				n.Enum = nil
			}
			for _, b := range schema.Bodies(f.Type) {
				plain(b)
			}
		}
	}
	for _, m := range s.Messages {
		plain(m.Body)
	}
	return s
}

// mutate returns bytes that are similar to a message.
func mutate(rng *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	for range rng.IntN(4) {
		if len(b) == 0 {
			break
		}
		i := rng.IntN(len(b))
		switch rng.IntN(5) {
		case 0:
			b[i] = byte(rng.Uint32())
		case 1, 2:
			b[i] = byte(rng.IntN(8))
		case 3:
			b = slices.Insert(b, i, byte(rng.IntN(256)))
		case 4:
			b = slices.Delete(b, i, i+1)
		}
	}
	if rng.IntN(8) == 0 {
		b = b[:rng.IntN(len(b)+1)]
	}
	for range rng.IntN(3) {
		b = append(b, byte(rng.IntN(5)))
	}
	return b
}

// TestToolPeer compares what formats read with what the program of Kaitai Struct reads, of the same bytes.
func TestToolPeer(t *testing.T) {
	files, messages := formats(t)
	s := parse(t, files)
	rng := rand.New(rand.NewPCG(1, 2))
	p := peer{Files: files}
	of := map[string]string{} // files by message
	var names []string
	for _, m := range s.Messages {
		of[m.Name] = m.Span.File.Name
		for range 150 {
			b := make([]byte, rng.IntN(40))
			for i := range b {
				if b[i] = byte(rng.IntN(6)); rng.IntN(3) == 0 {
					b[i] = byte(rng.Uint32())
				}
			}
			if list := messages[m.Name]; len(list) > 0 && rng.IntN(10) > 0 {
				b = mutate(rng, list[rng.IntN(len(list))])
			}
			p.Rows, names = append(p.Rows, peerRow{of[m.Name], hex.EncodeToString(b)}), append(names, m.Name)
		}
	}
	answer := p.run(t)
	if t.Failed() || len(answer.Rows) != len(p.Rows) {
		t.Fatalf("%d answers to %d rows", len(answer.Rows), len(p.Rows))
	}
	read, refused := map[string]int{}, map[string]int{}
	failed := 0
	for i, row := range answer.Rows {
		m := s.Find(names[i], 0)
		prog, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := hex.DecodeString(p.Rows[i].Hex)
		var rec codec.Record
		prog.Decode(&rec, b)
		text := value.AppendJSON(nil, &rec)
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var ours any
		if err := d.Decode(&ours); err != nil {
			t.Fatal(err)
		}
		why := ""
		switch {
		case len(rec.Problems) > 0 && row.Error == "":
			why = "not read: " + rec.Problems[0].Message(&rec)
		case len(rec.Problems) == 0 && row.Error != "":
			why = "read, and by the peer not: " + row.Error
		case row.Error == "":
			why = unlike(m.Name, ours, row.Value, constants(files))
			read[m.Name]++
		default:
			refused[m.Name]++
		}
		if why == "" {
			continue
		}
		theirs, _ := json.Marshal(row.Value)
		t.Errorf("%s %s: %s\n ours %s\ntheirs %s", names[i], p.Rows[i].Hex, why, text, theirs)
		if failed++; failed > 8 {
			t.FailNow()
		}
	}
	for name := range of {
		if read[name] < 20 {
			t.Errorf("%s: only %d messages are read", name, read[name])
		}
	}
	t.Logf("read %v, refused %v", read, refused)
}

var constant = regexp.MustCompile(`id: (\w+)\n +contents:`)

// constants are the attributes that formats have and messages do not show.
func constants(files map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, text := range files {
		for _, m := range constant.FindAllStringSubmatch(text, -1) {
			out[camel(m[1])] = true
		}
	}
	return out
}

// camel returns a name as JavaScript has it.
func camel(name string) string {
	under := strings.HasPrefix(name, "_")
	words := strings.Split(strings.Trim(name, "_"), "_")
	for i, w := range words {
		if i > 0 && w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	if name = strings.Join(words, ""); under {
		name = "_" + name
	}
	return name
}

// unlike returns how a value differs from the one that JavaScript has, whose numbers have 53 bits.
func unlike(path string, ours, theirs any, constants map[string]bool) string {
	differ := fmt.Sprintf("%s is %v, not %v", path, ours, theirs)
	switch a := ours.(type) {
	case map[string]any:
		b, ok := theirs.(map[string]any)
		if !ok {
			return differ
		}
		names := map[string]bool{}
		for name, v := range a {
			if names[camel(name)] = true; v == nil && b[camel(name)] == nil {
				continue
			}
			if why := unlike(path+"."+name, v, b[camel(name)], constants); why != "" {
				return why
			}
		}
		for name := range b {
			if !names[name] && !constants[name] {
				return path + " has no " + name
			}
		}
		return ""
	case []any:
		b, ok := theirs.([]any)
		if !ok || len(a) != len(b) {
			return differ
		}
		for i := range a {
			if why := unlike(fmt.Sprintf("%s[%d]", path, i), a[i], b[i], constants); why != "" {
				return why
			}
		}
		return ""
	case bool, nil:
		if a == theirs {
			return ""
		}
	case json.Number, string:
		x, y := fmt.Sprint(ours), fmt.Sprint(theirs)
		f, err := strconv.ParseFloat(x, 64)
		g, err2 := strconv.ParseFloat(y, 64)
		switch _, text := theirs.(string); {
		case x == y, strings.HasPrefix(x, "NaN(") && y == "NaN":
			return ""
		case text && strings.ContainsFunc(x, func(r rune) bool { return r > 0x7f }): // its encodings are those of browsers
			return ""
		case err == nil && err2 == nil && (f == g || math.Abs(f-g) <= 1e-15*math.Abs(f)) && (f != math.Trunc(f) || math.Abs(f) > 1<<53):
			return ""
		case err == nil && err2 == nil && f == g:
			return ""
		}
	}
	return differ
}
