package filter_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/filter"
	"wirebench/codec/filter/filtertest"
	"wirebench/codec/value"
	"wirebench/defs/benchtest"
	"wirebench/defs/defstest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestAnchors checks that what a path means does not depend on other definitions, and the words about it.
func TestAnchors(t *testing.T) {
	inner := source.New("S_LIST.1.def", "array members\n- int32 level\n- object at\n- - int32 level\n")
	outer := source.New("S_ONE.1.def", "int32 level\nobject at\n- int32 level\n- skillid skill\n")
	values := map[string]string{"l": `{"members":[{"level":1,"at":{"level":2}},{"level":3,"at":{"level":4}}]}`, "o": `{"level":5,"at":{"level":6,"skill":{"npc":true,"type":1,"huntingZoneId":12,"id":77}}}`}
	names := map[string]string{"l": "S_LIST", "o": "S_ONE"}
	for _, c := range []struct{ text, alone, both, help string }{
		{".level == 2", "l", "l", ""},
		{".level == 3", "l", "l", ""},
		{".level == 6", "", "o", ""},
		{".at.level == 4", "l", "l", ""},
		{".at.level == 3", "", "", ""},
		{".members.at.level == 2", "l", "l", ""},
		{".members[1].at.level == 4", "l", "l", ""},
		{".members[0].at.level == 4", "", "", ""},
		{"count(.level) == 4", "l", "l", ""},
		{"*.level == 5", "!", "o", "it is inside: write S_LIST.members.level, or .level for any depth"},
		{"*.level == 6", "!", "", ""},
		{"S_*.at.level == 6", "!", "o", "it is inside: write S_LIST.members.at, or .at for any depth"},
		{"S_LIST.level == 1", "!", "!", "it is inside: write S_LIST.members.level, or .level for any depth"},
		{"S_LIST.members.level == 1", "l", "l", ""},
		{"level == 2", "l", "l", ""},
		{".huntingZoneId == 12", "!", "o", ""},
		{".at.id == 77", "!", "", ""},
		{".skill.id == 77", "!", "o", ""},
		{"S_ONE.npc", "!", "!", ""},
	} {
		for i, files := range [][]*source.File{{inner}, {inner, outer}} {
			w := newWorld(t, "tera", schema.Options{Codes: map[string]uint32{"S_LIST": 1, "S_ONE": 2}}, files...)
			want, order := []string{c.alone, c.both}[i], "lo"[:i+1]
			f, mistakes := filter.Compile(c.text, w.env)
			if (len(mistakes) > 0) != (want == "!") {
				if !(c.text == ".at.id == 77" && len(mistakes) > 0) { // no message has it
					t.Errorf("%s with %d definitions: %v", c.text, i+1, mistakes)
				}
				continue
			}
			if len(mistakes) > 0 {
				if c.help != "" && i == 0 && mistakes[0].Help != c.help {
					t.Errorf("%s: help %q, want %q", c.text, mistakes[0].Help, c.help)
				}
				continue
			}
			frames := map[string]*filter.Frame{}
			for _, letter := range order {
				frames[string(letter)] = w.frame(t, names[string(letter)], 0, values[string(letter)])
			}
			if got := matching(t, w, frames, order, f); got != want {
				t.Errorf("%s with %d definitions: matches %q, want %q", c.text, i+1, got, want)
			}
		}
	}
}

// TestWidened checks which filters say that they find more than in version 1 of the language.
func TestWidened(t *testing.T) {
	files := []*source.File{
		source.New("S_LIST.1.def", "array members\n- int32 level\n- int32 only\n"), source.New("S_ONE.1.def", "int32 level\nint32 top\n"),
	}
	w := newWorld(t, "tera", schema.Options{Codes: map[string]uint32{"S_LIST": 1, "S_ONE": 2}}, files...)
	for text, want := range map[string]string{
		"":                               "",
		".level > 3":                     ".level is any depth now, also inside S_LIST; write *.level for the top of a message",
		"!(len > 2 && level == 3)":       ".level is any depth now, also inside S_LIST; write *.level for the top of a message",
		".level == 1 || .level > 3":      ".level is any depth now, also inside S_LIST; write *.level for the top of a message",
		"*.level > 3 && S_ONE.level < 9": "",
		".only > 3 && .top == 1":         "",
		".members.level > 3":             "",
	} {
		f, mistakes := filter.Compile(text, w.env)
		if got := strings.Join(f.Widened(), "; "); got != want || len(mistakes) > 0 {
			t.Errorf("%s: %q, want %q; %v", text, got, want, mistakes)
		}
	}
}

