import { equal, test } from "../kit/testing";
import { sum32, textEdit, Texts } from "./texts";

test("texts: what differs is sent, and surrogate pairs stay whole", () => {
  const cases: [was: string, now: string, at: number, remove: number, insert: string][] = [
    ["abc", "abXc", 2, 0, "X"], ["abc", "ac", 1, 1, ""], ["aaa", "aaaa", 3, 0, "a"], ["", "x", 0, 0, "x"],
    ["a😀b", "a😁b", 1, 2, "😁"], ["😀", "😀😀", 2, 0, "😀"], ["x😀y", "xy", 1, 2, ""],
  ];
  for (const [was, now, at, remove, insert] of cases) {
    equal(textEdit(was, now), { at, ...(remove === 0 ? {} : { remove }), ...(insert === "" ? {} : { insert }), sum: sum32(now) });
  }
  equal(sum32("a€😀"), 3800997253);
});

test("texts: short ones and the first go as a whole, later ones as changes of what the server has", () => {
  const texts = new Texts();
  const long = "uint32 field\n".repeat(100);
  equal(texts.changes({ definition: long, value: "{}" }), { set: { definition: long, value: "{}" } });
  equal(texts.changes({ definition: `${long}b`, value: "{1}" }), { set: { value: "{1}" }, edit: [{ control: "definition", at: long.length, insert: "b", sum: sum32(`${long}b`) }] });
  equal(texts.changes({ definition: `${long}b`, show: 1 }), { set: { show: 1 }, edit: [{ control: "definition", at: long.length + 1, sum: sum32(`${long}b`) }] });
  texts.take({ definition: `${long}formatted` }, () => true);
  texts.take({ definition: "of an older answer" }, () => false);
  equal(texts.changes({ definition: `${long}Formatted\r\n` }).edit?.[0]?.at, long.length);
  const bytes = "00".repeat(200);
  equal(texts.changes({ edits: { 3: bytes } }), { set: { edits: { 3: bytes } } });
  equal(texts.changes({ edits: { 3: `1${bytes.slice(1)}` } }).edit?.[0], { control: "edits", number: 3, at: 0, remove: 1, insert: "1", sum: sum32(`1${bytes.slice(1)}`) });
  equal(texts.changes({ edits: {} }), { set: { edits: {} } });
  texts.clear();
  equal(texts.changes({ definition: long }), { set: { definition: long } });
});
