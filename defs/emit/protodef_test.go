package emit_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/corpora"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/wire"
)

// protoDrawer generates random ProtoDef definitions, with all types of the language.
type protoDrawer struct {
	rng   *rand.Rand
	names []string // types that are defined
	left  int      // number of types that may still be written
}

func (s *protoDrawer) name() string { return fmt.Sprintf("f%d", s.rng.IntN(6)) }

func (s *protoDrawer) pick(list ...string) string { return list[s.rng.IntN(len(list))] }

func (s *protoDrawer) number() string {
	return s.pick("i8", "u8", "i16", "u16", "li32", "u64", "varint", "varlong", "zigzag32", "zigzag64")
}

// typ returns a type. before are names of fields in the same container.
func (s *protoDrawer) typ(depth int, before []string) any {
	if s.left--; depth > 5 || s.left < 0 {
		return s.number()
	}
	earlier := s.number()
	if len(before) > 0 {
		earlier = before[s.rng.IntN(len(before))]
	}
	switch s.rng.IntN(20) {
	case 0, 1:
		fields := []map[string]any{}
		var names []string
		for range s.rng.IntN(5) {
			f := map[string]any{"type": s.typ(depth+1, names)}
			if s.rng.IntN(6) == 0 {
				f["anon"] = true
			} else {
				names = append(names, s.name())
				f["name"] = names[len(names)-1]
			}
			fields = append(fields, f)
		}
		return []any{"container", fields}
	case 2:
		cases := map[string]any{}
		for i := range 1 + s.rng.IntN(3) {
			cases[fmt.Sprint(i)] = s.typ(depth+1, nil)
		}
		by := map[string]any{"compareTo": s.pick(earlier, "../"+s.name(), earlier+" + 1", earlier+"/f1"), "fields": cases}
		if s.rng.IntN(2) == 0 {
			by["default"] = s.pick("void", "varint")
		}
		return []any{"switch", by}
	case 3:
		return []any{"option", s.typ(depth+1, before)}
	case 4:
		return []any{"array", map[string]any{"countType": s.number(), "type": s.typ(depth+1, nil)}}
	case 5:
		return []any{"array", map[string]any{"count": earlier, "type": s.typ(depth+1, nil)}}
	case 6:
		return []any{"array", map[string]any{"count": s.rng.IntN(4), "type": s.typ(depth+1, nil)}}
	case 7:
		return []any{"mapper", map[string]any{"type": s.number(), "mappings": map[string]any{"0": "zero", "1": "one */"}}}
	case 8:
		return []any{"bitfield", []any{
			map[string]any{"name": "f0", "size": 1 + s.rng.IntN(12), "signed": s.rng.IntN(2) == 0}, map[string]any{"name": "f1", "size": 1 + s.rng.IntN(40), "signed": false},
		}}
	case 9:
		return []any{"bitflags", map[string]any{"type": s.number(), "flags": []string{"f0", "f1", "f2"}}}
	case 10:
		return []any{"pstring", map[string]any{"countType": s.number()}}
	case 11:
		return []any{"buffer", map[string]any{"count": s.rng.IntN(9)}}
	case 12:
		return []any{"topBitSetTerminatedArray", map[string]any{"type": []any{"container", []any{map[string]any{"name": "f0", "type": "i8"}, map[string]any{"name": "f1", "type": s.typ(depth+1, nil)}}}}}
	case 13:
		return []any{"entityMetadataLoop", map[string]any{"endVal": s.rng.IntN(256), "type": s.typ(depth+1, nil)}}
	case 16:
		return []any{"array", map[string]any{"until": s.pick("f0 == 1", "_ == 0", earlier), "type": s.typ(depth+1, nil)}}
	case 17:
		return []any{"computed", map[string]any{"value": s.pick(earlier+" + 1", earlier, "7"), "type": s.number()}}
	case 18:
		return []any{"at", map[string]any{"position": s.pick(earlier, earlier+" * 2", "3"), "type": s.typ(depth+1, before)}}
	case 14:
		if len(s.names) > 0 {
			return s.names[s.rng.IntN(len(s.names))]
		}
	}
	return s.pick("f32", "f64", "bool", "UUID", "cstring", "restBuffer", "void", "anonymousNbt", "nbt", "varint")
}

// randomProtoDef returns a random definition.
func randomProtoDef(seed uint64) string {
	s := &protoDrawer{rng: rand.New(rand.NewPCG(seed, 1)), left: 150}
	types, codes, fields := map[string]any{}, map[string]string{}, map[string]any{}
	for i := range 4 {
		s.names = append(s.names, fmt.Sprintf("t%d", i))
	}
	for _, n := range s.names {
		types[n] = s.typ(0, nil)
	}
	for i := range 3 {
		name := fmt.Sprintf("m%d", i)
		types["packet_"+name] = []any{"container", []any{
			map[string]any{"name": "f0", "type": s.number()},
			map[string]any{"name": "f1", "type": s.typ(0, []string{"f0"})},
			map[string]any{"name": "f2", "type": s.typ(1, []string{"f0", "f1"})},
			map[string]any{"name": "f3", "type": s.names[s.rng.IntN(len(s.names))]},
		}}
		codes[fmt.Sprint(i)], fields[name] = name, "packet_"+name
	}
	types["packet"] = []any{"container", []any{
		map[string]any{"name": "name", "type": []any{"mapper", map[string]any{"type": s.pick("varint", "u8"), "mappings": codes}}},
		map[string]any{"name": "params", "type": []any{"switch", map[string]any{"compareTo": "name", "fields": fields}}},
	}}
	out, _ := json.MarshalIndent(map[string]any{"types": types}, "", " ")
	return string(out)
}