// The reference walks the decoded tree of a message, its JSON value, and knows nothing of programs, sites and columns.

// occurrences returns the values of a path in a tree: .x at any depth, .a.x in an a at any depth; with top only at the top.
func occurrences(tree any, names []string, top bool) (out []any) {
	direct := members(tree, names[0])
	for _, v := range direct {
		if len(names) == 1 {
			out = append(out, v)
		} else {
			out = append(out, occurrences(v, names[1:], true)...)
		}
	}
	if top {
		return out
	}
	switch tree := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(tree)) { // in an order, or what is drawn would not be the same twice
			out = append(out, occurrences(tree[name], names, false)...)
		}
	case []any:
		for _, v := range tree {
			if _, ok := v.(map[string]any); ok { // its own members were found with those of the list
				in := v.(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(in)) {
					out = append(out, occurrences(in[name], names, false)...)
				}
			} else if _, ok := v.([]any); ok {
				for _, in := range v.([]any) {
					out = append(out, below(in, names)...)
				}
			}
		}
	}
	return out
}

// below returns the occurrences inside the members of what a list of lists holds, whose own members were found with those of the list.
func below(v any, names []string) (out []any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, occurrences(v[name], names, false)...)
		}
	case []any:
		for _, in := range v {
			out = append(out, below(in, names)...)
		}
	}
	return out
}

// members returns the members of a name of an object, or of the objects in a list.
func members(v any, name string) (out []any) {
	switch v := v.(type) {
	case map[string]any:
		if in, ok := v[name]; ok && in != nil {
			out = append(out, in)
		}
	case []any:
		for _, e := range v {
			out = append(out, members(e, name)...)
		}
	}
	return out
}

// numbersOf returns the numbers among values, and in lists of values. Truth values are numbers if they are compared with 0 or 1.
func numbersOf(values []any, bools bool) (out []*big.Rat) {
	for _, v := range values {
		switch v := v.(type) {
		case json.Number:
			if r, ok := new(big.Rat).SetString(v.String()); ok {
				out = append(out, r)
			}
		case string: // integers of 64 bits are texts; the texts of the examples are not numbers
			if r, ok := new(big.Rat).SetString(v); ok && strings.Trim(v, "-0123456789") == "" {
				out = append(out, r)
			}
		case bool:
			n := int64(0)
			if !bools {
				continue
			}
			if v {
				n = 1
			}
			out = append(out, big.NewRat(n, 1))
		case []any:
			out = append(out, numbersOf(v, bools)...)
		}
	}
	return out
}

// unlikeTree adds the names of bitfields, which are numbers in filters and objects in the tree, of bytes, whose digits
// may be a number's, and of numbers that the tree has as words.
func unlikeTree(s *schema.Struct, above string, names map[string]bool, seen map[*schema.Struct]bool) {
	if seen[s] {
		return
	}
	seen[s] = true
	for f := range s.Members() {
		name := f.Name
		if name == "" {
			name = above
		}
		switch t := f.Type.(type) {
		case *schema.Bitfield, *schema.Blob:
			names[name] = true
		case *schema.Number:
			if t.Enum != nil {
				names[name] = true
			}
		}
		for _, in := range schema.Bodies(f.Type) {
			unlikeTree(in, name, names, seen)
		}
	}
}

// unnamed reports whether a group may be its only value, which has no name: counting does not see it if it is absent.
func unnamed(v any) bool {
	group, _ := v.(map[string]any)
	only, ok := group[""]
	return ok && (only == nil || unnamed(only))
}

