import { equal, test } from "../../kit/testing";
import type { Controls } from "../../message/socket";
import { asAsked, chosenForm, ofFrames } from "./controls";

const given: Controls = {
  message: "A.1", name: "", definition: "uint8 a\n", base: "12", shared: "", input: "01", form: "hex", dir: "", bycode: false, value: "", made: "", code: "", show: 2, edits: { 2: "ff" }, values: false, score: true,
};

test("controls: the address chooses the definition, whose text comes from the server, and the bytes", () => {
  equal(asAsked(given, {}, undefined), given);
  equal(asAsked(given, { definition: "A.1" }, undefined), given);
  equal(asAsked(given, { definition: "B.1" }, undefined), { ...given, message: "B.1", definition: "", base: "" });
  equal(asAsked(given, { hex: "02" }, undefined), { ...given, input: "02", show: 0, edits: {} });
});

test("controls: the input before a reload counts more than the address, and brings no bookmarks among the controls", () => {
  const before = { input: "03 04", form: "base64", bycode: true, show: 1, edits: { 1: "0304" }, bookmarks: "[]" };
  equal(asAsked(given, { definition: "B.1", hex: "02" }, before), { ...given, message: "B.1", definition: "", base: "", input: "03 04", form: "base64", bycode: true, show: 1, edits: { 1: "0304" } });
});

test("controls: an own pattern counts more than a form of the menu", () => {
  equal([chosenForm("hex", ""), chosenForm("hex", "(?<data>.*)"), chosenForm("", "")], ["hex", "pattern:(?<data>.*)", ""]);
});

test("controls: beside a list of frames the page has no input of its own", () => {
  const { input, form, bycode, edits, name } = ofFrames({ ...given, name: "x" });
  equal([input, form, bycode, edits, name], ["", "hex", true, {}, ""]);
});
