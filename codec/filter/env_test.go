package filter_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// world is a set of definitions and frames for them.
type world struct {
	schema   *schema.Schema
	programs map[*schema.Message]*codec.Program
	env      filter.Env
}

func newWorld(t testing.TB, dialect string, o schema.Options, files ...*source.File) *world {
	t.Helper()
	s, ds := defs.Load(files, dialect, o)
	if ds.HasErrors() {
		t.Fatal(ds.Render())
	}
	w := &world{schema: s, programs: map[*schema.Message]*codec.Program{}}
	w.env = filter.Env{Schema: s, Program: w.program, Layers: &subspace.Layers}
	return w
}

func (w *world) program(m *schema.Message) (*codec.Program, error) {
	if p := w.programs[m]; p != nil {
		return p, nil
	}
	p, err := codec.Compile(m)
	w.programs[m] = p
	return p, err
}

// libraryWorld returns the library of a dialect.
func libraryWorld(t testing.TB, dialect string) *world {
	t.Helper()
	fsys, ok := library.Dialect(dialect)
	if !ok {
		t.Fatal("no library of " + dialect)
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	var files []*source.File
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".def") {
			text, err := fs.ReadFile(fsys, e.Name())
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, source.New(e.Name(), string(text)))
		}
	}
	return newWorld(t, dialect, schema.Options{}, files...)
}

// frame returns a frame of a message with a value.
func (w *world) frame(t testing.TB, name string, version int, values string) *filter.Frame {
	t.Helper()
	m := w.schema.Find(name, version)
	if m == nil {
		t.Fatalf("no message %q", name)
	}
	p, err := w.program(m)
	if err != nil {
		t.Fatal(err)
	}
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, []byte(values)); err != nil {
		t.Fatal(name, err)
	}
	in.Code = m.Key.Code
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(name, err)
	}
	return &filter.Frame{
		Frame: &transport.Frame{N: 7, At: start, Dir: m.Key.Dir, Kind: transport.Message, Key: m.Key, HasKey: m.HasKey, Bytes: slices.Clone(out.Data)},
		Where: filter.Where{Conn: "127.0.0.1:40001-10.0.0.2:5000", Proto: "tcp"},
		Delta: 20 * time.Millisecond, Message: m,
	}
}

var start = time.Date(2026, 11, 20, 10, 0, 5, 250e6, time.UTC)

// record decodes a frame's message, nil if it has no definition.
func (w *world) record(t testing.TB, f *filter.Frame) *codec.Record {
	t.Helper()
	if f.Message == nil {
		return nil
	}
	p, err := w.program(f.Message)
	if err != nil {
		t.Fatal(err)
	}
	rec := new(codec.Record)
	p.Decode(rec, f.Bytes)
	return rec
}

// fight has definitions with every kind of field.
func fight(t testing.TB) *world {
	t.Helper()
	return newWorld(
		t, "tera", schema.Options{Codes: map[string]uint32{"C_CHAT": 0x26d2, "S_CHAT": 9938 + 1, "S_FIGHT": 500, "C_PONG": 600, "S_PARTY_LOST": 700, "S_PARTY_LIST": 701}},
		source.New("C_CHAT.1.def", "byte channel\nuint64 shown_item\nstring message\n"),
		source.New("S_CHAT.1.def", "uint32 channel\nstring author\nstring message\n"),
		source.New("S_CHAT.2.def", "uint32 channel\nuint64 id\nstring author\nstring message\n"),
		source.New("S_PARTY_LIST.1.def", "array members\n- string name\n- int16 level\n- array items\n- - int32 id\n- - int32 amount\n"),
		source.New("S_FIGHT.1.def", "int32 damage\nuint64 target\nfloat x\ndouble d\nbool crit\nuint32 flags\nint64 big\narray<int32> ids\narray<string> words\nbytes blob\nobject at\n- vec3 pos\nskillid skill\nangle w\narray<vec3> path\nint16 message\n"),
		source.New("C_PONG.1.def", ""),
	)
}

// newWorldOf returns a world of one message, C_ONE.
func newWorldOf(t testing.TB, text string) *world {
	t.Helper()
	return newWorld(t, "tera", schema.Options{Codes: map[string]uint32{"C_ONE": 1}}, source.New("C_ONE.1.def", text))
}