// recursive adds the names of the fields of groups that contain themselves.
func recursive(s *schema.Struct, above string, names map[string]bool, seen map[*schema.Struct]bool) {
	if seen[s] {
		return
	}
	seen[s] = true
	again := contains(s, s, map[*schema.Struct]bool{})
	for f := range s.Members() {
		name := f.Name
		if name == "" {
			name = above
		}
		names[name] = names[name] || again
		for _, in := range schema.Bodies(f.Type) {
			recursive(in, name, names, seen)
		}
	}
}

// contains reports whether a part of a group, at any depth, is of a given one.
func contains(s, group *schema.Struct, seen map[*schema.Struct]bool) bool {
	if s == nil || seen[s] {
		return false
	}
	seen[s] = true
	for f := range s.Members() {
		for _, in := range schema.Bodies(f.Type) {
			if in == group || contains(in, group, seen) {
				return true
			}
		}
	}
	return false
}

// pathsOf returns the paths of one to three names in a tree.
func pathsOf(tree any) [][]string {
	found := map[string][]string{}
	var walk func(v any, above []string)
	walk = func(v any, above []string) {
		switch v := v.(type) {
		case map[string]any:
			for name, in := range v {
				path := append(slices.Clone(above), name)
				for n := 1; n <= min(3, len(path)); n++ {
					p := path[len(path)-n:]
					found[strings.Join(p, ".")] = p
				}
				walk(in, path)
			}
		case []any:
			for _, in := range v {
				walk(in, above)
			}
		}
	}
	walk(tree, nil)
	var out [][]string
	for _, key := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[key])
	}
	return out
}

// drawnNames are few, so that one name is at the top of a message, deep in another and both in a third.
var drawnNames = []string{"a", "b", "x", "y", "z"}

// drawTERA writes a random definition.
func drawTERA(r *rand.Rand, depth int, lead string, b *strings.Builder) {
	names := r.Perm(len(drawnNames))
	for _, i := range names[:1+r.IntN(4)] {
		name := drawnNames[i]
		switch k := r.IntN(9); {
		case k == 0 && depth > 0:
			b.WriteString(lead + "array " + name + "\n")
			drawTERA(r, depth-1, lead+"- ", b)
		case k <= 2 && depth > 0:
			b.WriteString(lead + "object " + name + "\n")
			drawTERA(r, depth-1, lead+"- ", b)
		case k == 3:
			b.WriteString(lead + "array<int32> " + name + "\n")
		case k == 4:
			b.WriteString(lead + "skillid " + name + "\n")
		default:
			b.WriteString(lead + []string{"int32 ", "uint16 ", "bool ", "int64 ", "string ", "float ", "vec3 "}[r.IntN(7)] + name + "\n")
		}
	}
}

// drawProtoDef returns a random type.
func drawProtoDef(r *rand.Rand, depth int) any {
	if depth > 0 {
		switch r.IntN(7) {
		case 0, 1:
			return []any{"container", drawContainer(r, depth-1)}
		case 2:
			return []any{"array", map[string]any{"countType": "u8", "type": drawProtoDef(r, depth-1)}}
		case 3:
			return []any{"option", drawProtoDef(r, depth-1)}
		case 4:
			return []any{"bitfield", []any{
				map[string]any{"name": drawnNames[r.IntN(2)], "size": 3, "signed": false}, map[string]any{"name": drawnNames[2+r.IntN(3)], "size": 5, "signed": r.IntN(2) == 0},
			}}
		}
	}
	return []string{"u8", "i16", "varint", "bool", "li32", "f64"}[r.IntN(6)]
}

func drawContainer(r *rand.Rand, depth int) (fields []any) {
	for _, i := range r.Perm(len(drawnNames))[:1+r.IntN(4)] {
		fields = append(fields, map[string]any{"name": drawnNames[i], "type": drawProtoDef(r, depth)})
	}
	return fields
}

