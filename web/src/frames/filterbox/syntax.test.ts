import { equal, test } from "../../kit/testing";
import { combine, expand, type How, isFind, looseness } from "./syntax";

test("the loosest operator is found outside strings and parentheses", () => {
  for (const [text, want] of [
    ["", "one"],
    ["C_CHAT", "one"],
    ["a && b", "and"],
    ["a || b", "or"],
    ["a or b and c", "or"],
    ["a && b || c", "or"],
    ["(a || b) && c", "and"],
    ["(a || b)", "one"],
    ['.name == "a || b"', "one"],
    [".name == 'a || b' && c", "and"],
    [String.raw`.name == "a\" || b"`, "one"],
    [String.raw`.name ~ r"a\" || b`, "or"],
    ['bytes == x"de || ad"', "one"],
    [".x in {1, 2} || b", "or"],
    ["S_ORDER", "one"],
    [".x.or == 1", "or"], // a name like an operator gets harmless parentheses
    ['.name == "open || b', "one"],
    ["= a || b", "one"],
    ["a)) || b", "one"],
  ] as const) {
    equal([text, looseness(text)], [text, want]);
  }
});

test("combined conditions keep their meaning", () => {
  const cases: [string, string, How, string][] = [
    ["", "a == 1", "and", "a == 1"],
    ["", "a == 1", "and not", "!(a == 1)"],
    ["", "C_CHAT", "and not", "!C_CHAT"],
    ["x", "a == 1", "replace", "a == 1"],
    ["x == 2", "", "and", "x == 2"],
    ["a", "b", "and", "a && b"],
    ["a || b", "c", "and", "(a || b) && c"],
    ["a || b", "c || d", "and", "(a || b) && (c || d)"],
    ["a && b", "c", "and", "a && b && c"],
    ["a && b", "c || d", "or", "a && b || c || d"],
    ["a || b", "c == 1", "and not", "(a || b) && !(c == 1)"],
    ["a xor b", "c", "and", "(a xor b) && c"],
    ["a ^^ b", "c", "and", "(a ^^ b) && c"],
    ["a", "(c == 1)", "and not", "a && !(c == 1)"],
    ["a", "(c) && (d)", "and not", "a && !((c) && (d))"],
    ["(a) || (b)", "c", "and", "((a) || (b)) && c"],
    ["a == 1", "a == 1", "and", "a == 1"],
    [" a ", " b ", "or", "a || b"],
  ];
  for (const [left, right, how, want] of cases) {
    equal([left, right, how, combine(left, right, how)], [left, right, how, want]);
  }
});

test("a search in the bytes differs from a comparison", () => {
  equal([isFind(" = 5"), isFind("== 5"), isFind("5 = 5")], [true, false, false]);
});

const presets = new Map([["party", "a || b"], ["big", "len > 1000"], ["größe", "len > 1"]]);

test("presets are expanded", () => {
  for (const [typed, want] of [
    ["@party", "a || b"],
    [" @party ", " a || b "],
    ["@party && x", "(a || b) && x"],
    ["!@big", "!(len > 1000)"],
    ["@party||@big", "(a || b)||(len > 1000)"],
    ["@größe && x", "(len > 1) && x"],
    ["@party.x == 1", "@party.x == 1"], // the bytes of a field
    ["@party[0:1] == 1", "@party[0:1] == 1"],
    ["@partying", "@partying"],
    ["@.party == 1", "@.party == 1"],
    ['"@party"', '"@party"'],
    ["= @party", "= @party"],
    ["@", "@"],
    ["", ""],
  ] as const) {
    equal([typed, expand(typed, presets).text], [typed, want]);
  }
});

test("positions after a preset map to the typed text", () => {
  const e = expand("x && @party && wrong", presets);
  equal(e.text, "x && (a || b) && wrong");
  equal([0, 4, 5, 8, 11, 12, 20].map((at) => e.there(at)), [0, 4, 5, 13, 13, 14, 22]);
  equal(e.back(17, 22), { start: 15, end: 20, inside: false });
  equal(e.back(0, 1), { start: 0, end: 1, inside: false });
  equal(e.back(6, 7), { start: 5, end: 11, inside: true });
  equal(e.back(22, 22), { start: 20, end: 20, inside: false });
  equal(expand("abc", presets).back(1, 2), { start: 1, end: 2, inside: false });
});

test("positions map in both directions", () => {
  for (const typed of ["x && @party && y", "@big", "@big || @party", "len > 3"]) {
    const e = expand(typed, presets);
    for (let at = 0; at <= typed.length; at++) {
      const there = e.there(at);
      const back = e.back(there, there);
      if (!/[@\w]/.test(typed[at] ?? " ") && !/\w/.test(typed[at - 1] ?? " ")) {
        equal([typed, at, back.start], [typed, at, at]);
      }
      equal(there >= 0 && there <= e.text.length && back.start >= 0 && back.start <= typed.length, true);
    }
  }
});

test("a text of presets has a maximum length", () => {
  const large = new Map([["a", "x".repeat(8000)]]);
  equal(expand("@a ".repeat(2000), large).text.length < 40_000, true);
});

test("long texts take linear time", () => {
  const text = "((((a || b && ".repeat(500) + '"'.repeat(501);
  equal(looseness(text), "one");
  equal(expand(text, presets).text === text, true);
});
