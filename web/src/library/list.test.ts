import { changed, messagesOf, noList } from "./list";
import { equal, test } from "../kit/testing";

const names = (list: typeof noList): string[] => list.sections.flatMap(({ title, rows }) => [title, ...rows.map(({ name }) => name)]);

test("list of messages: rows are removed, replaced in their place, and added at theirs", () => {
  const first = changed(noList, {
    state: "1", whole: true, versions: true, order: ["/c2s", "undefined"],
    sections: [{ id: "/c2s", title: "To server", rows: [{ name: "A", number: 1 }, { name: "C", number: 2, older: [{ number: 1 }, { id: "c2s/C.0" }] }, { name: "E" }] }, { id: "undefined", title: "None", rows: [{ name: "X" }] }],
  });
  equal(names(first), ["To server", "A", "C", "E", "None", "X"]);
  const c = first.sections[0]?.rows[1];
  equal(c && messagesOf(first, c), ["C.2", "C.1", "c2s/C.0"]);
  equal(c && messagesOf({ ...first, versions: false }, c), ["C", "C", "c2s/C.0"]);

  const second = changed(first, { state: "2", versions: true, sections: [{ id: "/c2s", gone: ["A"], rows: [{ name: "0", at: 1 }, { name: "B", at: 2 }, { name: "E", state: "error" }, { name: "F" }] }] });
  equal(names(second), ["To server", "0", "B", "C", "E", "F", "None", "X"]);
  equal([second.state, second.sections[0]?.rows[3]?.state], ["2", "error"]);
  equal([second.sections[0]?.rows[2] === c, second.sections[1] === first.sections[1]], [true, true]);
  equal(names(first), ["To server", "A", "C", "E", "None", "X"]);

  const third = changed(second, { state: "3", order: ["envelope", "/c2s"], more: 4, sections: [{ id: "envelope", title: "Envelope", rows: [{ name: "e" }] }] });
  equal(names(third), ["Envelope", "e", "To server", "0", "B", "C", "E", "F"]);
  equal([third.more, names(changed(third, { state: "4", whole: true }))], [4, []]);
});
