package codec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/packettest"
	"wirebench/codec/value"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// lengthsFirst lowers a record of a protocol that sends the lengths of all arrays, then all single values, then all contents.
func lengthsFirst(head []schema.Item, fields []*schema.Field, lengthBits map[*schema.Field]int) *schema.Struct {
	s := &schema.Struct{Fields: fields, Wire: head}
	var single, contents []*schema.Field
	for _, f := range fields {
		if n := lengthBits[f]; n != 0 {
			s.Wire = append(s.Wire, schema.Item{Kind: schema.Count, Field: f, Bits: n})
			contents = append(contents, f)
		} else {
			single = append(single, f)
		}
	}
	s.Wire = append(s.Wire, values(single...)...)
	s.Wire = append(s.Wire, values(contents...)...)
	return s
}

// measured returns a message whose size is not stated outside of it.
func measured(name string, code uint32, body *schema.Struct) *schema.Message {
	return &schema.Message{Name: name, Version: 1, HasKey: true, Key: schema.Key{Code: code}, Body: body, Measured: true}
}

func codeItem(bits int) []schema.Item { return []schema.Item{{Kind: schema.Code, Bits: bits}} }

// character is the example of the article "Network message serialization in MUTA".
func character() *schema.Message {
	name := field("name", &schema.Text{Charset: schema.Latin1, Extent: counted(2, 16)})
	fields := []*schema.Field{field("id", unsigned(64)), name, field("race", unsigned(8)), field("sex", unsigned(8)), field("map_id", unsigned(32))}
	return measured("svmsg_new_character_created", 3, lengthsFirst(codeItem(8), fields, map[*schema.Field]int{name: 8}))
}

