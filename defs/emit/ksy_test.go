package emit_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/subspace"
	"wirebench/defs/tera"
)

// kaitai is a program that reads messages with .ksy files; it does nothing before all of them are known.
type kaitai struct {
	Files []kaitaiFile `json:"files"`
	Rows  []kaitaiRow  `json:"rows"`
}

type kaitaiFile struct {
	Name string `json:"name"` // unique
	Text string `json:"text"`
}

type kaitaiRow struct {
	File string `json:"file"`
	Hex  string `json:"hex"`
	Many bool   `json:"many"` // the value is a list of messages
	row  row
}

type kaitaiAnswer struct {
	Files []string // why a file was refused, "" = it was not
	Rows  []struct {
		Value json.RawMessage
		Error string
	}
}

// run compiles and reads everything in one process.
func (k *kaitai) run(t *testing.T) kaitaiAnswer {
	t.Helper()
	node, err := exec.LookPath("node")
	need(t, "node", err)
	dir := "testdata/kaitai"
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		if os.Getenv("WIREBENCH_BROWSER") != "required" {
			t.Skipf("the Kaitai compiler is not here: npm ci in %s installs it", dir)
		}
		install := exec.Command("npm", "ci", "--no-audit", "--no-fund")
		install.Dir = dir
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
	}
	input, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	var out kaitaiAnswer
	if err := json.Unmarshal(run(t, exec.Command(node, filepath.Join(dir, "read.js")), input), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Files) != len(k.Files) || len(out.Rows) != len(k.Rows) {
		t.Fatalf("%d files and %d rows answered, of %d and %d", len(out.Files), len(out.Rows), len(k.Files), len(k.Rows))
	}
	for i, why := range out.Files {
		if why != "" {
			t.Errorf("%s is refused: %s\n%s", k.Files[i].Name, why, k.Files[i].Text[:min(len(k.Files[i].Text), 3000)])
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return out
}

// ksy writes a schema and returns the files by the messages they are of. Nothing may be left out.
func (k *kaitai) add(t *testing.T, s *schema.Schema, name string) map[string]string {
	t.Helper()
	target, _ := emit.Find("ksy")
	files, losses := target.Emit(s, emit.Options{Name: name})
	for _, l := range losses {
		if strings.Contains(l.Reason, "left out") && !strings.Contains(l.Reason, "second name") {
			t.Errorf("%s: %s", name, l)
		}
	}
	of := map[string]string{}
	for _, f := range files {
		file := name + "/" + f.Name
		k.Files = append(k.Files, kaitaiFile{file, f.Text})
		if m := regexp.MustCompile(`(?m)^doc: ['"]?Made by wirebench from the definitions of (.*)\.['"]?$`).FindStringSubmatch(f.Text); m != nil {
			for _, message := range strings.Split(m[1], ", ") {
				of[message] += " " + file
			}
			continue
		}
		m := regexp.MustCompile(`(?m)^  title: ['"]?([^'"\n]*)`).FindStringSubmatch(f.Text)
		of[m[1]] += " " + file
	}
	for _, m := range s.Messages {
		if of[messageName(m)] == "" {
			t.Fatalf("%s: no file has %s", name, messageName(m))
		}
	}
	return of
}

// TestKsyVectors reads what the codec makes of every message, by the files of all messages and by a file of its own.
func TestKsyVectors(t *testing.T) {
	var k kaitai
	all := samples(t)
	for _, s := range []sample{shipped(t), {name: "shapes", schema: shapes()}} {
		codecRows(t, &s, newRand())
		all = append(all, s)
	}
	games := shippedDatagrams(t)
	byteRows(t, &games)
	all = append(all, games)
	for _, s := range all {
		if s.name == "random" { // has lists to the end that leave a part of an element: a loss
			continue
		}
		of := k.add(t, s.schema, s.name)
		alone := map[string]string{}
		codes := map[string]place{}
		for _, m := range s.schema.Messages {
			name := messageName(m)
			if len(s.schema.Messages) > 1 && len(strings.Fields(of[name])) > 0 && m.HasKey {
				one := *s.schema
				one.Messages = []*schema.Message{m}
				for _, file := range k.add(t, &one, s.name+"/"+name) {
					alone[name] = file
				}
			}
			at := 0 // bits
			for _, it := range m.Body.Wire {
				if it.Kind == schema.Code && m.HasKey {
					code := binary.LittleEndian.AppendUint32(nil, m.Key.Code)[:it.Bits/8]
					codes[name] = place{at / 4, hex.EncodeToString(code)}
				}
				at += it.Bits + 8*len(it.Bytes)
			}
		}
		kept := map[string]int{}
		for _, r := range s.rows {
			if r.Write != nil {
				continue
			}
			name := r.Message
			for n, code := range codes {
				if name == "" && code.stands(r.Hex) {
					name = n
				}
			}
			if r.Message = name; name == "" {
				continue
			}
			if kept[name+r.status]++; kept[name+r.status] > 30 {
				continue
			}
			code, coded := codes[name]
			whole := r.status == "ok" && r.used*2 == len(r.Hex) && (!coded || code.stands(r.Hex))
			for _, file := range strings.Fields(of[name]) {
				if whole {
					k.Rows = append(k.Rows, kaitaiRow{File: file, Hex: r.Hex, row: r})
				}
			}
			if file := strings.TrimSpace(alone[name]); file != "" {
				k.Rows = append(k.Rows, kaitaiRow{File: file, Hex: r.Hex, row: r})
			} else if !whole && !coded {
				k.Rows = append(k.Rows, kaitaiRow{File: strings.Fields(of[name])[0], Hex: r.Hex, row: r})
			}
		}
	}
	out := k.run(t)
	count, failed := map[string]int{}, 0
	byFile := map[string]int{}
	for i, r := range k.Rows {
		a := out.Rows[i]
		wrong := ""
		switch {
		case r.row.status == "ok" && a.Error != "":
			wrong = "refused: " + a.Error
		case r.row.status == "ok" && !sameKsy(t, r.row.value, a.Value):
			wrong = fmt.Sprintf(" got %s\nwant %s", a.Value, r.row.value)
		case r.row.status != "ok" && a.Error == "" && measuredSample[r.row.Sample]:
			wrong = fmt.Sprintf("read, and it is %s", r.row.status)
		case r.row.status != "ok" && a.Error == "":
			count["taken for ok"]++
			continue
		}
		count[r.row.status]++
		if r.row.status == "ok" {
			byFile[r.File]++
		}
		if wrong == "" {
			continue
		}
		t.Errorf("%s %s %s:\n%.1500s", r.File, r.row.Message, r.Hex[:min(len(r.Hex), 200)], wrong)
		if failed++; failed > 8 {
			t.FailNow()
		}
	}
	for _, f := range k.Files {
		if byFile[f.Name] == 0 {
			t.Errorf("%s read no message", f.Name)
		}
	}
	if count["ok"] < 1000 || count["incomplete"] == 0 || count["illegal"] == 0 {
		t.Errorf("the messages show too little: %v", count)
	}
	t.Logf("%d files, %v", len(k.Files), count)
}

// place is hex digits in a message.
type place struct {
	at     int
	digits string
}

func (p place) stands(text string) bool {
	return len(text) >= p.at && strings.HasPrefix(text[p.at:], p.digits)
}

// measuredSample are the samples whose messages are refused by their .ksy whenever the codec refuses them: nothing in them is reached by an offset.
var measuredSample = map[string]bool{"svmsg": true, "move": true, "chat": true, "prmsg": true, "squad": true}

// sameKsy compares values. A value that is not there is zero; numbers are those of JavaScript.
func sameKsy(t *testing.T, want, got json.RawMessage) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(want, &a); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	if len(got) == 0 {
		got = json.RawMessage("null")
	}
	if err := json.Unmarshal(got, &b); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	return sameParts(a, b)
}

