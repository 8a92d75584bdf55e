package defs_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirebench/defs"
	"wirebench/defs/build"
	"wirebench/defs/corpora"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func TestDialects(t *testing.T) {
	var names []string
	for _, d := range defs.Dialects {
		names = append(names, d.Name)
		if found, ok := defs.Find(d.Name); !ok || found.Title != d.Title || d.Title == "" {
			t.Errorf("%s is not found", d.Name)
		}
		s, diags := defs.Load([]*source.File{d.Example}, d.Name, schema.Options{})
		if len(diags) != 0 || len(s.Messages) == 0 {
			t.Errorf("the example of %s: %s", d.Name, diags.Render())
		}
		if name, ok := defs.Detect(d.Example); !ok || name != d.Name {
			t.Errorf("the example of %s is detected as %q", d.Name, name)
		}
		begun := source.New(map[bool]string{true: "C_BEGUN.1.def", false: "begun.def"}[d.Versions], strings.ReplaceAll(d.Begin, "$NAME", "begun"))
		if _, diags := defs.Load([]*source.File{begun}, d.Name, schema.Options{}); len(diags) != 0 {
			t.Errorf("the initial text of a definition of %s: %s", d.Name, diags.Render())
		}
		if text, diags := d.Format(d.Example); text != d.Example.Text || len(diags) != 0 {
			t.Errorf("the example of %s is formatted\n%s", d.Name, text)
		}
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(defs.Dialects) {
		t.Errorf("names are not unique: %v", names)
	}
	if _, ok := defs.Find(""); ok {
		t.Error("found a dialect without a name")
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"S_CHAT.1.def", "packet: x\n", "tera"}, // the name decides
		{"lib/S_CHAT.1.console.def", "", "tera"},
		{"draft.def", "# a draft\nint32 id # what\narray<int32> list\n- byte x\n", "tera"},
		{"draft", "ref a\narray[interleaved] a\n", "tera"},
		{"shared.def", "# file\ngroup: clmsg\n\npacket: hello\n   __group = clmsg\n   id = uint64\n", "muta"},
		{"a.def", "\ufeffconstants: limits\n   MAX = 3\n", "muta"},
		{"core.def", "0x01 login\noffset size comment\n0      1    type 0x00\n2      4    client key\n", "subspace"},
		{"core.txt", "6 ? payload (514 bytes max)\n", "subspace"},
		{"empty.def", "", ""},
		{"notes.txt", "This is a text.\nIt has lines.\n", ""},
		{"protocol.1.map", "C_CHAT 1\n", ""},
		{"S_CHAT.1.js", "int32 a\n", ""},
		{"data.json", `{"packet": 1}`, ""},
		{"p.json", `{"varint": "native", "packet": ["container", []]}`, "protodef"}, // without "types"
		{"p.txt", "{\n  \"packet\": [\"container\", [\n", "protodef"},
		{"deprecated.json", `{"packet": ["container", []]}`, ""},
		{"dir.def/x", "\x00\x01\x02", ""},
	} {
		got, ok := defs.Detect(source.New(c.name, c.text))
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", c.name, got, ok, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	chat := source.New("S_CHAT.1.def", "string text\n")
	shout := source.New("S_SHOUT.1.def", "string text\n")
	muta := source.New("shared.def", "packet: x\n   id = uint64\n")
	for _, c := range []struct {
		name     string
		files    []*source.File
		dialect  string
		codes    map[string]uint32
		messages int
		code     string
	}{
		{"detected from the files", []*source.File{chat, shout}, "", nil, 2, ""},
		{"given", []*source.File{chat}, "tera", nil, 1, ""},
		{"two on one code", []*source.File{chat, shout}, "tera", map[string]uint32{"S_CHAT": 1, "S_SHOUT": 1}, 2, "same-code"},
		{"nothing", nil, "", nil, 0, ""},
		{"no definitions", []*source.File{source.New("notes.txt", "hello")}, "", nil, 0, "no-dialect"},
		{"several", []*source.File{chat, muta}, "", nil, 0, "several-dialects"},
		{"unknown", []*source.File{chat}, "latin", nil, 0, "unknown-dialect"},
		{"unknown without files", nil, "latin", nil, 0, "unknown-dialect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, diags := defs.Load(c.files, c.dialect, schema.Options{Codes: c.codes})
			if len(s.Messages) != c.messages || s.ByKey == nil {
				t.Errorf("%d messages, want %d", len(s.Messages), c.messages)
			}
			var codes []string
			for _, d := range diags {
				codes = append(codes, d.Code)
			}
			if got := strings.Join(codes, " "); got != c.code {
				t.Errorf("diagnostics %q, want %q\n%s", got, c.code, diags.Render())
			}
		})
	}
}

