import { equal, test } from "../kit/testing";
import { ofEnd, ofLengths } from "./sums";

test("rows of sums as filters", () => {
  equal(ofLengths({ from: 7, to: 7 }), "len == 7");
  equal(ofLengths({ from: 20, to: 23 }), "len >= 20 && len <= 23");
  equal(ofEnd("10.0.0.2:4000", true), 'src == "10.0.0.2:4000" || dst == "10.0.0.2:4000"');
  equal(ofEnd("fe80::1", false), 'ip == "fe80::1"');
});
