package build_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/muta"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/subspace"
	"wirebench/defs/tera"
)

// world is the material of random files.
type world struct {
	rules   *build.Rules
	options schema.Options
	names   []string
	texts   []string
}

var worlds = map[string]world{
	"tera": {
		&tera.Rules,
		schema.Options{Values: map[string]string{"platform": "pc"}, Codes: map[string]uint32{"S_A": 1, "S_B": 1, "C_A": 1, "I_A": 1, "I_B": 2, "C_B": 2}},
		[]string{
			"S_A.1.def", "S_A.2.def", "S_A.1.pc.def", "S_A.1.ps.def", "S_B.1.def", "C_A.1.def", "I_A.1.def", "I_B.1.def", "C_B.3.def",
			"part.def", "other.def", "sub/S_A.1.def", "sub/part.def", "a/S_B.1.def", "notes.txt",
		},
		[]string{
			"byte x\n", "@include part.def\nint32 y\n", "@include other.def\n", "@include S_B.1.def\nbyte z\n", "in32 x\n", "",
			"@include nothing.def\n@include part.def\n", "@include S_A.1.df\n", "array list\n- @include part.def\n- byte q q q\n",
			"- byte lost\nstring s\n@include sub/part.def\n@include part.def\n",
		},
	},
	"muta": {
		&muta.Rules,
		schema.Options{Constants: map[string]string{"MOST": "12"}},
		[]string{"a.def", "b.def", "c.txt", "d", "z/a.def", "e.map"},
		[]string{
			"group: one\n\npacket: first\n   __group = one\n   x = uint8\n\npacket: second\n   __group = one\n   y = char {MOST}\n",
			"group: two\n\npacket: first\n   __group = two\n   x = uint8\n", "group: one\ngroup: two\n\npacket: third\n   __group = two\n   x = uit8\n",
			"packet: lost\n   __group = one\n", "struct: s\n   a = uint8\nstruct: s\n   b = uint8\ngroup: one\ngroup: one\npacket: p\n   __group = one\n   c = s\n", "",
		},
	},
	"subspace": {
		&subspace.Rules,
		schema.Options{},
		[]string{"a.def", "b.def", "c.txt", "d", "z/a.def", "e.map"},
		[]string{
			"0x06 chat (c2s)\noffset size comment\n0      1    type 0x06\n1      1    u8 kind\n",
			"direction s2c\n\n0x06 chat\noffset size comment\n1 2 u16 x\n\n0x06 chat\noffset size comment\n1 4 u32 y\n",
			"0x06 talk (c2s)\noffset size comment\n1 1 u8 kind\n\n0x07 both\noffset size comment\n1 1 u9 kind\n",
			"group biller\n\n0x07 both (s2c)\noffset size comment\n1 1 u8 kind\n", "",
		},
	},
}

// told returns the results of all queries of a set.
func told(s *build.Set) string {
	var b strings.Builder
	b.WriteString(s.Schema().String())
	b.WriteString(s.Diagnostics().Render())
	n := 0
	for m := range s.Messages() {
		n++
		if i := slices.Index(s.Named(m.Name), m); i < 0 {
			fmt.Fprintf(&b, "%s is not found by its name\n", m.Name)
		}
		if !slices.Contains(s.MessagesOf(m.Span.File), m) {
			fmt.Fprintf(&b, "%s is not found by its file\n", m.Name)
		}
	}
	fmt.Fprintln(&b, n == s.Len(), s.Groups())
	var all diag.List
	for f := range s.Files() {
		list := s.DiagnosticsOf(f.Source)
		all = append(all, list...)
		fmt.Fprintf(&b, "%s %d %d %v\n", f.Source.Name, len(s.MessagesOf(f.Source)), len(list), s.FileNamed(f.Source.Name) != nil)
	}
	fmt.Fprintln(&b, len(all) == len(s.Diagnostics()))
	for _, group := range append(s.Groups(), "none") {
		for m := range s.Keyed(group) {
			fmt.Fprint(&b, " ", m.Name)
		}
		for code := range uint32(9) {
			for _, dir := range []schema.Dir{schema.Both, schema.ToServer, schema.ToClient} {
				key := schema.Key{Dir: dir, Group: group, Code: code}
				m := s.Lookup(key)
				if m != s.Schema().Lookup(key) {
					fmt.Fprintf(&b, "%v finds another message\n", key)
				}
				if m != nil {
					fmt.Fprintf(&b, " %v %s.%d %s", key, m.Name, m.Version, m.Span.File.Name)
				}
			}
		}
	}
	return b.String()
}

