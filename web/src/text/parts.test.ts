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
  const parts = new Parts({ text: () => "", reveal: (line) => said.push(line), narrow: (first) => said.push(first), pick: (n) => said.push(n) });
  parts.caret = 3;
  parts.reveal();
  parts.follow();
  equal(said, []);
});

test("parts: a message inside another one ends before its indentation does", () => {
  const text = "message A {\n  int32 a = 1;\n  message B {\n    int32 b = 1;\n\n  }\n\n  int32 c = 2;\n}\n\nmessage C {\n}\n";
  equal([1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13].map((line) => partAt([1, 3, 11], 0, line, text)), [0, 0, 1, 1, 1, 0, 0, 0, 2, 2, 2]);
});

test("parts: one message of a large text is shown, unless whole texts are wanted", () => {
  const shown: (readonly [number, number])[] = [];
  const select = document.createElement("select");
  select.id = "part";
  select.dataset["parts"] = "[[2,1,4],[6,5,9],[12,0,0]]";
  select.append(new Option("a", "1"), new Option("b", "2"), new Option("c", "3"));
  document.body.append(select);
  try {
    localStorage.removeItem("wirebench.whole-texts");
    let text = "\n".repeat(400);
    const parts = new Parts({ text: () => text, reveal: () => undefined, narrow: (first, last) => shown.push([first, last]), pick: () => undefined });
    select.selectedIndex = 1;
    parts.reveal();
    parts.reveal(); // nothing has changed
    parts.toggleWhole();
    parts.toggleWhole();
    select.selectedIndex = 2; // its text is not in one place
    parts.reveal();
    text = "\n".repeat(20);
    select.selectedIndex = 0;
    parts.reveal();
    equal(shown.map(([first]) => first), [5, 0, 5, 0, 0]);
    equal(shown[0], [5, 9]);
  } finally {
    select.remove();
  }
});
