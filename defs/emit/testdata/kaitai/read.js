// Compiles .ksy files with the Kaitai compiler and reads messages with the JavaScript that it writes.
//
// Standard input is one JSON value {"files": [{"name", "text"}], "rows": [{"file", "hex", "many"}]}; standard output is {"files": [error or ""],
// "rows": [{"value"} or {"error"}]}. A value is put together by the names in "-orig-id" alone.
"use strict";
const yaml = require("js-yaml");
const compiler = require("kaitai-struct-compiler");
const KaitaiStream = require("kaitai-struct/KaitaiStream");

// JavaScript's numbers hold 53 bits, and its text decoders take Windows-1252 for ISO-8859-1 and drop byte order marks and lone
// surrogates. None of this is a matter of the .ksy, so the runtime is mended here.
for (const [name, method, little] of [["readU8le", "getBigUint64", true], ["readU8be", "getBigUint64", false], ["readS8le", "getBigInt64", true], ["readS8be", "getBigInt64", false]]) {
  KaitaiStream.prototype[name] = function () {
    const bytes = this.readBytes(8);
    return new DataView(bytes.buffer, bytes.byteOffset, 8)[method](0, little);
  };
}
const encodings = {"UTF-16LE": "utf16le", "ISO-8859-1": "latin1", "UTF-8": "utf8"};
KaitaiStream.bytesToStr = (bytes, encoding) => Buffer.from(bytes).toString(encodings[encoding]);

const camel = (id) => id.replace(/_([a-z0-9])/g, (_, c) => c.toUpperCase());
const className = (id) => camel("_" + id);

async function load(file) {
  const def = yaml.load(file.text);
  const out = await compiler.compile("javascript", def, null, false);
  const module = {exports: {}};
  for (const text of Object.values(out)) {
    new Function("exports", "module", "require", "define", text)(module.exports, module, require, undefined);
  }
  return {def, Root: module.exports[className(def.meta.id)]};
}

// find looks up a type in the innermost scope that has it.
function find(name, scopes) {
  for (const scope of [...scopes].reverse()) {
    if (scope.types && name in scope.types) return scope.types[name];
  }
  throw new Error("no type " + name);
}

function typeOf(attr, value) {
  const type = attr.type;
  if (type && type.cases) {
    const name = Object.values(type.cases).find((id) => className(id) === value.constructor.name);
    if (!name) throw new Error("no case is " + value.constructor.name);
    return name;
  }
  return type.replace(/\(.*/, "");
}

function plain(value, attr, scopes) {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.map((v) => plain(v, attr, scopes));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && !Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  if (typeof value === "object") return collect(value, find(typeOf(attr, value), scopes), scopes);
  return value;
}

// collect makes the value of a type. Attributes without a name of their own add what is in them.
function collect(object, def, outer) {
  const scopes = [...outer, def];
  let out = Object.create(null); // a name may be __proto__
  const attrs = [...(def.seq || []), ...Object.entries(def.instances || {}).map(([id, a]) => ({...a, id}))];
  for (const attr of attrs) {
    const value = object[camel(attr.id)];
    const path = attr["-orig-id"];
    if (path === undefined) {
      if (value !== undefined && typeof value === "object" && !Array.isArray(value) && !(value instanceof Uint8Array)) {
        const inner = plain(value, attr, scopes);
        if (inner === null || typeof inner !== "object" || Array.isArray(inner)) out = inner;
        else if (typeof out === "object") Object.assign(out, inner);
      }
      continue;
    }
    const one = plain(value, attr, scopes);
    if (path === "") {
      out = one;
      continue;
    }
    if (one === undefined) continue;
    const names = path.split(".");
    const last = names.pop();
    let at = out;
    for (const name of names) at = at[name] ||= Object.create(null);
    at[last] = one;
  }
  return out;
}

// read gives the value of a message, or of all messages of a stream.
function read(loaded, hex, all) {
  const bytes = Uint8Array.from(Buffer.from(hex, "hex"));
  const root = new loaded.Root(new KaitaiStream(bytes.buffer));
  const {def} = loaded;
  const first = (def.seq || [])[0];
  const isSet = first && ["frames", "messages", "message"].includes(first.id) && first["-orig-id"] === undefined && def.types && def.types.message;
  if (!isSet) return collect(root, def, []);
  const attr = def.types.message.seq[0];
  let messages = [].concat(root[first.id]);
  if (first.id === "frames") messages = messages.map((f) => f.message);
  const values = messages.map((m) => collect(m.body, find(typeOf(attr, m.body), [def]), [def]));
  if (all) return values;
  if (values.length !== 1) throw new Error(`${values.length} messages`);
  return values[0];
}

async function main() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const input = JSON.parse(Buffer.concat(chunks).toString());
  const loaded = new Map();
  const out = {files: [], rows: []};
  for (const file of input.files || []) {
    let error = "";
    try {
      loaded.set(file.name, await load(file));
    } catch (e) {
      error = String(e.message || e) || "refused";
    }
    out.files.push(error);
  }
  for (const row of input.rows || []) {
    try {
      const value = read(loaded.get(row.file), row.hex, row.many);
      out.rows.push({value});
    } catch (e) {
      out.rows.push({error: String(e.message || e) || "refused"});
    }
  }
  process.stdout.write(JSON.stringify(out));
}

main();