func sameParts(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		for k, v := range a {
			if w, ok := b[k]; ok && !sameParts(v, w) || !ok && !zero(v) {
				return false
			}
		}
		for k := range b {
			if _, ok := a[k]; !ok {
				return false
			}
		}
		return true
	case []any:
		b, _ := b.([]any)
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameParts(a[i], b[i]) {
				return false
			}
		}
		return true
	case string:
		if n, ok := b.(float64); ok { // more than 32 bits, in a number
			f, err := strconv.ParseFloat(a, 64)
			return err == nil && f == n
		}
	case float64:
		b, ok := b.(float64)
		// The shortest text of a float is not its value as a double.
		return ok && (a == b || float32(a) == float32(b) && float64(float32(b)) == b || math.Abs(a-b) <= 1e-12*math.Abs(a))
	}
	if b == nil {
		return zero(a)
	}
	return a == b
}

// shipped are the definitions of the library, with codes.
func shipped(t *testing.T) sample {
	t.Helper()
	paths, err := filepath.Glob("../library/tera/*.def")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d definitions: %v", len(paths), err)
	}
	var files []*source.File
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, source.New(filepath.Base(p), string(text)))
	}
	codes := map[string]uint32{}
	text, err := os.ReadFile("../library/tera/protocol.100000.map")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(strings.ReplaceAll(line, "=", " ")); len(words) == 2 {
			if n, err := strconv.ParseUint(words[1], 0, 16); err == nil {
				codes[words[0]] = uint32(n)
			}
		}
	}
	s, ds := tera.Parse(files, schema.Options{Codes: codes})
	if ds.HasErrors() {
		t.Fatal(ds.Render())
	}
	schema.Link(s)
	return sample{name: "shipped", schema: s}
}

