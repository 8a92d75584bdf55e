// Clients of @codemirror/collab that edit one text, whose authority is the other end of the pipe: node peer.mjs MODULES SEED OPERATIONS CLIENTS
//
// Requests and answers are lines of JSON. Messages of clients get lost and arrive twice; clients are away for a while; other programs write
// the text. In between changes are mapped and joined by both sides and compared. At the end all clients must have the text of the authority.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [, , modules, seedText, operations, clientCount] = process.argv;
const require = createRequire(`${modules}/package.json`);
const { ChangeSet, EditorState, Text } = require("@codemirror/state");
const { collab, getSyncedVersion, receiveUpdates, sendableUpdates } = require("@codemirror/collab");

let seed = Number(seedText);
function random(below) { // mulberry32
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function ask(request) {
  process.stdout.write(`${JSON.stringify(request)}\n`);
  const { value, done } = await lines.next();
  if (done) {
    process.exit(2);
  }
  const answer = JSON.parse(value);
  if (answer.error !== undefined) {
    fail(`${JSON.stringify(request)}: ${answer.error}`);
  }
  return answer;
}

function fail(why) {
  process.stderr.write(`seed ${seedText}: ${why}\n`);
  process.exit(1);
}

const words = ["uint32 id", "\n", "string name\n", "# a comment", "x", "é", "😀", "array items\n- byte b\n", " ", "\n\n", "\t", "漢字", "𝒳"];
function someText() {
  let text = "";
  for (let n = 1 + random(3); n > 0; n--) {
    text += words[random(words.length)];
  }
  return text;
}

/** A position, or the one before it if it is inside a character. */
function whole(text, at) {
  return at > 0 && at < text.length && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}

/** Changes of one transaction. */
function someChanges(doc) {
  const text = doc.toString();
  const out = [];
  for (let n = 1 + random(3); n > 0; n--) {
    const from = whole(text, random(text.length + 1));
    const long = text.length > 2000; // it shrinks, so that any number of operations is as fast as the first
    const kind = random(4);
    const to = whole(text, Math.min(text.length, from + random([0, 1, 20, 5][kind] + 1)));
    out.push({ from, to, insert: long || kind === 1 && random(3) > 0 ? "" : someText() });
  }
  return out;
}

function changesOf(text) {
  return ChangeSet.of(someChanges(text), text.length);
}

/** Both sides map, join and apply the same changes. */
async function compare() {
  let text = "";
  for (let n = random(6); n > 0; n--) {
    text += someText();
  }
  const doc = Text.of(text.split("\n"));
  const a = changesOf(doc), b = changesOf(doc);
  const then = changesOf(a.apply(doc));
  const first = random(2) === 0;
  const at = random(text.length + 1), side = random(2) === 0 ? -1 : 1;
  const got = await ask({ op: "compare", text, a, b, then, first, at, side });
  const want = { mapped: a.map(b, first).toJSON(), joined: a.compose(then).toJSON(), applied: a.apply(doc).toString(), position: a.mapPos(at, side) };
  for (const [what, value] of Object.entries(want)) {
    if (JSON.stringify(got[what]) !== JSON.stringify(value)) {
      fail(`${what} of ${JSON.stringify({ text, a, b, then, first, at, side })}: ${JSON.stringify(got[what])}, not ${JSON.stringify(value)}`);
    }
  }
}

const begun = await ask({ op: "text" });
const clients = Array.from({ length: Number(clientCount) }, (_, i) => ({
  id: `c${i}`, away: 0, typed: 0,
  state: EditorState.create({ doc: begun.text, extensions: collab({ startVersion: begun.version, clientID: `c${i}` }) }),
}));

async function push(client, lost) {
  const updates = sendableUpdates(client.state);
  if (updates.length === 0) {
    return;
  }
  const message = { op: "push", version: getSyncedVersion(client.state), client: client.id, changes: updates.slice(0, 1 + random(updates.length)).map((u) => u.changes.toJSON()) };
  if (lost !== "request") {
    await ask(message);
  }
  if (lost === "twice") {
    await ask(message);
  }
}

async function pull(client) {
  const { updates } = await ask({ op: "pull", version: getSyncedVersion(client.state) });
  const some = updates.slice(0, random(4) === 0 ? random(updates.length + 1) : updates.length); // in two messages
  for (const u of some) { // one by one: see rebase of the authority
    client.state = receiveUpdates(client.state, [{ clientID: u.clientID, changes: ChangeSet.fromJSON(u.changes) }]).state;
  }
}

let outside = 0;
for (let n = 0; n < Number(operations); n++) {
  const client = clients[random(clients.length)];
  if (client.away > 0) {
    client.away--;
  }
  switch (random(20)) {
    case 0:
      if (client.away === 0 && random(10) === 0) {
        client.away = random(200);
      }
      break;
    case 1:
      await compare();
      break;
    case 2:
      if (random(10) === 0) { // another program writes the text
        const { text } = await ask({ op: "text" });
        const doc = Text.of(text.split("\n"));
        await ask({ op: "outside", text: changesOf(doc).apply(doc).toString(), client: `outside ${outside++}` });
      }
      break;
    case 3: case 4: case 5:
      if (client.away === 0) {
        await push(client, ["", "", "", "request", "twice"][random(5)]);
      }
      break;
    case 6: case 7: case 8:
      if (client.away === 0) {
        await pull(client);
      }
      break;
    default:
      client.state = client.state.update({ changes: someChanges(client.state.doc) }).state;
      client.typed++;
  }
}
for (let left = clients.length; left > 0;) {
  left = 0;
  for (const client of clients) {
    await push(client, "");
    await pull(client);
    left += sendableUpdates(client.state).length;
  }
}
for (const client of clients) {
  while (getSyncedVersion(client.state) < (await ask({ op: "text" })).version) {
    await pull(client);
  }
}
const { text, hash } = await ask({ op: "text" });
for (const client of clients) {
  const mine = client.state.doc.toString();
  if (mine !== text) {
    fail(`${client.id} has ${JSON.stringify(mine)}, the authority ${JSON.stringify(text)}`);
  }
  let h = 0x811c9dc5;
  for (let i = 0; i < mine.length; i++) {
    for (const byte of [mine.charCodeAt(i) & 0xff, mine.charCodeAt(i) >> 8]) {
      h = Math.imul(h ^ byte, 0x01000193) >>> 0;
    }
  }
  if (h !== hash) {
    fail(`the hash is ${hash}, not ${h}`);
  }
}
process.stdout.write(`${JSON.stringify({ op: "end", typed: clients.reduce((n, c) => n + c.typed, 0), outside })}\n`);
