package reshape

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/build"
	"wirebench/defs/corpora"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// sample is a message with its definition.
type sample struct {
	dialect defs.Dialect
	file    string
	text    string
	message string
	data    []byte
}

// compiler returns a function that compiles the texts of a file.
func compiler(d defs.Dialect, name string, others ...*source.File) func(text string) Compiled {
	base := build.New(d.Rules, others, schema.Options{})
	return func(text string) Compiled {
		f := source.New(name, text)
		set := base.With(nil, []*source.File{f})
		return Compiled{File: f, Messages: set.MessagesOf(f), Diagnostics: set.DiagnosticsOf(f)}
	}
}

func (s *sample) editor(t testing.TB, text string) *Editor {
	t.Helper()
	compile := compiler(s.dialect, s.file)
	now := compile(text)
	i := slices.IndexFunc(now.Messages, func(m *schema.Message) bool { return m.Name == s.message })
	if i < 0 {
		t.Fatalf("%s: no message %s in\n%s", s.file, s.message, text)
	}
	e, err := New(s.dialect, now, now.Messages[i], s.data, codec.Session{}, compile)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// samples returns the messages of the built-in libraries.
func samples(t testing.TB) []sample {
	t.Helper()
	var out []sample
	for _, d := range defs.Dialects {
		if d.Edits == nil {
			continue
		}
		fsys, _ := library.Dialect(d.Name)
		var files []*source.File
		names, err := fs.Glob(fsys, "*"+d.Ext)
		if err != nil {
			t.Fatal(err)
		}
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
		for _, x := range library.Samples(d.Name) {
			name, _, _ := strings.Cut(x.Message, ".")
			name = name[strings.LastIndexByte(name, '/')+1:]
			data, err := hex.DecodeString(x.Hex)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range set.Named(name) {
				if full := strings.TrimSuffix(m.Span.File.Name, ".def"); d.Versions && full != x.Message {
					continue
				}
				out = append(out, sample{d, m.Span.File.Name, m.Span.File.Text, name, data})
				break
			}
		}
	}
	return out
}

// corpus returns one message for each definition of a corpus.
func corpus(t testing.TB, c *corpora.Corpus) (out []sample) {
	t.Helper()
	tera, _ := defs.Find("tera")
	seen := map[string]bool{}
	for _, x := range corpora.Rows[struct{ Def, Hex string }](t, c, "tera/vectors-toolbox.jsonl") {
		if seen[x.Def] {
			continue
		}
		seen[x.Def] = true
		data, err := hex.DecodeString(x.Hex)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(x.Def, ".")
		out = append(out, sample{tera, x.Def, source.UnixLines(c.Text(t, "tera/toolbox/definitions/"+x.Def)), name, data})
	}
	return out
}

// comments returns the words of all comments, sorted.
func comments(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if _, comment, ok := strings.Cut(line, "#"); ok {
			out = append(out, strings.Fields(strings.ReplaceAll(comment, ";", " "))...)
		}
	}
	slices.Sort(out)
	return out
}

// checkEdited checks the properties of an accepted text.
func checkEdited(t *testing.T, s *sample, e *Editor, at codec.Range, c Choice, done Result) {
	t.Helper()
	_, retyped := e.pointerAt(at)
	after := s.editor(t, done.Text)
	if n := len(errorsOf(after.was)); n > len(errorsOf(e.was)) {
		t.Errorf("%s %v %s: %d errors", s.file, at, c.Type, n)
	}
	var missing []string
	have := comments(done.Text)
	for _, word := range comments(e.was.File.Text) {
		if i, ok := slices.BinarySearch(have, word); ok {
			have = slices.Delete(have, i, i+1)
		} else {
			missing = append(missing, word)
		}
	}
	if len(missing) > 0 {
		t.Errorf("%s %v %s: lost comments %q", s.file, at, c.Type, missing)
	}
	covered := uint32(0)
	for _, sl := range after.slots {
		if sl.off >= at.Off && sl.end() <= at.End() {
			covered += sl.len
		}
	}
	if covered != at.Len {
		t.Errorf("%s %v %s: covers %d of %d bits", s.file, at, c.Type, covered, at.Len)
	}
	// Bytes outside the fields that the range was in are described as before; in other elements of a list these fields have changed, too.
	changed := map[uint16]bool{}
	for _, was := range e.slots {
		if was.off < at.End() && at.Off < was.end() && !was.book {
			changed[was.field] = true
		}
	}
	// The contents of a field with a pointer that got another type are described differently, or not at all.
	other := func(f uint16) bool {
		for f != codec.NoField && !changed[f] {
			f = uint16(e.rec.Program.Fields[f].Parent) // NoField at the top
		}
		return f != codec.NoField
	}
	for _, was := range e.slots {
		if other(was.field) && (!was.book || retyped) || was.off < at.End() && at.Off < was.end() {
			continue
		}
		if !slices.ContainsFunc(after.slots, func(now slot) bool { return now.off == was.off && now.len == was.len }) {
			t.Errorf("%s %v %s: lost the field at %d+%d", s.file, at, c.Type, was.off/8, was.len/8)
			return
		}
	}
}

