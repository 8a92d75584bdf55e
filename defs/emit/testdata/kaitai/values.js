// Compiles formats with the Kaitai compiler and reads bytes with the JavaScript that it writes.
//
// Standard input is one JSON value {"files": {path: text}, "rows": [{"file", "hex"}], "rounds"}; standard output is {"refused": {path: reason},
// "rows": [{"value"} or {"error"}], "micros"}. A value is an object with the names of JavaScript: all attributes and all instances. With rounds the
// rows are also read without looking at values, so many times: micros is the CPU that a row takes then.
"use strict";
const yaml = require("js-yaml");
const compiler = require("kaitai-struct-compiler");
const KaitaiStream = require("kaitai-struct/KaitaiStream");

const base = (path) => path.split("/").pop().replace(/\.ksy$/, "");

async function load(files, path) {
  const importYaml = async (name) => {
    const found = Object.keys(files).find((f) => base(f) === base(name));
    if (!found) throw new Error("no file " + name);
    return yaml.load(files[found]);
  };
  const def = yaml.load(files[path]);
  const out = await compiler.compile("javascript", def, {importYaml}, false);
  const modules = new Map();
  const need = (name) => {
    if (name === "kaitai-struct/KaitaiStream") return KaitaiStream;
    const file = name.replace(/^.*\//, "") + ".js";
    if (!modules.has(file)) {
      const module = {exports: {}};
      modules.set(file, module);
      new Function("exports", "module", "require", "define", out[file])(module.exports, module, need, undefined);
    }
    return modules.get(file).exports;
  };
  const name = def.meta.id.replace(/(^|_)([a-z0-9])/g, (_, sep, c) => c.toUpperCase());
  return need(name)[name];
}

function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && !Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  if (value === null || typeof value !== "object") return value;
  const out = {};
  const getters = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(value))).filter(([, d]) => d.get);
  for (const name of [...Object.keys(value), ...getters.map(([name]) => name)]) {
    if (name.startsWith("_") && !name.startsWith("_unnamed")) continue;
    const member = value[name];
    if (member !== undefined) out[name] = plain(member);
  }
  return out;
}

// The runtime reads integers of 64 bits as numbers, which have 53, and skips a byte after a terminator that is included. Mended for values only, not
// for times.
function exact() {
  const readBytesTerm = KaitaiStream.prototype.readBytesTerm;
  KaitaiStream.prototype.readBytesTerm = function (terminator, include, consume, eosError) {
    return readBytesTerm.call(this, terminator, include, consume && !include, eosError);
  };
  for (const [name, method, little] of [["readU8le", "getBigUint64", true], ["readU8be", "getBigUint64", false], ["readS8le", "getBigInt64", true], ["readS8be", "getBigInt64", false]]) {
    KaitaiStream.prototype[name] = function () {
      const bytes = this.readBytes(8);
      return new DataView(bytes.buffer, bytes.byteOffset, 8)[method](0, little);
    };
  }
}

const bufferOf = (hex) => Uint8Array.from(Buffer.from(hex, "hex")).buffer;

// time returns the microseconds of CPU that a message takes, of the fastest of some rounds. Streams are made before.
function time(roots, rows, rounds) {
  const jobs = rows.map((row) => [roots.get(row.file), bufferOf(row.hex)]);
  let best = Infinity;
  for (let i = 0; i < rounds; i++) {
    const start = process.cpuUsage();
    let n = 0;
    let took = 0;
    for (; took < 200_000; n += jobs.length) {
      for (const [Root, buffer] of jobs) new Root(new KaitaiStream(buffer));
      const now = process.cpuUsage(start);
      took = now.user + now.system;
    }
    best = Math.min(best, took / n);
  }
  return best;
}

async function main() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const input = JSON.parse(Buffer.concat(chunks).toString());
  const roots = new Map();
  const out = {refused: {}, rows: [], micros: 0};
  const wanted = new Set((input.rows || []).map((row) => row.file));
  for (const path of wanted) {
    try {
      roots.set(path, await load(input.files, path));
    } catch (e) {
      out.refused[path] = String(e.message || e) || "refused";
    }
  }
  if (input.rounds && Object.keys(out.refused).length === 0) out.micros = time(roots, input.rows, input.rounds);
  exact();
  for (const row of input.rows || []) {
    const Root = roots.get(row.file);
    if (!Root) {
      out.rows.push({error: "refused"});
      continue;
    }
    try {
      out.rows.push({value: plain(new Root(new KaitaiStream(bufferOf(row.hex))))});
    } catch (e) {
      out.rows.push({error: String(e.message || e) || "refused"});
    }
  }
  process.stdout.write(JSON.stringify(out));
}

main();
