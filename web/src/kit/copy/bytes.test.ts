import { equal, test } from "../testing";
import { bytesFormats, type BytesSource, fileName } from "./bytes";

const from: BytesSource = { offset: 0, name: "C_CHAT.2", dir: "c2s", time: "23:59:50.380" };

/** "26 00 …": a header, a number, text in UTF-16, 0x7f and 0xff. */
const message = Uint8Array.from([
  0x18, 0x00, 0xbc, 0x4d, 0x0a, 0x00, 0x01, 0x00, 0x00, 0x00, 0x68, 0x00, 0x69, 0x00, 0x20, 0x00, 0x7e, 0x7f, 0x80, 0xff, 0x0a, 0x5c, 0x22, 0x00,
]);

function write(id: string, data: Uint8Array = message, source: BytesSource = from): string {
  const format = bytesFormats.find((f) => f.id === id);
  const made = format?.write(data, source);
  return typeof made === "string" ? made : `no text of ${id}`;
}

function lined(...lines: string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

test("the formats are in the order of Wireshark, then languages, then tools", () => {
  equal(
    bytesFormats.map((f) => f.id).join(" "),
    "hex-ascii hex-dump text hex spaced base64 escaped raw c cpp csharp go rust python java javascript typescript lua swift pascal xxd tera-log text2pcap",
  );
});

test("hex and ASCII as Wireshark copies it", () => {
  equal(
    write("hex-ascii"),
    lined(
      "0000   18 00 bc 4d 0a 00 01 00 00 00 68 00 69 00 20 00   ...M......h.i. .",
      '0010   7e 7f 80 ff 0a 5c 22 00                           ~....\\".',
    ),
  );
});

test("a hex dump of a part has offsets in the message, all of one width", () => {
  equal(
    write("hex-dump", message.subarray(16), { ...from, offset: 0xfff8 }),
    "fff8   7e 7f 80 ff 0a 5c 22 00\n",
  );
  equal(
    write("hex-dump", message, { ...from, offset: 0xfff8 }),
    lined("0fff8   18 00 bc 4d 0a 00 01 00 00 00 68 00 69 00 20 00", "10008   7e 7f 80 ff 0a 5c 22 00"),
  );
});

test("printable text has line breaks and no control characters", () => {
  equal(write("text"), 'M\nhi ~\n\\"');
});

test("streams", () => {
  equal(write("hex"), "1800bc4d0a00010000006800690020007e7f80ff0a5c2200");
  equal(write("spaced", message.subarray(0, 5)), "18 00 bc 4d 0a");
  equal(write("base64"), "GAC8TQoAAQAAAGgAaQAgAH5/gP8KXCIA");
});

test("base64 of more bytes than a call has arguments", () => {
  const data = Uint8Array.from({ length: 300_000 }, (_, i) => i * 31);
  const text = atob(write("base64", data));
  equal([text.length, text.charCodeAt(1), text.charCodeAt(299_999)], [300_000, 31, (299_999 * 31) & 255]);
});

test("an escaped string continues on the next line after sixteen bytes", () => {
  equal(
    write("escaped"),
    String.raw`"\x18\x00\xbc\x4d\x0a\x00\x01\x00\x00\x00\x68\x00\x69\x00\x20\x00" \
"\x7e\x7f\x80\xff\x0a\x5c\x22\x00"`,
  );
});

test("a raw file has the bytes and a valid file name", async () => {
  const made = bytesFormats.find((f) => f.id === "raw")?.write(message.subarray(2, 4), from);
  equal(made instanceof Blob ? new Uint8Array(await made.arrayBuffer()) : made, Uint8Array.of(0xbc, 0x4d));
  equal(fileName(from), "C_CHAT.2.bin");
  equal(fileName({ ...from, offset: 18 }), "C_CHAT.2-0x12.bin");
  equal(fileName({ ...from, name: "../../a b" }), "a_b.bin");
  equal(fileName({ ...from, name: "…" }), "message.bin");
});

test("arrays wrap at 76 columns", () => {
  equal(
    write("c"),
    lined(
      "static const unsigned char c_chat_2_bytes[24] = {",
      "    0x18, 0x00, 0xbc, 0x4d, 0x0a, 0x00, 0x01, 0x00, 0x00, 0x00, 0x68, 0x00,",
      "    0x69, 0x00, 0x20, 0x00, 0x7e, 0x7f, 0x80, 0xff, 0x0a, 0x5c, 0x22, 0x00",
      "};",
    ),
  );
  for (const id of ["c", "cpp", "csharp", "go", "rust", "python", "java", "javascript", "typescript", "lua", "swift", "pascal"]) {
    const long = write(id, Uint8Array.from({ length: 1000 }, (_, i) => i * 7)).split("\n").slice(1, -1);
    const widest = Math.max(...long.map((line) => line.replace("\t", " ".repeat(8)).length));
    equal([id, widest <= 76, widest > 64], [id, true, true]);
  }
});

test("arrays of every language", () => {
  const three = Uint8Array.of(0x01, 0x7f, 0x80);
  const want: Record<string, string> = {
    c: "static const unsigned char c_chat_2_bytes[3] = {\n    0x01, 0x7f, 0x80\n};\n",
    cpp: "constexpr std::array<std::uint8_t, 3> c_chat_2_bytes = {\n    0x01, 0x7f, 0x80\n};\n",
    csharp: "byte[] cChat2Bytes = {\n    0x01, 0x7f, 0x80\n};\n",
    go: "var cChat2Bytes = []byte{\n\t0x01, 0x7f, 0x80,\n}\n",
    rust: "const C_CHAT_2_BYTES: [u8; 3] = [\n    0x01, 0x7f, 0x80,\n];\n",
    python: "c_chat_2_bytes = bytes([\n    0x01, 0x7f, 0x80\n])\n",
    java: "byte[] cChat2Bytes = {\n    0x01, 0x7f, (byte) 0x80\n};\n",
    javascript: "const cChat2Bytes = new Uint8Array([\n  0x01, 0x7f, 0x80\n]);\n",
    typescript: "const cChat2Bytes: Uint8Array = new Uint8Array([\n  0x01, 0x7f, 0x80\n]);\n",
    lua: "local c_chat_2_bytes = {\n  0x01, 0x7f, 0x80\n}\n",
    swift: "let cChat2Bytes: [UInt8] = [\n    0x01, 0x7f, 0x80\n]\n",
    pascal: "const\n  CChat2Bytes: array[0..2] of Byte = (\n    $01, $7F, $80\n  );\n",
  };
  for (const [id, text] of Object.entries(want)) {
    equal(write(id, three), text);
  }
});

test("a name is converted to an identifier", () => {
  const first = (name: string): string => write("python", Uint8Array.of(1), { ...from, name }).split(" ")[0] ?? "";
  equal([first("class"), first("0x4DBC"), first(""), first("\"; import os #"), first("ß.1")], [
    "class_bytes", "message_0x4dbc_bytes", "message_bytes", "import_os_bytes", "message_1_bytes",
  ]);
});

test("xxd", () => {
  equal(
    write("xxd"),
    lined(
      "00000000: 1800 bc4d 0a00 0100 0000 6800 6900 2000  ...M......h.i. .",
      '00000010: 7e7f 80ff 0a5c 2200                      ~....\\".',
    ),
  );
  equal(write("xxd", message.subarray(4, 7), { ...from, offset: 4 }), "00000004: 0a00 01                                  ...\n");
});

test("a TERA log line has an arrow by direction, and the header apart", () => {
  const body = "1800bc4d 0a000100000068006900";
  const line = (source: Partial<BytesSource>): string => write("tera-log", message.subarray(0, 14), { ...from, ...source });
  equal(line({}), `[23:59:50.380] -> C_CHAT.2\n${body}\n`);
  equal(line({ dir: "s2c", time: "2024-05-01T10:11:12.5Z" }), `[10:11:12.500] <- C_CHAT.2\n${body}\n`);
  equal(line({ dir: "", name: "S_CHAT.3", time: "10:11:12" }), `[10:11:12.000] <- S_CHAT.3\n${body}\n`);
  equal(line({ dir: "", name: "", time: "soon" }), `[00:00:00.000] -> 19900\n${body}\n`);
  equal(write("tera-log", message.subarray(0, 4)), "[23:59:50.380] -> C_CHAT.2\n1800bc4d\n");
});

test("text2pcap has O for the client and begins at 0", () => {
  const write2 = (source: Partial<BytesSource>): string => write("text2pcap", message.subarray(0, 3), { ...from, offset: 64, ...source });
  equal(write2({}), "O 23:59:50.380\n000000 18 00 bc\n");
  equal(write2({ dir: "s2c" }), "I 23:59:50.380\n000000 18 00 bc\n");
  const { time: _, ...timeless } = from;
  equal(write("text2pcap", message.subarray(0, 17), { ...timeless, dir: "", name: "x" }),
    lined("000000 18 00 bc 4d 0a 00 01 00 00 00 68 00 69 00 20 00", "000010 7e"));
});

test("no bytes give texts without bytes", () => {
  for (const id of ["hex-ascii", "hex-dump", "text", "hex", "spaced", "base64", "xxd"]) {
    equal([id, write(id, new Uint8Array())], [id, ""]);
  }
  equal(write("escaped", new Uint8Array()), '""');
  equal(write("go", new Uint8Array()), "var cChat2Bytes = []byte{\n}\n");
});
