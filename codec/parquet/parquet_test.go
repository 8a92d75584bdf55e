package parquet

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestSameAsJSON writes messages of every language, whole, cut and changed ones, reads the file with the library, and compares each value with that
// which JSON has at the same path: nothing is missing, nothing is there twice.
func TestSameAsJSON(t *testing.T) {
	for _, d := range defs.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			checkFiles(t, []*source.File{d.Example}, d.Name)
			paths, err := filepath.Glob(filepath.Join("../../defs/library", d.Name, "*"))
			if err != nil || len(paths) == 0 {
				t.Fatal(len(paths), err)
			}
			checkFiles(t, read(t, paths), d.Name)
		})
	}
	t.Run("parts", func(t *testing.T) {
		checkFiles(t, read(t, []string{"testdata/parts.json"}), "protodef")
		checkFiles(t, read(t, []string{"testdata/parts.ksy"}), "kaitai")
	})
}

// TestCorporaSameAsJSON is TestSameAsJSON for published definitions.
func TestCorporaSameAsJSON(t *testing.T) {
	corpora.Run(t, func(t *testing.T, c *corpora.Corpus) {
		if c.Own {
			return
		}
		for _, of := range [][]string{{"kaitai", "kaitai/formats/*.ksy", "kaitai/formats/*/*.ksy"}} {
			var files []*source.File
			for name, text := range c.Files(t, of[1:]...) {
				files = append(files, source.New(name, text))
			}
			checkFiles(t, files, of[0])
		}
		for _, name := range c.Glob(t, "protodef/*.json") {
			checkFiles(t, []*source.File{source.New(name, c.Text(t, name))}, "protodef")
		}
	})
}

func read(t *testing.T, paths []string) (out []*source.File) {
	t.Helper()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, source.New(filepath.Base(path), string(text)))
	}
	return out
}

func checkFiles(t *testing.T, files []*source.File, dialect string) {
	t.Helper()
	s, _ := defs.Load(files, dialect, schema.Options{})
	rng := rand.New(rand.NewPCG(3, 4))
	rows, values := 0, 0
	for _, m := range s.Messages {
		if m.Broken {
			continue
		}
		p, err := codec.Compile(m)
		if err != nil || p.Resolved() != nil {
			continue
		}
		n, v := checkProgram(t, p, messages(rng, p))
		rows, values = rows+n, values+v
	}
	t.Logf("%d rows, %d values", rows, values)
}

// messages returns messages of a program, and what looks like them.
func messages(rng *rand.Rand, p *codec.Program) (out [][]byte) {
	for _, e := range value.Examples(p, 4, 1, 4660) {
		out = append(out, e.Data, append(bytes.Clone(e.Data), 7))
		if len(e.Data) > 0 {
			wrong := bytes.Clone(e.Data)
			for range 1 + rng.IntN(3) {
				wrong[rng.IntN(len(wrong))] ^= 1 << rng.IntN(8)
			}
			out = append(out, wrong, e.Data[:rng.IntN(len(e.Data))])
		}
	}
	noise := make([]byte, rng.IntN(60))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	return append(out, noise, nil)
}