// through passes a definition through all targets and the layout. It returns the number of messages that every target expresses or omits.
func through(t *testing.T, text string) (messages, expressed int) {
	t.Helper()
	s, _ := defs.Load([]*source.File{source.New("protocol.json", text)}, "protodef", schema.Options{})
	for _, target := range emit.Targets {
		r, losses := ratio(t, target, "protodef", text, 1<<20)
		if r > 100 {
			t.Errorf("%s: the files are %.0f times as large as %s", target.Name, r, text)
		}
		if target.Name != "md" {
			continue
		}
		for _, l := range losses {
			if !strings.Contains(l.Reason, "the message is omitted") && !strings.Contains(l.Reason, "output would be") {
				t.Errorf("Markdown lacks %s", l)
			}
		}
	}
	for _, m := range s.Messages {
		if m.Broken {
			continue
		}
		messages++
		w, err := wire.Compile(m)
		if err != nil {
			continue
		}
		if len(w.Features()) == 0 {
			expressed++
		}
		p, err := codec.Compile(m)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		if rows := p.Layout(); len(rows) < len(w.Body.Parts)-1 && len(rows) == 0 {
			t.Logf("%s has no rows", m.Name)
		}
	}
	return messages, expressed
}

// TestRandomProtoDef passes random definitions through all targets.
func TestRandomProtoDef(t *testing.T) {
	messages, expressed := 0, 0
	for seed := range uint64(60) {
		n, e := through(t, randomProtoDef(seed))
		messages, expressed = messages+n, expressed+e
	}
	if messages < 30 || expressed == messages {
		t.Errorf("%d messages without errors, %d of them without particular features", messages, expressed)
	}
}

// FuzzProtoDef passes any definition through all targets: a random one if there is no text.
func FuzzProtoDef(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed, "")
	}
	for _, d := range defs.Dialects {
		if d.Name == "protodef" {
			f.Add(uint64(0), d.Example.Text)
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if text == "" {
			text = randomProtoDef(seed)
		}
		if len(text) < 1<<15 {
			through(t, text)
		}
	})
}

// protodefFiles returns published definitions, by name.
func protodefFiles(t *testing.T, pattern string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, c := range corpora.All(t) {
		maps.Copy(out, c.Files(t, "protodef/"+pattern))
	}
	return out
}

// TestCorporaPublishedProtoDef checks that Markdown has all messages of published definitions, in at most four times their size, and that the other
// targets omit messages with reasons.
func TestCorporaPublishedProtoDef(t *testing.T) {
	for name, text := range protodefFiles(t, "*.json") {
		s, diags := defs.Load([]*source.File{source.New(name, text)}, "protodef", schema.Options{})
		if len(s.Messages) == 0 || diags.HasErrors() {
			t.Fatalf("%s: %d messages\n%s", name, len(s.Messages), diags.Render())
		}
		for _, target := range emit.Targets {
			start := time.Now()
			files, losses := target.Emit(s, emit.Options{Name: "game"})
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%s: %s took %v", name, target.Name, took)
			}
			if len(files) == 0 {
				t.Errorf("%s: no files of %s", name, target.Name)
				continue
			}
			switch target.Name {
			case "md":
				if len(losses) > 0 || len(files[0].Text) > 4*len(text) {
					t.Errorf("%s: %d bytes of Markdown for %d, %v", name, len(files[0].Text), len(text), losses)
				}
				if n := strings.Count(files[0].Text, "\nDirection: "); n != len(s.Messages) {
					t.Errorf("%s: Markdown has %d messages of %d", name, n, len(s.Messages))
				}
				checkLinks(t, files[0].Text)
			case "lua":
				if strings.Contains(files[0].Text, "message is omitted") {
					t.Errorf("%s: the dissector lacks %v", name, losses)
				}
			case "go", "ts", "c":
				if len(losses) > 0 {
					t.Errorf("%s: %s lacks %v", name, target.Name, losses)
				}
			default:
				if !strings.Contains(files[0].Text, "Omitted messages, and the features") {
					t.Errorf("%s: %s has no list of omitted messages", name, target.Name)
				}
			}
		}
	}
}

// checkLinks checks that each link of a document leads to a heading.
func checkLinks(t *testing.T, text string) {
	t.Helper()
	anchors := map[string]int{}
	var all []string
	for line := range strings.Lines(text) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		id := strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
				return c
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(title)))
		if n := anchors[id]; n > 0 {
			all = append(all, fmt.Sprintf("%s-%d", id, n))
		} else {
			all = append(all, id)
		}
		anchors[id]++
	}
	for _, part := range strings.Split(text, "](#")[1:] {
		if to, _, _ := strings.Cut(part, ")"); !slices.Contains(all, to) {
			t.Errorf("a link leads to %q, which is no heading", to)
			return
		}
	}
}

