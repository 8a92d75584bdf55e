import { equal, test } from "../kit/testing";
import { Message, noData } from "./model";

/** A message with a list of three elements, of which the last two are in reverse order, and a gap in the list. */
const list = new Message({
  ...noData,
  bytes: new Uint8Array(14),
  parts: [
    { path: "length", role: "length", name: "[length]", type: "uint16", family: "head", unlined: true },
    { path: "l", role: "group", type: "array", unlined: true },
    { path: "l[]", role: "group", depth: 1, unlined: true },
    { path: "l[]", role: "here", name: "[here]", type: "uint16", depth: 2, skip: 0 },
    { path: "l[].x", type: "byte", depth: 2, skip: 1 },
    { path: "", role: "gap", depth: 1, unlined: true },
  ],
  rows: [0, 1, 2, 3, 4, 2, 4, 5, 2, 4],
  bits: [16, 16, 8, 8, 8, 8],
  texts: ["14", "2", "1", "2", "", "3"],
  jumps: [{ runs: 5, bits: 8 }],
  named: [{ rows: 5, index: 2 }, { rows: 3, index: 1 }],
  linked: true,
  used: 14,
  name: "C_L",
});

test("a message is built of rows: paths, places and values", () => {
  const row = (i: number): string => {
    const { start, end } = list.place(i);
    return `${list.pathOf(i)}|${list.nameOf(i)}|${list.textOf(i)}|${start}+${end - start}|${list.lineOf(i)}|${list.parent(i)}`;
  };
  equal(Array.from({ length: list.rows }, (_, i) => row(i)), [
    "length|[length]|14|0+16|0|-1",
    "l|l|3 elements|16+56|0|-1",
    "l[0]|[0]||16+24|0|1", "l[0]|[here]|2|16+16|1|2", "l[0].x|x|1|32+8|3|2",
    "l[2]|[2]||40+8|0|1", "l[2].x|x|2|40+8|3|5",
    "|unexplained|no definition explains these bytes|48+8|0|1",
    "l[1]|[1]||64+8|0|1", "l[1].x|x|3|64+8|3|8",
  ]);
  equal([list.runs, list.runAt(33), list.partOfRun(list.runAt(41))?.path, list.end(1), list.elements(1)], [6, 2, "l[].x", 10, 3]);
  equal(list.runsOfKey("l[].x/value"), [2, 3, 5]);
  equal(list.runsOfLine(3), [2, 3, 5]);
});
