import { takenBack } from "../kit/compared";
import { equal, test } from "../kit/testing";
import { sameLine } from "./threads";

test("threads: the line of a stored text that a line of an edited one is", () => {
  const stored = "uint32 a\nuint32 b\n\nuint32 b\n";
  equal(sameLine("byte x\nuint32 a\nuint32 b\n", stored, 2), 1);
  equal(sameLine("byte x\nuint32 a\nuint32 b\n", stored, 3), 2);
  equal(sameLine("x\nx\nx\nx\nuint32 b\n", stored, 5), 4);
  equal(sameLine("byte new\n", stored, 1), 0);
});

test("compare: a part of the changes is taken back", () => {
  const lines = [{ old: 1, text: "a" }, { new: 1, text: "A" }, { old: 2, new: 2, text: "b" }, { new: 3, text: "c" }];
  equal(takenBack(lines, 0), "a\nb\nc\n");
  equal(takenBack(lines, 3), "A\nb\n");
});