func TestLengthsFirst(t *testing.T) {
	p := program(t, character())
	check(t, p, "03 04 3500000000000000 01 00 20000000 4a6f686e", `{"id":"53","name":"John","race":1,"sex":0,"map_id":32}`)
	const want = `0: 8 code
1: 8 count name
2: 64 value id
10: 8 value race
11: 8 value sex
12: 32 value map_id
16: 16..128 value name
`
	if got := layoutText(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	refused(t, p, `{"name":"J"}`, "name: 1 characters, at least 2")
	refused(t, p, `{"name":"xxxxxxxxxxxxxxxxx"}`, "at most 16")
}

// TestOrderOfChecks pins the precedence of errors: a message too short for its sizes is incomplete whatever it contains, and an invalid
// length is illegal as soon as all minimum sizes are present.
func TestOrderOfChecks(t *testing.T) {
	p := program(t, character())
	for _, c := range []struct {
		message string
		want    codec.Status
	}{
		{"", codec.Incomplete},
		{"03 01 000000000000000000000000000000", codec.Incomplete}, // 17 bytes, the minimum is 18
		{"03 01 00000000000000000000000000000000", codec.Illegal},
		{"03 11 000000000000000000000000000000", codec.Incomplete},
		{"03 11 00000000000000000000000000000000", codec.Illegal},
		{"03 03 00000000000000000000000000000000", codec.Incomplete},
	} {
		checkStatus(t, p, c.message, c.want)
	}
	// Two arrays: the first is legal but incomplete, the second is not legal.
	to, text := field("to", &schema.Text{Charset: schema.Latin1, Extent: counted(0, 12)}), field("text", &schema.Text{Charset: schema.Latin1, Extent: counted(1, 1000)})
	mode := field("mode", &schema.Number{Bits: 8, Min: &schema.Limit{Uint: 1}, Max: &schema.Limit{Uint: 4}})
	p = program(t, measured("chat", 1, lengthsFirst(codeItem(8), []*schema.Field{mode, to, text}, map[*schema.Field]int{to: 8, text: 16})))
	for _, c := range []struct {
		message string
		want    codec.Status
	}{
		{"01 0c e903 01 61", codec.Illegal},
		{"01 0c 0100 01 61", codec.Incomplete},
		{"01 0c 0100 09 61", codec.Incomplete}, // values are checked after the sizes
		{"01 00 0100 09 61", codec.Illegal},
		{"01 00 0100 04 61", codec.OK},
		{"01 00 0100 04 61 ff", codec.OK}, // the rest is the next message
	} {
		checkStatus(t, p, c.message, c.want)
	}
}

func checkStatus(t *testing.T, p *codec.Program, message string, want codec.Status) {
	t.Helper()
	var rec codec.Record
	data := packettest.Unhex(t, message)
	if p.Decode(&rec, data); rec.Status() != want {
		t.Errorf("%s: %v, want %v: %s", message, rec.Status(), want, problems(&rec))
	}
	if want != codec.OK && rec.Used != 0 && p.Message.Measured && rec.Illegal {
		t.Errorf("%s: %d bytes used", message, rec.Used)
	}
}

// squad has a struct with a length of its own, a list of structs with texts, a list of lists and a list of numbers.
func squad() *schema.Message {
	title := field("title", &schema.Text{Charset: schema.Latin1, Extent: counted(0, 255)})
	rank := field("rank", unsigned(16))
	header := field("header", &schema.Group{Struct: lengthsFirst(nil, []*schema.Field{rank, title}, map[*schema.Field]int{title: 8})})
	name := field("name", &schema.Text{Charset: schema.Latin1, Extent: counted(1, 16)})
	level := field("level", &schema.Number{Bits: 8, Min: &schema.Limit{Uint: 1}, Max: &schema.Limit{Uint: 60}})
	items := field("items", bareList(unsigned(16), counted(0, 4)))
	members := field("members", &schema.List{Extent: counted(1, 300), Elem: lengthsFirst(nil, []*schema.Field{level, name, items}, map[*schema.Field]int{name: 8, items: 8})})
	at := field("at", &schema.Group{Struct: record(field("x", integer(32)), field("y", float(32)))})
	flag := field("flag", unsigned(8))
	fields := []*schema.Field{header, members, at, flag}
	return measured("squad", 7, lengthsFirst(codeItem(16), fields, map[*schema.Field]int{members: 16}))
}

func TestNestedRecords(t *testing.T) {
	p := program(t, squad())
	const message = "0700 0200" + // code, members
		"02 0500 6162" + // header: length of title, rank, title
		"ffffffff 0000803f 2a" + // at, flag
		"01 02 05 78 0100 0200" + // members[0]: lengths, level, name, items
		"02 00 3c 797a" // members[1]
	const value = `{"header":{"rank":5,"title":"ab"},"members":[{"level":5,"name":"x","items":[1,2]},{"level":60,"name":"yz","items":[]}],` +
		`"at":{"x":-1,"y":1},"flag":42}`
	check(t, p, message, value)
	data := packettest.Unhex(t, message)
	prefixes(t, p, data)
	const want = `0: 16 code
2: 16 count members
4: 8 count header.title
5: 16 value header.rank
7: 0..2040 value header.title
7 + header.title: 32 value at.x
11 + header.title: 32 value at.y
15 + header.title: 8 value flag
16 + header.title: 32..64800 value members
element + 0: 8 count members[].name
element + 1: 8 count members[].items
element + 2: 8 value members[].level
element + 3: 8..128 value members[].name
element + 3 + name: 0..64 value members[].items
element + 0: 16 value members[].items[]
`
	if got := layoutText(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	refused(t, p, `{"members":[{"name":"a","level":61}]}`, "members[0].level: 61 is outside")
	refused(t, p, `{"members":[{"name":"a","level":1},{"level":1}]}`, "members[1].name: 0 characters")
	refused(t, p, `{"members":[]}`, "members: 0 elements, at least 1")
	for _, c := range []struct {
		message string
		want    codec.Status
	}{
		{"0700 0200 00 0000 00000000 00000000 00  00 00 01 00  00 00 01 00", codec.Illegal}, // members[0] has no name
		{"0700 0200 00 0000 00000000 00000000 00  01 00 3d 61  01 00 01 61", codec.Illegal}, // members[0].level
		{"0700 0200 00 0000 00000000 00000000 00  01 00 01 61  05 00 01 61", codec.Incomplete},
		{"0700 0200 ff 0000 00000000 00000000 00  01 00 01 61  01 00 01 61", codec.Incomplete},
		{"0700 2d01 00 0000 00000000 00000000 00  01 00 01 61  01 00 01 61", codec.Illegal}, // 301 members
		{"0700 2d01 00 0000 00000000 00000000", codec.Incomplete},
		{"0700 2d01 00 0000 00000000 00000000 00  01 00 01 61", codec.Illegal},
	} {
		checkStatus(t, p, c.message, c.want)
	}
}

// prefixes checks that every proper prefix of a message is incomplete, and that bytes after it are not consumed.
func prefixes(t *testing.T, p *codec.Program, data []byte) {
	t.Helper()
	var rec codec.Record
	for n := range data {
		if p.Decode(&rec, data[:n]); rec.Status() != codec.Incomplete {
			t.Errorf("%d of %d bytes: %v: %s", n, len(data), rec.Status(), problems(&rec))
		}
	}
	more := append(data[:len(data):len(data)], 0xff, 0xff)
	if p.Decode(&rec, more); rec.Status() != codec.OK || rec.Used != len(data) {
		t.Errorf("with bytes after it: %v, used %d of %d", rec.Status(), rec.Used, len(data))
	}
}

// TestNothingManyTimes has elements without bytes: their number is bounded nevertheless.
func TestNothingManyTimes(t *testing.T) {
	empty := field("empty", &schema.List{Extent: schema.Extent{Size: schema.Counted}, Elem: &schema.Struct{}})
	void := &schema.Struct{Fields: []*schema.Field{field("inner", &schema.Group{Struct: &schema.Struct{}})}}
	void.Wire = values(void.Fields...)
	groups := field("groups", &schema.List{Extent: schema.Extent{Size: schema.Counted}, Elem: void})
	for _, f := range []*schema.Field{empty, groups} {
		p := program(t, measured("m", 1, lengthsFirst(codeItem(8), []*schema.Field{f}, map[*schema.Field]int{f: 32})))
		check(t, p, "01 00000000", `{"`+f.Name+`":[]}`)
		var rec codec.Record
		p.Decode(&rec, packettest.Unhex(t, "01 03000000"))
		if rec.Status() != codec.OK || rec.Used != 5 {
			t.Errorf("three: %v, used %d: %s", rec.Status(), rec.Used, problems(&rec))
		}
		if text := value.AppendJSON(nil, &rec); strings.Count(string(text), "{") < 4 {
			t.Errorf("three: %s", text)
		}
		p.Decode(&rec, packettest.Unhex(t, "01 ffffffff"))
		if rec.Status() != codec.Illegal || len(rec.Nodes) > 10000 {
			t.Errorf("all: %v, %d nodes", rec.Status(), len(rec.Nodes))
		}
		if text := value.AppendJSON(nil, &rec); len(text) > 1<<20 {
			t.Errorf("all: %d bytes of text", len(text))
		}
	}
}

// TestManyEmptyTexts has the maximum number of nodes that a valid message can require: they are within the budget.
func TestManyEmptyTexts(t *testing.T) {
	name := field("name", &schema.Text{Charset: schema.Latin1, Extent: counted(0, 255)})
	list := field("list", &schema.List{Extent: counted(0, 60000), Elem: lengthsFirst(nil, []*schema.Field{name}, map[*schema.Field]int{name: 8})})
	p := program(t, measured("m", 1, lengthsFirst(codeItem(8), []*schema.Field{list}, map[*schema.Field]int{list: 16})))
	var rec codec.Record
	p.Decode(&rec, append([]byte{1, 0x60, 0xea}, make([]byte, 60000)...))
	if rec.Status() != codec.OK || rec.Used != 60003 {
		t.Errorf("%v, used %d: %s", rec.Status(), rec.Used, problems(&rec))
	}
}

// mutaFile is a simplified parser of the definitions of the vectors, sufficient to test the engine.
type mutaFile struct {
	constants map[string]int
	first, id map[string]int // by group
	packets   map[string][]*schema.Message
}

var mutaNumbers = map[string]schema.Number{
	"uint8": {Bits: 8}, "uint16": {Bits: 16}, "uint32": {Bits: 32}, "uint64": {Bits: 64},
	"int8": {Bits: 8, Kind: schema.Signed}, "int16": {Bits: 16, Kind: schema.Signed}, "int32": {Bits: 32, Kind: schema.Signed},
	"int64": {Bits: 64, Kind: schema.Signed}, "float": {Bits: 32, Kind: schema.Float}, "double": {Bits: 64, Kind: schema.Float},
}

func (f *mutaFile) number(word string) float64 {
	word = strings.TrimSpace(word)
	if n, ok := f.constants[word]; ok {
		return float64(n)
	}
	n, _ := strconv.ParseFloat(word, 64)
	return n
}

// between returns the text between two characters of s.
func between(s *string, open, closing string) (inner string, ok bool) {
	i, k := strings.Index(*s, open), strings.Index(*s, closing)
	if i < 0 || k < i {
		return "", false
	}
	inner = (*s)[i+1 : k]
	*s = (*s)[:i] + (*s)[k+1:]
	return inner, true
}

// field reads "name = type [lo, hi] <length type> {min, max}". bits is the width of its length, 0 for a single value.
func (f *mutaFile) field(name, value string) (out *schema.Field, bits int) {
	limits, isArray := between(&value, "{", "}")
	length, _ := between(&value, "<", ">")
	bounds, ranged := between(&value, "[", "]")
	word := strings.TrimSpace(value)
	var typ schema.Type
	if word != "char" {
		n := mutaNumbers[word]
		if lo, hi, ok := strings.Cut(bounds, ","); ranged && ok {
			limit := func(word string) *schema.Limit {
				v := f.number(word)
				return &schema.Limit{Int: int64(v), Uint: uint64(max(v, 0)), Float: v}
			}
			n.Min, n.Max = limit(lo), limit(hi)
		}
		typ = &n
	}
	if !isArray {
		if word == "char" { // one character with any value
			typ = &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Fixed, N: 1, Min: &schema.Limit{Uint: 1}}}
		}
		return field(name, typ), 0
	}
	lo, hi, ok := strings.Cut(limits, ",")
	if !ok {
		lo, hi = "0", limits
	}
	ext := counted(uint64(f.number(lo)), uint64(f.number(hi)))
	switch n := mutaNumbers[strings.TrimSpace(length)]; {
	case n.Bits != 0:
		bits = n.Bits
	case f.number(hi) <= math.MaxUint8:
		bits = 8
	case f.number(hi) <= math.MaxUint16:
		bits = 16
	default:
		bits = 32
	}
	if word == "char" {
		return field(name, &schema.Text{Charset: schema.Latin1, Extent: ext}), bits
	}
	return field(name, bareList(typ, ext)), bits
}

