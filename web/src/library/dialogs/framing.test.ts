import { framingText, type Framing } from "./framing";
import { equal, test } from "../../kit/testing";

test("controls make the notation of a framing", () => {
  const some: Framing = { kind: "prefixed", before: "0", size: "2", order: "le", counts: "self", keep: true, fixed: "64", delimiter: "0x0d, 0A", ends: "0a", dir: "" };
  const cases: [Partial<Framing>, string][] = [
    [{}, "prefixed:2le+self+keep"],
    [{ size: "1", counts: "rest", keep: false }, "prefixed:1"],
    [{ before: "4", order: "be", counts: "all" }, "prefixed:2be@4+all+keep"],
    [{ counts: "all" }, "prefixed:2le+self+keep"],
    [{ before: "", counts: "rest", dir: "s2c" }, "prefixed:2le+keep+s2c"],
    [{ kind: "fixed" }, "fixed:64"],
    [{ kind: "delimited" }, "delimited:0d0A+keep"],
    [{ kind: "lines", ends: "0d0a" }, "delimited:0d0a"],
    [{ kind: "whole", dir: "c2s" }, "whole+c2s"],
    [{ size: "varint", counts: "rest", keep: false }, "prefixed:varint"],
    [{ size: "3", order: "be", dir: "c2s" }, "prefixed:3be+self+keep+c2s"],
    [{ kind: "envelope", dir: "s2c" }, "envelope+s2c"],
  ];
  for (const [change, want] of cases) {
    equal(framingText({ ...some, ...change }), want);
  }
});
