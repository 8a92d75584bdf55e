package emit_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/corpora"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tooltest"
)

// valueRow is bytes that generated code reads; want is what the codec says.
type valueRow struct {
	Package string `json:"package"`
	Message string `json:"message"`
	Hex     string `json:"hex"`
	m       *schema.Message
	ok      bool
	used    int
	want    any
	again   string // hex of the values that are encoded; "": they cannot be
	packed  bool   // it has compressed contents
}

// valueAnswer is what the code says.
type valueAnswer struct {
	OK    bool   `json:"ok"`
	Used  int    `json:"used"`
	Value any    `json:"value"`
	Again string `json:"again"`
	Error string `json:"error"`
}

// valueRows returns examples of a message, some of them cut or changed, and random bytes.
func valueRows(t *testing.T, name string, m *schema.Message, rng *rand.Rand) (out []valueRow) {
	t.Helper()
	p, err := codec.Compile(m)
	if err != nil {
		return nil
	}
	var rec, in, made codec.Record
	put := func(data []byte) {
		if p.Decode(&rec, data); m.HasKey && rec.Code != m.Key.Code {
			return // another message
		}
		if slices.ContainsFunc(rec.Problems, func(p codec.Problem) bool { return p.Code == codec.TooComplex }) {
			return // by its own measure
		}
		r := valueRow{Package: name, Message: messageName(m), Hex: hex.EncodeToString(data), m: m, packed: p.Packed(), ok: rec.Status() == codec.OK, used: rec.Used}
		if r.ok {
			text := value.AppendJSON(nil, &rec)
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&r.want); err != nil {
				t.Fatal(err)
			}
			if value.ParseJSON(&in, p, text) == nil && !bytes.Contains(text, []byte("NaN")) { // whose bits only the codec keeps
				if in.Code = rec.Code; p.Encode(&made, &in) == nil {
					r.again = hex.EncodeToString(made.Message())
				}
			}
		}
		out = append(out, r)
	}
	for _, e := range value.Examples(p, 12, 3, 4660) {
		if put(e.Data); len(e.Data) == 0 {
			continue
		}
		for range 4 {
			bad := bytes.Clone(e.Data)
			for range 1 + rng.IntN(2) {
				bad[rng.IntN(len(bad))] = byte(rng.Uint32()) >> rng.IntN(8)
			}
			put(bad)
		}
	}
	for range 20 {
		b := make([]byte, 1+rng.IntN(60))
		for i := range b {
			if b[i] = byte(rng.Uint32()); rng.IntN(3) == 0 {
				b[i] %= 5
			}
		}
		put(b)
	}
	return out
}

// readGo and readTS are the main functions of modules with the code of definitions, which read rows and write answers. IMPORTS and TABLE are lines
// for each package.
const readGo = `package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
IMPORTS)

type message interface {
	ReadBinary(data []byte) (n int, err error)
	AppendBinary(dst []byte) ([]byte, error)
}

func of[M message](all map[string]func() M) map[string]func() message {
	out := map[string]func() message{}
	for name, f := range all {
		out[name] = func() message { return f() }
	}
	return out
}

var packages = map[string]map[string]func() message{
TABLE}

func main() {
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var row struct{ Package, Message, Hex string }
		var a struct {
			OK    bool            ` + "`json:\"ok\"`" + `
			Used  int             ` + "`json:\"used\"`" + `
			Value json.RawMessage ` + "`json:\"value\"`" + `
			Again string          ` + "`json:\"again\"`" + `
			Error string          ` + "`json:\"error\"`" + `
		}
		json.Unmarshal(in.Bytes(), &row)
		data, _ := hex.DecodeString(row.Hex)
		m := packages[row.Package][row.Message]()
		n, err := m.ReadBinary(data)
		if a.OK, a.Used = err == nil, n; err != nil {
			a.Error = err.Error()
		} else {
			a.Value, _ = json.Marshal(m) // NaN has no form
			b, err := m.AppendBinary(nil)
			if a.Again = hex.EncodeToString(b); err != nil {
				a.Again, a.Error = "", err.Error()
			}
		}
		out.Encode(a)
	}
}
`

