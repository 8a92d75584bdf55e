package corpora

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf16"
)

// field is a field of a definition of TERA.
type field struct {
	kind string // a type, "array" or "object" with fields, or "list" of the kind elem
	elem string
	name string
	sub  []field
}

// message is a message of TERA with its value.
type message struct {
	name  string // of the definition, without ".def"
	code  int
	value any
	data  []byte
}

func (m message) dir() string {
	if strings.HasPrefix(m.name, "C_") {
		return "c2s"
	}
	return "s2c"
}

var fixedKinds = []string{"bool", "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double", "vec3"}

// fields makes a scope: variable fields last, as in libraries of the game.
func fields(rng *rand.Rand, prefix string, depth, most int) (out []field) {
	for i := range 1 + rng.IntN(most) {
		out = append(out, field{kind: fixedKinds[rng.IntN(len(fixedKinds))], name: fmt.Sprintf("%sn%d", prefix, i)})
	}
	for i := range rng.IntN(4) {
		f := field{name: fmt.Sprintf("%sv%d", prefix, i)}
		switch k := rng.IntN(8); {
		case k < 3:
			f.kind = "string"
		case k == 3:
			f.kind = "bytes"
		case k == 4:
			f.kind, f.elem = "list", append([]string{"string"}, fixedKinds...)[rng.IntN(1+len(fixedKinds))]
		case k == 5 && depth == 0:
			f.kind = "object"
			f.sub = []field{{kind: "int32", name: "id"}, {kind: "string", name: "title"}}
		case depth == 0:
			f.kind = "array"
			f.sub = fields(rng, fmt.Sprintf("%s%c", prefix, 'a'+i), depth+1, 3)
		default:
			f.kind = "string"
		}
		out = append(out, f)
	}
	return out
}

func definition(b *strings.Builder, fs []field, depth int) {
	for _, f := range fs {
		kind := f.kind
		if kind == "list" {
			kind = "array<" + f.elem + ">"
		}
		fmt.Fprintf(b, "%s%s %s\n", strings.Repeat("- ", depth), kind, f.name)
		definition(b, f.sub, depth+1)
	}
}

// random returns a value of a kind, as in JSON.
func random(rng *rand.Rand, f field) any {
	switch f.kind {
	case "bool":
		return rng.IntN(2) == 1
	case "byte":
		return rng.IntN(256)
	case "int16":
		return int(int16(rng.Uint32()))
	case "uint16":
		return rng.IntN(1 << 16)
	case "int32":
		return int(int32(rng.Uint32()))
	case "uint32":
		return int(rng.Uint32())
	case "int64":
		return strconv.FormatInt(int64(rng.Uint64()), 10)
	case "uint64":
		return strconv.FormatUint(rng.Uint64(), 10)
	case "float", "double":
		return float64(rng.IntN(4000)-2000) / 8
	case "vec3":
		at := field{kind: "float"}
		return row{"x": random(rng, at), "y": random(rng, at), "z": random(rng, at)}
	case "string":
		words := []string{"", "Aldor", "party of three", "ü한~ *", "\"quoted\" \\ line\n", "😀 x"}
		return words[rng.IntN(len(words))]
	case "bytes":
		b := make([]byte, rng.IntN(12))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return fmt.Sprintf("%x", b)
	case "array", "list":
		list := make([]any, rng.IntN(4))
		for i := range list {
			if f.kind == "list" {
				list[i] = random(rng, field{kind: f.elem})
			} else {
				list[i] = record(rng, f.sub)
			}
		}
		return list
	}
	return record(rng, f.sub)
}

func record(rng *rand.Rand, fs []field) row {
	out := row{}
	for _, f := range fs {
		out[f.name] = random(rng, f)
	}
	return out
}

// frame writes a message: length, code, and the scope of its body.
func frame(code int, fs []field, value row) []byte {
	b := scope([]byte{0, 0, byte(code), byte(code >> 8)}, fs, value)
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	return b
}

