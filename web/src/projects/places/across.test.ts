import { equal, test } from "../../kit/testing";
import { summary, totals } from "./across";

const whole = (fit: number) => ({ fit, whole: true });

test("a filter over captures says what it has not read", () => {
  equal(summary(new Map([["a", whole(3)], ["b", whole(0)]]), 2, false), "3 matches in 1 capture");
  equal(summary(new Map([["a", whole(1)]]), 3, true), "1 match in 1 capture · 1 of 3 searched");
  equal(summary(new Map([["a", whole(1)]]), 3, false), "1 match in 1 capture · stopped: 2 captures not searched");
  equal(summary(new Map<string, { fit: number; whole: boolean } | string>([["a", { fit: 1_000, whole: false }], ["b", "no such capture"]]), 2, false), "1,000 matches in 1 capture · 1 not read to the end · 1 could not be read");
});

test("what was found is counted by field, over all captures", () => {
  const place = (message: string, field: string | undefined, frames: number) => ({ message, frames, filter: `${message} ${field ?? ""}`, ...(field === undefined ? {} : { field }) });
  const of = new Map([
    ["a", { fit: 5, whole: true, places: [place("S_A", "id", 3), place("S_B", undefined, 2)] }],
    ["b", { fit: 4, whole: true, places: [place("S_B", undefined, 4)] }],
  ]);
  equal(totals(new Map<string, { fit: number; whole: boolean } | string>([...of, ["c", "no such capture"], ["d", whole(0)]])), [
    { name: "S_B", frames: 6, captures: 2, filter: "S_B " },
    { name: "S_A.id", frames: 3, captures: 1, filter: "S_A id" },
  ]);
});
