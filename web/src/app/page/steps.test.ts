import { equal, test } from "../../kit/testing";
import { type Step, Steps } from "./steps";

/** A message whose input is the state. */
function message(): { steps: Steps; to(input: string): void; input(): string } {
  let now: Step = { message: "A.1", show: 0, input: "", form: "", bycode: false, edits: {}, bookmarks: "" };
  const steps = new Steps({ now: () => ({ ...now }), show: (step) => { now = step; } });
  return { steps, to: (input) => { now = { ...now, input }; }, input: () => now.input };
}

test("steps: undo and redo go through the states, and a new one ends what could be redone", () => {
  const { steps, to, input } = message();
  for (const next of ["01", "02", "03"]) {
    steps.remember();
    to(next);
  }
  steps.undo();
  equal(input(), "02");
  steps.undo();
  steps.redo();
  equal(input(), "02");
  steps.remember();
  to("04");
  steps.redo(); // nothing
  equal(input(), "04");
  steps.undo();
  steps.undo();
  steps.undo();
  steps.undo(); // nothing
  equal(input(), "");
});

test("steps: taking a change back takes what came after it back, too, and forgets the change if it was refused", () => {
  const { steps, to, input } = message();
  to("01");
  const back = steps.remember();
  to("02");
  steps.remember();
  to("03");
  back(false);
  equal(input(), "01");
  steps.redo();
  equal(input(), "02");
  steps.undo();

  const refused = steps.remember();
  to("no bytes");
  refused(true);
  equal(input(), "01");
  steps.redo(); // nothing
  equal(input(), "01");
  refused(true); // it is gone already
  equal(input(), "01");
});

test("steps: what changed nothing is no step", () => {
  const { steps, to, input } = message();
  steps.remember();
  to("01");
  const before = steps.now();
  steps.remember();
  steps.dropSame(before);
  steps.undo();
  equal(input(), "");
});

test("steps: another definition with the same bytes is no step if that does not count", () => {
  let now: Step = { message: "A.1", show: 0, input: "01", form: "", bycode: false, edits: {}, bookmarks: "" };
  const shown: string[] = [];
  const steps = new Steps({ now: () => now, show: (step) => shown.push(step.message) });
  const before = steps.now();
  steps.remember();
  now = { ...now, message: "B.1" };
  steps.dropSame(before);
  steps.undo();
  equal(shown, ["A.1"]);
  steps.clear();
  steps.remember();
  steps.dropSame(before, true);
  steps.undo();
  equal(shown, ["A.1"]);
});
