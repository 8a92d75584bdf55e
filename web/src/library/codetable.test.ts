import { readTable } from "./codetable";
import { equal, test } from "../kit/testing";

test("code table: names and codes in the forms that people have", () => {
  const { codes, wrong } = readTable(["C_A 1", "S_B = 0x1F # two", "", "# only a comment", "3\tC_C", '  "C_D": 4,', "#define C_E 0x5", "C_F.2,6\r"].join("\n"));
  equal(codes.map((c) => `${c.message} ${c.code}`), ["C_A 1", "S_B 31", "C_C 3", "C_D 4", "C_E 5", "C_F 6"]);
  equal(wrong, []);
});

test("code table: each wrong line says what is wrong", () => {
  const { codes, wrong } = readTable(["C_A 1", "C_B", "C_C two", "C_D 1", "C_A 2", "C_E 65536", "7 8", "C_F 1 2"].join("\n"));
  equal(codes.length, 1);
  equal(wrong.map((w) => `${w.line}: ${w.why}`), [
    "2: a name and a code are needed", "3: two is not a code", "4: C_A has this code in line 1", "5: C_A is also in line 1", "6: 65536 is above 65535", "7: 8 is not a name", "8: more than a name and a code",
  ]);
});
