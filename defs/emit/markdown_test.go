package emit_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/defs/corpora"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

var update = flag.Bool("update", false, "rewrite the golden files and fail")

func newRand() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// golden compares text with a file.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err == nil && string(want) == string(got) {
		return
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("%s was rewritten", path)
	}
	t.Errorf("%s differs (%v); -update rewrites it. Got:\n%s", path, err, got)
}

// textSamples returns small schemas that cover the text output of targets.
func textSamples(t *testing.T) []sample {
	t.Helper()
	return []sample{
		{name: "tera", schema: teraText(t, schema.Options{Codes: map[string]uint32{"S_SHOWN": 4660}}, source.New("S_SHOWN.1.def", `# what a hit did
uint64 source # who hit
skillid skill
bool critical
angle heading
array hits # those who were hit
- int64 damage
- string name
object push
- vec3 to
array<int32> marks
bytes data
`))},
		{name: "sealed", schema: teraText(t, schema.Options{Values: map[string]string{"integrity": "true"}}, source.New("C_SEALED.1.def", "string text\n"))},
		{name: "shapes", schema: shapes()},
	}
}

func teraText(t *testing.T, o schema.Options, files ...*source.File) *schema.Schema {
	t.Helper()
	s, ds := tera.Parse(files, o)
	if ds.HasErrors() {
		t.Fatal(ds.Render())
	}
	schema.Link(s)
	return s
}

// shapes returns a schema with features that the dialects of the other samples lack: names of values, the same code in both directions,
// numbers of unusual width, bitfields of both byte orders, names that are reserved elsewhere.
func shapes() *schema.Schema {
	code := func(m *schema.Message, dir schema.Dir, n uint32, doc string) *schema.Message {
		m.Key, m.HasKey, m.Doc = schema.Key{Dir: dir, Group: "game", Code: n}, true, doc
		m.Body.Wire = append(codeBits(8), m.Body.Wire...)
		return m
	}
	enumOf := func(bits int, kind schema.NumKind, names ...string) *schema.Number {
		n := number(bits, kind)
		n.Enum = &schema.Enum{Name: "kind of thing"}
		for i, name := range names {
			value := uint64(i)
			if kind == schema.Signed {
				value = uint64(-int64(i)) & (1<<bits - 1)
			}
			n.Enum.Values = append(n.Enum.Values, schema.EnumValue{Name: name, Value: value})
		}
		return n
	}
	kind := field("kind", enumOf(8, 0, "nothing", "Wall", "wall", "true"))
	kind.Doc = "what it is: a | b, *not* <c>"
	kind.Type.(*schema.Number).Min, kind.Type.(*schema.Number).Max = &schema.Limit{}, &schema.Limit{Uint: 3}
	cut := func(order schema.Order) *schema.Bitfield {
		return &schema.Bitfield{Bits: 16, Order: order, Names: []string{"far", "x", "y"}, Forms: []schema.Form{
			{Mask: 0x8000, Match: 0x8000, When: "far is true", Parts: []schema.Part{{Name: "x", Bits: 15}, {Name: "far", Shift: 15, Bits: 1, Kind: schema.Bool}}},
			{When: "far is false", Parts: []schema.Part{{Name: "x", Bits: 7}, {Name: "y", Shift: 7, Bits: 8}, {Name: "far", Shift: 15, Bits: 1, Kind: schema.Bool}}},
		}}
	}
	one := code(datagram("Thing", inOrder(kind, field("side", enumOf(3, schema.Signed, "mid", "left", "far left")), field("lit", enumOf(1, 0, "off", "on")),
		field("depth", ranged(4, schema.Signed, -3, 3)), field("near", cut(schema.Little)), field("far", cut(schema.Big)),
		field("not", number(16, schema.Bool)), field("wide", bigEndian(40, schema.Signed)), field("odd", bigEndian(24, 0)),
		field("share", &schema.Number{Bits: 8, Scale: 0.5}))), schema.ToServer, 1, "A thing is put down.\n\nOr taken away: # *really*.")
	tail := field("more", &schema.Group{Struct: inOrder(field("ready", number(8, schema.Bool)), field("low", number(4, schema.Signed)), field("high", number(4, 0)))})
	two := inOrder(field("a", number(8, 0)), field("b", number(8, schema.Bool)), field("lo", number(4, schema.Signed)), field("hi", number(4, 0)), tail)
	two.Optional = 4
	choice := inOrder(field("which", ranged(8, schema.Signed, -1, 2)))
	choice.Variants = []schema.Variant{{Field: choice.Fields[0], Value: 0xff, Body: inOrder(field("name", text(schema.UTF16LE, toEnd)))}, {Field: choice.Fields[0], Value: 2, Body: inOrder(field("n", number(16, 0)))}}
	title := field("title", text(schema.UTF16LE, counted(1, 9)))
	three := code(&schema.Message{Name: "titled", Version: 1, Body: lengthsFirst(nil, map[string]int{"title": 16}, title, field("after", number(16, 0)))}, schema.Both, 3, "")
	return linked(three, one, code(datagram("Thing gone", two), schema.ToClient, 1, ""), code(datagram("either", choice), schema.Both, 2, "For both."))
}

// TestMarkdownText compares the reference with its golden file.
func TestMarkdownText(t *testing.T) {
	target, _ := emit.Find("md")
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
	golden(t, "testdata/markdown.txtar", b.Bytes())
}

