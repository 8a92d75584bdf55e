package redact

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/build"
	"wirebench/defs/defstest"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func TestIsMarked(t *testing.T) {
	for doc, want := range map[string]bool{
		"": false, "@secret": true, "the password, @secret.": true, "(@secret)": true, "secret": false, "mail@secret.example": false, "@secrets": false, "@secret, the password": true, "a\n@secret\nb": true,
	} {
		if IsMarked(doc) != want {
			t.Errorf("%q: %t", doc, !want)
		}
	}
}

// program compiles the first message of a definition.
func program(t *testing.T, dialect, file, text string) *codec.Program {
	t.Helper()
	d, ok := defs.Find(dialect)
	if !ok {
		t.Fatalf("no dialect %s", dialect)
	}
	f := source.New(file, text)
	set := build.New(d.Rules, []*source.File{f}, schema.Options{})
	if diags := set.DiagnosticsOf(f); diags.HasErrors() || len(set.MessagesOf(f)) == 0 {
		t.Fatalf("%v", diags)
	}
	p, err := codec.Compile(set.MessagesOf(f)[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decode(p *codec.Program, data []byte) *codec.Record {
	rec := &codec.Record{}
	p.Decode(rec, data)
	return rec
}

func TestBytes(t *testing.T) {
	p := program(t, "tera", "C_LOGIN.1.def", "string user\nstring password # @secret\nuint32 build\nint32 pin # @secret\n")
	message := func(user, password string, pin byte) []byte {
		var out []byte
		u, w := utf16(user), utf16(password)
		out = append(out, byte(16+len(u)+len(w)), 0, 0x34, 0x12, 16, 0, byte(16+len(u)), 0, 5, 0, 0, 0, pin, 0, 0, 0)
		return append(append(out, u...), w...)
	}
	r := New()
	one, n := r.Bytes(nil, decode(p, message("ann", "hunter2", 9)))
	if n != 2 {
		t.Errorf("%d values were replaced", n)
	}
	rec := decode(p, one)
	if rec.Status() != codec.OK || len(rec.Problems) > 0 || bytes.Contains(one, utf16("hunter")[:12]) || !bytes.Equal(one[:12], message("ann", "hunter2", 9)[:12]) || !bytes.Equal(one[16:24], utf16("ann")) {
		t.Errorf("%v %v\n%s", rec.Status(), rec.Problems, hex.Dump(one))
	}
	two, _ := r.Bytes(nil, decode(p, message("bob", "hunter2", 9)))
	if !bytes.Equal(one[24:], two[24:]) || !bytes.Equal(one[12:16], two[12:16]) {
		t.Errorf("equal values differ\n%s%s", hex.Dump(one), hex.Dump(two))
	}
	three, _ := r.Bytes(nil, decode(p, message("bob", "hunter3", 8)))
	if bytes.Equal(one[24:], three[24:]) || bytes.Equal(one[12:16], three[12:16]) {
		t.Error("other values are equal")
	}
	other, _ := New().Bytes(nil, decode(p, message("ann", "hunter2", 9)))
	if bytes.Equal(one, other) {
		t.Error("two shares have the same replacements")
	}

	// Bytes that nothing explains, and those after the end of decoding, may contain the secret too.
	extra := append(message("ann", "hunter2", 9), "hunter2"...)
	extra[0] = byte(len(extra))
	if out, _ := r.Bytes(nil, decode(p, extra)); !bytes.Equal(out[len(out)-7:], make([]byte, 7)) {
		t.Errorf("the bytes at the end stay\n%s", hex.Dump(out))
	}
	short := message("ann", "hunter2", 9)
	short[6] = 200 // the offset of the password leads outside
	if out, _ := r.Bytes(nil, decode(p, short)); bytes.Contains(out, utf16("hunter2")[:14]) {
		t.Errorf("an unread password stays\n%s", hex.Dump(out))
	}
}

func utf16(s string) (out []byte) {
	for _, c := range []byte(s) {
		out = append(out, c, 0)
	}
	return append(out, 0, 0)
}

// Numbers keep their ranges and names, and numbers that select an alternative stay.
func TestNumbers(t *testing.T) {
	p := program(t, "subspace", "game.def", "0x30 item\noffset size comment\n1      1    u8 kind (coin = 1, letter = 2)\nif kind is coin:\n2      4    u32 amount\nif kind is letter:\n2      ?    text words\nWhat players own: @secret kind, amount.\n")
	r := New()
	out, _ := r.Bytes(nil, decode(p, []byte{0x30, 1, 5, 0, 0, 0}))
	if rec := decode(p, out); rec.Status() != codec.OK || out[1] != 1 || bytes.Equal(out[2:], []byte{5, 0, 0, 0}) {
		t.Errorf("% x %v", out, rec.Problems)
	}
	p = program(t, "muta", "world.def", "group: g\n\npacket: p\n   __group = g\n   # @secret\n   level = uint8 [1, 60]\n   # @secret\n   x = int16 [-5, 5]\n")
	for v := range 60 {
		data := append(header(p), byte(v+1), byte(v%5), 0)
		out, n := r.Bytes(nil, decode(p, data))
		rec := decode(p, out)
		if rec.Status() != codec.OK || len(rec.Problems) > 0 || n != 2 {
			t.Fatalf("% x: % x %v %d", data, out, rec.Problems, n)
		}
	}
}

// header returns the bytes of a message before its first field.
func header(p *codec.Program) []byte {
	var rec codec.Record
	p.Decode(&rec, make([]byte, 64))
	for _, l := range rec.AppendLeaves(nil) {
		if l.Field != codec.NoField {
			return make([]byte, l.Off/8)
		}
	}
	return nil
}

// Whatever is secret in the messages of the built-in libraries: nothing else changes, what is read afterwards has the same parts and no new
// problem, and no secret value of six bytes and more is left.
func TestSamples(t *testing.T) {
	for _, d := range defs.Dialects {
		fsys, _ := library.Dialect(d.Name)
		names, err := fs.Glob(fsys, "*"+d.Ext)
		if err != nil {
			t.Fatal(err)
		}
		var files []*source.File
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			if defs.IsDefinition(name) || defs.Recognizes(name, string(text)) {
				files = append(files, source.New(name, string(text)))
			}
		}
		set := build.New(d.Rules, files, schema.Options{})
		tried := 0
		for _, x := range library.Samples(d.Name) {
			name, _, _ := strings.Cut(x.Message, ".")
			data, err := hex.DecodeString(x.Hex)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range set.Named(name[strings.LastIndexByte(name, '/')+1:]) {
				p, err := codec.Compile(m)
				if err != nil {
					continue
				}
				for i := -1; i < len(p.Fields); i++ {
					checkSecret(t, x.Message, m, i, data)
					tried++
				}
			}
		}
		if tried < 20 {
			t.Errorf("%s: %d cases", d.Name, tried)
		}
	}
}

// checkSecret redacts one field of a message, or all for -1.
func checkSecret(t *testing.T, name string, m *schema.Message, field int, data []byte) {
	t.Helper()
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Fields {
		if i == field || field < 0 {
			p.Fields[i].Doc = Mark
		} else {
			p.Fields[i].Doc = ""
		}
	}
	was := decode(p, slices.Clone(data))
	r := New()
	out, _ := r.Bytes(nil, was)
	now := decode(p, out)
	if len(out) != len(data) || was.Status() == codec.OK && (len(now.Nodes) != len(was.Nodes) || now.Status() != codec.OK) {
		t.Fatalf("%s field %d: other parts, %v\n%s%s", name, field, now.Problems, hex.Dump(data), hex.Dump(out))
	}
	for _, problem := range now.Problems {
		if !slices.ContainsFunc(was.Problems, func(o codec.Problem) bool { return o.Code == problem.Code }) {
			t.Errorf("%s field %d: %v", name, field, problem.Code)
		}
	}
	secret := r.of(p)
	walk := walker{rec: was, secret: secret}
	for _, l := range was.AppendLeaves(nil) {
		if walk.secret != nil {
			walk.to(l.Node)
		}
		from, to := l.Off/8, (l.Off+l.Len)/8
		whole := l.Off%8 == 0 && l.Len%8 == 0
		switch isSecret := secret != nil && l.Field != codec.NoField && secret[l.Field] && l.Role == codec.RoleValue; {
		case !whole || l.Role == codec.RoleCheck || l.Role == codec.RoleGap:
		case !isSecret && !walk.inSecret(l.Node) && !bytes.Equal(out[from:to], data[from:to]) && !overlaps(was, secret, l):
			t.Errorf("%s field %d: %v changed", name, field, l.Range())
		case isSecret && to-from >= 6 && bytes.Equal(out[from:to], data[from:to]) && l.Raw > 0:
			t.Errorf("%s field %d: % x is unchanged", name, field, data[from:to])
		}
	}
}

// overlaps reports whether a secret value shares bytes with a leaf.
func overlaps(rec *codec.Record, secret []bool, of codec.Leaf) bool {
	return slices.ContainsFunc(rec.AppendLeaves(nil), func(l codec.Leaf) bool {
		return l.Field != codec.NoField && secret[l.Field] && l.Off < of.Off+of.Len && of.Off < l.Off+l.Len
	})
}

// Each field of messages with numbers of variable size, choices and groups: other parts do not change, and no value is left.
func TestVariable(t *testing.T) {
	s, ds := defs.Load([]*source.File{source.New("variable.json", defstest.Variable)}, "protodef", schema.Options{})
	if len(ds) > 0 {
		t.Fatal(ds.Render())
	}
	for i, m := range s.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		if p.Packed() { // what is compressed cannot be read afterwards
			continue
		}
		for _, e := range value.Examples(p, 3, uint64(i), 0) {
			for field := -1; field < len(p.Fields) && len(e.Data) < 500; field += 1 + len(p.Fields)/40 {
				checkSecret(t, m.Name, m, field, e.Data)
			}
		}
	}
}

// A secret field of a group that is nested in itself is hidden at each level, with what is in it.
func TestNestedSecrets(t *testing.T) {
	p := program(t, "protodef", "trees.json", `{"types": {
		"string": ["pstring", {"countType": "varint"}],
		"forest": ["container", [{"name": "root", "type": "tree"}]],
		"tree": ["container", [
			{"name": "id", "type": "varint"}, {"name": "note", "type": "string"},
			{"name": "children", "type": ["array", {"countType": "varint", "type": "tree"}]}
		]]
	}}`)
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, []byte(`{"root":{"id":1,"note":"topmost","children":[{"id":300,"note":"secret one","children":[{"id":2,"note":"secret two"}]}]}}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(err)
	}
	rules, err := ParseRules("forest.root.children")
	if err != nil {
		t.Fatal(err)
	}
	data, n := NewWith(rules, nil).Bytes(nil, decode(p, slices.Clone(out.Data)))
	rec := decode(p, data)
	text := string(value.AppendJSON(nil, rec))
	if rec.Status() != codec.OK || n != 4 || !strings.Contains(text, `{"root":{"id":1,"note":"topmost","children":[{"id":`) || strings.Contains(text, "secret") || strings.Contains(text, `"id":300`) {
		t.Errorf("%d values: %s", n, text)
	}
}