const readTS = `import { readFileSync } from "node:fs";
IMPORTS
const packages = {
TABLE};
const hex = (b) => Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
const show = (_, v) => typeof v === "bigint" ? v.toString() : v instanceof Uint8Array ? hex(v) : v;
const out = [];
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
	const row = JSON.parse(line);
	const data = Uint8Array.from(row.hex.match(/../g) ?? [], (x) => parseInt(x, 16));
	const answer = { ok: true, used: 0, value: null, again: "", error: "" };
	const known = (e) => /^(Incomplete|Illegal|Refused)$/.test(e.name) ? e.message : e.stack;
	try {
		const codec = packages[row.package].messages[row.message];
		const got = codec.read(new DataView(data.buffer));
		answer.used = got.size;
		answer.value = got.value;
		try {
			answer.again = hex(codec.write(got.value));
		} catch (e) {
			answer.error = known(e);
		}
	} catch (e) {
		answer.ok = false;
		answer.error = known(e);
	}
	out.push(JSON.stringify(answer, show));
}
console.log(out.join("\n"));
`

// compareValues reads rows by the code of a module, and compares the answers with those of the codec.
func (m *modules) compareValues(t *testing.T, rows []valueRow) {
	t.Helper()
	var imports, table strings.Builder
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.Package] {
			continue
		}
		seen[r.Package] = true
		if m.target == "go" {
			fmt.Fprintf(&imports, "\t%s \"tried/%[1]s\"\n", r.Package)
			fmt.Fprintf(&table, "\t%q: of(%s.Messages),\n", r.Package, r.Package)
		} else {
			fmt.Fprintf(&imports, "import * as %s from \"./%[1]s.js\";\n", r.Package)
			fmt.Fprintf(&table, "\t%s,\n", r.Package)
		}
	}
	fill := strings.NewReplacer("IMPORTS", imports.String(), "TABLE", table.String())
	var cmd *exec.Cmd
	if m.target == "go" {
		write(t, m.dir, "main.go", fill.Replace(readGo))
		if out, err := exec.Command("go", "build", "-C", m.dir, "-o", "main", ".").CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out[:min(len(out), 6000)])
		}
		cmd = exec.Command(filepath.Join(m.dir, "main"))
	} else {
		write(t, m.dir, "main.js", fill.Replace(readTS))
		cmd = exec.Command(tooltest.Path(t, "node"), filepath.Join(m.dir, "main.js"))
	}
	out := run(t, cmd, jsonLines(t, rows))
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != len(rows) {
		t.Fatalf("%d answers of %d", len(lines), len(rows))
	}
	read, values, wrote, extra, other := 0, 0, 0, 0, 0
	for i, r := range rows {
		var a valueAnswer
		d := json.NewDecoder(bytes.NewReader(lines[i]))
		d.UseNumber()
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		fail := func(format string, args ...any) {
			if other++; other < 20 {
				t.Errorf("%s: %s %s: %s (%s)", r.Package, r.Message, r.Hex, fmt.Sprintf(format, args...), a.Error)
			}
		}
		switch {
		case strings.Contains(a.Error, "\n"):
			fail("it crashes")
		case a.OK != r.ok:
			fail("read: %v, the codec: %v", a.OK, r.ok)
		case !r.ok:
			continue
		case a.Used != r.used:
			fail("%d bytes read, the codec reads %d", a.Used, r.used)
		}
		read++
		if a.OK && r.ok && a.Value != nil {
			values++
			if why := unlikeStruct(r.m.Body, r.want, a.Value); why != "" {
				want, _ := json.Marshal(r.want)
				got, _ := json.Marshal(a.Value)
				fail("%s:\n got %s\nwant %s", why, got, want)
			}
		}
		if r.again == "" && a.Again != "" && a.OK && !strings.Contains(fmt.Sprint(r.want), "NaN") {
			if extra++; !readsAs(t, r.m, a.Again, r.want) {
				fail("written as %s, which has other values", a.Again)
			}
		}
		if r.again != "" && a.OK && !(r.packed && m.target == "ts") { // which compresses in another form
			if wrote++; a.Again != r.again {
				fail("written:\n got %s\nwant %s", a.Again, r.again)
			}
		}
	}
	t.Logf("%d rows, %d read, %d values compared, %d written, and %d that the codec refuses, %d differ", len(rows), read, values, wrote, extra, other)
	if read < len(rows)/20 || values < read/2 || wrote < read/4 {
		t.Error("too few")
	}
}

