import { Inspector } from "../inspector";
import { equal, test } from "../testing";

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
  equal(inspected([1, 2, 3], 0, 3)("length"), ["3 (0x3)"]);
});
