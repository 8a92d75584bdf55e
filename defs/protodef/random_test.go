package protodef_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// drawer makes random definitions: most are sound, and many combine what does not go together.
type drawer struct {
	*rand.Rand
	names []string
	n     int
}

func (d *drawer) of(words ...string) string { return words[d.IntN(len(words))] }

func (d *drawer) number() string {
	return `"` + d.of("u8", "i8", "u16", "i16", "lu16", "i32", "lu32", "i64", "lu64", "u24", "li40", "u56", "varint", "varlong", "varint64", "varint128", "zigzag32", "zigzag64", "sleb32",
		"varintbe", "bool", "f32", "lf64", "f16", "byterot") + `"`
}

// path is the name of an earlier field, or of none.
func (d *drawer) path() string {
	if len(d.names) == 0 || d.IntN(12) == 0 {
		return "nothing"
	}
	return d.of("", "", "../") + d.of(d.names...)
}

func (d *drawer) formula() string {
	switch d.IntN(4) {
	case 0:
		return d.of("0", "1", "3")
	case 1:
		return d.path() + d.of(" + ", " - ", " * ", " == ", " && ", " % ") + d.of("1", "2", d.path())
	case 2:
		return "!" + d.path()
	}
	return d.path()
}

// extent is the arguments that say how many units there are.
func (d *drawer) extent() string {
	switch d.IntN(6) {
	case 0:
		return fmt.Sprintf(`"count": %d`, d.IntN(4))
	case 1:
		return `"count": "` + d.formula() + `"`
	case 2:
		return `"rest": true`
	case 3:
		return `"countType": ` + d.number()
	}
	return `"countType": "` + d.of("varint", "u8", "i16") + `"`
}

func (d *drawer) fields(depth int) string {
	outer := d.names
	defer func() { d.names = outer }()
	d.names = d.names[:len(d.names):len(d.names)]
	var out []string
	for range 1 + d.IntN(4) {
		typ := d.typ(depth)
		if d.IntN(12) == 0 {
			if d.IntN(3) == 0 {
				typ = `["option", ["container", ` + d.fields(depth-1) + `]]`
			}
			out = append(out, `{"anon": true, "type": `+typ+`}`)
			continue
		}
		d.n++
		name := fmt.Sprintf("f%d", d.n)
		out = append(out, `{"name": "`+name+`", "type": `+typ+`}`)
		d.names = append(d.names, name)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (d *drawer) typ(depth int) string {
	if depth <= 0 || d.IntN(3) == 0 {
		return d.number()
	}
	inner := func() string { return d.typ(depth - 1) }
	switch d.IntN(19) {
	case 0:
		return `["container", ` + d.fields(depth-1) + `]`
	case 1:
		return fmt.Sprintf(`["switch", {"compareTo": "%s", "fields": {"%s": %s, "%s": %s}, "default": %s}]`, d.formula(), d.of("0", "a", "true"), inner(), d.of("1", "b", "false"), inner(), d.of(`"void"`, inner()))
	case 2, 3:
		return `["option", ` + d.of(inner(), `"void"`) + `]`
	case 4, 5:
		return `["array", {` + d.extent() + `, "type": ` + inner() + `}]`
	case 6:
		return `["array", {"until": "` + d.of("_ == 0", d.formula()) + `", "type": ` + inner() + `}]`
	case 7:
		return `["mapper", {"type": ` + d.number() + `, "mappings": {"0": "a", "1": "b", "2": "a"}}]`
	case 8:
		return fmt.Sprintf(`["%s", [{"name": "p", "size": %d, "signed": %s}, {"name": "q", "size": %d, "signed": false}]]`, d.of("bitfield", "bitfieldLE"), 1+d.IntN(40), d.of("true", "false"), 1+d.IntN(64))
	case 9:
		if d.IntN(3) == 0 {
			return `["bitflags", {"type": "varint128", "shift": true, "flags": {"x": 0, "y": 63, "z": 64, "w": 127}}]`
		}
		return `["bitflags", {"type": ` + d.number() + `, "flags": ["x", "y", "z"]}]`
	case 10, 11:
		return `["pstring", {` + d.extent() + d.of("", "", `, "encoding": "utf-16le"`) + `}]`
	case 12:
		return `["buffer", {` + d.extent() + `}]`
	case 13:
		return `["topBitSetTerminatedArray", {"type": ` + d.of(inner(), `["container", [{"name": "t", "type": "i8"}]]`) + `}]`
	case 14:
		return `["entityMetadataLoop", {"endVal": 255, "type": ` + inner() + `}]`
	case 15:
		return `["encapsulated", {"lengthType": ` + d.number() + `, "type": ` + d.of(inner(), `"void"`) + `}]`
	case 16:
		return `["compressed", {"method": "zlib", "lengthType": ` + d.number() + `, "type": ` + inner() + `}]`
	case 17:
		return d.of(`["computed", {"value": "`+d.formula()+`"}]`, `["at", {"position": "`+d.formula()+`", "type": `+inner()+`}]`, `["const", {"hex": "ca"}]`, `["align", 4]`)
	}
	return d.of(`"nbt"`, `"anonOptionalNbt"`, `"UUID"`, `"cstring"`, `"restBuffer"`, `"lpVec3"`, `["optionalOnRemaining", {"type": `+inner()+`}]`, `"enum_size_based_on_values_len"`)
}

// draw compiles a random definition. ok is false if check refuses it.
func draw(t testing.TB, seed uint64) (text string, m *schema.Message, ok bool) {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 30))}
	text = `{"types": {"m": ["container", ` + d.fields(4) + `]}}`
	s, diags := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
	for _, x := range diags {
		if x.Code == "not-compiled" {
			t.Logf("%s\n%s", text, x.Message)
			notCompiled++
		}
	}
	if diags.HasErrors() || len(s.Messages) != 1 {
		return text, nil, false
	}
	return text, s.Messages[0], true
}

