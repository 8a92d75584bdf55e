package protodef_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// message compiles a container of one field x of a type.
func compile(t testing.TB, typ string) *codec.Program {
	t.Helper()
	text := `{"types": {"m": ["container", [{"name": "x", "type": ` + typ + `}]]}}`
	s, diags := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
	if len(diags) > 0 || len(s.Messages) != 1 {
		t.Fatalf("%s: %d messages\n%s", typ, len(s.Messages), diags.Render())
	}
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTypes decodes and encodes a message of each type.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ name, typ, hex, json string }{
		{"varint", `"varint"`, "ac02", `300`},
		{"negative varint", `"varint"`, "ffffffff0f", `-1`},
		{"varlong", `"varlong"`, "ffffffffffffffffff01", `"-1"`},
		{"zigzag", `"zigzag32"`, "03", `-2`},
		{"zigzag64", `"zigzag64"`, "feffffffffffffffff01", `"9223372036854775807"`},
		{"sleb", `"sleb32"`, "80ff7e", `-16512`},
		{"big varint", `"varintbe"`, "8100", `128`},
		{"24 bits", `"i24"`, "fffffe", `-2`},
		{"40 bits, little-endian", `"lu40"`, "0102030405", `"21542142465"`},
		{"56 bits", `"i56"`, "80000000000000", `"-36028797018963968"`},
		{"half", `"f16"`, "c000", `-2`},
		{"small half", `"f16"`, "0001", `5.960464477539063e-08`},
		{"bool", `"bool"`, "01", `true`},
		{"UUID", `"UUID"`, "00112233445566778899aabbccddeeff", `"00112233-4455-6677-8899-aabbccddeeff"`},
		{"string", `["pstring", {"countType": "varint"}]`, "03616263", `"abc"`},
		{"two-byte characters", `["pstring", {"countType": "u8", "encoding": "utf-16le"}]`, "0461003012", `"aሰ"`},
		{"big-endian characters", `["pstring", {"countType": "u8", "encoding": "utf-16be"}]`, "06006130" + "42d83d", `"aあ\ud83d"`},
		{"code page", `["pstring", {"countType": "u8", "encoding": "windows-1251"}]`, "03c4e0ff", `"Дая"`},
		{"multi-byte", `["pstring", {"countType": "u8", "encoding": "shift_jis"}]`, "0593fa967b80", `"日本\udc80"`},
		{"fixed", `["pstring", {"count": 3}]`, "616200", `"ab\u0000"`},
		{"padded", `["pstring", {"count": 5, "pad": 32}]`, "6162202020", `"ab"`},
		{"line", `["cstring", {"terminator": 10}]`, "61620a", `"ab"`},
		{"buffer", `["buffer", {"countType": "u16"}]`, "0002cafe", `"cafe"`},
		{"missing", `["option", "varint"]`, "00", `null`},
		{"present", `["option", "varint"]`, "0105", `5`},
		{"array", `["array", {"countType": "varint", "type": ["option", "u8"]}]`, "03000107" + "00", `[null,7,null]`},
		{"fixed array", `["array", {"count": 2, "type": "u16"}]`, "00010002", `[1,2]`},
		{"rest", `["array", {"rest": true, "type": "varint"}]`, "01ac0203", `[1,300,3]`},
		{"mapper", `["mapper", {"type": "varint", "mappings": {"0": "a", "0x1f": "b"}}]`, "1f", `"b"`},
		{"unknown to a mapper", `["mapper", {"type": "u8", "mappings": {"0": "a"}}]`, "05", `5`},
		{"bits", `["bitfield", [{"name": "a", "size": 3, "signed": true}, {"name": "b", "size": 10, "signed": false}]]`, "fff8", `{"a":-1,"b":1023}`},
		{"bits across bytes", `["bitfield", [{"name": "a", "size": 3, "signed": false}, {"name": "b", "size": 10, "signed": false}]]`, "2018", `{"a":1,"b":3}`},
		{"bits from the other end", `["bitfieldLE", [{"name": "a", "size": 3, "signed": false}, {"name": "b", "size": 10, "signed": false}]]`, "1900", `{"a":1,"b":3}`},
		{"flags", `["bitflags", {"type": "u8", "flags": ["a", "b", "c"]}]`, "0d", `{"_value":13,"a":true,"b":false,"c":true}`},
		{"masks", `["bitflags", {"type": "varint", "flags": {"a": 1, "ab": 3, "odd": 5}}]`, "05", `{"_value":5,"a":true,"ab":false,"odd":true}`},
		{
			"switch", `["container", [{"name": "k", "type": "u8"}, {"name": "v", "type": ["switch", {"compareTo": "k", "fields": {"1": "u16", "2": ["container", [{"name": "w", "type": "u8"}]]}, "default": "void"}]}]]`,
			"02" + "09", `{"k":2,"v":{"w":9}}`,
		},
		{
			"switch without a name", `["container", [{"name": "k", "type": "u8"}, {"anon": true, "type": ["switch", {"compareTo": "k", "fields": {"2": ["container", [{"name": "w", "type": "u8"}]]}}]}, {"name": "z", "type": "u8"}]]`,
			"020908", `{"k":2,"w":9,"z":8}`,
		},
		{
			"switch on a text", `["container", [{"name": "k", "type": ["pstring", {"countType": "u8"}]}, {"name": "v", "type": ["switch", {"compareTo": "k", "fields": {"n": "u16"}, "default": "u8"}]}]]`,
			"016e0102", `{"k":"n","v":258}`,
		},
		{
			"expression", `["container", [{"name": "a", "type": "u8"}, {"name": "b", "type": "u8"}, {"name": "v", "type": ["switch", {"compareTo": "a > 3 || b == 7", "fields": {"true": "u16"}}]}]]`,
			"0007" + "0001", `{"a":0,"b":7,"v":1}`,
		},
		{
			"count before", `["container", [{"name": "n", "type": ["count", {"type": "u8", "countFor": "l"}]}, {"name": "m", "type": "u8"}, {"name": "l", "type": ["array", {"count": "n", "type": "u8"}]}]]`,
			"0205" + "0102", `{"n":2,"m":5,"l":[1,2]}`,
		},
		{"top bit", `["topBitSetTerminatedArray", {"type": ["container", [{"name": "a", "type": "i8"}, {"name": "b", "type": "u8"}]]}]`, "81020304", `[{"a":1,"b":2},{"a":3,"b":4}]`},
		{"loop", `["entityMetadataLoop", {"endVal": 255, "type": ["container", [{"name": "a", "type": "u8"}, {"name": "b", "type": "varint"}]]}]`, "0182010302ff", `[{"a":1,"b":130},{"a":3,"b":2}]`},
		{"encapsulated", `["encapsulated", {"lengthType": "varint", "type": ["container", [{"name": "a", "type": "u8"}]]}]`, "0107", `{"a":7}`},
		{"encapsulated nothing", `["encapsulated", {"lengthType": "varint", "type": ["container", [{"name": "a", "type": "u8"}]]}]`, "00", `null`},
		{"holder", `["registryEntryHolder", {"baseName": "id", "otherwise": {"name": "data", "type": "u8"}}]`, "08", `{"id":7}`},
		{"held", `["registryEntryHolder", {"baseName": "id", "otherwise": {"name": "data", "type": "u8"}}]`, "0009", `{"data":9}`},
		{"set", `["registryEntryHolderSet", {"base": {"name": "tag", "type": "u8"}, "otherwise": {"name": "ids", "type": "varint"}}]`, "030102", `{"ids":[1,2]}`},
		{"named set", `["registryEntryHolderSet", {"base": {"name": "tag", "type": "u8"}, "otherwise": {"name": "ids", "type": "varint"}}]`, "0005", `{"ids":null,"tag":5}`},
		{"const", `["container", [{"anon": true, "type": ["const", {"hex": "cafe"}]}, {"name": "a", "type": "u8"}]]`, "cafe05", `{"a":5}`},
		{"align", `["container", [{"name": "a", "type": ["pstring", {"countType": "u8"}]}, {"anon": true, "type": ["align", 4]}, {"name": "b", "type": "u8"}]]`, "0161000007", `{"a":"a","b":7}`},
		{"up to a zero", `["array", {"type": "varint", "until": "_ == 0"}]`, "01ac0200", `[1,300,0]`},
		{"up to a flag", `["array", {"type": ["bitflags", {"type": "u8", "flags": ["a", "end"]}], "until": "_.end"}]`, "0102", `[{"_value":1,"a":true,"end":false},{"_value":2,"a":false,"end":true}]`},
		{
			"up to an element", `["container", [{"name": "stop", "type": "u8"}, {"name": "l", "type": ["array", {"type": ["container", [{"name": "a", "type": "u8"}, {"name": "s", "type": ["pstring", {"countType": "u8"}]}]], "until": "a == stop"}]}, {"name": "z", "type": "u8"}]]`,
			"07" + "050178" + "0700" + "09", `{"stop":7,"l":[{"a":5,"s":"x"},{"a":7,"s":""}],"z":9}`,
		},
		{
			"computed", `["container", [{"name": "w", "type": "u8"}, {"name": "h", "type": "i8"}, {"name": "area", "type": ["computed", {"value": "w * h"}]}, {"name": "flat", "type": ["computed", {"value": "h < 2"}]}, {"name": "z", "type": "u8"}]]`,
			"03fe09", `{"w":3,"h":-2,"area":-6,"flat":true,"z":9}`,
		},
		{
			"computed names", `["container", [{"name": "k", "type": "u8"}, {"name": "n", "type": ["computed", {"value": "k % 3", "type": ["mapper", {"type": "varint", "mappings": {"0": "a", "1": "b"}}]}]}, {"name": "v", "type": ["switch", {"compareTo": "n", "fields": {"b": "u16"}, "default": "void"}]}]]`,
			"040102", `{"k":4,"n":"b","v":258}`,
		},
		{
			"computed bits", `["container", [{"name": "k", "type": "u8"}, {"name": "n", "type": ["computed", {"value": "k - 6", "type": "u8"}]}, {"name": "l", "type": ["computed", {"value": "k - 6", "type": "i64"}]}]]`,
			"05", `{"k":5,"n":255,"l":"-1"}`,
		},
		{
			"computed count", `["container", [{"name": "n", "type": "u8"}, {"name": "c", "type": ["computed", {"value": "n * 2"}]}, {"name": "l", "type": ["array", {"count": "c", "type": "u8"}]}]]`,
			"010203", `{"n":1,"c":2,"l":[2,3]}`,
		},
		{"computed of an element", `["array", {"countType": "u8", "type": ["container", [{"name": "a", "type": "u8"}, {"name": "last", "type": ["computed", {"value": "a == 9"}]}]]}]`, "020109", `[{"a":1,"last":false},{"a":9,"last":true}]`},
		{
			"at", `["container", [{"name": "p", "type": "u8"}, {"name": "t", "type": ["at", {"position": "p", "type": ["pstring", {"countType": "u8"}]}]}, {"name": "z", "type": "u8"}]]`,
			"0209" + "0161", `{"p":2,"t":"a","z":9}`,
		},
		{
			"at and nothing", `["container", [{"name": "p", "type": "u8"}, {"name": "b", "type": ["at", {"position": "p", "type": ["buffer", {"count": "p"}]}]}, {"name": "z", "type": "u8"}]]`,
			"0009", `{"p":0,"b":"","z":9}`,
		},
		{
			"at from elements", `["array", {"countType": "u8", "type": ["container", [{"name": "o", "type": "u8"}, {"name": "s", "type": ["at", {"position": "o", "type": "cstring"}]}]]}]`,
			"020305" + "6100" + "6200", `[{"o":3,"s":"a"},{"o":5,"s":"b"}]`,
		},
		{
			"at from a group with a size", `["container", [{"name": "e", "type": ["encapsulated", {"lengthType": "u8", "type": ["container", [{"name": "o", "type": "u8"}, {"name": "v", "type": ["at", {"position": "o", "type": "u8"}]}]]}]}, {"name": "z", "type": "u8"}]]`,
			"0103" + "09" + "07", `{"e":{"o":3,"v":7},"z":9}`,
		},
		{
			"at and groups", `["container", [{"name": "g", "type": ["at", {"position": "2", "type": ["container", [{"name": "o", "type": "u8"}, {"name": "l", "type": ["at", {"position": "o", "type": ["array", {"countType": "u8", "type": "u8"}]}]}, {"name": "n", "type": "u8"}]]}]}, {"name": "v", "type": ["at", {"position": "g/o - 1", "type": ["option", "u8"]}]}, {"name": "k", "type": "u8"}, {"name": "m", "type": "u8"}]]`,
			"0708" + "0506" + "00" + "020102", `{"g":{"o":5,"l":[1,2],"n":6},"v":null,"k":7,"m":8}`,
		},
		{
			"tree", `"nbt"`, "0a0000" + "01000162" + "05" + "0900016c" + "03" + "00000001" + "00000009" + "00",
			`{"type":"compound","name":"","value":[{"type":"byte","name":"b","value":5},{"type":"list","name":"l","value":{"type":"int","value":[9]}}]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compile(t, c.typ)
			data, err := hex.DecodeString(c.hex)
			if err != nil {
				t.Fatal(err)
			}
			var rec, built, out codec.Record
			p.Decode(&rec, data)
			text := string(value.AppendJSON(nil, &rec))
			if want := `{"x":` + c.json + `}`; rec.Status() != codec.OK || rec.Used != len(data) || text != want {
				t.Fatalf("%s, %d of %d bytes: %s, want %s", rec.Status(), rec.Used, len(data), text, want)
			}
			for _, w := range rec.AllProblems() {
				t.Errorf("%s", w.Message(&rec))
			}
			if err := value.ParseJSON(&built, p, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := p.Encode(&out, &built); err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(out.Data); got != c.hex {
				t.Errorf("encoded %s", got)
			}
			if err := p.Encode(&out, &rec); err != nil || hex.EncodeToString(out.Data) != c.hex {
				t.Errorf("encoded again %x %v", out.Data, err)
			}
			for n := range data { // cut off
				p.Decode(&rec, data[:n])
				value.AppendJSON(nil, &rec)
				for l := range rec.Gaps() {
					_ = l
				}
			}
		})
	}
}

// TestBombs checks that hostile messages are bounded.
func TestBombs(t *testing.T) {
	for _, c := range []struct{ name, typ, hex string }{
		{"elements without bytes", `["array", {"countType": "varint", "type": "void"}]`, "ffffffff07"},
		{"lists in lists", `["array", {"countType": "varint", "type": ["array", {"countType": "varint", "type": "void"}]}]`, "ffffffff07" + strings.Repeat("ffffffff07", 100)},
		{"a deep tree", `"nbt"`, "0a0000" + strings.Repeat("0a0000", 100_000)},
		{"deep lists", `"nbt"`, "090000" + strings.Repeat("0900000001", 100_000)},
		{"empty values", `["entityMetadataLoop", {"endVal": 255, "type": "void"}]`, strings.Repeat("01", 1000)},
		{"elements without bytes and an end", `["array", {"type": ["container", []], "until": "0"}]`, "01"},
		{"a group at itself", `["array", {"rest": true, "type": ["container", [{"name": "o", "type": "u8"}, {"name": "l", "type": ["at", {"position": "o", "type": ["array", {"rest": true, "type": "u8"}]}]}]]}]`, strings.Repeat("00", 10_000)},
		{"endless elements", `["array", {"type": "u8", "until": "_ == 1"}]`, strings.Repeat("00", 100_000)},
	} {
		data, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		var rec codec.Record
		p := compile(t, c.typ)
		p.Decode(&rec, data)
		if len(rec.Nodes) > 1<<20 {
			t.Errorf("%s: %d nodes", c.name, len(rec.Nodes))
		}
		value.AppendJSON(nil, &rec)
	}
}

// TestEndings checks the values and the definitions of lists that a condition ends.
func TestEndings(t *testing.T) {
	p := compile(t, `["array", {"type": ["container", [{"name": "a", "type": "u8"}]], "until": "a == 0"}]`)
	var in codec.Record
	for text, want := range map[string]string{
		`{"x":[{"a":1},{"a":0}]}`:         "",
		`{"x":[{"a":1},{"a":0},{"a":0}]}`: "x[1]: this element meets the condition that ends the list, but it is not the last one",
		`{"x":[{"a":1},{"a":2}]}`:         "x[1]: the last element does not meet the condition that ends the list",
		`{"x":[]}`:                        "x: there are no elements, but the last one has to meet the condition that ends the list",
		`{}`:                              "x: there are no elements, but the last one has to meet the condition that ends the list",
	} {
		got := ""
		if err := value.ParseJSON(&in, p, []byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	var note string
	for _, row := range p.Layout() {
		note += row.Note
	}
	if note != "until x[].a == 0" {
		t.Errorf("the layout says %q", note)
	}
	checkMistakes(t, map[string]string{
		`["array", {"type": "u8", "until": "b == 0"}]`:                        `"b == 0" refers to "b", which is not an earlier number`,
		`["array", {"type": "u8", "until": "_ == 0", "count": 3}]`:            "an array has either a condition that ends it or a count",
		`["array", {"until": "_ == 0"}]`:                                      "an array with a condition needs a type and an expression",
		`["array", {"type": ["pstring", {"countType": "u8"}], "until": "_"}]`: `"_" is a text, not a number`,
		`["array", {"type": ["container", []], "until": "_ == 0"}]`:           `"_ == 0" refers to "_", which is not an earlier number`,
	})
}

// checkMistakes checks the message of the only mistake in the type of a field.
func checkMistakes(t *testing.T, want map[string]string) {
	t.Helper()
	for typ, message := range want {
		text := `{"types": {"m": ["container", [{"name": "x", "type": ` + typ + `}]]}}`
		_, diags := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
		if len(diags) != 1 || diags[0].Message != message {
			t.Errorf("%s:\n%s", typ, diags.Render())
		}
	}
}

// TestComputed checks values that are not sent: whatever they are given, and how layouts show them.
func TestComputed(t *testing.T) {
	p := compile(t, `["container", [{"name": "a", "type": "u8"}, {"name": "b", "type": ["computed", {"value": "a + 1"}]}, {"name": "c", "type": "u8"}]]`)
	var in, out, rec codec.Record
	for _, text := range []string{`{"x":{"a":1,"b":7,"c":3}}`, `{"x":{"a":1,"c":3}}`, `{"x":{"a":1,"b":{"odd":[]},"c":3}}`} {
		if err := value.ParseJSON(&in, p, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := p.Encode(&out, &in); err != nil || hex.EncodeToString(out.Data) != "0103" {
			t.Errorf("%s: %x, %v", text, out.Data, err)
		}
		p.Decode(&rec, out.Data)
		if got := string(value.AppendJSON(nil, &rec)); got != `{"x":{"a":1,"b":2,"c":3}}` {
			t.Errorf("%s: decoded %s", text, got)
		}
	}
	l, ok := rec.FindLeaf("x.b", codec.RoleValue, 8)
	if !ok || l.Len != 0 || l.Off != 8 || l.Raw != 2 || string(value.AppendLeaf(nil, &rec, l)) != "2" {
		t.Errorf("%+v", l)
	}
	if _, ok := rec.Written([]byte{1, 3}, l, 5); ok || rec.PatchNumber([]byte{1, 3}, l, 5) {
		t.Error("a computed number was written")
	}
	row := p.Layout()[1]
	if row.Offset != "" || row.MinBits != 0 || row.MaxBits != 0 || row.Note != "computed: x.a + 1" || row.Type != "computed<i32>" {
		t.Errorf("%+v", row)
	}
	if next := p.Layout()[2]; next.Offset != "1" {
		t.Errorf("%+v", next)
	}
	checkMistakes(t, map[string]string{
		`["computed", {"value": "y + 1"}]`:                                     `"y + 1" refers to "y", which is not an earlier number`,
		`["computed", {}]`:                                                     "a computed value needs an expression",
		`["computed", {"value": "1", "type": "f32"}]`:                          "a computed value is an integer or a bool",
		`["array", {"type": "u8", "countType": ["computed", {"value": "3"}]}]`: "a count is an integer",
	})
}

// TestPositions checks contents at computed positions: where decode finds them, and when they cannot be encoded.
func TestPositions(t *testing.T) {
	p := compile(t, `["container", [{"name": "p", "type": "u8"}, {"name": "t", "type": ["at", {"position": "p - 1", "type": ["pstring", {"countType": "u8"}]}]}, {"name": "z", "type": "u8"}]]`)
	var in, out, rec codec.Record
	for _, c := range []struct{ hex, json, problem, encode string }{
		{"0309" + "0161", `{"p":3,"t":"a","z":9}`, "", ""},
		{"0309" + "0161" + "ff", `{"p":3,"t":"a","z":9}`, "1 byte left over after the message", ""},
		{"0409" + "ff" + "0161", `{"p":4,"t":"a","z":9}`, "1 byte that the definition does not explain", ""},
		{"0201", `{"p":2,"z":1}`, `truncated`, ""},
		{"0200", `{"p":2,"t":"","z":0}`, `"x.z" shares 1 byte with the count of "x.t"`, ""},
		{"0809", `{"p":8,"z":9}`, "the message is truncated after 2 bytes; at least 7 are needed", ""},
		{"0009", `{"p":0,"z":9}`, `"x.t" is at position -1, before the start of the message`, ""},
	} {
		data, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		p.Decode(&rec, data)
		if got := string(value.AppendJSON(nil, &rec)); got != `{"x":`+c.json+`}` {
			t.Errorf("%s: decoded %s", c.hex, got)
		}
		problems := ""
		for _, x := range rec.AllProblems() {
			problems += x.Message(&rec) + "\n"
		}
		if !strings.Contains(problems, c.problem) || c.problem == "" && problems != "" {
			t.Errorf("%s: %q", c.hex, problems)
		}
		if rec.Status() != codec.OK {
			continue
		}
		failed := ""
		if err := p.Encode(&out, &rec); err != nil {
			failed = err.Error()
		}
		if failed != c.encode {
			t.Errorf("%s: %q", c.hex, failed)
		}
	}
	for _, row := range p.Layout()[1:3] {
		if !strings.HasPrefix(row.Offset, "position + ") || row.Note != "position: x.p - 1" {
			t.Errorf("%+v", row)
		}
	}
	if next := p.Layout()[3]; next.Path != "x.z" || next.Offset != "1" {
		t.Errorf("%+v", next)
	}
	if least, most := p.Size(); least != 2 || most != -1 {
		t.Errorf("%d to %d bytes", least, most)
	}
	// Contents up to the end do not leave room for others.
	p = compile(t, `["container", [{"name": "p", "type": "u8"}, {"name": "t", "type": ["at", {"position": "p", "type": "u8"}]}, {"name": "z", "type": ["buffer", {"rest": true}]}]]`)
	if err := value.ParseJSON(&in, p, []byte(`{"x":{"p":3,"t":7,"z":"0102"}}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(&out, &in); err == nil || !strings.Contains(err.Error(), "x.z extends to the end of the message") {
		t.Error(err)
	}
	checkMistakes(t, map[string]string{
		`["at", {"position": "y", "type": "u8"}]`:                                  `"y" is not an earlier field with a value to compare with`,
		`["at", {"type": "u8"}]`:                                                   "contents at a position need an expression and a type",
		`["at", {"position": 3, "type": "void"}]`:                                  "there are no contents at the position",
		`["optionalOnRemaining", {"type": ["at", {"position": 3, "type": "u8"}]}]`: "contents at a position cannot be missing at the end of the message",
	})
}