// randomSteps changes a set by random edits, renames, deletions and additions of a few files at a time, and compares it after each step
// with a newly built set.
func randomSteps(t *testing.T, w world, r *rand.Rand, steps int) {
	var files []*source.File
	set := build.New(w.rules, nil, w.options)
	random := func() *source.File {
		text := ""
		for range 1 + r.IntN(2) {
			text += w.texts[r.IntN(len(w.texts))]
		}
		return source.New(w.names[r.IntN(len(w.names))], text)
	}
	for step := range steps {
		var gone, come []*source.File
		for range 1 + r.IntN(3) {
			f := random()
			if n := len(files); n > 0 && r.IntN(3) > 0 {
				i := r.IntN(n)
				old := files[i]
				files = slices.Delete(files, i, i+1)
				if j := slices.Index(come, old); j >= 0 {
					come = slices.Delete(come, j, j+1)
				} else {
					gone = append(gone, old)
				}
				switch r.IntN(4) {
				case 0:
					continue // deleted
				case 1:
					f = source.New(f.Name, old.Text) // renamed
				case 2:
					f = source.New(old.Name, f.Text) // edited
				}
			}
			if slices.ContainsFunc(files, func(old *source.File) bool { return old.Name == f.Name }) {
				continue
			}
			files, come = append(files, f), append(come, f)
		}
		before := map[*source.File][]*schema.Message{}
		for f := range set.Files() {
			before[f.Source] = f.Messages
		}
		was := told(set)
		next := set.With(gone, come)
		if r.IntN(4) == 0 {
			next = next.Merged()
		}
		if got := told(set); got != was {
			t.Fatalf("step %d changed the previous set", step)
		}
		got, want := told(next), told(build.New(w.rules, files, w.options))
		if got != want {
			t.Fatalf("step %d: with %d files removed and %d added\n%s\nwant\n%s", step, len(gone), len(come), got, want)
		}
		set = next
	}
}

func TestWithIsAsNew(t *testing.T) {
	defer build.SmallLayers()()
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				randomSteps(t, w, rand.New(rand.NewPCG(seed, 1)), 30)
			}
		})
	}
}

func FuzzWith(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed, seed)
	}
	f.Cleanup(build.SmallLayers())
	f.Fuzz(func(t *testing.T, a, b uint64) {
		for _, w := range worlds {
			randomSteps(t, w, rand.New(rand.NewPCG(a, b)), 20)
		}
	})
}

// TestWithShares checks that messages that a change does not affect are shared by pointer.
func TestWithShares(t *testing.T) {
	file := func(name, text string) *source.File { return source.New(name, text) }
	part, user, other := file("part.def", "byte x\n"), file("S_A.1.def", "@include part.def\n"), file("S_B.1.def", "byte y\n")
	set := build.New(&tera.Rules, []*source.File{part, user, other}, schema.Options{})
	a, b := set.Named("S_A")[0], set.Named("S_B")[0]
	set.File(other).Memo.Store(b, "kept")
	next := set.With([]*source.File{part}, []*source.File{file("part.def", "byte z\n")})
	if m := next.Named("S_A")[0]; m == a || m.Body.Fields[0].Name != "z" {
		t.Errorf("the message that includes the changed file is %s", m)
	}
	if kept, _ := next.File(other).Memo.Load(b); next.Named("S_B")[0] != b || kept != "kept" {
		t.Error("an unrelated message was replaced")
	}
}
