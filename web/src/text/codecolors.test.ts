import { coloredParts } from "./codecolors";
import { equal, test } from "../kit/testing";

const parts = (text: string, target: string): string[] => coloredParts(text, target).map(({ kind, from, to }) => `${kind} ${text.slice(from, to)}`);

test("each language has its comments, strings, numbers and keywords", () => {
  equal(parts("type A struct { B uint32 `json:\"b\"` } // uint32 \"x\"", "go"), ["keyword type", "keyword struct", "keyword uint32", "string `json:\"b\"`", "comment // uint32 \"x\""]);
  equal(parts("#include <stdint.h>\nstatic const uint32_t a = 0x1fU; /* if\n2 */", "c"), ["keyword #include", "keyword static", "keyword const", "keyword uint32_t", "number 0x1fU", "comment /* if\n2 */"]);
  equal(parts("const s = 'it\\'s // no'; return 12n;", "ts"), ["keyword const", "string 'it\\'s // no'", "keyword return", "number 12n"]);
  equal(parts("local a1 = 2.5 -- of 3", "lua"), ["keyword local", "number 2.5", "comment -- of 3"]);
  equal(parts("seq:\n  - id: len # bytes\n    size: 4", "ksy"), ["keyword seq", "keyword   - id", "comment # bytes", "keyword     size", "number 4"]);
  equal(parts("## C_CHAT\nthe `len` of it", "md"), ["keyword ## C_CHAT", "string `len`"]);
  equal(parts("if 1", "other"), []);
});