// readsAs reports whether a message has values.
func readsAs(t *testing.T, m *schema.Message, text string, want any) bool {
	t.Helper()
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	var rec codec.Record
	p.Decode(&rec, data)
	var got any
	d := json.NewDecoder(bytes.NewReader(value.AppendJSON(nil, &rec)))
	d.UseNumber()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	return rec.Status() == codec.OK && reflect.DeepEqual(got, want)
}

// unlikeStruct returns where the values of a struct, as generated code has them, differ from those of the codec; "" if they do not. Fields that
// the code has under another name are not compared.
func unlikeStruct(s *schema.Struct, want, got any) string {
	w, _ := want.(map[string]any)
	g, _ := got.(map[string]any)
	if (w == nil) != (g == nil) {
		return fmt.Sprintf("%v and %v", got, want)
	}
	fields := s.Fields
	for i := range s.Variants {
		if b := s.Variants[i].Body; b != nil {
			fields = append(fields[:len(fields):len(fields)], b.Fields...)
		}
	}
	return unlikeFields(fields, w, g)
}

func unlikeFields(fields []*schema.Field, w, g map[string]any) string {
	seen := map[string]int{}
	for _, f := range fields {
		seen[f.Name]++
	}
	for _, f := range fields {
		if c, ok := f.Type.(*schema.Choice); ok && c.Anon {
			if why := unlikeFields(inAlternatives(c), w, g); why != "" {
				return why
			}
			continue
		}
		want, ok := w[f.Name]
		got, has := g[f.Name]
		if !ok || !has || seen[f.Name] > 1 {
			continue
		}
		if why := unlike(f.Type, want, got); why != "" {
			return f.Name + ": " + why
		}
	}
	return ""
}

// inAlternatives returns the fields of all alternatives.
func inAlternatives(c *schema.Choice) (out []*schema.Field) {
	for i := range c.Cases {
		if b := c.Cases[i].Body; b != nil {
			out = append(out, b.Fields...)
		}
	}
	return out
}

func unlike(t schema.Type, want, got any) string {
	differ := fmt.Sprintf("%v and %v", got, want)
	switch t := t.(type) {
	case *schema.Number:
		return unlikeNumber(t, want, got)
	case *schema.Bitfield:
		w, _ := want.(map[string]any)
		g, _ := got.(map[string]any)
		for name, part := range w {
			if has, ok := g[name]; ok && fmt.Sprint(part) != fmt.Sprint(has) && !(fmt.Sprint(part) == "0" && has == false) {
				return name + ": " + fmt.Sprintf("%v and %v", has, part)
			}
		}
	case *schema.Text:
		if want != got && !t.Charset.Table() && !strings.ContainsRune(fmt.Sprint(want, got), '\ufffd') {
			return differ
		}
	case *schema.Blob:
		if !(want == nil && (got == nil || got == "")) && strings.ReplaceAll(fmt.Sprint(want), "-", "") != got {
			return differ
		}
	case *schema.List:
		return unlikeList(t, want, got)
	case *schema.Group:
		switch w, isArray := want.([]any); {
		case want == nil:
		case isArray && t.Array:
			g, _ := got.(map[string]any)
			for i, f := range t.Struct.Fields {
				if why := unlike(f.Type, w[i], g[f.Name]); why != "" {
					return why
				}
			}
		case t.Bare && len(t.Struct.Fields) == 1:
			return unlike(t.Struct.Fields[0].Type, want, got)
		default:
			return unlikeStruct(t.Struct, want, got)
		}
	case *schema.Choice:
		return unlikeChoice(t, want, got)
	}
	return ""
}

func unlikeList(t *schema.List, want, got any) string {
	w, isArray := want.([]any)
	if _, keyed := want.(map[string]any); keyed && t.Keyed != "" {
		return "" // by the values of a member
	}
	if !isArray && t.Once && want != nil {
		w = []any{want}
	}
	g, _ := got.([]any)
	if t.Once && isArray && len(g) == 1 { // the only element is a list
		w = []any{want}
	}
	if len(w) != len(g) {
		return fmt.Sprintf("%d elements and %d", len(g), len(w))
	}
	for i := range w {
		why := ""
		if t.Bare {
			why = unlike(t.Elem.Fields[0].Type, w[i], g[i])
		} else {
			why = unlikeStruct(t.Elem, w[i], g[i])
		}
		if why != "" {
			return fmt.Sprintf("[%d]: %s", i, why)
		}
	}
	return ""
}

