import { changesOf } from "./changed";
import { equal, test } from "../kit/testing";

test("changes of a message: by value, in lists too, otherwise by byte", () => {
  equal(changesOf({ value: { a: 1, list: [{ x: 1 }, { x: 2 }], t: "one" }, hex: "00" }, { value: { a: 1, list: [{ x: 3 }], t: "two" }, hex: "01" }), [
    { what: "list[0].x", was: "1", is: "3" }, { what: "list[1].x", was: "2", is: "" }, { what: "t", was: '"one"', is: '"two"' },
  ]);
  equal(changesOf({ value: { a: 1 }, hex: "0001" }, { value: { a: 1 }, hex: "0101" }), [{ what: "0x00", was: "00", is: "01" }]);
  equal(changesOf({ value: undefined, hex: "000102" }, { value: undefined, hex: "0001ffee" }), [{ what: "0x02", was: "02", is: "ff ee" }]);
  equal(changesOf({ value: undefined, hex: "0001020304" }, { value: undefined, hex: "00aa0102ff0304" }), [{ what: "0x01", was: "01 02", is: "aa 01 02 ff" }]);
  equal(changesOf({ value: undefined, hex: "000102" }, { value: undefined, hex: "0002" }), [{ what: "0x01", was: "01", is: "" }]);
  equal(changesOf({ value: { a: 1 }, hex: "00" }, { value: { a: 2 }, hex: "00" }), []);
});