// drawnWorlds returns definitions of all dialects: random ones of those that nest freely, and the libraries.
func drawnWorlds(t *testing.T, r *rand.Rand) map[string]*world {
	worlds := map[string]*world{
		"tera library": libraryWorld(t, "tera"), "muta library": libraryWorld(t, "muta"), "subspace library": libraryWorld(t, "subspace"),
		"protodef, variable": newWorld(t, "protodef", schema.Options{}, source.New("protocol.json", defstest.Variable)), "every kind of field": fight(t),
	}
	for n := range 12 {
		codes := map[string]uint32{}
		var files []*source.File
		types, ids, cases := map[string]any{}, map[string]any{}, map[string]any{}
		for i := range 4 {
			name := fmt.Sprintf("S_M%d", i)
			codes[name] = uint32(100 + i)
			var b strings.Builder
			drawTERA(r, 3, "", &b)
			files = append(files, source.New(name+".1.def", b.String()))
			types[fmt.Sprintf("packet_m%d", i)] = []any{"container", drawContainer(r, 3)}
			ids[fmt.Sprintf("0x%02x", i)], cases[fmt.Sprintf("m%d", i)] = fmt.Sprintf("m%d", i), fmt.Sprintf("packet_m%d", i)
		}
		worlds[fmt.Sprintf("tera %d", n)] = newWorld(t, "tera", schema.Options{Codes: codes}, files...)
		types["packet"] = []any{"container", []any{
			map[string]any{"name": "name", "type": []any{"mapper", map[string]any{"type": "varint", "mappings": ids}}},
			map[string]any{"name": "params", "type": []any{"switch", map[string]any{"compareTo": "name", "fields": cases}}},
		}}
		text, err := json.Marshal(map[string]any{
			"types": map[string]any{"varint": "native", "u8": "native", "i16": "native", "bool": "native", "li32": "native", "f64": "native", "container": "native", "array": "native", "option": "native", "switch": "native", "mapper": "native", "bitfield": "native"},
			"play":  map[string]any{"toClient": map[string]any{"types": types}},
		})
		if err != nil {
			t.Fatal(err)
		}
		worlds[fmt.Sprintf("protodef %d", n)] = newWorld(t, "protodef", schema.Options{}, source.New("protocol.json", string(text)))
	}
	return worlds
}

