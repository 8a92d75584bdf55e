import { equal, test } from "../testing";
import { type Decoded, nameOf, valueFormats } from "./values";

function decoded(value: unknown, type = "", path = "pos.value", name = "value"): Decoded {
  return { path, name, message: "C_CHAT", value, type };
}

/** A whole message, or a value at an empty path. */
function whole(value: unknown): Decoded {
  return decoded(value, "", "", "");
}

function write(id: string, v: Decoded): string {
  return valueFormats.find((f) => f.id === id)?.write(v) ?? `no format ${id}`;
}

/** The outputs of all ids for a value. */
function each(ids: string, v: Decoded): string[] {
  return ids.split(" ").map((id) => write(id, v));
}

test("a number", () => {
  equal(each("value path assignment filter json yaml csv go typescript", decoded(-5, "int32")), [
    "-5", "pos.value", "value = -5", "C_CHAT.pos.value == -5", "-5", "-5\n", "-5\r\n", "-5", "-5",
  ]);
});

test("text is quoted inside other text", () => {
  equal(each("value assignment filter json csv go typescript", decoded('a "b", c\n', "string")), [
    'a "b", c\n', String.raw`value = "a \"b\", c\n"`, String.raw`C_CHAT.pos.value == "a \"b\", c\n"`, String.raw`"a \"b\", c\n"`,
    '"a ""b"", c\n"\r\n', String.raw`"a \"b\", c\n"`, String.raw`"a \"b\", c\n"`,
  ]);
});

test("a 64-bit number is digits in JSON, and a number in code only if the type is a number", () => {
  const big = "18446744073709551615";
  const ids = "value assignment filter json go typescript";
  equal(each(ids, decoded(big, "uint64")), [big, `value = ${big}`, `C_CHAT.pos.value == ${big}`, `"${big}"`, big, `${big}n`]);
  equal(each(ids, decoded(big, "string")), [big, `value = "${big}"`, `C_CHAT.pos.value == "${big}"`, `"${big}"`, `"${big}"`, `"${big}"`]);
  equal(each("go typescript", decoded(["1", "-2"], "array<int64>")), ["[]int64{1, -2}", "[1n, -2n]"]);
  equal(each("go typescript", decoded(["1", "2"], "array<string>")), ['[]string{"1", "2"}', '["1", "2"]']);
});

test("bytes are hex", () => {
  const ids = "value assignment filter json go typescript";
  equal(each(ids, decoded("00FF", "bytes")), [
    "00FF", "value = 00FF", 'C_CHAT.pos.value == x"00FF"', '"00FF"', "[]byte{0x00, 0xff}", "new Uint8Array([0x00, 0xff])",
  ]);
  equal(write("filter", decoded("", "bytes")), 'C_CHAT.pos.value == x""');
  equal(write("filter", decoded("00ff", "string")), 'C_CHAT.pos.value == "00ff"');
});

test("NaN and infinities", () => {
  equal(each("value filter json go typescript", decoded("-Infinity", "float")), ["-Infinity", "", '"-Infinity"', "math.Inf(-1)", "-Infinity"]);
  equal(write("go", decoded([1, 2.5, "NaN(0x7fc00001)"], "array<float>")), "[]float64{1, 2.5, math.NaN()}");
  equal(write("go", decoded([1, 2.5, "NaN"], "array<float>")), "[]float64{1, 2.5, math.NaN()}");
  equal(each("value json yaml typescript go", decoded(-0, "float")), ["-0", "-0", "-0\n", "-0", "math.Copysign(0, -1)"]);
});

const message = {
  number: 1,
  id: "72057594037927936",
  name: "Lann",
  pos: { x: 1.5, y: -2 },
  members: [{ id: 7, name: "a" }, { id: 8, name: "b,c" }],
  codes: [1, 2],
  none: [],
};

test("a group is JSON and has no filter; a whole message is its name", () => {
  equal(each("value path assignment filter", decoded({ x: 1, y: true }, "vec3")), [
    '{\n  "x": 1,\n  "y": true\n}', "pos.value", 'value = {"x":1,"y":true}', "",
  ]);
  equal(each("path filter json-line", whole({ a: [] })), ["C_CHAT", "C_CHAT", '{"a":[]}']);
});

test("JSON round-trips", () => {
  for (const id of ["json", "json-line"]) {
    equal(JSON.parse(write(id, whole(message))), message);
  }
  equal(write("json", whole(message)), JSON.stringify(message, null, 2));
  equal(write("json-line", whole(message)), JSON.stringify(message));
});

test("YAML in blocks", () => {
  equal(
    write("yaml", whole({ ...message, nested: [[1, 2], []], group: {} })),
    `number: 1
id: "72057594037927936"
name: Lann
pos:
  x: 1.5
  "y": -2
members:
  - id: 7
    name: a
  - id: 8
    name: "b,c"
codes:
  - 1
  - 2
none: []
nested:
  - - 1
    - 2
  - []
group: {}
`,
  );
});

