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
  const parts = new Parts({ reveal: (line) => said.push(line), pick: (n) => said.push(n) });
  parts.caret = 3;
  parts.reveal();
  parts.follow();
  equal(said, []);
});