func errorsOf(c Compiled) (out []string) {
	for _, d := range c.Diagnostics {
		if d.Severity.String() == "error" {
			out = append(out, d.Message)
		}
	}
	return out
}

// Any range of any message: each type that is offered is one that the text can get, with everything else where it was.
func TestCorporaChoicesHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	offered, retyped, refused := 0, 0, map[string]int{}
	all := samples(t)
	for _, c := range corpora.All(t) {
		all = append(all, corpus(t, c)...)
	}
	for i := range all {
		s := &all[i]
		e := s.editor(t, s.text)
		for range 3 {
			if len(s.data) < 2 {
				continue
			}
			from := rng.IntN(len(s.data))
			at := codec.Range{Off: uint32(from) * 8, Len: uint32(min(1<<rng.IntN(4), len(s.data)-from)) * 8}
			choices, err := e.Choices(at)
			if err != nil {
				refused[err.Error()]++
				continue
			}
			for _, c := range choices {
				if _, pointer := e.pointerAt(at); pointer { // the field with the pointer gets another type
					retyped++
				}
				var at codec.Range
				fmt.Sscanf(c.At, "%d:%d", &at.Off, &at.Len)
				done, err := e.Define(at, c.Type, "")
				if err != nil {
					t.Errorf("%s %v: %s was offered: %v", s.file, at, c.Type, err)
					continue
				}
				offered++
				checkEdited(t, s, e, at, c, done)
			}
		}
	}
	t.Logf("%d types offered, %d of them to fields with pointers, %d ranges refused", offered, retyped, len(refused))
	if retyped == 0 {
		t.Error("no field with a pointer got another type")
	}
	if offered < len(all) {
		t.Errorf("only %d types were offered for %d messages", offered, len(all))
	}
}

// An empty definition becomes one that explains a message, by giving each of its parts the type that it really has.
func TestCorporaDefineAll(t *testing.T) {
	t.Run("library", func(t *testing.T) {
		defineAll(t, samples(t), 0, "S_GUILD_RANKS S_INVENTORY S_PARTY_MEMBER_LIST S_SPAWN_NPC")
	})
	corpora.Run(t, func(t *testing.T, c *corpora.Corpus) {
		if !c.Own {
			defineAll(t, corpus(t, c), 0.1, "")
			return
		}
		defineAll(t, corpus(t, c), 0, "C_INVENTORY_REQUEST_30 C_PARTY_LIST_68 C_TRADE_REQUEST_22 S_ACHIEVEMENT_UPDATE_29 S_DUNGEON_RESULT_31 S_INVENTORY_RESULT_47 S_MAP_RESULT_43 S_PARTY_RESULT_51")
	})
}

// defineAll checks that definitions are found, except for the sorted ones, whose parts of elements cannot all be told from the bytes of one
// message, and for a share of the others.
func defineAll(t *testing.T, all []sample, share float64, except string) {
	t.Helper()
	var missed []string
	tried, whole, stuck := 0, 0, 0
	for i := range all {
		s := &all[i]
		if s.dialect.Name != "tera" {
			continue
		}
		target := s.editor(t, s.text)
		if len(target.slots) > 80 || len(s.data) > 600 || target.rec.Status() != codec.OK || strings.Contains(s.text, "skillid") || target.rec.Unexplained() > 0 {
			continue
		}
		text := "# all of it\n\n"
		tried++
		for _, sl := range target.slots {
			e := s.editor(t, text)
			info := target.rec.Program.Fields
			if sl.book || sl.contents || sl.field == codec.NoField {
				continue
			}
			typ := info[sl.field].Type
			if sl.role != codec.RoleValue {
				typ, _, _ = strings.Cut(typ, "<")
				typ, _, _ = strings.Cut(typ, "[")
			}
			at := codec.Range{Off: sl.off, Len: sl.len}
			if explained(e, at) { // of another element
				continue
			}
			done, err := e.Define(at, typ, "")
			if err != nil {
				stuck++
				t.Logf("%s: %s at %d: %v", s.file, typ, at.Off/8, err)
				break
			}
			checkEdited(t, s, e, at, Choice{Type: typ}, done)
			text = done.Text
		}
		e := s.editor(t, text)
		if e.rec.Unexplained() == 0 {
			whole++
		} else {
			missed = append(missed, s.message)
			t.Logf("%s: %d bytes left\n%s\n----\n%s", s.file, e.rec.Unexplained(), s.text, text)
		}
	}
	t.Logf("%d of %d definitions found, %d stuck", whole, tried, stuck)
	slices.Sort(missed)
	if got := strings.Join(missed, " "); share == 0 && got != except || tried == 0 || float64(len(missed)) > share*float64(tried) && share > 0 {
		t.Errorf("%d of %d definitions found, not %s", whole, tried, got)
	}
}

func explained(e *Editor, at codec.Range) bool {
	return slices.ContainsFunc(e.slots, func(s slot) bool { return s.off < at.End() && at.Off < s.end() })
}