test("YAML quotes strings that would read as other types", () => {
  const texts = ["", "yes", "No", "null", "1", "1e3", "0x10", "12:30", "a: b", "a #b", "- a", "#", "&a", "*a", "!a", "a ", " a", "~", ".inf", "a\nb", "\u0085", "\ufeff", "%a", "@a", "`a", "{}", "[]", "2024-01-01", "=", "\ud800"];
  for (const text of texts) {
    equal([text, write("yaml", decoded(text)).startsWith('"')], [text, true]);
  }
  for (const text of ["a", "C_CHAT", "Ünder world", "a-b.c/d"]) {
    equal(write("yaml", decoded(text)), `${text}\n`);
  }
  equal(write("yaml", decoded("\u0085\u2028\x7f")), '"\\u0085\\u2028\\u007f"\n');
  equal(write("yaml", whole({ "": 1, on: 2, "a:b": 3 })), '"": 1\n"on": 2\n"a:b": 3\n');
  equal(write("yaml", decoded(1e21)), "1.0e+21\n");
});

test("CSV has a header for members, groups by path, lists as JSON", () => {
  equal(
    write("csv", whole(message)),
    'number,id,name,pos.x,pos.y,members,codes,none\r\n1,72057594037927936,Lann,1.5,-2,"[{""id"":7,""name"":""a""},{""id"":8,""name"":""b,c""}]","[1,2]",[]\r\n',
  );
  equal(write("csv", decoded([{ id: 7, name: "a" }, { id: 8, more: " x" }])), 'id,name,more\r\n7,a,\r\n8,," x"\r\n');
  equal(write("csv", decoded([1, "a\r\nb"])), 'value\r\n1\r\n"a\r\nb"\r\n');
  equal([write("csv", whole({})), write("csv", decoded([]))], ["", ""]);
});

test("a Go literal", () => {
  equal(
    write("go", whole(message)),
    `map[string]any{
	"number": 1,
	"id": "72057594037927936",
	"name": "Lann",
	"pos": map[string]any{
		"x": 1.5,
		"y": -2,
	},
	"members": []map[string]any{
		{
			"id": 7,
			"name": "a",
		},
		{
			"id": 8,
			"name": "b,c",
		},
	},
	"codes": []int64{1, 2},
	"none": []any{},
}`,
  );
  equal(write("go", decoded("é\u{1f600}\x00\x7f\ufeff\ud800\\")), '"é\u{1f600}\\u0000\\u007f\\ufeff\\xed\\xa0\\x80\\\\"');
  equal(write("go", decoded([1, "a", null])), '[]any{1, "a", nil}');
  equal(write("go", decoded(["00", "ff01"], "array<bytes>")), "[][]byte{{0x00}, {0xff, 0x01}}");
});

test("a TypeScript literal", () => {
  equal(
    write("typescript", whole(message)),
    `{
  number: 1,
  id: "72057594037927936",
  name: "Lann",
  pos: {
    x: 1.5,
    y: -2,
  },
  members: [
    {
      id: 7,
      name: "a",
    },
    {
      id: 8,
      name: "b,c",
    },
  ],
  codes: [1, 2],
  none: [],
}`,
  );
  equal(write("typescript", whole(JSON.parse('{"__proto__": 1, "a b": 2}'))), '{\n  ["__proto__"]: 1,\n  "a b": 2,\n}');
});

test("a Markdown table has a line for each member, or for each element", () => {
  equal(
    write("markdown", whole({ name: "a|b_c *d*", pos: { x: 1 }, text: "1\n2 <b>" })),
    "| field | value |\n| --- | --- |\n| name | a\\|b_c \\*d\\* |\n| pos.x | 1 |\n| text | 1<br>2 \\<b\\> |\n",
  );
  equal(write("markdown", decoded([{ id: 7, _x: "a" }, { id: 8 }])), "| id | \\_x |\n| --- | --- |\n| 7 | a |\n| 8 |  |\n");
  equal(write("markdown", decoded(5, "int32")), "| field | value |\n| --- | --- |\n| value | 5 |\n");
});

test("the offset or length of a field is not the field", () => {
  const of = (path: string, name: string, role: string): Decoded => ({ path, name, message: "C_CHAT", value: 28, type: "uint16", role });
  equal(each("value path assignment filter", of("message", "message", "offset")), ["28", "message", "[message offset] = 28", ""]);
  equal(write("assignment", of("length", "length", "length")), "[length] = 28");
  equal(write("assignment", of("members[0]", "[0]", "next")), "[members[0] next] = 28");
  equal(each("assignment filter", of("message", "message", "value")), ["message = 28", "C_CHAT.message == 28"]);
});

test("an element has its path as name", () => {
  equal(nameOf(decoded(1, "", "codes[3]", "[3]")), "codes[3]");
  equal(nameOf(decoded(1, "", "members[0].id", "id")), "id");
  equal(nameOf(whole({})), "C_CHAT");
});