// pointer is a pointer that was written and the contents that it will lead to.
type pointer struct {
	at    int
	field field
	value any
}

// scope writes a scope: the pointers of all variable fields, those of objects too, then the fixed fields, then the contents.
func scope(b []byte, fs []field, value row) []byte {
	var all []pointer
	var pointers func(fs []field, value row)
	pointers = func(fs []field, value row) {
		for _, f := range fs {
			switch f.kind {
			case "object":
				pointers(f.sub, value[f.name].(row))
			case "string":
				all = append(all, pointer{len(b), f, value[f.name]})
				b = append(b, 0, 0)
			case "bytes", "array", "list":
				all = append(all, pointer{len(b), f, value[f.name]})
				b = append(b, 0, 0, 0, 0)
			}
		}
	}
	pointers(fs, value)
	var rest func(fs []field, value row)
	rest = func(fs []field, value row) {
		for _, f := range fs {
			if f.kind == "object" {
				rest(f.sub, value[f.name].(row))
			} else {
				b = fixed(b, f.kind, value[f.name])
			}
		}
	}
	rest(fs, value)
	put := func(at, n int) { binary.LittleEndian.PutUint16(b[at:], uint16(n)) }
	for _, p := range all {
		switch p.field.kind {
		case "string":
			put(p.at, len(b))
			b = text(b, p.value.(string))
		case "bytes":
			data := unhex(p.value.(string))
			put(p.at, len(b))
			put(p.at+2, len(data))
			b = append(b, data...)
		default:
			list := p.value.([]any)
			next := p.at + 2
			put(p.at, len(list))
			for _, e := range list {
				put(next, len(b))
				next = len(b) + 2
				b = binary.LittleEndian.AppendUint16(b, uint16(len(b)))
				b = append(b, 0, 0)
				switch {
				case p.field.kind == "array":
					b = scope(b, p.field.sub, e.(row))
				case p.field.elem == "string":
					b = text(binary.LittleEndian.AppendUint16(b, uint16(len(b)+2)), e.(string))
				default:
					b = fixed(b, p.field.elem, e)
				}
			}
		}
	}
	return b
}

func text(b []byte, s string) []byte {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return append(b, 0, 0)
}

// fixed writes a number, or nothing for a field with contents.
func fixed(b []byte, kind string, v any) []byte {
	size := map[string]int{"byte": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8}[kind]
	var n uint64
	switch v := v.(type) {
	case bool:
		if size = 1; v {
			n = 1
		}
	case int:
		n = uint64(v)
	case float64:
		if size, n = 8, math.Float64bits(v); kind == "float" {
			size, n = 4, uint64(math.Float32bits(float32(v)))
		}
	case string:
		if size > 0 {
			if signed, err := strconv.ParseInt(v, 10, 64); err == nil {
				n = uint64(signed)
			} else {
				n, _ = strconv.ParseUint(v, 10, 64)
			}
		}
	case row:
		if kind == "vec3" {
			return fixed(fixed(fixed(b, "float", v["x"]), "float", v["y"]), "float", v["z"])
		}
	}
	for range size {
		b, n = append(b, byte(n)), n>>8
	}
	return b
}