// shippedDatagrams are the definitions of datagrams in the library.
func shippedDatagrams(t *testing.T) sample {
	t.Helper()
	paths, err := filepath.Glob("../library/subspace/*.def")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d definitions: %v", len(paths), err)
	}
	var files []*source.File
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, source.New(filepath.Base(p), string(text)))
	}
	s, ds := subspace.Parse(files, schema.Options{})
	if ds.HasErrors() {
		t.Fatal(ds.Render())
	}
	schema.Link(s)
	return sample{name: "subspace", schema: s}
}

// byteRows adds messages of random bytes behind the right code that the codec takes.
func byteRows(t *testing.T, s *sample) {
	t.Helper()
	rng := newRand()
	for _, m := range s.schema.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		least, most := p.Size()
		if most < 0 || most > least+200 {
			most = least + 200
		}
		made := 0
		var rec codec.Record
		for try := 0; made < 8 && try < 5000; try++ {
			data := randomBytes(rng, int(least)+rng.IntN(int(most-least)+1))
			for i := range data {
				if try%2 == 0 {
					data[i] &= []byte{0x7f, 3, 0}[rng.IntN(3)] // text that ends, counts that fit
				}
			}
			at := 0
		head:
			for _, it := range m.Body.Wire {
				switch it.Kind {
				case schema.Const:
					at += copy(data[at:], it.Bytes)
					continue
				case schema.Code:
					at += copy(data[at:], binary.LittleEndian.AppendUint32(nil, m.Key.Code)[:it.Bits/8])
					continue
				}
				break head
			}
			if p.Decode(&rec, data); rec.Status() == codec.OK && rec.Used == len(data) {
				addRow(t, s, m, p, data)
				made++
			}
		}
		if made == 0 {
			t.Errorf("%s %s: no message could be made", s.name, m.Name)
		}
	}
}

// TestKsyStreams reads several messages one after another, as a file of all messages of a stream does.
func TestKsyStreams(t *testing.T) {
	var k kaitai
	k.add(t, svmsg(), "one")
	k.add(t, teraText(t, schema.Options{Codes: map[string]uint32{"S_A": 1, "S_B": 2}}, source.New("S_A.1.def", "string s\n"), source.New("S_B.1.def", "byte b\n")), "two")
	for _, r := range []struct{ file, hex, want string }{
		{"one/one.ksy", "01 03 04 3500000000000000 01 00 20000000 4a6f686e 02 0700000000000000", `[{},{"id":"53","name":"John","race":1,"sex":0,"map_id":32},{"utc":"7"}]`},
		{"two/two.ksy", "0500 0200 07  0a00 0100 0600 6100 0000  0600 0900 ffff  0500 0200 08", `[{"b":7},{"s":"a"},{},{"b":8}]`},
		{"one/one.ksy", "01 09", "refused"}, // nothing says where a message of an unknown code ends: the rest is one
		{"two/two.ksy", "0500 0200 07  0a00 0100", "refused"},
	} {
		k.Rows = append(k.Rows, kaitaiRow{File: r.file, Hex: strings.ReplaceAll(r.hex, " ", ""), Many: true, row: row{value: json.RawMessage(r.want)}})
	}
	k.Rows[2].row.value = json.RawMessage(`[{},{}]`)
	out := k.run(t)
	for i, r := range k.Rows {
		switch got := out.Rows[i]; {
		case string(r.row.value) == "refused":
			if got.Error == "" {
				t.Errorf("%s: read as %s", r.Hex, got.Value)
			}
		case got.Error != "" || !sameKsy(t, r.row.value, got.Value):
			t.Errorf("%s: got %s %s, want %s", r.Hex, got.Value, got.Error, r.row.value)
		}
	}
}

