package filter_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

const variableText = `{"types": {
	"string": ["pstring", {"countType": "varint"}],
	"tree": ["container", [
		{"name": "id", "type": "u8"}, {"name": "name", "type": "string"},
		{"name": "children", "type": ["array", {"countType": "varint", "type": "tree"}]}
	]],
	"packet": ["container", [
		{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0": "chat", "1": "entity", "2": "forest"}}]},
		{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {
			"chat": ["container", [
				{"name": "channel", "type": ["mapper", {"type": "varint", "mappings": {"0": "all", "1": "group", "2": "two words"}}]},
				{"name": "from", "type": "UUID"}, {"name": "text", "type": "string"},
				{"name": "reply_to", "type": ["option", "varint"]},
				{"name": "place", "type": ["option", ["container", [{"name": "x", "type": "f32"}, {"name": "y", "type": "f16"}]]]}
			]],
			"entity": ["container", [
				{"name": "flags", "type": ["bitflags", {"type": "varint", "flags": ["on_fire", "crouching"]}]},
				{"name": "sound", "type": ["registryEntryHolder", {"baseName": "soundId", "otherwise": {"name": "data", "type": "string"}}]},
				{"name": "kind", "type": "u8"},
				{"anon": true, "type": ["switch", {"compareTo": "kind", "fields": {
					"1": ["container", [{"name": "size", "type": "varint"}]], "2": ["container", [{"name": "title", "type": "string"}, {"name": "size", "type": "u8"}]]
				}}]},
				{"name": "metadata", "type": ["entityMetadataLoop", {"endVal": 255, "type": ["container", [
					{"name": "key", "type": "u8"}, {"name": "type", "type": "varint"},
					{"name": "value", "type": ["switch", {"compareTo": "type", "fields": {
						"0": "i8", "1": "varint", "2": "string", "3": ["array", {"countType": "varint", "type": "varint"}],
						"4": ["container", [{"name": "x", "type": "i16"}, {"name": "y", "type": "i16"}]], "5": ["option", "string"]
					}}]}
				]]}]},
				{"name": "opts", "type": ["array", {"countType": "varint", "type": ["option", "string"]}]}
			]],
			"forest": ["container", [{"name": "root", "type": "tree"}]]
		}}]}
	]]
}}`

// TestValueOfVariable looks for numbers in encodings of variable size, as they are written by the codec: = VALUE finds each that has several bytes, its
// function reads it, and no other number of the same size.
func TestValueOfVariable(t *testing.T) {
	w := newWorldOf(t, "")
	rng := rand.New(rand.NewPCG(1, 2))
	finds := func(text string, bytes []byte) bool {
		t.Helper()
		f, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			t.Fatalf("%s: %+v", text, mistakes)
		}
		x := w.frame(t, "C_ONE", 1, "{}")
		x.Bytes = bytes
		return f.Match(x, w.record(t, x))
	}
	for _, c := range []struct {
		of       schema.Varint
		bits     uint32
		signed   bool
		function string
	}{
		{schema.LEB128, 32, true, ""},
		{schema.LEB128, 64, true, "varint"},
		{schema.LEB128, 64, false, "varint"},
		{schema.WideSigned, 32, true, "varint"},
		{schema.ZigZag, 32, true, "zigzag"},
		{schema.ZigZag, 64, true, "zigzag"},
		{schema.VLQ, 64, false, "varintbe"},
	} {
		for range 300 {
			raw := rng.Uint64() >> rng.UintN(60)
			if raw &= schema.Mask(int(c.bits)); c.signed && rng.UintN(2) == 0 {
				raw = -raw & schema.Mask(int(c.bits))
			}
			data := codec.AppendVarint(nil, raw, c.of, c.bits)
			if len(data) < 2 {
				continue
			}
			number, other := strconv.FormatUint(raw, 10), strconv.FormatUint(raw^1, 10)
			if c.signed {
				v := schema.SignExtend(raw, int(c.bits))
				number, other = strconv.FormatInt(v, 10), strconv.FormatInt(v^1, 10)
			}
			within := slices.Concat([]byte{1, 2, 3}, data, []byte{4})
			if !finds("= "+number, within) {
				t.Errorf("%s of %d bits: %s is not found in % x", c.of, c.bits, number, within)
			}
			if c.function == "" {
				continue
			}
			read := c.function + "(bytes[3:]) == "
			if c.function == "varint" { // as u64le, without a sign
				number, other = strconv.FormatUint(raw, 10), strconv.FormatUint(raw^1, 10)
				if c.of == schema.WideSigned {
					number, other = strconv.FormatUint(uint64(schema.SignExtend(raw, 32)), 10), strconv.FormatUint(uint64(schema.SignExtend(raw^1, 32)), 10)
				}
			}
			if !finds(read+number, within) || finds(read+other, within) || finds(c.function+"(bytes[3:1]) == "+number, within) {
				t.Errorf("%s of % x is not %s", c.function, data, number)
			}
			if n := "bytes contains " + c.function + "("; !finds(n+number+")", within) || finds(n+other+")", within) {
				t.Errorf("%s%s) in % x", n, number, within)
			}
		}
	}
}