// partsText is a definition with the parts that other dialects lack.
const partsText = `{
  "types": {
    "string": ["pstring", {"countType": "varint"}],
    "tree": ["container", [
      {"name": "leaf", "type": "u8"},
      {"name": "branches", "type": ["array", {"countType": "u8", "type": "tree"}]}
    ]],
    "item": ["container", [
      {"name": "id", "type": "varint"},
      {"anon": true, "type": ["switch", {"compareTo": "id", "fields": {"0": "void"}, "default": ["container", [
        {"name": "count", "type": "i8"}
      ]]}]}
    ]],
    "image": ["container", [
      {"name": "width", "type": "u8"},
      {"name": "height", "type": "u8"},
      {"name": "flags", "type": ["bitflags", {"type": "u16", "flags": ["grey", "lossy"]}]},
      {"name": "kind", "type": ["mapper", {"type": "varint", "mappings": {"0": "empty", "1": "small", "2": "large"}}]},
      {"name": "position", "type": ["bitfield", [
        {"name": "x", "size": 12, "signed": true}, {"name": "y", "size": 12, "signed": true}, {"name": "z", "size": 8, "signed": false}
      ]]},
      {"name": "data", "type": ["switch", {"compareTo": "kind", "fields": {
        "small": ["buffer", {"count": "width"}],
        "large": ["container", [{"name": "tree", "type": "tree"}, {"name": "more", "type": ["option", "string"]}]]
      }}]},
      {"name": "first", "type": "item"},
      {"name": "items", "type": ["entityMetadataLoop", {"endVal": 255, "type": "item"}]}
    ]],
    "plain": ["container", [{"name": "a", "type": "i16"}, {"name": "b", "type": "lu32"}]],
    "packet": ["container", [
      {"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"1": "image", "2": "plain"}}]},
      {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"image": "image", "plain": "plain"}}]}
    ]]
  }
}`

// plainText is a definition that all targets express in full.
const plainText = `{
  "game": {"types": {
    "point": ["container", [{"name": "x", "type": "f32"}, {"name": "y", "type": "lf64"}]],
    "numbers": ["container", [
      {"name": "a", "type": "i8"}, {"name": "b", "type": "u16"}, {"name": "c", "type": "li32"}, {"name": "d", "type": "u64"}, {"name": "e", "type": "bool"},
      {"name": "at", "type": "point"}, {"name": "id", "type": ["buffer", {"count": 3}]}
    ]],
    "texts": ["container", [
      {"name": "title", "type": ["pstring", {"countType": "u16"}]},
      {"name": "lines", "type": ["array", {"countType": "u8", "type": ["pstring", {"countType": "lu16"}]}]},
      {"name": "points", "type": ["array", {"countType": "u16", "type": "point"}]},
      {"name": "bytes", "type": ["buffer", {"countType": "u8"}]}
    ]],
    "packet": ["container", [
      {"name": "name", "type": ["mapper", {"type": "u16", "mappings": {"1": "numbers", "258": "texts"}}]},
      {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"numbers": "numbers", "texts": "texts"}}]}
    ]]
  }}
}`

// protodefPlain returns the sample of a definition that all targets express.
func protodefPlain(t *testing.T) sample {
	t.Helper()
	s, diags := defs.Load([]*source.File{source.New("protocol.json", plainText)}, "protodef", schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	for _, target := range emit.Targets {
		if _, losses := target.Emit(s, emit.Options{}); len(losses) > 0 && target.Name != "ksy" && target.Name != "lua" {
			t.Errorf("%s: %v", target.Name, losses)
		}
	}
	return sample{name: "protodef", schema: s}
}

// TestParts compares Markdown, and what the other targets lack, with a golden file.
func TestParts(t *testing.T) {
	s, diags := defs.Load([]*source.File{source.New("protocol.json", partsText)}, "protodef", schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	var b strings.Builder
	for _, target := range emit.Targets {
		files, losses := target.Emit(s, emit.Options{Name: "parts"})
		switch target.Name {
		case "md":
			fmt.Fprintf(&b, "-- %s --\n%s", files[0].Name, files[0].Text)
			checkLinks(t, files[0].Text)
		default:
			fmt.Fprintf(&b, "-- %s --\n", files[0].Name)
			for line := range strings.Lines(files[0].Text) {
				if strings.Contains(line, "image: ") {
					b.WriteString(line)
				}
			}
			if !strings.Contains(strings.ToLower(files[0].Text), "plain") {
				t.Errorf("%s lacks the message that it can express", target.Name)
			}
		}
		if target.Name == "c" {
			for _, l := range losses {
				fmt.Fprintf(&b, "lost: %s\n", l)
			}
		}
	}
	golden(t, "testdata/parts.txtar", []byte(b.String()))
}
