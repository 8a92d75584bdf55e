import { equal, test } from "../../kit/testing";
import { summary } from "./across";

const whole = (fit: number) => ({ fit, whole: true });

test("a filter over captures says what it has not read", () => {
  equal(summary(new Map([["a", whole(3)], ["b", whole(0)]]), 2, false), "3 matches in 1 capture");
  equal(summary(new Map([["a", whole(1)]]), 3, true), "1 match in 1 capture · 1 of 3 searched");
  equal(summary(new Map([["a", whole(1)]]), 3, false), "1 match in 1 capture · stopped: 2 captures not searched");
  equal(summary(new Map<string, { fit: number; whole: boolean } | string>([["a", { fit: 1_000, whole: false }], ["b", "no such capture"]]), 2, false), "1,000 matches in 1 capture · 1 not read to the end · 1 could not be read");
});
