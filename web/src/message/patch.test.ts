import { patchedBytes, spliced } from "./patch";
import { equal, test } from "../kit/testing";

test("patches: of texts and of bytes", () => {
  equal([spliced("a😀c", { at: 3, insert: "b" }), spliced("abc", { at: 1, remove: 1 }), spliced("", { at: 0, insert: "x" })], ["a😀bc", "ac", "x"]);
  const bytes = new Uint8Array([1, 2, 3]);
  equal(patchedBytes(bytes, { at: 1, remove: 1, new: btoa("\x07\x08") }), new Uint8Array([1, 7, 8, 3]));
  equal(patchedBytes(bytes, { remove: -1, new: "" }), new Uint8Array());
  equal(patchedBytes(bytes, { at: 3, new: btoa("\xff") }), new Uint8Array([1, 2, 3, 255]));
  equal(patchedBytes(bytes, undefined) === bytes, true);
});