var notCompiled int // definitions that only the general check of layouts refuses

// TestRefused: what used to be accepted and did not compile, or vanished, is named where it stands.
func TestRefused(t *testing.T) {
	for fields, want := range map[string]string{
		`{"name": "l", "type": ["array", {"rest": true, "type": "u8"}]}, {"name": "x", "type": ["computed", {"value": "l + 1"}]}`:         "bad-expression",
		`{"name": "f", "type": "f32"}, {"name": "x", "type": ["computed", {"value": "f + 1"}]}`:                                           "bad-expression",
		`{"name": "f", "type": "byterot"}, {"name": "x", "type": ["switch", {"compareTo": "f", "fields": {"1": "u8"}}]}`:                  "bad-compare",
		`{"name": "t", "type": ["pstring", {"count": 2}]}, {"name": "x", "type": ["switch", {"compareTo": "t", "fields": {"ab": "u8"}}]}`: "bad-compare",
		`{"name": "x", "type": ["encapsulated", {"lengthType": "f32", "type": "u8"}]}`:                                                    "an encapsulated value is an integer",
		`{"name": "x", "type": ["encapsulated", {"lengthType": ["container", []], "type": "u8"}]}`:                                        "an encapsulated value is an integer",
		`{"name": "x", "type": ["compressed", {"method": "zlib", "lengthType": "f32", "type": "u8"}]}`:                                    "a compressed value is an integer",
		`{"name": "x", "type": ["pstring", {"count": 3, "encoding": "utf-16le"}]}`:                                                        "whole characters",
		`{"name": "x", "type": ["optionalOnRemaining", {"type": ["align", 4]}]}`:                                                          "does not show",
		`{"anon": true, "type": ["option", "void"]}`:                                                                                      "no field that shows",
		`{"name": "x", "type": ["int", {"size": 9}]}`:                                                                                     "an integer has 1 to 8 bytes",
		`{"name": "x", "type": ["array", {"countType": "enum_size_based_on_values_len", "type": "u8"}]}`:                                  "values_len",
	} {
		text := `{"types": {"m": ["container", [` + fields + `]]}}`
		_, diags := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
		if !diags.HasErrors() || !strings.Contains(diags.Render(), want) {
			t.Errorf("%s: want %q\n%s", fields, want, diags.Render())
		}
	}
	p := compile(t, `["encapsulated", {"lengthType": "u8", "type": "void"}]`) // its size does not vanish
	var rec codec.Record
	p.Decode(&rec, []byte{0})
	if got := string(value.AppendJSON(nil, &rec)); rec.Used != 1 || got != `{"x":null}` {
		t.Errorf("encapsulated void: %d bytes, %s", rec.Used, got)
	}
}

