import { equal, test } from "../../kit/testing";
import type { Action, Answer, Controls } from "../../message/socket";
import { Opening } from "./opening";

/** An opening on the page of a capture, whose address stays, and what it does. */
function page(of: Partial<Controls>, active = false): { opening: Opening; controls: Controls; did: unknown[] } {
  const did: unknown[] = [];
  const controls: Controls = {
    message: "A.1", name: "", definition: "uint8 a\n", base: "", shared: "A.1.def", input: "", form: "", dir: "", bycode: false, value: "", made: "", code: "", show: 0, edits: {}, values: false, score: true, ...of,
  };
  const opening: Opening = new Opening({
    workspace: "one", envelope: false, capture: true, controls,
    set: (change) => did.push(change),
    editor: { text: controls.definition, replace: (text) => did.push(`replace ${text}`), select: (line) => did.push(`line ${line}`), focus: () => did.push("focus"), focusEnd: () => undefined },
    steps: { now: () => ({ message: "", show: 0, input: "", form: "", bycode: false, edits: {}, bookmarks: "" }), remember: () => () => undefined, dropSame: () => undefined },
    actions: {
      press: (action: string, more?: Partial<Action>): Promise<Answer> => {
        did.push([action, opening.isOpening, opening.isBeginning, ...(more === undefined ? [] : [more])]);
        return Promise.resolve({ n: 1 });
      },
    },
    together: { active, rename: (name) => did.push(`rename ${name}`), share: () => did.push("share") },
    closing: () => did.push("closing"), moved: () => did.push("moved"), begun: (name, was) => did.push(`${was} begun as ${name}`),
  });
  return { opening, controls, did };
}

test("opening: the server gets the text of the closed definition no more", async () => {
  const { opening, controls, did } = page({});
  await opening.go("B.1", 3);
  equal(did, ["closing", { definition: "", base: "", shared: "" }, ["open:B.1", true, false], "moved", "line 3", "focus"]);
  equal([controls.shared, opening.isOpening], ["", false]);
  did.length = 0;
  await opening.go("A.1", 0); // it is open
  equal(did, []);
});

test("opening: a definition is begun in its room", async () => {
  const { opening, did } = page({});
  await opening.beginNew("NEW.1");
  equal([did, opening.isBeginning], [[["new:NEW.1", false, true], "share"], false]);
});

test("opening: an answer on its way does not end the opening of another definition", () => {
  const { opening } = page({});
  opening.leave();
  opening.opened("A.1", false);
  equal(opening.isOpening, true);
  opening.opened("Z.1", false);
  equal(opening.isOpening, false);
});

test("opening: the name of a definition that is not saved is in its text, if this page asked for it", () => {
  const code = document.createElement("div");
  const input = document.createElement("input");
  Object.assign(code, { id: "code" }).dataset["begin"] = "message $NAME\n";
  Object.assign(input, { id: "name", value: " B.1 " });
  document.body.append(code, input);
  const { opening, controls, did } = page({ definition: "message A.1\nuint8 a\n" }, true);
  opening.rename();
  equal(did, ["rename B.1"]); // the room says when it has it
  opening.named("B.1");
  equal(did.slice(1), ["replace message B.1\nuint8 a\n", "A.1 begun as B.1", { name: "B.1" }]);
  equal(controls.message, "B.1");
  did.length = 0;
  opening.named("C.1"); // by somebody else, whose page changes the text
  equal([did, input.value], [["B.1 begun as C.1", { name: "C.1" }], "C.1"]);
  code.remove();
  input.remove();
});