// schemas returns samples without messages.
func schemas(t *testing.T) []sample {
	t.Helper()
	out := []sample{
		{name: "svmsg", schema: svmsg()},
		{name: "move", schema: clmsgMove()},
		{name: "chat", schema: clmsgChat()},
		{name: "prmsg", schema: prmsg()},
		{name: "squad", schema: squad()},
		{name: "datagrams", schema: datagrams()},
		teraFeatures(t), shipped(t), shippedDatagrams(t), teraSample(t, corpora.Largest(t)),
	}
	return out
}

// TestCorporaMarkdownOffsets compares the tables with the layout of the codec.
func TestCorporaMarkdownOffsets(t *testing.T) {
	target, _ := emit.Find("md")
	n := 0
	for _, s := range append(schemas(t), textSamples(t)...) {
		for _, m := range s.schema.Messages {
			one := *s.schema
			one.Messages = []*schema.Message{m}
			files, losses := target.Emit(&one, emit.Options{Name: "one"})
			for _, l := range losses {
				if !strings.Contains(l.Reason, "checksum") {
					t.Errorf("%s: %s", s.name, l)
				}
			}
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, r := range p.Layout() {
				size := "varies"
				if r.MinBits == r.MaxBits {
					size = sizeOf(r.MinBits)
				}
				want = append(want, r.Offset+" | "+size)
			}
			for line := range strings.Lines(files[0].Text) {
				cells := strings.Split(strings.ReplaceAll(line, "\\", ""), " | ")
				if len(cells) > 5 && (strings.HasPrefix(cells[0], "| element") || cells[0] > "| /" && cells[0] < "| :") {
					got = append(got, strings.TrimPrefix(cells[0], "| ")+" | "+cells[1])
				}
			}
			least, most := p.Size()
			size := fmt.Sprintf("size: %d to %d bytes", least, most)
			switch {
			case most < 0 && least == 1:
				size = "size: 1 byte or more"
			case most < 0:
				size = fmt.Sprintf("size: %d bytes or more", least)
			case least == most:
				size = fmt.Sprintf("size: %d byte", least)
			}
			if !strings.Contains(files[0].Text, size) {
				t.Errorf("%s %s: not %q", s.name, m.Name, size)
			}
			drawn(t, files[0].Text)
			if n += len(want); !slices.Equal(want, got) {
				t.Errorf("%s %s: got\n%s\nwant\n%s", s.name, m.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	if n < 1000 {
		t.Errorf("%d rows are too few", n)
	}
}

func sizeOf(bits int64) string {
	switch {
	case bits == 1:
		return "1 bit"
	case bits%8 != 0:
		return fmt.Sprintf("%d bits", bits)
	}
	return fmt.Sprint(bits / 8)
}

// drawn checks that every line of a diagram is no wider than 32 bits and closed at both ends, and that there is one.
func drawn(t *testing.T, text string) {
	t.Helper()
	inside, lines := false, 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			inside = line == "```text"
			continue
		}
		if !inside || line == "" || line[0] == ' ' {
			continue
		}
		if lines++; utf8.RuneCountInString(line) > 65 || !strings.ContainsAny(line[:1], "+|/") || !strings.ContainsAny(line[len(line)-1:], "+|/") {
			t.Errorf("%q in\n%s", line, text)
		}
	}
	if lines == 0 && !strings.Contains(text, "It has no bytes.") {
		t.Errorf("no diagram in\n%s", text)
	}
}

// TestDocBounds checks nested structs whose number of fields doubles on every level.
func TestDocBounds(t *testing.T) {
	inner := inOrder(field("a", number(4, 0)), field("b", number(4, 0)))
	bits := inOrder(field("a", number(1, 0)))
	for range 40 {
		inner = inOrder(field("a", &schema.Group{Struct: inner}), field("b", &schema.Group{Struct: inner}))
		bits = inOrder(field("a", &schema.Group{Struct: bits}), field("b", &schema.Group{Struct: bits}), field("c", &schema.Group{Struct: bits}))
	}
	for _, s := range []*schema.Schema{linked(datagram("inner", inner)), linked(datagram("bits", bits))} {
		for _, name := range []string{"ksy", "md"} {
			target, _ := emit.Find(name)
			if files, losses := target.Emit(s, emit.Options{}); len(losses) == 0 && (name == "md" || len(files[0].Text) > 1<<20) {
				t.Errorf("%s: no loss", name)
			}
		}
	}
}

// FuzzDocs converts any definition to documentation, and checks that the output is deterministic and diagrams are within 32 bits.
func FuzzDocs(f *testing.F) {
	f.Add("# doc\nint32 a # b | c\narray l\n- string s\nobject o\n- bytes d\n")
	f.Add("ref a\nskillid x\nstring a\narray<array<vec3>> b\nint16[2][3] c\n")
	f.Add("array[interleaved] a\n- byte x\narray[interleaved] b\n- byte y\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "[") && len(text) > 200 {
			return // counts multiply
		}
		s, _ := tera.Parse([]*source.File{source.New("S_FUZZ.1.def", text)}, schema.Options{})
		schema.Link(s)
		for _, name := range []string{"ksy", "md"} {
			target, _ := emit.Find(name)
			files, losses := target.Emit(s, emit.Options{})
			again, _ := target.Emit(s, emit.Options{})
			if !slices.Equal(files, again) {
				t.Errorf("%s is not deterministic", name)
			}
			for _, m := range s.Messages {
				if m.Broken && len(losses) == 0 {
					t.Errorf("%s: %s is omitted without a loss", name, m.Name)
				}
			}
			if name == "md" && len(s.Messages) > 0 && len(losses) == 0 {
				drawn(t, files[0].Text)
			}
		}
	})
}
