import { Inspector } from "./inspector";
import { equal, test } from "../kit/testing";
import { hexOf } from "../kit/hextext";
import { writers } from "./hex/write";

/** The values of a row of the table. */
function row(host: Element, name: string): string[] {
  const line = [...host.querySelectorAll("tr")].find((tr) => tr.querySelector("th")?.textContent === name);
  return [...(line?.querySelectorAll("button") ?? [])].map((button) => button.textContent ?? "");
}

function inspected(data: readonly number[], at = 0, end = at): (name: string) => string[] {
  const host = document.createElement("div");
  new Inspector(host).show(Uint8Array.from(data), at, end);
  return (name) => row(host, name);
}

test("numbers in both orders", () => {
  const value = inspected([0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8, 0xf7]);
  equal(value("binary"), ["1111 1111"]);
  equal(value("u8"), ["255"]);
  equal(value("i8"), ["-1"]);
  equal(value("u16"), ["65279", "65534"]);
  equal(value("i32"), ["-50462977", "-66052"]);
  equal(value("u64"), ["17940646550795321087", "18446460386757245432"]);
  equal(value("i64"), ["-506097522914230529", "-283686952306184"]);
});

test("floating point has the shortest exact form", () => {
  equal(inspected([0xcd, 0xcc, 0xcc, 0x3d])("f32")[0], "0.1");
  equal(inspected([0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a])("f64")[1], "0.1");
  equal(inspected([0x00, 0x3c])("f16")[0], "1");
  equal(inspected([0x01, 0x00])("f16")[0], "5.9605e-8");
  equal(inspected([0x00, 0xfc])("f16")[0], "-Infinity");
  equal(inspected([0x80, 0, 0, 0])("f32")[1], "-0");
});

test("a value beyond the end is a dash", () => {
  const value = inspected([1, 2, 3], 1);
  equal(value("u16"), ["770", "515"]);
  equal(value("u32"), ["–", "–"]);
  equal(value("GUID"), ["–", "–"]);
  equal(inspected([1], 1)("u8"), ["–"]);
});

test("text: one character at the caret, or the selection", () => {
  equal(inspected([0xc3, 0xa9, 0x41])("utf-8"), ["é  U+00E9"]);
  equal(inspected([0xa9, 0x41])("utf-8"), ["–"]);
  equal(inspected([0x4c, 0x61, 0x0a, 0x00], 0, 4)("utf-8"), ["La\\n\\0"]);
  equal(inspected([0x4c, 0, 0x61, 0], 0, 4)("utf-16")[0], "La");
  equal(inspected([0x3d, 0xd8, 0x00, 0xde])("utf-16")[0], "😀  U+1F600");
  equal(inspected(new Array<number>(40).fill(0x61), 0, 40)("utf-8"), [`${"a".repeat(32)}…`]);
});

test("times between 2000 and 2050, addresses, GUIDs", () => {
  equal(inspected([0x80, 0xe1, 0x49, 0x5f])("time s"), ["2020-08-29 05:02:56", "2038-07-09 00:27:11"]);
  equal(inspected([0, 0, 1, 0x74, 0x37, 0xd5, 0x83, 0x80])("time ms"), ["–", "2020-08-29 01:29:33.824"]);
  equal(inspected([0xff, 0xff, 0xff, 0x7f])("time s"), ["2038-01-19 03:14:07", "–"]);
  equal(inspected([127, 0, 0, 1])("IPv4"), ["1.0.0.127", "127.0.0.1"]);
  equal(inspected([...Array(16).keys()])("GUID"), [
    "03020100-0504-0706-0809-0a0b0c0d0e0f",
    "00010203-0405-0607-0809-0a0b0c0d0e0f",
  ]);
  equal(inspected([1, 2, 3], 0, 3)("length"), ["3 (0x03)"]);
});

/** What a typed value is written as: hex, or a complaint in parentheses. */
function written(name: string, typed: string, little = true, selected: readonly number[] = []): string {
  const data = Uint8Array.from(selected.length > 0 ? selected : [0x41, 0, 0, 0]);
  const bytes = writers[name]?.(typed, { all: data, data, view: new DataView(data.buffer), selected: data.subarray(0, selected.length) }, little);
  return bytes === undefined || typeof bytes === "string" ? `(${bytes?.split(":")[0] ?? ""})` : hexOf(bytes, " ");
}