// checkProgram writes messages to a file, and compares what is in it with their JSON.
func checkProgram(t *testing.T, p *codec.Program, messages [][]byte) (rows, values int) {
	t.Helper()
	s := Of(p)
	var set columns.Set
	set.SelectWhole(p)
	var data []byte
	var spans []columns.Span
	var frames []Frame
	for i, m := range messages {
		spans = append(spans, columns.Span{Off: uint32(len(data)), Len: uint32(len(m))})
		data = append(data, m...)
		frames = append(frames, Frame{
			Capture: "a.pcap", Conn: strconv.Itoa(i % 3), Dir: schema.Dir(i % 3), At: time.Unix(int64(i), int64(i)),
			N: uint64(i), Code: uint32(i), HasCode: i%2 == 0, Length: uint32(len(m)), Resumed: i%5 == 0,
		})
	}
	data = append(data, make([]byte, 8)...)
	if n := set.Append(p, data, spans); n != len(spans) {
		t.Fatalf("%s: %d of %d messages", p.Message.Name, n, len(spans))
	}
	var file bytes.Buffer
	w := NewWriter(&file, s, map[string]string{"key": "value"})
	if err := w.Write(&set, frames); err != nil {
		t.Fatalf("%s: %v", p.Message.Name, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := readFile(t, s, file.Bytes(), len(messages))
	var rec codec.Record
	for i, m := range messages {
		p.Decode(&rec, m)
		text := value.AppendJSON(nil, &rec)
		want := map[string]string{}
		var v any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %s: %v", p.Message.Name, text, err)
		}
		flatten(want, "", v)
		for path, w := range want {
			if g, ok := got[i][path]; !ok && w == "" && rec.Status() != codec.OK {
				continue // a text of which nothing could be read
			} else if !ok || !same(g, w) {
				t.Fatalf("%s %x: %s is %q (%v), want %q\n%s\n%v", p.Message.Name, m, path, g, ok, w, text, got[i])
			}
			values++
		}
		for path, g := range got[i] {
			if _, ok := want[path]; !ok && !strings.Contains(path, "#") && !strings.HasPrefix(path, "frame ") {
				t.Fatalf("%s %x: %s is %q, which JSON has not\n%s", p.Message.Name, m, path, g, text)
			}
		}
		meta := ""
		for _, name := range frameNames {
			meta += got[i]["frame "+name] + " "
		}
		f := &frames[i]
		code := ""
		if f.HasCode {
			code = strconv.Itoa(i)
		}
		if w := fmt.Sprintf("%s %s %v %d %d %s %d %v %v ", f.Capture, f.Conn, f.Dir, f.At.UnixNano(), f.N, code, f.Length, rec.Status(), f.Resumed); meta != w {
			t.Fatalf("frame %d: %s, want %s", i, meta, w)
		}
	}
	return len(messages), values
}

// flatten adds the values of JSON by their paths.
func flatten(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			switch {
			case name == "":
				flatten(out, path, x)
			case path == "":
				flatten(out, name, x)
			default:
				flatten(out, path+"."+name, x)
			}
		}
	case []any:
		for i, x := range v {
			flatten(out, fmt.Sprintf("%s[%d]", path, i), x)
		}
	case nil:
	default:
		out[path] = fmt.Sprint(v)
	}
}

// same compares a value of a file with one of JSON.
func same(got, want string) bool {
	if got == want || got == "false" && want == "0" {
		return true
	}
	g, err := strconv.ParseFloat(got, 64)
	if err != nil {
		return false
	}
	if g != g || math.IsInf(g, 0) {
		return strings.HasPrefix(want, "NaN") && g != g || want == strings.TrimPrefix(strings.ReplaceAll(got, "Inf", "Infinity"), "+")
	}
	w, err := strconv.ParseFloat(want, 64)
	return err == nil && (g == w || float32(g) == float32(w) && float64(float32(g)) == g)
}

// readFile returns the values of each row by their paths in JSON: those of the definition, with the elements that the repetition levels say.
func readFile(t *testing.T, s *Schema, data []byte, rows int) []map[string]string {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", s.Program.Message.Name, err)
	}
	out := make([]map[string]string, rows)
	for i := range out {
		out[i] = map[string]string{}
	}
	if f.NumRows() != int64(rows) {
		t.Fatalf("%d rows, want %d", f.NumRows(), rows)
	}
	if v, _ := f.Lookup("key"); v != "value" {
		t.Fatalf("key is %q", v)
	}
	at := 0
	for _, group := range f.RowGroups() {
		r := group.Rows()
		buf := make([]pq.Row, 7)
		for {
			n, err := r.ReadRows(buf)
			for _, row := range buf[:n] {
				readRow(t, s, row, out[at])
				at++
			}
			if err != nil {
				break
			}
		}
		r.Close()
	}
	if at != rows {
		t.Fatalf("%d of %d rows", at, rows)
	}
	return out
}

