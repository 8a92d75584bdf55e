package corpora

import "encoding/hex"

// edgeCases makes odd definitions and messages. Their names are those of the tables in the tests, which say what they are read as.
func (m *maker) edgeCases() {
	var rows []row
	definitions := map[string]string{
		"array<bytes>":                "array<bytes> a",
		"array<object>":               "array<object> a",
		"array<foo>":                  "array<foo> a",
		"interleaved string":          "array<string>[interleaved] a",
		"interleaved not consecutive": "array[interleaved] a\n- int32 x\nint32 y\narray[interleaved] b\n- int32 z",
		"duplicate array":             "array a\n- byte x\narray a\n- byte y",
		"duplicate string":            "string s\nstring s",
		"duplicate scalar":            "int32 a\nint32 a",
		"a.b vs a_b":                  "string a_b\nobject a\n- string b",
		"re-opened object":            "object o\n- int32 a\nint32 x\nobject o\n- int32 b",
		"field under scalar":          "int32 a\n- int32 b",
		"first line nested":           "- int32 a",
		"depth jump":                  "array a\n- - int32 b",
		"ref in object unresolved":    "object o\n- ref s\n- string s",
		"unknown type":                "in32 a",
		"@include":                    "@include others.txt",
		"version suffix":              "int32 a ^86",
		"default value":               "int32 a=5",
		"spaces in subtype":           "array< int32 > a",
		"spaces in flags":             "array[ interleaved ] a\n- int32 x",
		"two flags":                   "array[interleaved,swift] a\n- int32 x",
		"fixed array":                 "byte[5] a",
		"nested subtype":              "array<array<int32>> a",
		"three words":                 "int32 a b",
		"one word":                    "int32",
		"dash forms":                  "array a\n-array b\n--int32 c\n- - int32 d\n- -int32 e\n- int32 f",
		"BOM/CRLF/tab/comment":        "\ufeffint32\ta # first\r\n\r\n  int32  b\r\n",
		"hash inside name":            "int32 a#b",
		"odd key":                     "int32 a-b",
		"reserved word key":           "bool continue",
		"object with subtype ignored": "object<int32> o\n- int32 a",
		"empty array":                 "array a",
		"empty object":                "object o",
		"ref without field":           "ref s\nint32 a",
		"upper-case type":             "INT32 a",
	}
	for _, name := range sorted(definitions) {
		rows = append(rows, row{"case": name, "op": "compile", "def_text": definitions[name]})
	}
	encode := func(name, text string, value row, hex string) {
		rows = append(rows, row{"case": name, "op": "encode", "def_text": text, "value": value, "toolbox": row{"hex": hex}})
	}
	encode("byte out of range", "byte x", row{"x": 256}, "")
	encode("int wrap", "int32 x", row{"x": 1 << 40}, "")
	encode("int64 wrap", "int64 x", row{"x": "9223372036854775808"}, "")
	encode("float overflow", "float x", row{"x": 1e39}, "")
	encode("bool truthiness", "bool x", row{"x": "yes"}, "")
	encode("skillid number", "skillid s", row{"s": 5}, "")
	encode("skillid32 number", "skillid32 s", row{"s": 5}, "")
	encode("embedded NUL", "string s", row{"s": "a\x00b"}, "")
	encode("missing float", "float x", row{}, "")
	encode("missing double", "double x", row{}, "")
	encode("vec3 with missing component", "vec3 v", row{"v": row{"x": 1, "y": 2}}, "")
	encode("dotted ref", "ref o.s\nint16 x\nobject o\n- string s", row{"x": 3, "o": row{"s": "q"}}, "")
	encode("nothing in text and bytes", "string s\nbytes b", row{"s": "", "b": ""}, "0c0034120a000c0000000000")
	encode("no element", "array a\n- byte x\nstring s", row{"a": []any{}, "s": "z"}, "0e003412000000000a007a000000")
	encode("pointers of objects, too", "string a\nobject o\n- string b\n- int32 n", row{"a": "x", "o": row{"b": "y", "n": 7}}, "140034120c00100007000000780000007900"+"0000")
	encode("pointers where they are declared", "ref b\nint32 x\nref a\nstring a\nstring b", row{"a": "x", "b": "y", "x": 1}, "14003412"+"1000"+"01000000"+"0c00"+"78000000"+"79000000")
	decode := func(name, text, data string, value row) {
		if _, err := hex.DecodeString(data); err != nil {
			panic(name)
		}
		rows = append(rows, row{"case": name, "op": "decode", "def_text": text, "hex": data, "toolbox": row{"value": value}})
	}
	decode("skillid all ones", "skillid s", "0c003412"+"ffffffffffffffff", nil)
	decode("string offset 0", "string s", "08003412"+"0000"+"0000", nil)
	decode("string not terminated", "string s", "0a003412"+"0600"+"61006200", nil)
	decode("string offset past end", "string s", "06003412"+"ff00", nil)
	decode("bytes past end", "bytes b", "0a003412"+"08000500"+"0102", nil)
	decode("truncated", "int32 x", "06003412"+"0100", nil)
	decode("array<string> element offset not adjacent", "array<string> a", "14003412"+"01000800"+"080000001000"+"5800"+"59000000", nil)
	decode("fixed field after string (deferred layout)", "string s\nint32 x", "10003412"+"0a00"+"04030201"+"680069000000", nil)
	decode("two strings sharing data", "string a\nstring b", "0c003412"+"08000800"+"68000000", nil)
	decode("array wrong here value", "array<byte> a", "0d003412"+"01000800"+"ff00000007", nil)
	decode("array count larger than chain", "array<byte> a", "0d003412"+"02000800"+"0800000007", nil)
	decode("array count smaller than chain", "array<byte> a", "12003412"+"01000800"+"08000d0007"+"0d00000008", nil)
	decode("array out-of-order elements", "array<byte> a", "12003412"+"02000d00"+"0800000008"+"0d00080007", nil)
	decode("array self loop", "array<byte> a", "0d003412"+"02000800"+"0800080007", nil)
	decode("array count 0 offset nonzero", "array<byte> a", "0a003412"+"00000800"+"0102", nil)
	decode("bytes empty offset 0", "bytes b", "08003412"+"00000000", nil)
	decode("bool > 1", "bool a\nbool b", "06003412"+"02ff", nil)
	decode("trailing bytes", "int32 x", "0a003412"+"05000000"+"0102", nil)
	decode("empty definition, extra payload", "# nothing", "08003412"+"deadbeef", nil)
	decode("an array in its order", "array<byte> a", "12003412"+"02000800"+"08000d0007"+"0d00000008", row{"a": []int{7, 8}})
	m.lines("tera/edge-cases.jsonl", rows)
}