// TestNumberOver64Bits: a number that does not fit is an error, never another number.
func TestNumberOver64Bits(t *testing.T) {
	for _, c := range []struct{ typ, hex, value string }{
		{"varint128", "8080808080808080808207", `"8282588089095588675584"`},
		{"varint128", "8080808080808080800207", `"18446744073709551616"`},
		{"varint128", "80808080808080808002", `"18446744073709551616"`},
		{"varint128", "ffffffffffffffffffffffffffffffffffff03", `"340282366920938463463374607431768211455"`},
		{"varint128", "ffffffffffffffffffffffffffffffffffff04", ""},
		{"varint128", "8080808080808080800107", `"9223372036854775808"`},
		{"varint64", "ffffffffffffffffff03", ""},
		{"varint64", "ffffffffffffffffff01", `"18446744073709551615"`},
		{"zigzag64", "80808080808080808002", ""},
		{"varintbe64", "8280808080808080807f", ""},
		{"varintbe64", "81ffffffffffffffff7f", `"18446744073709551615"`},
	} {
		p := compile(t, `"`+c.typ+`"`)
		data, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		var rec codec.Record
		p.Decode(&rec, data)
		text, got := view.Transcript(&rec), string(value.AppendJSON(nil, &rec))
		switch {
		case c.value != "" && (rec.Status() != codec.OK || got != `{"x":`+c.value+`}`):
			t.Errorf("%s %s: %s\n%s", c.typ, c.hex, got, text)
		case c.value != "":
			if reason, ok := survives(t, c.typ, p, data); reason != "" || !ok || !strings.Contains(text, strings.Trim(c.value, `"`)) {
				t.Errorf("%s %s: %s\n%s", c.typ, c.hex, reason, text)
			}
		case c.value == "" && (rec.Status() != codec.Illegal || !strings.Contains(text, "has more than ")):
			t.Errorf("%s %s: %s\n%s", c.typ, c.hex, got, text)
		}
	}
}

