import { equal, test } from "../../kit/testing";
import { literalOf } from "./items";

test("items: values as literals of filters", () => {
  const of = (value: unknown, typed: string, type: string): string | undefined => literalOf({ value, typed, type } as never);
  equal([of(7, "7", "uint8"), of("72057594037927936", "72057594037927936", "uint64"), of("hi", "hi", "string"), of("AQI=", "01 02", "bytes"), of({}, "", "group"), of([1], "", "uint8")], [
    "7", "72057594037927936", '"hi"', literalOf({ value: "AQI=", typed: "01 02", type: "byte[2]" } as never), undefined, undefined,
  ]);
});