func readMuta(text string, constants map[string]int) *mutaFile {
	f := &mutaFile{constants: constants, first: map[string]int{}, id: map[string]int{}, packets: map[string][]*schema.Message{}}
	var kind, name, group string
	var fields []*schema.Field
	var bits map[*schema.Field]int
	flush := func() {
		if kind == "packet" {
			code := f.first[group] + len(f.packets[group])
			f.packets[group] = append(f.packets[group], measured(name, uint32(code), lengthsFirst(codeItem(f.id[group]), fields, bits)))
		}
		fields, bits = nil, map[*schema.Field]int{}
	}
	for line := range strings.Lines(text) {
		key, value, isAttr := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case key == "" || strings.HasPrefix(key, "#"):
		case !isAttr:
			flush()
			kind, name, _ = strings.Cut(key, ":")
			name = strings.TrimSpace(name)
			if kind == "group" {
				f.first[name], f.id[name] = 1, 8
			}
		case key == "__group":
			group = value
		case key == "__id":
			f.id[name] = mutaNumbers[value].Bits
		case key == "__first":
			f.first[name] = int(f.number(value))
		default:
			x, n := f.field(key, value)
			fields = append(fields, x)
			if n != 0 {
				bits[x] = n
			}
		}
	}
	flush()
	return f
}

