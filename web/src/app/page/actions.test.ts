import { equal, test } from "../../kit/testing";
import type { Action, Answer } from "../../message/socket";
import { Actions } from "./actions";

/** Actions, and what they do in order. */
function page(answer: Partial<Answer>, pending = false): { actions: Actions; did: string[]; sent: Action[] } {
  const did: string[] = [];
  const sent: Action[] = [];
  const together = { pending, isVersioned: false, settled: () => Promise.resolve(void did.push("settled")) };
  const actions = new Actions({
    socket: {
      act: (action) => {
        did.push(together.isVersioned ? "act as a version" : "act");
        sent.push(action);
        return Promise.resolve({ n: 1, ...answer });
      },
    },
    steps: { now: () => ({ message: "", show: 0, input: "", form: "", bycode: false, edits: {}, bookmarks: "" }), remember: () => (did.push("remember"), () => undefined), dropSame: () => did.push("dropped") },
    together,
    about: () => "of note", saving: () => did.push("saving"), saved: () => Promise.resolve(void did.push("saved")), exportPlace: () => document.body,
  });
  return { actions, did, sent };
}

test("actions: what changes the message is a step, and what is open for others is sent before", async () => {
  const { actions, did, sent } = page({}, true);
  await actions.press("repair");
  equal(did, ["settled", "remember", "act", "dropped"]);
  await actions.press("open:B.1"); // whose text is another one
  equal(did.slice(4), ["act"]);
  await actions.press("keep");
  equal(sent.map(({ action, about }) => [action, about]), [["repair", undefined], ["open:B.1", undefined], ["keep", "of note"]]);
});

test("actions: saving takes the name before, and gives the code only after it was possible", async () => {
  const good = page({});
  await good.actions.press("save");
  equal(good.did, ["saving", "act", "saved"]);
  const bad = page({ failed: "no such folder" });
  equal((await bad.actions.press("save")).failed, "no such folder");
  equal(bad.did, ["saving", "act"]);
});

test("actions: only the save of a version is one", async () => {
  const { actions, did } = page({});
  await actions.press("version");
  await actions.press("save");
  equal(did, ["act as a version", "saving", "act", "saved"]);
});