// TestKsyYAML has comments and names that YAML would take for something else.
func TestKsyYAML(t *testing.T) {
	var k kaitai
	var fields []*schema.Field
	docs := []string{
		"yes", "- a", "a: b", "#", "'", "\"", "\\", "a\tb", "|\n  b\n c", "\x01\x7f\u0085\u2028\ufeff", "\xff", "%", "@a", "`a`", "{a}", "[a", "*a", "&a", "!a",
		"? a", "1e3", "0x10", "null", "~", "a #b", "a:\nb", "---", "...", "größe 家 😀", "\n\n a \n\n", "*/ -->", `"""`,
	}
	for _, doc := range docs {
		f := field(doc, number(8, 0))
		f.Doc = doc
		fields = append(fields, f)
	}
	m := datagram("yes: no", inOrder(fields...))
	m.Doc = strings.Join(docs, "\n")
	target, _ := emit.Find("ksy")
	files, _ := target.Emit(linked(m), emit.Options{Name: "null"})
	k.Files = append(k.Files, kaitaiFile{"yaml", files[0].Text})
	k.Rows = append(k.Rows, kaitaiRow{File: "yaml", Hex: strings.Repeat("07", len(docs))})
	if out := k.run(t); out.Rows[0].Error != "" || strings.Count(string(out.Rows[0].Value), ":7") < len(docs)-2 {
		t.Errorf("read as %s %s\n%s", out.Rows[0].Value, out.Rows[0].Error, files[0].Text)
	}
}

// TestDocLosses names what the .ksy and the reference do not say.
func TestDocLosses(t *testing.T) {
	twice := number(8, 0)
	twice.Enum = &schema.Enum{Name: "e", Values: []schema.EnumValue{{Name: "a", Value: 1}, {Name: "b", Value: 1}}}
	open := number(8, 0)
	open.Max = &schema.Limit{Const: "MAX_LEVEL"}
	broken := datagram("broken", inOrder())
	broken.Broken = true
	half := field("half", &schema.Group{Struct: inOrder(field("a", number(4, 0)))})
	half.Type.(*schema.Group).Struct.Optional = 1
	sealed := teraText(t, schema.Options{Values: map[string]string{"integrity": "true"}}, source.New("C_SEALED.1.def", "int32 a\n"))
	for _, c := range []struct {
		s       *schema.Schema
		ksy, md string
	}{
		{linked(broken), "broken: the definition has errors; the message is left out", "broken: the definition has errors; the message is left out"},
		{linked(datagram("m", inOrder(field("v", twice)))), "m: v: b is a second name of the value 1; it is left out", ""},
		{linked(datagram("m", inOrder(field("v", open)))), "m: v: the constant MAX_LEVEL has no value; the limit is not checked", ""},
		{linked(datagram("m", inOrder(field("v", &schema.Blob{Nested: true, Extent: toEnd})))), "m: v: the message inside is shown as bytes", ""},
		{
			linked(datagram("m", inOrder(half, field("b", number(4, 0))))), `m: group "half" with alternatives or optional parts; the message is left out`,
			`m: group "half" with alternatives or optional parts; the message is left out`,
		},
		{linked(datagram("m", inOrder(field("l", bare(&schema.Blob{Extent: fixed(0)}, toEnd))))), `m: the elements of "l" may have no bytes; the message is left out`, ""},
		{sealed, "C_SEALED: the checksum is read, not checked", "C_SEALED: checksum: how the checksum is computed is not said"},
		{linked(datagram("m", inOrder(field("v", ranged(40, schema.Signed, -1, 1))))), "m: v: the range of a number of 40 bits is not checked", ""},
	} {
		for name, want := range map[string]string{"ksy": c.ksy, "md": c.md} {
			target, _ := emit.Find(name)
			files, losses := target.Emit(c.s, emit.Options{})
			var got []string
			for _, l := range losses {
				got = append(got, l.String())
			}
			if strings.Join(got, "\n") != want {
				t.Errorf("%s: lost %q, want %q", name, got, want)
			}
			for _, f := range files {
				if want != "" && !strings.Contains(f.Text, want) {
					t.Errorf("%s does not say what it lost:\n%s", f.Name, f.Text)
				}
			}
		}
	}
}

// TestKsyText shows a file as people see it.
func TestKsyText(t *testing.T) {
	target, _ := emit.Find("ksy")
	var b bytes.Buffer
	for _, s := range textSamples(t) {
		files, losses := target.Emit(s.schema, emit.Options{Name: s.name})
		for _, f := range files {
			fmt.Fprintf(&b, "-- %s --\n%s", f.Name, f.Text)
		}
		fmt.Fprintf(&b, "-- %s losses --\n", s.name)
		for _, l := range losses {
			fmt.Fprintln(&b, l)
		}
	}
	golden(t, "testdata/ksy.txtar", b.Bytes())
}