// wellKnown are definitions by name, before the random ones.
var wellKnown = []struct {
	name string
	code int
	fs   []field
}{
	{"C_CHECK_VERSION.1", 19900, []field{{kind: "array", name: "version", sub: []field{{kind: "uint32", name: "index"}, {kind: "uint32", name: "value"}}}}},
	{"S_CHECK_VERSION.1", 19901, []field{{kind: "byte", name: "ok"}}},
	{"S_LOGIN.1", 20000, []field{{kind: "uint64", name: "gameId"}, {kind: "string", name: "name"}}},
	{"S_LOGIN.2", 20000, []field{{kind: "uint64", name: "gameId"}, {kind: "int32", name: "level"}, {kind: "string", name: "name"}}},
	{"S_LOADING_SCREEN_CONTROL_INFO.1", 57315, []field{{kind: "bool", name: "customScreenEnabled"}}},
	{"C_GET_USER_LIST.1", 20002, nil},
	{"C_ACCEPT_CONTRACT.1", 20003, []field{{kind: "int32", name: "type"}, {kind: "int32", name: "id"}}},
	{"S_PARTY_MEMBER_LIST.9", 20004, []field{
		{kind: "bool", name: "raid"},
		{kind: "int64", name: "gameId"},
		{kind: "array", name: "members", sub: []field{{kind: "uint32", name: "playerId"}, {kind: "int32", name: "level"}, {kind: "bool", name: "online"}, {kind: "string", name: "name"}}},
	}},
	{"C_PARTY_INVITE.1", 20005, []field{{kind: "string", name: "name"}, {kind: "bytes", name: "data"}}},
	{"S_CHAT.4", 20006, []field{
		{kind: "int32", name: "channel"}, {kind: "uint64", name: "gameId"}, {kind: "bool", name: "gm"}, {kind: "string", name: "name"}, {kind: "string", name: "message"},
	}},
}

// places are the parts of names of messages.
var places = []string{"PARTY", "GUILD", "ITEM", "SKILL", "QUEST", "TRADE", "CHAT", "MOUNT", "DUEL", "MAP", "WEATHER", "FRIEND", "ACHIEVEMENT", "INVENTORY", "DUNGEON", "CREATURE", "EVENT"}

// Definitions returns a library of n definitions and more by name of file, which always begins with the same ones.
func Definitions(n int) map[string]string {
	files := map[string]string{}
	for _, d := range definitions(n) {
		files[d.name+".def"] = d.text()
	}
	return files
}

type defined struct {
	name string
	code int
	fs   []field
}

func (d defined) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", strings.ToLower(d.name))
	definition(&b, d.fs, 0)
	return b.String()
}

func definitions(n int) (out []defined) {
	for _, d := range wellKnown {
		out = append(out, defined(d))
	}
	rng := rand.New(rand.NewPCG(1, 29))
	for i := len(out); i < n; i++ {
		name := fmt.Sprintf("%c_%s_%s_%d.1", "CS"[i%2], places[i%len(places)], []string{"LIST", "UPDATE", "REQUEST", "RESULT"}[i%4], i)
		out = append(out, defined{name, 21000 + i, fields(rng, "", 0, 6)})
	}
	return out
}

// libraryOf is the number of definitions of the own library, and codesOf that of names in its code map.
const (
	librarySize = 70
	codesSize   = 400
)

// tera makes a library with a code map, and messages of all its definitions.
func (m *maker) tera() {
	const folder = "tera/toolbox/"
	m.codes = map[string]int{}
	rng := rand.New(rand.NewPCG(2, 29))
	var rows []row
	for _, d := range definitions(librarySize) {
		m.add(folder+"definitions/"+d.name+".def", []byte(d.text()))
		name, _, _ := strings.Cut(d.name, ".")
		m.codes[name] = d.code
		for range 4 {
			v := record(rng, d.fs)
			msg := message{d.name, d.code, v, frame(d.code, d.fs, v)}
			m.messages = append(m.messages, msg)
			rows = append(rows, row{"def": d.name + ".def", "opcode": d.code, "hex": fmt.Sprintf("%x", msg.data), "value": v})
		}
	}
	m.lines("tera/vectors-toolbox.jsonl", rows)
	for i := len(m.codes); i < codesSize; i++ {
		m.codes[fmt.Sprintf("S_UNWRITTEN_%d", i)] = 30000 + i
	}
	var b strings.Builder
	for i, name := range sorted(m.codes) {
		fmt.Fprintf(&b, []string{"%s %d\n", "%s = %d\n", "%s\t%d # a comment\n"}[i%3], name, m.codes[name])
	}
	m.add(folder+"protocol.387396.map", []byte(b.String()))
	m.json(folder+"deprecated.json", row{"S_LOGIN": row{"1": row{"max": 113, "readable": true}}})
	m.edgeCases()
}
