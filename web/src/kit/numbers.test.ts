import { bitOffsetOf, numberOf, offsetOf, offsetsIn, setNumbers, valueOf } from "./numbers";
import { equal, test } from "./testing";

test("offsets and numbers in hex, in decimal, or as usual", () => {
  const all = (): string[] => [offsetOf(6), bitOffsetOf(83), numberOf(18), valueOf("1000"), valueOf("-5"), valueOf("0x8"), valueOf("1 (0x0001)"), valueOf('"12"'), valueOf("1.5"), valueOf("18446744073709551615"), offsetsIn("+4.3"), offsetsIn("-10 + name2 + list[1].x")];
  setNumbers("mixed");
  equal(all(), ["0x06", "0x0a.3", "18", "1000", "-5", "0x08", "1 (0x0001)", '"12"', "1.5", "18446744073709551615", "+0x04.3", "-0x0a + name2 + list[1].x"]);
  setNumbers("hex");
  equal(all(), ["0x06", "0x0a.3", "0x12", "0x3e8", "-0x05", "0x08", "0x0001", '"12"', "1.5", "0xffffffffffffffff", "+0x04.3", "-0x0a + name2 + list[1].x"]);
  setNumbers("decimal");
  equal(all(), ["6", "10.3", "18", "1000", "-5", "8", "1", '"12"', "1.5", "18446744073709551615", "+4.3", "-10 + name2 + list[1].x"]);
  setNumbers("mixed");
});
