import { equal, test } from "../kit/testing";
import { partAt, Parts } from "./parts";

test("parts: the message of a line is the one that starts last before it, and the shown one of several with the same text", () => {
  const starts = [10, 1, 10, 20];
  equal([1, 9, 10, 19, 20, 99].map((line) => partAt(starts, 3, line)), [1, 1, 2, 2, 3, 3]);
  equal(partAt(starts, 0, 12), 0);
  equal(partAt([5], 0, 1), -1);
});

test("parts: a text with one message has nothing to follow", () => {
  const said: number[] = [];
  const parts = new Parts({ text: () => "", reveal: (line) => said.push(line), pick: (n) => said.push(n) });
  parts.caret = 3;
  parts.reveal();
  parts.follow();
  equal(said, []);
});

test("parts: a message inside another one ends before its indentation does", () => {
  const text = "message A {\n  int32 a = 1;\n  message B {\n    int32 b = 1;\n\n  }\n\n  int32 c = 2;\n}\n\nmessage C {\n}\n";
  equal([1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13].map((line) => partAt([1, 3, 11], 0, line, text)), [0, 0, 1, 1, 1, 0, 0, 0, 2, 2, 2]);
});
