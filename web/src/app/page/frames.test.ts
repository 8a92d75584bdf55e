import { equal, test } from "../../kit/testing";
import type { Controls } from "../../message/socket";
import { PageFrames, told } from "./frames";

test("frames: the server has the bytes of a picked frame, and gets those of a held message", () => {
  const controls: Controls = {
    message: "A.1", name: "", definition: "", base: "", shared: "", input: "01", form: "", dir: "", bycode: false, value: "", made: "", code: "", show: 2, edits: { 2: "ff" }, values: false, score: true,
  };
  const did: unknown[] = [];
  const parts = { caret: 3 as number | null };
  const selection = { pending: { start: 0, end: 1 } as { start: number; end: number } | undefined };
  const frames = new PageFrames({
    capture: "c1", controls, parts, selection,
    set: (change) => did.push(change),
    formPane: { leave: () => did.push("leave") }, steps: { clear: () => did.push("clear") }, together: { look: (at) => did.push(at?.frame ?? "nowhere") },
    bytes: () => new Uint8Array([1, 255]),
  });
  frames.pick({ n: 7 });
  equal(did, ["clear", 7, { pick: { n: 7 } }, "leave"]);
  equal([parts.caret, selection.pending, controls.show, controls.edits], [null, undefined, 0, {}]);
  equal([told(controls).pick, told(controls).input], [{ n: 7 }, undefined]);
  frames.took({} as never);
  equal(controls.input, "01ff"); // without edits the bytes are those of the frame
  controls.edits = { 0: "02" };
  frames.took({} as never);
  equal(controls.input, "01ff");

  did.length = 0;
  const frame = { kind: "message", dir: "c2s", group: "", name: "A", alternate: false, about: null, offer: "" };
  frames.show({ ...frame, hex: "0102", edited: "0103" });
  equal(did, ["clear", "nowhere", { input: "0102", form: "hex", bycode: true, edits: { 0: "0103" }, show: 0, frame }, "leave"]);
  equal([told(controls).pick, told(controls).input, told(controls).frame], [undefined, "0102", frame]);
});