// program selects a message as a framer does. If the program is nil, the status is the result.
func (f *mutaFile) program(t *testing.T, group string, data []byte) (*codec.Program, codec.Status) {
	size := f.id[group] / 8
	if len(data) < size {
		return nil, codec.Incomplete
	}
	code := uint32(data[0])
	if size == 2 {
		code |= uint32(data[1]) << 8
	}
	for _, m := range f.packets[group] {
		if m.Key.Code == code {
			return program(t, m), codec.OK
		}
	}
	return nil, codec.Illegal
}

func TestCorporaMutaVectors(t *testing.T) { corpora.Run(t, testMutaVectors) }

func testMutaVectors(t *testing.T, c *corpora.Corpus) {
	ran := map[string]int{}
	for n, v := range corpora.Rows[struct {
		Text      string          `json:"def_text"`
		Constants map[string]int  `json:"constants"`
		Group     string          `json:"group"`
		Message   string          `json:"message"`
		Value     json.RawMessage `json:"value"`
		Hex       string          `json:"hex"`
		Outcome   string          `json:"outcome"`
		Consumed  int             `json:"consumed"`
		Note      string          `json:"note"`
	}](t, c, "muta/vectors.jsonl") {
		if v.Outcome == "def_error" {
			continue // depends on the language
		}
		ran[v.Outcome]++
		f := readMuta(v.Text, v.Constants)
		at := fmt.Sprintf("row %d, %s, %s", n+1, v.Message, v.Note)
		if v.Outcome == "encode_error" {
			for _, m := range f.packets[v.Group] {
				if m.Name == v.Message {
					refused(t, program(t, m), string(v.Value), "")
				}
			}
			continue
		}
		data := packettest.Unhex(t, v.Hex)
		p, status := f.program(t, v.Group, data)
		var rec, in, out codec.Record
		if p != nil {
			p.Decode(&rec, data)
			status = rec.Status()
		}
		want := map[string]codec.Status{"ok": codec.OK, "incomplete": codec.Incomplete, "illegal": codec.Illegal}[v.Outcome]
		if status != want {
			t.Errorf("%s: %v, want %v: %s", at, status, want, v.Hex)
		}
		if want != codec.OK || status != want {
			continue
		}
		if rec.Used != v.Consumed {
			t.Errorf("%s: used %d, want %d", at, rec.Used, v.Consumed)
		}
		if got := value.AppendJSON(nil, &rec); !sameJSON(t, got, v.Value) {
			t.Errorf("%s:\n got %s\nwant %s", at, got, v.Value)
		}
		if err := value.ParseJSON(&in, p, v.Value); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		in.Code = rec.Code
		for _, src := range []*codec.Record{&in, &rec} {
			if err := p.Encode(&out, src); err != nil || !bytes.Equal(out.Data, data[:v.Consumed]) {
				t.Errorf("%s: %v\n got %x\nwant %s", at, err, out.Data, v.Hex)
			}
		}
		prefixes(t, p, data[:v.Consumed])
	}
	if ran["ok"] < 14 || ran["illegal"] < 13 || ran["incomplete"] < 90 {
		t.Errorf("ran %v", ran)
	}
}