// TestPathsFindEveryOccurrence compares compiled paths with the reference, over frames of all dialects.
func TestPathsFindEveryOccurrence(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	r := rand.New(rand.NewPCG(30, 2))
	checked, matches, skipped := 0, 0, 0
	worlds := drawnWorlds(t, r)
	for _, name := range slices.Sorted(maps.Keys(worlds)) {
		w := worlds[name]
		if most := 40; len(w.schema.Messages) > most {
			r.Shuffle(len(w.schema.Messages), func(i, k int) {
				w.schema.Messages[i], w.schema.Messages[k] = w.schema.Messages[k], w.schema.Messages[i]
			})
			w.schema.Messages = w.schema.Messages[:most]
		}
		type sample struct {
			filtertest.Case
			tree any
		}
		var samples []sample
		paths := map[string][]string{}
		for _, x := range filtertest.Frames(w.env, r, 3) {
			if x.Record == nil || x.Record.Status() != 0 {
				continue
			}
			text := string(value.AppendJSON(nil, x.Record))
			if strings.Contains(text, `"NaN`) || strings.Contains(text, `Infinity"`) { // no rational numbers
				continue
			}
			in := json.NewDecoder(strings.NewReader(text))
			in.UseNumber()
			var tree any
			if err := in.Decode(&tree); err != nil {
				t.Fatal(err)
			}
			samples = append(samples, sample{x, tree})
			for _, p := range pathsOf(tree) {
				paths[strings.Join(p, ".")] = p
			}
		}
		unlike := map[string]bool{}
		for _, m := range w.schema.Messages {
			unlikeTree(m.Body, "", unlike, map[*schema.Struct]bool{nil: true})
		}
		again := map[string]bool{} // in groups that contain themselves .x finds all levels, paths of several names some: see TestEveryLevel
		for _, m := range w.schema.Messages {
			recursive(m.Body, "", again, map[*schema.Struct]bool{nil: true})
		}
		maps.DeleteFunc(paths, func(_ string, p []string) bool { return unlike[p[len(p)-1]] || len(p) > 1 && again[p[len(p)-1]] })
		keys := slices.Sorted(maps.Keys(paths))
		r.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		for _, key := range keys[:min(len(keys), 25)] {
			names := paths[key]
			number := "1"
			for _, i := range r.Perm(len(samples)) { // one that occurs, if there is one
				if all := numbersOf(occurrences(samples[i].tree, names, false), true); len(all) > 0 {
					if n := all[r.IntN(len(all))]; n.IsInt() && n.Sign() >= 0 && n.Num().IsUint64() {
						number = n.RatString()
						break
					}
				}
			}
			want, _ := new(big.Rat).SetString(number)
			for _, path := range []string{".", "*.", "one"} {
				top := path != "."
				var only *schema.Message
				if path == "one" {
					only = samples[r.IntN(len(samples))].Message
					path = fmt.Sprintf("%s.%d.", only.Name, only.Version)
				}
				path += key
				for _, op := range []string{"%s == %s", "%s != %s", "all %s >= %s", "count(%s) > 0"} {
					text := op
					if text = strings.Replace(text, "%s", path, 1); strings.Contains(text, "%s") {
						text = strings.Replace(text, "%s", number, 1)
					}
					bools := (number == "0" || number == "1") && !strings.Contains(op, ">=")
					f, mistakes := filter.Compile(text, w.env)
					if len(mistakes) > 0 {
						skipped++
						for _, s := range samples { // what cannot be compared must not have such values
							if (only == nil || only == s.Message) && len(numbersOf(occurrences(s.tree, names, top), bools)) > 0 {
								t.Fatalf("%s, %s: %v, but %s has it", name, text, mistakes, s.tree)
							}
						}
						continue
					}
					for _, s := range samples {
						found := occurrences(s.tree, names, top)
						if only != nil && only != s.Message {
							found = nil
						}
						numbers := numbersOf(found, bools)
						fits := false
						switch op {
						case "%s == %s":
							fits = slices.ContainsFunc(numbers, func(n *big.Rat) bool { return n.Cmp(want) == 0 })
						case "%s != %s":
							fits = len(numbers) > 0 && !slices.ContainsFunc(numbers, func(n *big.Rat) bool { return n.Cmp(want) == 0 })
						case "all %s >= %s":
							fits = len(numbers) > 0 && !slices.ContainsFunc(numbers, func(n *big.Rat) bool { return n.Cmp(want) < 0 })
						default:
							if slices.ContainsFunc(found, unnamed) {
								continue
							}
							fits = slices.ContainsFunc(found, func(v any) bool {
								list, ok := v.([]any)
								return !ok || len(list) > 0
							})
						}
						checked++
						if fits {
							matches++
						}
						if got := f.Match(s.Frame, s.Record); got != fits {
							tree, _ := json.Marshal(s.tree)
							t.Errorf("%s, %s: %v, want %v for %s %s", name, text, got, fits, s.Name, tree)
						}
						if v := f.Index(s.Frame); v == filter.Yes && !fits || v == filter.No && fits {
							t.Errorf("%s, %s: %v by the index, want %v", name, text, v, fits)
						}
						if t.Failed() {
							return
						}
					}
				}
			}
		}
	}
	if t.Log(checked, "checks,", matches, "matches,", skipped, "filters refused"); matches < checked/50 {
		t.Error("the paths test little")
	}
}