func readRow(t *testing.T, s *Schema, row pq.Row, out map[string]string) {
	t.Helper()
	for column, values := range row.Range {
		if column < len(frameNames) {
			if !values[0].IsNull() {
				v := values[0].String()
				if column == 3 {
					v = strconv.FormatInt(values[0].Int64(), 10)
				}
				out["frame "+frameNames[column]] = v
			}
			continue
		}
		l := s.leaves[column-len(frameNames)]
		if l.kind == presenceLeaf {
			continue
		}
		field := l.fields[0]
		var lists []int
		for i := int(field); i >= 0; i = s.Program.Fields[i].Parent {
			if s.Program.Fields[i].InList {
				lists = append([]int{s.Program.Fields[i].Parent}, lists...)
			}
		}
		index := make([]int, len(lists))
		for at, v := range values {
			if rep := v.RepetitionLevel(); at > 0 {
				index[rep-1]++
				clear(index[rep:])
			}
			if v.IsNull() {
				continue
			}
			path := ""
			depth := len(lists)
			for i := int(field); i >= 0; i = s.Program.Fields[i].Parent { // from the inside
				f := &s.Program.Fields[i]
				if name := f.Name; name != "" && name[0] != '[' {
					path = "." + name + path
				} else {
					path = name + path
				}
				if f.InList {
					depth--
					if t := s.Program.Fields[f.Parent].Schema.Type.(*schema.List); !t.Once || !alone(values, at, depth+1) {
						path = fmt.Sprintf("[%d]", index[depth]) + path
					}
				}
			}
			path = strings.TrimPrefix(path, ".")
			if l.flags != nil {
				path += "." + l.part
			}
			if l.kind == jsonLeaf {
				var x any
				d := json.NewDecoder(bytes.NewReader(v.ByteArray()))
				d.UseNumber()
				if err := d.Decode(&x); err != nil {
					t.Fatalf("%s: %s: %v", path, v.ByteArray(), err)
				}
				flatten(out, path, x)
				continue
			}
			if old, ok := out[path]; ok {
				t.Fatalf("%s is twice in %v: %s", path, s.Program.Message.Name, old)
			}
			out[path] = textOf(l, v)
		}
	}
}

// alone reports whether the i-th value of a column is in a list at a depth that has no other element.
func alone(values []pq.Value, i, depth int) bool {
	if i > 0 && values[i].RepetitionLevel() == depth {
		return false
	}
	for k := i; k > 0 && values[k].RepetitionLevel() >= depth; k-- {
		if values[k].RepetitionLevel() == depth {
			return false
		}
	}
	for k := i + 1; k < len(values) && values[k].RepetitionLevel() >= depth; k++ {
		if values[k].RepetitionLevel() == depth {
			return false
		}
	}
	return true
}

func textOf(l *leaf, v pq.Value) string {
	switch l.kind {
	case uint8Leaf, uint16Leaf, uint32Leaf:
		return strconv.FormatUint(uint64(uint32(v.Int32())), 10)
	case uint64Leaf:
		return strconv.FormatUint(uint64(v.Int64()), 10)
	case int8Leaf, int16Leaf, int32Leaf:
		return strconv.FormatInt(int64(v.Int32()), 10)
	case int64Leaf:
		return strconv.FormatInt(v.Int64(), 10)
	case boolLeaf:
		return strconv.FormatBool(v.Boolean())
	case floatLeaf:
		return strconv.FormatFloat(float64(v.Float()), 'g', -1, 64)
	case doubleLeaf:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case bytesLeaf:
		return hex.EncodeToString(v.ByteArray())
	case uuidLeaf:
		return string(codec.AppendUUID(nil, v.ByteArray()))
	}
	return string(v.ByteArray())
}