test("what the inspector reads, it writes", () => {
  const data = [0xc3, 0xa9, 0xfd, 0x4c, 0xfb, 0x5a, 0xf9, 0x48, 1, 2, 3, 4, 5, 6, 7, 8];
  const host = document.createElement("div");
  const bytes = Uint8Array.from(data);
  new Inspector(host).show(bytes, 0, 0, true);
  for (const [name, write] of Object.entries(writers)) {
    row(host, name).forEach((shown, i) => {
      if (shown !== "–") {
        const typed = shown.replace(/ {2}U\+.*/, "");
        const back = write(typed, { all: bytes, data: bytes, view: new DataView(bytes.buffer), selected: bytes.subarray(0, 0) }, i === 0);
        equal(typeof back === "string" ? `${name}: ${back}` : hexOf(back, " "), hexOf(bytes.subarray(0, back.length), " "));
      }
    });
  }
});

test("numbers are written in both orders, and must fit", () => {
  equal(written("u16", "1000"), "e8 03");
  equal(written("u16", "0x3e8", false), "03 e8");
  equal(written("i8", "-1"), "ff");
  equal(written("i8", "0xff"), "ff");
  equal(written("i64", "-2", false), "ff ff ff ff ff ff ff fe");
  equal(written("u64", "18446744073709551615"), "ff ff ff ff ff ff ff ff");
  equal(written("u8", "256"), "(a whole number from 0 to 255, decimal or with 0x or 0b)");
  equal(written("i16", "40000"), "(a whole number from -32768 to 32767, decimal or with 0x or 0b)");
  equal(written("u8", "1.5").startsWith("(a whole"), true);
  equal(written("binary", "0b101"), "05");
  equal(written("binary", "1111 0000"), "f0");
  equal(written("binary", "2"), "(up to eight digits 0 and 1)");
});

test("floats", () => {
  equal(written("f32", "0.1"), "cd cc cc 3d");
  equal(written("f32", "1e39"), "(at most 3.4028234663852886e+38 in 32 bits)");
  equal(written("f32", "-inf"), "00 00 80 ff");
  equal(written("f64", "NaN", false), "7f f8 00 00 00 00 00 00");
  for (const [typed, hex] of [["1", "3c 00"], ["-2", "c0 00"], ["65504", "7b ff"], ["65519", "7b ff"], ["5.9605e-8", "00 01"], ["0", "00 00"], ["-0", "80 00"], ["0.00006103515625", "04 00"], ["0.0000609", "03 fe"], ["1.00048828125", "3c 00"], ["2047.5", "68 00"]] as const) {
    equal(`${typed} ${written("f16", typed, false)}`, `${typed} ${hex}`);
  }
  equal(written("f16", "65520"), "(at most 65504 in 16 bits)");
  equal(written("f32", "abc"), "(a number, such as 1.5, 1e-3, Infinity or NaN)");
});

test("text has as many bytes as are selected", () => {
  equal(written("utf-8", "z"), "7a");
  equal(written("utf-8", "é"), "(2 bytes instead of 1)");
  equal(written("utf-8", "a\\n\\0", true, [1, 2, 3]), "61 0a 00");
  equal(written("utf-8", "\\q"), "(after a \\ comes 0, t, n, r, \\, x with two digits, or u{…})");
  equal(written("utf-16", "Aé", false, [1, 2, 3, 4]), "00 41 00 e9");
  equal(written("utf-16", "😀"), "(4 bytes instead of 2)");
});

test("times, addresses, GUIDs", () => {
  equal(written("time s", "2020-08-29 05:02:56"), "80 e1 49 5f");
  equal(written("time s", "2020-08-29T05:02:56Z", false), "5f 49 e1 80");
  equal(written("time s", "1970-01-01"), "00 00 00 00");
  equal(written("time s", "2107-01-01"), "(a time in UTC, such as 2024-05-17 08)");
  equal(written("time ms", "2020-08-29 01:29:33.824", false), "00 00 01 74 37 d5 83 80");
  equal(written("time s", "yesterday").startsWith("(a time"), true);
  equal(written("IPv4", "127.0.0.1"), "01 00 00 7f");
  equal(written("IPv4", "1.2.3.256"), "(an address, such as 192.168.0.1)");
  equal(written("GUID", "{03020100-0504-0706-0809-0a0b0c0d0e0f}"), "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
});
