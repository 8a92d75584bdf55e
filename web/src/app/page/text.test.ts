import { equal, test } from "../../kit/testing";
import type { Controls } from "../../message/socket";
import { PageText } from "./text";

/** A text, and what it does. */
function page(of: Partial<Controls>, { isOpening = false, active = false, isRoomOf = "OTHER.def" } = {}): { text: PageText; controls: Controls; did: unknown[] } {
  const did: unknown[] = [];
  const controls: Controls = {
    message: "A.1", name: "", definition: "uint8 a\n", base: "12", shared: "", input: "", form: "", dir: "", bycode: false, value: "", made: "", code: "", show: 0, edits: {}, values: false, score: true, ...of,
  };
  const text = new PageText({
    workspace: "one", controls,
    set: (change) => did.push(change),
    editor: { text: "in the editor", open: (now) => did.push(`open ${now}`), replace: (now) => did.push(`replace ${now}`), rewrite: (was) => was === "known", focus: () => undefined },
    actions: { press: (action) => (did.push(action), Promise.resolve({ n: 1 })), settled: () => Promise.resolve().then(() => void did.push("acted")) },
    together: {
      active, joins: active, apart: false, othersUnsaved: [], alone: (base, now) => did.push(`alone ${base}→ ${now}`), forget: () => did.push("forget"), has: (file) => file === isRoomOf,
      part: (isApart) => did.push(`part ${isApart}`), save: () => did.push("save in the room"), settled: () => Promise.resolve(), typed: () => undefined,
    },
    opening: { isOpening, isBeginning: false, beginTyped: () => (controls.message = "BEGUN.1", { name: "BEGUN.1" }), rename: () => did.push("rename") },
    socket: { state: "open", retake: () => undefined },
    suggest: () => did.push("suggest"), changed: () => undefined, draft: (draft) => did.push(draft?.name ?? "no draft"),
  });
  return { text, controls, did };
}

test("text: what is typed without a room goes to the server, and an empty text is not the stored one", () => {
  const { text, controls, did } = page({});
  text.typed("");
  equal(did, ["alone uint8 a\n→ ", "A.1", { definition: "\n" }]);
  equal([text.edited, controls.definition], [true, "\n"]);
});

test("text: what is typed in a room goes there only, and answers about it are known", () => {
  const { text, did } = page({ shared: "A.1.def" }, { active: true });
  text.typed("uint8 b\n");
  equal(did, ["A.1"]);
  text.typed("uint8 c\n");
  text.received("uint8 cd\n");
  equal([text.knows(0), text.textOf(undefined), text.textOf(0)], [false, "uint8 cd\n", "uint8 cd\n"]);
});

test("text: what is typed into a definition that is being closed is lost, and what is typed without one begins it", () => {
  const closing = page({}, { isOpening: true });
  closing.text.typed("uint8 b\n");
  equal([closing.controls.definition, closing.text.edited], ["uint8 a\n", false]);
  const begun = page({ message: "" });
  begun.text.typed("x");
  equal(begun.did.slice(1), ["BEGUN.1", { definition: "x", name: "BEGUN.1" }]);
});

test("text: that of an answer replaces the open one, and that of another definition begins its history", () => {
  const { text, controls, did } = page({});
  text.take("uint8 b\n", false, true);
  text.take("uint8 c\n", true, false);
  equal(did, ["replace uint8 b\n", "A.1", "open uint8 c\n", "no draft", "forget"]);
  const same = page({}, { isRoomOf: "" }); // the page has no head, so that its file is ""
  same.text.take("uint8 c\n", true, undefined);
  equal([same.controls.definition, controls.definition], ["in the editor", "uint8 a\n"]);
});

test("text: another room, but not while another definition is being opened", () => {
  const { text, controls, did } = page({});
  text.shared("A.1.def", false);
  text.shared("A.1.def", false);
  text.shared("", true);
  equal([did, controls.shared], [[{ shared: "A.1.def" }], ""]);
  const closing = page({}, { isOpening: true });
  closing.text.shared("A.1.def", false);
  equal([closing.did, closing.controls.shared], [[], ""]);
});

test("text: saving is of the room if others see it, and of what was asked for before, as formatting", async () => {
  const together = page({}, { active: true });
  await together.text.save();
  equal(together.did, ["acted", "rename", "save in the room"]);
  const alone = page({});
  await alone.text.save();
  await alone.text.discard();
  equal(alone.did, ["acted", "save", "forget", "stored"]);
});
