package workspace

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/benchtest"
	"wirebench/defs/corpora"
)

// library makes n TERA definitions similar to the public ones; broken of each hundred include a missing file.
func library(tb testing.TB, n, broken int) *Snapshot {
	tb.Helper()
	var codes strings.Builder
	files := fstest.MapFS{}
	for i := range n {
		name := fmt.Sprintf("%s_MESSAGE_NUMBER_%05d", [...]string{"S", "C"}[i%2], i)
		var b strings.Builder
		if i%100 < broken {
			fmt.Fprintf(&b, "@include S_MESAGE_NUMBER_%05d.1.def\n", i)
		}
		for f := range 8 + i%17 {
			fmt.Fprintf(&b, "%s field%d\n", [...]string{"int32", "uint64", "float", "bool", "vec3", "byte"}[(i+f)%6], f)
		}
		b.WriteString("array list\n- int32 id\n- string text\nstring name # of a player\n")
		files[fmt.Sprintf("%s.%d.def", name, 1+i%3)] = &fstest.MapFile{Data: []byte(b.String())}
		fmt.Fprintf(&codes, "%s %d\n", name, i)
	}
	files["protocol.1.map"] = &fstest.MapFile{Data: []byte(codes.String())}
	return built(tb, files)
}

func built(tb testing.TB, files fstest.MapFS) *Snapshot {
	tb.Helper()
	lib, err := ReadFS(files)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := Build(lib, Settings{Dialect: "tera"})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// publicLibrary returns a library of the size of a real one, or the larger corpora.
func publicLibrary(tb testing.TB) *Snapshot {
	tb.Helper()
	texts := corpora.Definitions(836)
	if c := corpora.Wide(tb); c != nil {
		texts = c.Files(tb, "tera/toolbox/definitions/*.def")
	}
	files := fstest.MapFS{}
	for name, text := range texts {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return built(tb, files)
}

// typist edits a definition, one more character each time.
type typist struct {
	tb   testing.TB
	snap *Snapshot
	name string
	text string
	data []byte
	rec  codec.Record
	n    int
}

func newTypist(tb testing.TB, s *Snapshot) *typist {
	i, t := 0, &typist{tb: tb, snap: s}
	for m := range s.Messages() {
		if i++; i == 400 { // in generated libraries always the same one
			t.name, t.text = m.Span.File.Name, m.Span.File.Text
			p, err := s.Program(m)
			if err != nil {
				tb.Fatal(err)
			}
			t.data = value.Examples(p, 1, 1, m.Key.Code)[0].Data
		}
	}
	return t
}

// key does the work of a keystroke: parse, link, compile, lay out, decode, and diagnostics.
func (t *typist) key() {
	t.n++
	next, f := t.snap.With(t.name, t.text+"# "+strings.Repeat("x", t.n%60))
	m := next.MessagesOf(f)[0]
	p, err := next.Program(m)
	if err != nil {
		t.tb.Fatal(err)
	}
	if len(p.Layout()) == 0 || len(next.DiagnosticsOf(f)) > 1 {
		t.tb.Fatal(next.DiagnosticsOf(f).Render())
	}
	if found, err := next.Find(next.NameOf(m)); err != nil || found != m || next.File(t.name) != f {
		t.tb.Fatal("the message is not found")
	}
	if res := next.Decode(&t.rec, t.data, Request{Message: m, Fields: true}); res.Status != "ok" {
		t.tb.Fatal(res.Status, res.Problems)
	}
}

// cost returns the bytes and the median time of n calls.
func cost(n int, f func()) (bytes uint64, took time.Duration) {
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	times := make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		f()
		times[i] = time.Since(start)
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / uint64(n), median(times)
}

func median(times []time.Duration) time.Duration {
	for i := range times { // few calls
		for j := range times[:i] {
			if times[i] < times[j] {
				times[i], times[j] = times[j], times[i]
			}
		}
	}
	return times[len(times)/2]
}

// The cost of a keystroke depends on the file, not on the library: it allocates the same number of bytes at any size, and takes a small
// fraction of the time of reading the library.
func TestCorporaKeystroke(t *testing.T) {
	var first uint64
	type sized struct {
		name string
		snap *Snapshot
	}
	libraries := []sized{{"public", publicLibrary(t)}, {"836", library(t, 836, 0)}, {"4,000", library(t, 4000, 0)}}
	if !testing.Short() {
		libraries = append(libraries, sized{"4,000, 3 % broken", library(t, 4000, 3)}, sized{"20,000", library(t, 19999, 0)})
	}
	for _, c := range libraries {
		who := newTypist(t, c.snap)
		bytes, _ := cost(101, who.key)
		t.Logf("%s definitions: %d bytes", c.name, bytes)
		if bytes > 100_000 {
			t.Errorf("%s definitions: a keystroke allocates %d bytes", c.name, bytes)
		}
		switch {
		case c.name == "836":
			first = bytes
		case c.name != "public" && bytes > first+first/4:
			t.Errorf("%s definitions: a keystroke allocates %d bytes, with 836 definitions %d", c.name, bytes, first)
		}
	}
}

// An edited file may include a missing file, or be new: that costs one search for similar names, not one for each such file.
func TestKeystrokeOfANewFile(t *testing.T) {
	s := library(t, 4000, 3)
	n := 0
	bytes, took := cost(51, func() {
		n++
		next, f := s.With("S_NEW.1.def", "@include S_MESAGE_NUMBER_00001.2.def\nbyte x\n# "+strings.Repeat("x", n%50))
		if list := next.DiagnosticsOf(f); len(list) != 1 || list[0].Help != `did you mean "C_MESSAGE_NUMBER_00001.2.def"?` && list[0].Fix == nil {
			t.Fatal(list.Render())
		}
	})
	t.Logf("%v and %d bytes", took, bytes)
	if bytes > 100_000 {
		t.Errorf("a keystroke allocates %d bytes", bytes)
	}
}

// A draft of an older version, or one shown in a list of frames, is requested several times and built once.
func TestKeystrokeIsMadeOnce(t *testing.T) {
	s := built(t, fstest.MapFS{"S_A.1.def": {Data: []byte("byte x\n")}, "S_A.2.def": {Data: []byte("byte x\nbyte y\n")}})
	old, _ := s.Find("S_A.1")
	a, f := s.With("S_A.1.def", "byte xx\n")
	if !s.KeepsLayout(old, "byte xx\n") || s.KeepsLayout(old, "int32 x\n") {
		t.Error("a change of a name moves bytes, or one of a type does not")
	}
	if b, g := s.With("S_A.1.def", "byte xx\n"); a != b || f != g {
		t.Error("the same draft is another snapshot")
	}
	newer, _ := s.Find("S_A.2")
	p, _ := s.Program(newer)
	if q, _ := a.Program(newer); p != q {
		t.Error("a program does not survive an edit of another definition")
	}
}

// BenchmarkMustKeystroke compares a keystroke with reading all definitions, which takes 43 ms for 4,000: the limit corresponds to less than a
// millisecond. The cost must not depend on the number of definitions.
func BenchmarkMustKeystroke(b *testing.B) {
	const keys = 20
	var jobs []benchtest.Job
	sizes := []int{836, 4000, 19999}
	for _, n := range sizes {
		who := newTypist(b, library(b, n, 3))
		jobs = append(jobs, benchtest.Job{Name: fmt.Sprint(n), Run: func() {
			for range keys {
				who.key()
			}
		}})
	}
	all := library(b, 4000, 3)
	jobs = append(jobs, benchtest.Job{Name: "all", Run: func() {
		if _, err := Build(all.Library, Settings{Dialect: "tera"}); err != nil {
			b.Fatal(err)
		}
	}})
	took := benchtest.Least(max(b.N, 7), jobs...)
	for i, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchtest.Must(b, keys, took[i], keys*took[len(sizes)], 1.0/200) })
	}
	b.Run("20,000 against 836", func(b *testing.B) { benchtest.Must(b, keys, took[2], took[0], 2) })
}
