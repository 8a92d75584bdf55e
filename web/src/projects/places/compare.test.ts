import { equal, test } from "../../kit/testing";
import type { FramesTypeRow } from "../../api/api";
import { differText, pairs } from "./compare";

function row(name: string, count: number, more: Partial<FramesTypeRow> = {}): FramesTypeRow {
  return { type: name, name, code: 1, dir: "c2s", kind: "message", count, bytes: 4 * count, min: 4, max: 4, first: 0, last: 0, bad: 0, defined: true, ...more };
}

function told(a: FramesTypeRow[], b: FramesTypeRow[]): string {
  return pairs(a, b).map((p) => `${p.name} ${p.a?.count ?? "-"} ${p.b?.count ?? "-"} ${p.differs}`.trim()).join("; ");
}

test("compared captures: what is in one of them comes first, then what differs", () => {
  equal(told([row("A", 5), row("B", 1), row("C", 2)], [row("A", 5), row("C", 3), row("D", 9)]), "D - 9 only in B; B 1 - only in A; C 2 3 other count; A 5 5");
});

test("compared captures: other lengths, versions and codes, and definitions that one lacks", () => {
  equal(told([row("A", 1, { max: 8 })], [row("A", 1)]), "A 1 1 other lengths");
  equal(told([row("A", 1, { ver: 1 })], [row("A", 1, { ver: 2, code: 7 })]), "A 1 1 version 1, 2, code 0x0001, 0x0007");
  equal(told([row("A", 1, { defined: false })], [row("A", 1, { bad: 1 })]), "A 1 1 no definition in A, problems in B only");
});

test("compared captures: one name in both directions or with two versions is more than one type", () => {
  equal(told([row("A", 1), row("A", 2, { dir: "s2c" })], [row("A", 2, { dir: "s2c" })]), "A 1 - only in A; A 2 2");
  equal(told([row("A", 3, { ver: 2 }), row("A", 1, { ver: 1 })], [row("A", 3, { ver: 2 })]), "A 1 - only in A; A 3 3");
});

test("compared frames: how many pairs differ, and which frames have no counterpart", () => {
  equal(differText({ a: 4, b: 4, compared: 4, differ: 0, rows: [] }), "no frame differs");
  equal(differText({ a: 5, b: 4, compared: 4, differ: 2, rows: [] }), "2 of 4 pairs differ, 1 frame of A without a counterpart");
  equal(differText({ a: 5, b: 9, compared: 2, differ: 1, rows: [], note: "why" }), "1 of 2 pairs differ, 4 frames of B without a counterpart; why");
});