// TestCorporaLoad checks that every message of the public definitions is found by its opcode.
func TestCorporaLoad(t *testing.T) { corpora.Run(t, testLoadCorpus) }

func testLoadCorpus(t *testing.T, c *corpora.Corpus) {
	var files []*source.File
	codes := map[string]uint32{}
	for i, path := range c.Glob(t, "tera/toolbox/definitions/*.def") {
		text := c.Text(t, path)
		f := source.New(filepath.Base(path), text)
		name, _, _ := strings.Cut(f.Name, ".")
		if _, ok := codes[name]; !ok {
			codes[name] = uint32(i)
		}
		files = append(files, f)
		if dialect, _ := defs.Detect(source.New("x.def", text)); dialect != "tera" && strings.Contains(text, "\nint") {
			t.Errorf("%s is detected as %q from its lines", f.Name, dialect)
		}
	}
	s, diags := defs.Load(files, "", schema.Options{Codes: codes})
	if diags.HasErrors() {
		t.Fatal(diags.Render())
	}
	for name, code := range codes {
		best := s.Find(name, 0)
		key := best.Key
		if key.Code != code || s.ByKey[key] != best || s.Lookup(schema.Key{Code: code}) != best {
			t.Errorf("%s is not found by its code", name)
		}
	}
}

func TestOptions(t *testing.T) {
	names := map[string]bool{}
	for _, o := range defs.Options() {
		if names[o.Name] || o.Doc == "" {
			t.Errorf("%s is there twice, or has no doc", o.Name)
		}
		names[o.Name] = true
		for _, value := range append(o.Values, o.Default) {
			if got, err := o.Check(value); err != nil || got != value {
				t.Errorf("%s %s is %q, %v", o.Name, value, got, err)
			}
		}
		if _, err := o.Check("neither"); err == nil {
			t.Errorf("%s takes any word", o.Name)
		}
	}
	for value, want := range map[string]string{"98.2": "98.20", "92.03": "92.03", "73": "73", "": "", "newest": "error"} {
		got, err := defs.CheckOption("patch", value)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("patch %q is %q, %v", value, got, err)
		}
	}
}

// TestTextsOfMessages checks the texts of messages: each has the name of its message, and two of them are apart, the same, or one inside the
// other.
func TestTextsOfMessages(t *testing.T) {
	found := map[string]int{}
	for _, d := range defs.Dialects {
		fsys, ok := library.Dialect(d.Name)
		if !ok {
			continue
		}
		var files []*source.File
		err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				if text, err := fs.ReadFile(fsys, name); err == nil && d.Rules.Reads(name) {
					files = append(files, source.New(name, string(text)))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, d.Example)
		messages := build.New(d.Rules, files, schema.Options{}).Schema().Messages
		for i, m := range messages {
			x := m.Text
			if x.IsZero() {
				continue
			}
			found[d.Name]++
			if x.File != m.Span.File || m.Span.Start < x.Start || m.Span.End > x.End {
				t.Errorf("%s: the text of %s is at %d to %d, its name at %d", d.Name, m.Name, x.Start, x.End, m.Span.Start)
			}
			for _, o := range messages[:i] {
				y := o.Text
				if y.File == x.File && x.Start < y.End && y.Start < x.End && !(x.Start <= y.Start && y.End <= x.End) && !(y.Start <= x.Start && x.End <= y.End) {
					t.Errorf("%s: the texts of %s and %s overlap", d.Name, m.Name, o.Name)
				}
			}
		}
	}
	for _, name := range []string{"protodef", "mavlink", "c", "protobuf"} {
		if found[name] == 0 {
			t.Errorf("%s: no message has a text", name)
		}
	}
}

// Formatting twice changes nothing more, whatever the ends of lines.
func TestFormatTwice(t *testing.T) {
	for _, d := range defs.Dialects {
		for _, end := range []string{"\n", "\r\n", "\r\r\n", " \t\r\n", "\r \r\n", "\n\r", "\r"} {
			text := strings.ReplaceAll(d.Example.Text, "\n", end)
			once, _ := d.Format(source.New(d.Example.Name, text))
			if twice, _ := d.Format(source.New(d.Example.Name, once)); twice != once {
				t.Errorf("%s with %q:\n%q\nthen\n%q", d.Name, end, once, twice)
			}
		}
	}
}