// TestLongNumbers: the upper bits of a number of up to 128 bits are in every walk, or the walk says that it cannot have them.
func TestLongNumbers(t *testing.T) {
	const flags = `["bitflags", {"type": "varint128", "flags": [` // 65 flags, as player_auth_input has
	list := make([]string, 65)
	for i := range list {
		list[i] = fmt.Sprintf(`"f%d"`, i)
	}
	typ := `["container", [{"name": "n", "type": "varint128"}, {"name": "b", "type": ` + flags + strings.Join(list, ",") + `]}]},
		{"name": "s", "type": ["switch", {"compareTo": "b.f1", "fields": {"true": "u8"}, "default": "void"}]}]]`
	p := compile(t, typ)
	for _, c := range []struct {
		hex, n, all string
		f64, f1     bool
	}{
		{"80808080808080808002" + "82808080808080808002" + "09", "18446744073709551616", "18446744073709551618", true, true},
		{"8080808080808080808207" + "80808080808080808002", "8282588089095588675584", "18446744073709551616", true, false},
		{"05" + "0209", "5", "2", false, true},
	} {
		data, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		var rec, in, out codec.Record
		p.Decode(&rec, data)
		if reason, ok := survives(t, typ, p, data); reason != "" || !ok {
			t.Errorf("%s: %s", c.hex, reason)
		}
		got, text := string(value.AppendJSON(nil, &rec)), view.Transcript(&rec)
		for _, want := range []string{`"n":"` + c.n + `"`, `"_value":"` + c.all + `"`, fmt.Sprintf(`"f64":%v`, c.f64), fmt.Sprintf(`"f1":%v`, c.f1), `"f63":false`} {
			if !strings.Contains(got, want) || want[1] == 'n' && !strings.Contains(text, c.n) {
				t.Errorf("%s: no %s in %s\n%s", c.hex, want, got, text)
			}
		}
		// Flags alone give the same bits.
		names := fmt.Sprintf(`{"x":{"n":%q,"b":{"f1":%v,"f64":%v}`, c.n, c.f1, c.f64)
		if c.f1 {
			names += `,"s":9`
		}
		err = value.ParseJSON(&in, p, []byte(names+`}}`))
		if err == nil {
			err = p.Encode(&out, &in)
		}
		if err != nil || !bytes.Equal(out.Data, data) {
			t.Errorf("%s encodes as %x: %v", names, out.Data, err)
		}
	}
	var in codec.Record
	for _, bad := range []string{`"340282366920938463463374607431768211456"`, `"-1"`, `"1x"`, `1.5`} {
		if err := value.ParseJSON(&in, p, []byte(`{"x":{"n":`+bad+`}}`)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	// Where another field depends on the number, more than 64 bits are an error.
	p = compile(t, `["container", [{"name": "n", "type": "varint128"}, {"name": "s", "type": ["switch", {"compareTo": "n", "fields": {"1": "u8"}, "default": "void"}]}]]`)
	if p.Decode(&in, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2}); in.Status() != codec.Illegal || !strings.Contains(view.Transcript(&in), "more than 64 bits") {
		t.Error(view.Transcript(&in))
	}
	_, diags := protodef.Parse([]*source.File{source.New("m.json", `{"types": {"m": ["container", [{"name": "x", "type": ["bitflags", {"type": "u8", "flags": ["a","b","c","d","e","f","g","h","i"]}]}]]}}`)}, schema.Options{})
	if !strings.Contains(diags.Render(), `flag "i" is beyond the 8 bits`) {
		t.Error(diags.Render())
	}
}

// TestComputedCounts: a number that is missing, and that determines how many units there are, is computed from them.
func TestComputedCounts(t *testing.T) {
	for _, c := range []struct{ number, contents, json, hex string }{
		{`"u8"`, `["array", {"count": "n", "type": "u8"}]`, `"x":[1,2]`, "020102"},
		{`"u8"`, `["array", {"count": "n + 1", "type": "u8"}]`, `"x":[1,2]`, "010102"},
		{`"u8"`, `["array", {"count": "n - 1", "type": "u8"}]`, `"x":[1,2]`, "030102"},
		{`"u8"`, `["array", {"count": "n - 1", "type": "u8"}]`, ``, "01"},
		{`"i8"`, `["array", {"count": "3 - n", "type": "u8"}]`, `"x":[1,2,3,4]`, "ff01020304"},
		{`"u8"`, `["array", {"count": "n * 2", "type": "u8"}]`, `"x":[1,2]`, "010102"},
		{`"u8"`, `["array", {"count": "(n + 1) * 2", "type": "u8"}]`, `"x":[1,2,3,4]`, "0101020304"},
		{`"u8"`, `["array", {"count": "-n + 2", "type": "u8"}]`, `"x":[1]`, "0101"},
		{`"varint"`, `["buffer", {"count": "n - 2"}]`, `"x":"ab"`, "03ab"},
		{`"varint"`, `["pstring", {"count": "n + 1"}]`, `"x":"Ä"`, "01c384"},
		{`"u8"`, `["pstring", {"count": "n", "encoding": "utf-16le"}]`, `"x":"ab"`, "0461006200"},
		{`"u8"`, `["pstring", {"count": "n - 1", "encoding": "utf-16le"}]`, `"x":"a"`, "036100"},
		{`["mapper", {"type": "u8", "mappings": {"3": "three"}}]`, `["array", {"count": "n - 1", "type": "u8"}]`, `"x":[1,2]`, "030102"},
		{`"u8"`, `["array", {"count": "n * 2", "type": "u8"}]`, `"x":[1]`, "no value of the field gives a count of 1"},
		{`"u8"`, `["array", {"count": "n + 3", "type": "u8"}]`, `"x":[1]`, "-2 does not fit"},
		{`"u8"`, `["array", {"count": "n * n", "type": "u8"}]`, `"x":[1]`, "where 0 are needed"},
		{`"u8"`, `["array", {"count": "n - 1", "type": "u8"}]`, `"n":2,"x":[1,2]`, "where 1 are needed"},
	} {
		p := compile(t, `["container", [{"name": "n", "type": `+c.number+`}, {"name": "x", "type": `+c.contents+`}]]`)
		var in, out codec.Record
		err := value.ParseJSON(&in, p, []byte(`{"x":{`+c.json+`}}`))
		if err == nil {
			err = p.Encode(&out, &in)
		}
		if got := fmt.Sprintf("%x %v", out.Data, err); !strings.Contains(got, c.hex) || err == nil && got != c.hex+" <nil>" {
			t.Errorf("%s, %s: %s gives %s, want %s", c.number, c.contents, c.json, got, c.hex)
		}
	}
}

// TestAnonOption: the members of an option without a name are written if any of them is given.
func TestAnonOption(t *testing.T) {
	for _, inner := range []string{`["container", [{"name": "a", "type": "u8"}, {"name": "b", "type": "varint"}]]`} {
		p := compile(t, `["container", [{"name": "k", "type": "u8"}, {"anon": true, "type": ["option", `+inner+`]}]]`)
		for _, c := range []string{"0700", "07010203"} {
			data, err := hex.DecodeString(c)
			if err != nil {
				t.Fatal(err)
			}
			if reason, ok := survives(t, inner, p, data); reason != "" || !ok {
				t.Errorf("%s: %s", c, reason)
			}
		}
	}
}

// TestValuesOfOptionsAndNames: an option that is present but empty is not one that is missing, and one of several numbers with a name is itself.
func TestValuesOfOptionsAndNames(t *testing.T) {
	const twice = `["mapper", {"type": "u8", "mappings": {"0": "a", "1": "b", "2": "a"}}]`
	const members = `["container", [{"name": "a", "type": "u8"}, {"anon": true, "type": ["option", ["container", [{"name": "b", "type": "u8"}]]]}]]`
	for _, c := range []struct{ typ, hex, json string }{
		{twice, "00", `0`},
		{twice, "01", `"b"`},
		{twice, "02", `"a"`},
		{twice, "03", `3`},
		{`["mapper", {"type": "u64", "mappings": {"0": "1", "1": "0", "7": "5"}}]`, "0000000000000005", `5`},
		{`["mapper", {"type": "u64", "mappings": {"0": "1", "1": "0", "7": "5"}}]`, "0000000000000007", `"5"`},
		{`["mapper", {"type": "u64", "mappings": {"0": "1", "1": "0", "7": "5"}}]`, "0000000000000004", `"4"`},
		{`["option", "void"]`, "00", `null`},
		{`["option", "void"]`, "01", `{}`},
		{`["option", ["container", []]]`, "01", `{}`},
		{`["option", ["const", {"hex": "ca"}]]`, "01ca", `{}`},
		{`["option", ["option", "void"]]`, "00", `null`},
		{`["option", ["option", "void"]]`, "0100", `{"":null}`},
		{`["option", ["option", "void"]]`, "0101", `{}`},
		{`["option", ["option", ["option", "u8"]]]`, "010100", `{"":{"":null}}`},
		{`["option", ["option", ["option", "u8"]]]`, "01010105", `5`},
		{`["option", "compressedNbt"]`, "01ffff", `{"":null}`},
		{`["array", {"countType": "u8", "type": ["option", "void"]}]`, "03000100", `[null,{},null]`},
		{`["container", [{"anon": true, "type": ["option", ` + members + `]}]]`, "0107010a", `{"a":7,"b":10}`},
		{`["container", [{"anon": true, "type": ["option", ["container", [{"name": "b", "type": ["option", "u8"]}]]]}]]`, "0100", `{"b":null}`},
	} {
		p := compile(t, c.typ)
		data, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		var rec codec.Record
		if p.Decode(&rec, data); string(value.AppendJSON(nil, &rec)) != `{"x":`+c.json+`}` {
			t.Errorf("%s %s: %s, want %s", c.typ, c.hex, value.AppendJSON(nil, &rec), c.json)
		}
		if reason, ok := survives(t, c.typ, p, data); reason != "" || !ok {
			t.Errorf("%s %s: %s", c.typ, c.hex, reason)
		}
	}
}

// tagTree draws a tag tree as node-protodef has it (an object of tags by name, integers of 64 bits in halves) and as this package shows it.
func (d *drawer) tagTree(kind string, depth int) (node, own string) {
	list := func(n int, kind string) (node, own string) {
		var a, b []string
		for range n {
			x, y := d.tagTree(kind, depth-1)
			a, b = append(a, x), append(b, y)
		}
		return "[" + strings.Join(a, ",") + "]", "[" + strings.Join(b, ",") + "]"
	}
	same := func(text string) (node, own string) { return text, text }
	kinds := []string{"byte", "short", "int", "long", "float", "double", "byteArray", "string", "intArray", "longArray", "list", "compound"}
	if depth <= 0 {
		kinds = kinds[:10]
	}
	switch kind {
	case "byte", "short", "int":
		return same(fmt.Sprint(d.IntN(256) - 128))
	case "float", "double":
		return same(fmt.Sprint(float64(d.IntN(64)) / 4))
	case "long":
		v := int64(d.Uint64())
		low := fmt.Sprint(int32(v))
		if d.IntN(2) == 0 {
			low = fmt.Sprint(uint32(v))
		}
		return fmt.Sprintf("[%d,%s]", v>>32, low), fmt.Sprintf(`"%d"`, v)
	case "byteArray":
		return list(d.IntN(3), "byte")
	case "intArray":
		return list(d.IntN(3), "int")
	case "longArray":
		return list(d.IntN(3), "long")
	case "string":
		return same(d.of(`""`, `"a"`, `"Ä\n"`))
	case "list":
		of := d.of(kinds...)
		node, own = list(d.IntN(3), of)
		return fmt.Sprintf(`{"type":"%s","value":%s}`, of, node), fmt.Sprintf(`{"type":"%s","value":%s}`, of, own)
	}
	var a, b []string
	for i := range d.IntN(4) {
		of, name := d.of(kinds...), fmt.Sprintf(`"%sn%d"`, d.of("", "ä", `\"`), i)
		x, y := d.tagTree(of, depth-1)
		a = append(a, fmt.Sprintf(`%s:{"type":"%s","value":%s}`, name, of, x))
		b = append(b, fmt.Sprintf(`{"type":"%s","name":%s,"value":%s}`, of, name, y))
	}
	return "{" + strings.Join(a, ",") + "}", "[" + strings.Join(b, ",") + "]"
}

// TestTagTreesOfNode: the values that node-protodef has for tag trees encode to the bytes of ours.
func TestTagTreesOfNode(t *testing.T) {
	d := &drawer{Rand: rand.New(rand.NewPCG(30, 5))}
	for i := range 600 {
		typ := []string{"nbt", "lnbt", "anonymousNbt", "optionalNbt", "compressedNbt"}[i%5]
		p := compile(t, `"`+typ+`"`)
		name := `"name":"r",`
		if typ == "anonymousNbt" {
			name = ""
		}
		node, own := d.tagTree("compound", 4)
		var got [2][]byte
		for k, v := range []string{node, own} {
			var in, out codec.Record
			err := value.ParseJSON(&in, p, []byte(`{"x":{"type":"compound",`+name+`"value":`+v+`}}`))
			if err == nil {
				err = p.Encode(&out, &in)
			}
			if err != nil {
				t.Fatalf("%s %s: %v", typ, v, err)
			}
			got[k] = bytes.Clone(out.Data)
			if k == 1 {
				if back := string(value.AppendJSON(nil, &out)); back != `{"x":{"type":"compound",`+name+`"value":`+own+`}}` {
					t.Errorf("%s %s: decodes as %s", typ, own, back)
				}
			}
		}
		if !bytes.Equal(got[0], got[1]) {
			t.Fatalf("%s %s: %x\n%s: %x", typ, node, got[0], own, got[1])
		}
	}
	p := compile(t, `"nbt"`)
	for _, bad := range []string{`{"a":{"type":"int","name":"b","value":1}}`, `{"a":1}`, `{"a":{"type":"long","value":[1]}}`, `{"a":{"type":"long","value":[1,4294967296]}}`} {
		var in codec.Record
		if err := value.ParseJSON(&in, p, []byte(`{"x":{"type":"compound","name":"","value":`+bad+`}}`)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// TestRandomDefinitions: what check accepts compiles; each bit of a message is covered once; and a message without warnings survives its
// values. The reasons of those that do not are counted.
func TestRandomDefinitions(t *testing.T) {
	accepted, messages, whole := 0, 0, 0
	why := map[string]int{}
	const drawn = 4000
	for seed := range uint64(drawn) {
		text, m, ok := draw(t, seed)
		if !ok {
			continue
		}
		accepted++
		p, err := codec.Compile(m)
		if err != nil {
			t.Errorf("check accepts\n%s\nbut: %v", text, err)
			continue
		}
		rng := rand.New(rand.NewPCG(seed, 31))
		for k := range 6 {
			data := make([]byte, rng.IntN(120))
			for i := range data {
				if data[i] = byte(rng.Uint32() >> rng.IntN(24)); k >= 3 { // selectors and counts that occur
					data[i] = byte(rng.IntN(3) & rng.IntN(3))
				}
			}
			reason, ok := survives(t, text, p, data)
			if !ok {
				continue
			}
			messages++
			if reason == "" {
				whole++
			} else {
				why[reason]++
			}
		}
	}
	t.Logf("%d of %d accepted, %d refused only as a layout; %d of %d messages survive their values; others: %v", accepted, drawn, notCompiled, whole, messages, why)
	if accepted < drawn/20 || whole < accepted/2 {
		t.Error("too few for a test")
	}
}

// survives decodes bytes as a message, checks that its fields cover it, and encodes its values. ok is false if the bytes are no message; reason
// is why the values do not give the same bytes.
func survives(t *testing.T, text string, p *codec.Program, data []byte) (reason string, ok bool) {
	t.Helper()
	var rec, in, out codec.Record
	p.Decode(&rec, data)
	if rec.Status() != codec.OK {
		return "", false
	}
	if len(rec.Packs) == 0 {
		covered(t, text, &rec)
	}
	for _, x := range rec.AllProblems() {
		if x.Code != codec.LeftOver && x.Code != codec.NaNPayload {
			reason = x.Code.String()
		}
	}
	if reason == "" && rec.PaddingSet() {
		reason = "padding"
	}
	json := value.AppendJSON(nil, &rec)
	err := value.ParseJSON(&in, p, json)
	if err == nil {
		in.Code = rec.Code
		err = p.Encode(&out, &in)
	}
	switch {
	case err == nil && bytes.Equal(out.Data, data[:rec.Used]):
		return "", true
	case reason != "":
		return reason, true
	case err != nil && strings.Contains(err.Error(), "extends to the end of the message"): // text of two bytes, and one more byte
		return "after the end", true
	case err != nil && strings.Contains(err.Error(), "its position ("): // alignments that are not needed at another position
		return "position", true
	case err != nil:
		t.Errorf("%s\n%x: %s\n%v", text, data[:rec.Used], json, err)
		return "refused", true
	}
	t.Errorf("%s\n%x: %s\nencodes as %x", text, data[:rec.Used], json, out.Data)
	return "differs", true
}

// covered checks that the fields of a message cover each of its bits once, apart from those that share bytes.
func covered(t *testing.T, text string, rec *codec.Record) {
	t.Helper()
	seen, shared := make([]int, rec.Used*8), make([]bool, rec.Used*8)
	for _, f := range view.Fields(rec) {
		for at := f.BitOffset; at < f.BitOffset+f.BitLength && int(at) < len(seen); at++ {
			if shared[at] = shared[at] || f.Overlap; !f.Overlap {
				seen[at]++
			}
		}
	}
	for at, n := range seen {
		if n > 1 || n == 0 && !shared[at] {
			t.Errorf("%s\n%x: bit %d is in %d fields", text, rec.Data, at, n)
			return
		}
	}
}

// FuzzDefinition draws definitions and messages from any seed: what is accepted compiles, and its fields cover what is read.
func FuzzDefinition(f *testing.F) {
	f.Add([]byte("12345678"), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, seed, data []byte) {
		text, m, ok := draw(t, binary.LittleEndian.Uint64(append(seed, make([]byte, 8)...)))
		if !ok || len(data) > 1<<12 {
			return
		}
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatalf("check accepts\n%s\nbut: %v", text, err)
		}
		var rec codec.Record
		if p.Decode(&rec, data); rec.Status() == codec.OK && len(rec.Packs) == 0 {
			covered(t, text, &rec)
		}
	})
}