// TestEveryLevel checks paths in groups that contain themselves, and counts of groups of which all fields may be absent.
func TestEveryLevel(t *testing.T) {
	const text = `{"types": {"varint": "native", "u8": "native", "container": "native", "array": "native", "option": "native", "switch": "native", "mapper": "native"},
		"play": {"toClient": {"types": {
			"node": ["container", [{"name": "id", "type": "u8"}, {"name": "sound", "type": ["container", [{"name": "at", "type": ["option", "u8"]}, {"name": "pitch", "type": ["option", "u8"]}]]},
				{"name": "next", "type": ["option", "node"]}, {"name": "kids", "type": ["array", {"countType": "u8", "type": "node"}]}]],
			"packet_tree": ["container", [{"name": "id", "type": "u8"}, {"name": "root", "type": "node"},
				{"name": "extra", "type": ["option", ["container", [{"name": "extra", "type": ["option", "u8"]}, {"name": "more", "type": ["option", "u8"]}]]]}]],
			"packet": ["container", [{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0x01": "tree"}}]},
				{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"tree": "packet_tree"}}]}]]}}}}`
	w := newWorld(t, "protodef", schema.Options{}, source.New("protocol.json", text))
	name := w.schema.Messages[0].Name
	frames := map[string]*filter.Frame{
		"a": w.frame(t, name, 0, `{"id":1,"root":{"id":2,"sound":{"at":null,"pitch":null},"next":null,"kids":[]},"extra":null}`),
		"c": w.frame(t, name, 0, `{"id":9,"root":{"id":8,"sound":{"at":null,"pitch":8},"next":null,"kids":[]},"extra":{"extra":null,"more":null}}`),
		"b": w.frame(t, name, 0, `{"id":1,"root":{"id":2,"sound":{"at":null,"pitch":5},"next":{"id":3,"sound":{"at":7,"pitch":null},"next":{"id":4,"sound":{"at":null,"pitch":null},"next":null,"kids":[]},"kids":[]},
			"kids":[{"id":5,"sound":{"at":null,"pitch":null},"next":null,"kids":[{"id":6,"sound":{"at":9,"pitch":null},"next":null,"kids":[]}]},{"id":7,"sound":{"at":null,"pitch":null},"next":null,"kids":[]}]},"extra":{"extra":null,"more":5}}`),
	}
	judgeStated(t, w, frames, "c", []stated{
		{"*.extra", "c"},
		{".more", ""},
		{"count(.extra) == 1", "c"},
		{"count(*.extra) > 0", "c"},
	})
	judgeStated(t, w, frames, "ab", []stated{
		{"*.extra", "b"},
		{"count(*.extra) > 0", "b"},
		{"count(.extra) == 0", "a"},
		{".more", "b"},
		{".id == 1", "ab"},
		{".id == 2", "ab"},
		{".id == 3", "b"},
		{".id == 4", "b"},
		{".id == 6", "b"},
		{"all .id < 7", "a"},
		{"max(.id) == 7", "b"},
		{"count(.id) == 7", "b"},
		{"count(.id) == 2", "a"},
		{".next.id == 3", "b"},
		{".next.id == 4", "b"},
		{".next.id == 2", ""},
		{".next.id == 5", ""},
		{".kids.id == 5", "b"},
		{".kids.id == 6", "b"},
		{".kids.id == 3", ""},
		{"count(.kids.id) == 3", "b"},
		{".root.id == 2", "ab"},
		{".root.id == 3", ""},
		{"*.root.id == 3", ""},
		{".sound.at == 9", "b"},
		{".at in {7}", "b"},
		{".next.sound.at == 7", "b"},
		{".root.sound.pitch == 5", "b"},
		{".pitch == 7", ""},
		{"count(.sound) == 1", "a"},
		{"count(.sound) == 6", "b"},
		{"count(.root.sound) == 1", "ab"},
		{"count(.next) == 2", "b"},
		{"count(.next) == 0", "a"},
		{"count(.kids) == 3", "b"},
		{".next", "b"},
		{".sound", "ab"},
	})
	f, _ := filter.Compile("count(.sound) > 5 && .next.id == 4 && max(.id) == 7", w.env)
	x, rec := frames["b"], w.record(t, frames["b"])
	if n := testing.AllocsPerRun(100, func() { f.Match(x, rec) }); n != 0 || !f.Match(x, rec) {
		t.Errorf("%v allocations", n)
	}
}
