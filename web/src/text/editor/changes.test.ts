import { ChangeSet, Text } from "@codemirror/state";
import { equal, test } from "../../kit/testing";
import { changesTo } from "./changes";

test("lines that others insert stay whole where several lines are replaced", () => {
  const texts = ["", "byte f1_\n", "byte f1_\nbyte f12_\n", "byte f2_\nbyte f3_\n", "byte f1_\nbyte f4_\nbyte f3_\n", "byte f5_\nbyte f6_\nbyte f3_\n"];
  for (const before of texts) {
    for (const after of texts) {
      const doc = Text.of(before.split("\n"));
      const changes = ChangeSet.of(changesTo(doc, after), doc.length);
      equal(changes.apply(doc).toString(), after);
      for (let line = 1; line <= doc.lines; line++) {
        const own = ChangeSet.of({ from: doc.line(line).from, insert: "byte f9_\n" }, doc.length);
        for (const first of [true, false]) {
          const text = own.map(changes, first).apply(changes.apply(doc)).toString();
          equal(text.split("\n").sort(), `${after}byte f9_\n`.split("\n").sort());
        }
      }
    }
  }
});