// unlikeChoice compares with all alternatives, as values do not tell theirs.
func unlikeChoice(t *schema.Choice, want, got any) string {
	why := ""
	if want == nil || got == nil {
		return ""
	}
	all := []any{got}
	if g, ok := got.(map[string]any); ok { // one of several types
		for _, x := range g {
			if x != nil {
				all = append(all, x)
			}
		}
	}
	for i := range t.Cases {
		a := &t.Cases[i]
		if a.Body == nil {
			continue
		}
		for _, got := range all {
			if a.Bare {
				why = unlike(a.Body.Fields[0].Type, want, got)
			} else {
				why = unlikeStruct(a.Body, want, got)
			}
			if why == "" {
				return ""
			}
		}
	}
	return why
}

func unlikeNumber(t *schema.Number, want, got any) string {
	text := func(v any) string { return strings.Trim(fmt.Sprint(v), `"`) }
	w, g := text(want), text(got)
	if w == g || want == nil || got == nil {
		return ""
	}
	a, errA := strconv.ParseFloat(w, 64)
	b, errB := strconv.ParseFloat(g, 64)
	switch {
	case errA != nil || errB != nil:
		if t.Enum != nil && t.Enum.Shown {
			for _, v := range t.Enum.Values {
				if v.Name == w && t.Decimal(v.Value) == g {
					return ""
				}
			}
		}
	case t.Kind == schema.Float || t.Scale != 0:
		if math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) || t.Bits <= 32 && float32(a) == float32(b) {
			return ""
		}
	}
	if strings.HasPrefix(w, "NaN") || errA != nil && t.Kind == schema.Float {
		return "" // JSON has no form
	}
	return fmt.Sprintf("%v and %v", got, want)
}

// partRows adds the code of the definitions of testdata/lua/parts, and of published ones, and returns rows for it.
func (m *modules) partRows(t *testing.T) (rows []valueRow) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	x, _ := emit.Find(m.target)
	add := func(name string, s *schema.Schema, all bool) {
		files, losses := x.Emit(s, emit.Options{Name: name})
		out := map[string]bool{}
		for _, line := range emit.Omitted(losses) {
			if message, _, _ := strings.Cut(line, ": "); all {
				t.Errorf("%s: %s", name, line)
			} else {
				out[message] = true
			}
		}
		m.add(files[0], name)
		for _, one := range s.Messages {
			if !out[messageName(one)] {
				rows = append(rows, valueRows(t, name, one, rng)...)
			}
		}
	}
	for _, d := range defs.Dialects {
		c, err := txtar.ParseFile(filepath.Join("testdata/lua/parts", d.Name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		files := c.Files
		if d.Name != "kaitai" && d.Name != "protobuf" && d.Name != "protodef" { // which have most kinds of parts
			files = files[:min(len(files), 3)]
		}
		for i, f := range files {
			s, diags := defs.Load([]*source.File{source.New(f.Name, string(f.Data))}, d.Name, schema.Options{})
			if diags.HasErrors() {
				t.Fatal(diags.Render())
			}
			unique(s)
			add(fmt.Sprintf("%s%d", d.Name, i), s, true)
		}
	}
	far := field("far", &schema.Number{Bits: 64, Kind: schema.Signed, Add: 1<<60 + 1})
	exact := inOrder(far, field("near", &schema.Number{Bits: 64, Var: schema.LEB128, Add: -(1<<53 + 1)}))
	exact.Wire = append(constant(0x7f, 0x80, 0xff), exact.Wire...)
	add("exact", linked(datagram("added", exact)), true)
	if c := corpora.Largest(t); !c.Own {
		var suite []*source.File
		for _, pattern := range []string{"kaitai/formats/*.ksy", "kaitai/formats/*/*.ksy"} {
			for _, name := range c.Glob(t, pattern) {
				suite = append(suite, source.New(strings.TrimPrefix(name, "kaitai/formats/"), c.Text(t, name)))
			}
		}
		s, _ := defs.Load(suite, "kaitai", schema.Options{})
		add("suite", s, false)
	}
	return rows
}

// TestCorporaGoValues and TestToolTypeScriptValues compare what generated code reads and writes with the codec: of examples, of changed and of random
// bytes.
func TestCorporaGoValues(t *testing.T) {
	m := goModules(t)
	m.compareValues(t, m.partRows(t))
}

func TestToolTypeScriptValues(t *testing.T) {
	m := tsModules(t)
	m.compareValues(t, m.partRows(t))
}
