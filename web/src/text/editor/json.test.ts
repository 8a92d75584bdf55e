import { namedFields, namedTypes, treeOffer } from "./json";
import { equal, test } from "../../kit/testing";

test("json: what may be written at a position", () => {
  const at = (before: string, yaml = false): string => {
    const offer = treeOffer(before, yaml);
    return offer === undefined ? "" : `${offer.kind} at ${offer.from}`;
  };
  equal(at('{"name": "x", "type": "i3'), "type at 23");
  equal(at('{"name": "x", "type": "'), "type at 23");
  equal(at('{"name": "x", "type": ["opt'), "type at 24");
  equal(at('["option", "str'), "type at 12");
  equal(at('"fields": {"1": "var'), "type at 17");
  equal(at('{"compareTo": "ki'), "field at 15");
  equal(at('{"nam'), "key at 2");
  equal(at('{"name": "x", "ty'), "key at 15");
  equal(at('{"name": "x'), "");
  equal(at('// "type": "i3'), "");
  equal(at("   x: i3", true), "type at 6");
  equal(at("   x: []var", true), "type at 8");
  equal(at("   # x: i3", true), "");
});

test("json: the names that a text defines", () => {
  const text = `{
  // "types": {"commented": 1}
  "types": {"string": ["pstring", {"countType": "varint"}], "slot": ["container", [{"name": "inner", "type": "u8"}]]},
  "play": {"toClient": {"types": {"packet": ["switch", {"compareTo": "../x", "fields": {"no": "u8"}}]}}}
}`;
  equal(namedTypes(text, false), ["string", "slot", "packet"]);
  equal(namedFields(text, false), ["inner"]);
  const bare = `{
  "version": "1.20", // not a type, which the text does not show
  "string": ["pstring", {"countType": "varint"}],
  "play": {"toClient": {"packet": ["switch", {"compareTo": "../x", "fields": {"no": {"a": "u8"}}}]}, "types": {"old": {"type": "container"}}},
}`;
  equal(namedTypes(bare, false), ["version", "string", "packet", "old"]);
  const yaml = "!version: 1\n^types:\n   slot:\n      id?: u8\n   name: string # text\n^play.toClient.types:\n   packet:\n      x: u8\n^play:\n   bare: u8\n";
  equal(namedTypes(yaml, true), ["slot", "name", "packet", "bare"]);
  equal(namedFields(yaml, true), ["slot", "id", "name", "packet", "x", "bare"]);
});