// TestVariable filters messages with numbers of variable size, choices and groups.
func TestVariable(t *testing.T) {
	w := newWorld(t, "protodef", schema.Options{}, source.New("variable.json", variableText))
	frames := map[string]*filter.Frame{
		"a": w.frame(t, "chat", 0, `{"channel":"group","from":"069a79f4-44e9-4726-a5be-fca90e38aaf5","text":"hello","reply_to":0,"place":{"x":1.5,"y":0.1}}`),
		"b": w.frame(t, "chat", 0, `{"channel":7,"from":"00000000-0000-0000-0000-000000000001","text":"bye"}`),
		"e": w.frame(t, "entity", 0, `{"flags":{"on_fire":true},"sound":{"soundId":300},"kind":1,"size":300,"metadata":[{"key":1,"type":1,"value":500},{"key":2,"type":2,"value":"axe"}],"opts":["x",null,"yes"]}`),
		"f": w.frame(t, "entity", 0, `{"flags":{"_value":6},"sound":{"data":"bang"},"kind":2,"title":"Sir","size":9,"metadata":[{"key":3,"type":4,"value":{"x":-1,"y":2}},{"key":4,"type":3,"value":[5,500]},{"key":5,"type":5,"value":"opt"}]}`),
		"g": w.frame(t, "entity", 0, `{"sound":{"soundId":-1,"data":""},"kind":3,"metadata":[{"key":6,"type":0,"value":-3},{"key":7,"type":9,"value":null}]}`),
		"r": w.frame(t, "forest", 0, `{"root":{"id":1,"name":"oak","children":[{"id":2,"name":"elm","children":[{"id":3,"name":"fir"}]}]}}`),
	}
	const order = "abefgr"
	for _, c := range []struct{ text, want string }{
		{`channel == "group"`, "a"},
		{`.channel == "all"`, ""},
		{`.channel == 7`, "b"},
		{`.channel == "two words"`, ""},
		{`chat.channel > 0`, "ab"},
		{`.from == "069a79f4-44e9-4726-a5be-fca90e38aaf5"`, "a"},
		{`.from == "069A79F444E94726A5BEFCA90E38AAF5"`, "a"},
		{`.from contains "44E9"`, "a"},
		{`.from ~ "^0+-"`, "b"},
		{`@chat.from contains x"06 9a"`, "a"},
		{`.from in {"00000000-0000-0000-0000-000000000001"}`, "b"},
		{`.reply_to`, "a"},
		{`!.reply_to`, "befgr"},
		{`chat && !.reply_to`, "b"},
		{`.reply_to == 0`, "a"},
		{`count(.reply_to) == 1`, "a"},
		{`.place`, "a"},
		{`.place.x == 1.5`, "a"},
		{`.place.y == 0.1`, "a"},
		{`!.place.x`, "befgr"},
		{`.flags.on_fire`, "e"},
		{`entity.flags.crouching`, "f"},
		{`.flags == 6`, "f"},
		{`.flags._value == 6`, "f"},
		{`!entity.flags.on_fire && entity`, "fg"},
		{`.sound.soundId == 300`, "e"},
		{`.sound.soundId`, "e"},
		{`.sound.soundId >= 0`, "e"},
		{`.sound.data`, "fg"},
		{`entity.sound.data == "bang"`, "f"},
		{`.size == 300`, "e"},
		{`.size == 9`, "f"},
		{`.size > 5`, "ef"},
		{`.title == "Sir"`, "f"},
		{`entity && !.title`, "eg"},
		{`entity.size`, "ef"},
		{`.metadata.value == 500`, "ef"},
		{`= 500`, "ef"},
		{`.metadata.value == "axe"`, "e"},
		{`.metadata.value contains "op"`, "f"},
		{`.metadata.value == -3`, "g"},
		{`.metadata[0].value == 500`, "e"},
		{`.metadata.value.x < 0`, "f"},
		{`.metadata.key == 7`, "g"},
		{`.metadata.value`, "efg"},
		{`.metadata.value[1] == 500`, "f"},
		{`count(.metadata) == 3`, "f"},
		{`.opts == "yes"`, "e"},
		{`.opts[2] == "yes"`, "e"},
		{`.opts[1] == "yes"`, ""},
		{`count(.opts) == 3`, "e"},
		{`.root.id == 1`, "r"},
		{`count(.root.children) == 1`, "r"},
		{`.root.name == "oak"`, "r"},
		{`info contains "bang"`, "f"},
		{`name == "forest"`, "r"},
	} {
		f, mistakes := filter.Compile(c.text, w.env)
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", c.text, mistakes)
			continue
		}
		if got := matching(t, w, frames, order, f); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestCompleteVariable completes names of mappers, of flags, and of fields in choices.
func TestCompleteVariable(t *testing.T) {
	w := newWorld(t, "protodef", schema.Options{}, source.New("variable.json", variableText))
	for text, want := range map[string][]string{
		"entity.flags.":          {"entity.flags.on_fire", "entity.flags._value"},
		"entity.ti":              {"entity.title"},
		".channel == ":           {`"all"`, `"group"`, `"two words"`},
		"entity.metadata.value.": {"entity.metadata.value.x"},
		"chat.place.":            {"chat.place.x", "chat.place.y"},
		"entity.sound.":          {"entity.sound.soundId", "entity.sound.data"},
		"forest.root.":           {"forest.root.children", "forest.root.name"},
	} {
		_, options := filter.Complete(text, len(text), w.env)
		for _, x := range want {
			if !slices.ContainsFunc(options, func(o filter.Option) bool { return o.Text == x }) {
				t.Errorf("%q lacks %q: %v", text, x, options)
			}
		}
	}
}
