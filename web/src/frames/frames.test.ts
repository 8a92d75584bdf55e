import { equal, test } from "../kit/testing";
import { chipLabel } from "./chips";
import { Columns, fixedColumns } from "./columns";
import { patchOf } from "./projectlist";
import { literal, ofCell, ofConnection, quote, timeLiteral } from "./filters";
import { fieldFilter, regrouped } from "./fieldtable";
import { labelSize } from "./chart";
import { flowText, lanesOf } from "./flow";
import { History } from "./history";
import { pageRows, Pages } from "./pages";
import type { FrameRow, State } from "../api/frames";
import { Ranges } from "./ranges";
import type { Channel, ChannelEvents } from "../kit/connection";
import { type Connection, FramesError, FramesSocket, noState } from "./socket";
import { bytes, count, flags, frameName, info, layers, opcode, seconds, shortConnection, span } from "../kit/frametext";
import { chartData } from "./timeline";
import { sortTypes } from "./types";

/** A server simulated by the test. */
class Wire implements Channel {
  isOpen = false;
  sent: object[] = [];
  private readonly events: ChannelEvents;
  constructor(events: ChannelEvents) {
    this.events = events;
  }
  send(message: object): void {
    if (this.isOpen) {
      this.sent.push(message);
    }
  }
  close(): void {
    this.isOpen = false;
  }
  open(): void {
    this.isOpen = true;
    this.sent = [];
    this.events.open();
  }
  lose(): void {
    this.isOpen = false;
    this.events.lost("");
  }
  say(message: object): void {
    this.events.message(message as never);
  }
}

const noView = { filter: "", chips: [], columns: [], colors: [], highlight: "" };

function wired() {
  let wire: Wire | undefined;
  const states: State[] = [];
  const connections: Connection[] = [];
  const socket = new FramesSocket({ state: (s) => states.push(s), connection: (c) => connections.push(c) }, (events) => (wire = new Wire(events)));
  return { socket, states, connections, wire: (): Wire => wire as Wire };
}

async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "none";
  } catch (error) {
    return error instanceof FramesError ? error.why : String(error);
  }
}

test("frames socket: a request gets its own response, whatever arrives before it", async () => {
  const { socket, wire } = wired();
  socket.show(noView);
  wire().open();
  const where = socket.ask("where", { n: 5 });
  const rows = socket.ask("rows", { from: 0, count: 100 });
  equal(wire().sent.slice(-2), [{ where: { id: 1, n: 5 } }, { rows: { id: 2, from: 0, count: 100 } }]);
  wire().say({ found: { id: 99, pos: 1, n: 1 } });
  wire().say({ rows: { id: 2, seq: socket.seq, from: 0, rows: [{ n: 1, t: 2 }] } });
  wire().say({ found: { id: 1, pos: 4, n: 5 } });
  equal([(await where).pos, (await rows).rows?.length], [4, 1]);
  socket.close();
});

test("frames socket: messages of an earlier view are dropped", async () => {
  const { socket, wire, states } = wired();
  socket.show(noView);
  wire().open();
  const before = socket.seq;
  wire().say({ state: { seq: before, total: 10, scanned: 10, fit: 10, done: true, noted: [{ n: 3, mark: true }] } });
  const types = socket.ask("types", {});
  const asked = failure(types);
  socket.show({ ...noView, filter: "C_CHAT" });
  equal(await asked, "stale");
  equal(wire().sent.slice(-2).map((m) => Object.keys(m)[0]), ["cancel", "view"]);
  wire().say({ state: { seq: before, fit: 10, noted: [{ n: 3, mark: true }, { id: "4:0:0", n: 4, mark: true, note: "told once" }, { id: "4:2:0", n: 4, note: "another" }, { id: "9:0:0", note: "elsewhere" }] } });
  equal([states.length, socket.state.fit, socket.state.done], [1, 0, false]);
  wire().say({ state: { seq: socket.seq, fit: 2 } });
  equal([socket.state.fit, socket.state.total, socket.state.marked, socket.state.notes], [2, 10, [3, 4], { 4: "told once\nanother" }]);
  const rows = failure(socket.ask("rows", { from: 0, count: 1 }));
  wire().say({ rows: { id: 2, seq: before, from: 0, rows: [] } });
  equal(await rows, "stale");
  socket.close();
});

test("frames socket: aborting cancels at the server, and a late response is ignored", async () => {
  const { socket, wire } = wired();
  socket.show(noView);
  wire().open();
  const abort = new AbortController();
  const find = failure(socket.ask("find", { text: "x", as: "text", from: -1, back: false }, abort.signal));
  abort.abort();
  equal(await find, "cancelled");
  equal(wire().sent.at(-1), { cancel: { id: 1 } });
  wire().say({ found: { id: 1, pos: 0, n: 1 } });
  equal(await failure(socket.ask("diff", { a: 1, b: 2 }, abort.signal)), "cancelled");
  const diff = failure(socket.ask("diff", { a: 1, b: 2 }));
  wire().say({ failed: { id: 2, message: "frame 2 is gone" } });
  equal(await diff, "failed");
  socket.close();
});

test("frames socket: it reconnects and sends the view again", async () => {
  const { socket, wire, connections } = wired();
  socket.show({ ...noView, filter: "len > 3" });
  const early = socket.ask("types", {}); // a drawer that opens at once
  socket.show({ ...noView, filter: "len > 3" });
  equal(wire().sent, []);
  wire().open();
  equal(wire().sent, [{ view: { seq: socket.seq, ...noView, filter: "len > 3" } }, { types: { id: 1 } }]);
  wire().say({ types: { id: 1, total: 3, rows: [] } });
  equal((await early).total, 3);
  const waiting = failure(socket.ask("types", {}));
  wire().lose();
  equal(await waiting, "lost");
  equal(await failure(socket.ask("types", {})), "lost");
  const before = socket.seq;
  wire().open();
  equal([socket.seq > before, wire().sent], [true, [{ view: { seq: socket.seq, ...noView, filter: "len > 3" } }]]);
  equal(connections, ["open", "lost", "open"]);
  socket.close();
  equal(connections.length, 3);
});

test("pages: at most two pending, followed only by the last request", async () => {
  const asked: number[] = [];
  const answers = new Map<number, (rows: number[]) => void>();
  let came = 0;
  const pages = new Pages<number>(
    (from) => {
      asked.push(from / pageRows);
      return new Promise((resolve) => answers.set(from / pageRows, resolve));
    },
    () => came++,
  );
  const full = (page: number): number[] => Array.from({ length: pageRows }, (_, i) => page * pageRows + i);
  const answer = async (page: number, rows = full(page)): Promise<void> => {
    answers.get(page)?.(rows);
    await Promise.resolve();
    await Promise.resolve();
  };
  pages.resize(100_000);
  pages.want(0, 350);
  equal(asked, [0, 1]);
  pages.want(50_000, 50_100);
  equal(asked, [0, 1]);
  await answer(0);
  equal([asked, pages.get(7), pages.get(50_007), came], [[0, 1, 500], 7, undefined, 1]);
  await answer(500);
  equal([pages.has(50_000, 50_100), pages.has(50_000, 50_101)], [true, false]);
  await answer(1);
  // Another view: the old rows are shown until the new ones arrive, and late responses are ignored.
  pages.reset(true);
  equal([pages.get(7), pages.has(0, 10)], [7, false]);
  pages.want(0, 10);
  await answer(0, full(3));
  equal([pages.get(7), pages.has(0, 10)], [307, true]);
  pages.reset();
  equal(pages.get(7), undefined);
});

test("pages: the last page grows with the list, and a page shorter than expected is not requested repeatedly", async () => {
  let asked = 0;
  let there = 30;
  const pages = new Pages<number>(
    async () => {
      asked++;
      return Array.from({ length: there }, (_, i) => i);
    },
    () => undefined,
  );
  const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
  pages.resize(30);
  pages.want(0, 40);
  await rest();
  equal([asked, pages.has(0, 40)], [1, true]);
  pages.resize(60);
  equal(pages.has(0, 40), false);
  there = 30;
  pages.want(0, 40);
  await rest();
  equal(asked, 2);
  pages.stop();
});

test("ranges: adding, removing and toggling match a set of numbers", () => {
  let seed = 7;
  const random = (n: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % n;
  };
  const ranges = new Ranges();
  const set = new Set<number>();
  for (let i = 0; i < 400; i++) {
    const start = random(60);
    const end = start + random(12);
    const act = random(3);
    if (act === 0) {
      ranges.add(start, end);
      for (let p = start; p < end; p++) set.add(p);
    } else if (act === 1) {
      ranges.remove(start, end);
      for (let p = start; p < end; p++) set.delete(p);
    } else {
      ranges.toggle(start);
      if (!set.delete(start)) set.add(start);
    }
    const got = Array.from({ length: 80 }, (_, p) => ranges.has(p));
    equal(got, Array.from({ length: 80 }, (_, p) => set.has(p)));
    equal(ranges.count, set.size);
    if (ranges.list.some((r, at) => r.start >= r.end || r.start <= (ranges.list[at - 1]?.end ?? -1))) {
      throw new Error(`not in order: ${JSON.stringify(ranges.list)}`);
    }
  }
});

test("columns: order, widths, fields and modes are stored, and damaged storage is ignored", () => {
  localStorage.removeItem("wirebench.frames.test");
  const first = new Columns("test");
  equal(first.shown.map((c) => c.id).slice(0, 3), ["n", "time", "dir"]);
  first.move("len", "n");
  first.resize("name", 1);
  first.resize("time", 1e9);
  first.show("delta", true);
  first.show("delta", false);
  equal([first.addField("C_CHAT.2.message"), first.addField("C_CHAT.2.message"), first.addField("")], [true, true, false]);
  first.setMode("clock");
  first.shift("n", 1);
  const again = new Columns("test");
  equal(again.shown.map((c) => c.id), ["len", "time", "n", "dir", "code", "name", "ver", "flags", "=C_CHAT.2.message", "info"]);
  equal([again.mode, again.width("name"), again.width("time"), again.fields], ["clock", 60, 2000, ["C_CHAT.2.message"]]);
  again.show("=C_CHAT.2.message", false);
  equal(again.all.some((c) => c.column.id.startsWith("=")), false);
  for (const bad of ["[]", "7", '{"columns":[{"id":"n","shown":"yes","widthPx":1},{"id":"zz","shown":true,"widthPx":9}],"mode":4}', '{"columns":[{"id":"info","shown":true,"widthPx":200}]}']) {
    localStorage.setItem("wirebench.frames.test", bad);
    equal(new Columns("test").all.length, fixedColumns.length);
  }
  const alone = new Columns("test");
  equal([alone.width("n"), alone.saw(fixedColumns[0]!, 3), alone.saw(fixedColumns[0]!, 6), alone.saw(fixedColumns[0]!, 5)], [0, false, true, false]);
  equal(alone.template.split(" calc(")[0], "calc(6ch + var(--cell-pad) * 2)");
  for (const column of alone.shown) {
    alone.show(column.id, false);
  }
  equal(alone.shown.length, 1);
  localStorage.removeItem("wirebench.frames.test");
});

test("texts of frames", () => {
  equal([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
  equal([0, 999, 1000, 12_345, 5_000_000].map(bytes), ["0 B", "999 B", "0.98 KiB", "12.1 KiB", "4.77 MiB"]);
  equal([0, 1520, -1, 12_345_678].map(seconds), ["0.000000", "0.001520", "-0.000001", "12.345678"]);
  equal([0, 999, 1520, 66_700, 1e6, 61e6, 700e6, 9000e6].map(span), ["0 µs", "999 µs", "1.52 ms", "66.7 ms", "1.00 s", "61.0 s", "11 min 40 s", "2 h 30 min"]);
  equal([opcode(9938), opcode(0x12345), opcode(undefined)], ["0x26D2", "0x12345", ""]);
  equal([frameName({ code: 9938 }), frameName({ kind: "opaque" }), frameName({ name: "C_CHAT" })], ["? 0x26D2", "encrypted", "C_CHAT"]);
  const row = { n: 1, t: 0, via: ["reliable:3", "chunk"], from: [1, 2, 3, 4, 5, 6, 7, 8], status: "incomplete", info: "a\nb", flags: "*" } as FrameRow;
  equal(layers(row), "reliable:3 › chunk of 1, 2, 3, 4, 5, 6 and 2 more");
  equal(info(row), "incomplete · a b");
  equal(flags(row, true, true), { text: "◆✎!*", words: "marked, has a note, a problem, injected" });
  equal(info({ ...row, status: "", info: "a", note: "a" }), "a");
  equal(flags({ ...row, d: -40_000 }, false, false).text, "!↶*");
  equal(shortConnection({ name: "10.0.0.2:4000-10.0.0.1:7801", session: 1, proto: "tcp", frames: 1 }), "4000 ⇄ 7801 ·2");
});

test("filters of menus", () => {
  equal(quote('a"b\\c\n\u0007'), '"a\\"b\\\\c\\n\\x07"');
  equal([literal("12"), literal("-1.5e3"), literal("true"), literal("12", "string"), literal("Lann"), literal("0a 1b", "bytes")], ["12", "-1.5e3", "true", '"12"', '"Lann"', 'x"0a 1b"']);
  equal(timeLiteral(1763632800123456), "1763632800.123456");
  const conn = { name: "a:1-b:2", session: 0, proto: "tcp", frames: 1 };
  equal(ofConnection(conn), 'conn == "a:1-b:2" && session == 0');
  const row: FrameRow = { n: 17, t: 1_500_000, d: 0, dir: "c2s", kind: "message", conn: 0, code: 9938, len: 48, type: "C_CHAT", cells: ["Lann", "7"] };
  const cells = ["n", "time", "dir", "code", "name", "len", "conn", "=.name", "=.gold", "=.none", "flags"].map((c) => ofCell(c, row, [conn], [".name", ".gold"]));
  equal(cells, ["n == 17", "time >= 1.500000", "dir == c2s", "op == 0x26D2", "C_CHAT", "len == 48", 'conn == "a:1-b:2" && session == 0', '.name == "Lann"', ".gold == 7", "", ""]);
  equal([fieldFilter("C_CHAT.2", "members[].name"), fieldFilter("op == 7", "x")], ["C_CHAT.2.members.name", "*.x"]);
  const names = new Map([["time >= 1", "since 1 s"]]);
  equal(["!(S_PING)", "C_CHAT", "time >= 1"].map((c) => chipLabel(c, names)), ["hidden: S_PING", "only: C_CHAT", "since 1 s"]);
});

test("groups of bytes: a new one takes the place of those that it overlaps", () => {
  const groups = ["0:u16le", "4:u32le", "8:text"];
  equal(regrouped(groups, 2, "u16be"), ["0:u16le", "2:u16be", "4:u32le", "8:text"]);
  equal(regrouped(groups, 2, "u32le"), ["0:u16le", "2:u32le", "8:text"]);
  equal(regrouped(groups, 5, "u8"), ["0:u16le", "5:u8", "8:text"]);
  equal(regrouped(groups, 4, "f32be"), ["0:u16le", "4:f32be", "8:text"]);
  equal(regrouped(groups, 4, ""), ["0:u16le", "8:text"]);
  equal(regrouped(groups, 0, "text:16"), ["0:text:16"]);
});

test("history: back, forward, and a new selection discards the forward history", () => {
  const h = new History();
  [1, 2, 2, 3].forEach((n) => h.visit(n));
  equal([h.travel(-1), h.travel(-1), h.travel(-1), h.travel(1)], [2, 1, undefined, 2]);
  h.visit(9);
  equal([h.travel(1), h.travel(-1)], [undefined, 2]);
});

test("types sort by any column, equal ones by frequency", () => {
  const row = (name: string, n: number, bad: number) => ({ type: name, name, code: n, count: n, bytes: 10 * n, bad });
  const rows = [row("B10", 5, 0), row("B9", 7, 1), row("A", 1, 0)];
  equal(sortTypes(rows, "name", false).map((r) => r.name), ["A", "B9", "B10"]);
  equal(sortTypes(rows, "bad", true).map((r) => r.name), ["B9", "B10", "A"]);
  equal(sortTypes(rows, "mean", false).map((r) => r.name), ["B9", "B10", "A"]);
});

test("timeline: directions are stacked, and missing ones are 0", () => {
  equal(chartData({ from: 3_000_000, step: 500_000, c2s: [1, 2], s2c: [10], bad: [], c2s_bytes: [], s2c_bytes: [], lines: [] }, 1_000_000), [[2, 2.5], [11, 2], [1, 2], [0, 0]]);
  equal(noState().fit, 0);
});

test("the axis of a graph is as wide as its widest label", () => {
  const of = labelSize({ font: "11px x" });
  const ctx = { save: () => {}, restore: () => {}, font: "", measureText: (text: string) => ({ width: 6 * text.length }) } as unknown as CanvasRenderingContext2D;
  for (const labels of [null, [], ["0"], ["0", "500,000"], ["4,000,000,000", "0"], [null, "-1.5"]]) {
    const widest = Math.max(0, ...(labels ?? []).map((label) => 6 * (label ?? "").length));
    equal([labels, of({ ctx }, labels) - widest], [labels, 20]);
  }
});

test("each connection of a flow has a pair of lines", () => {
  const conns = Array.from({ length: 30 }, (_, i) => ({ name: `10.0.0.1:${i + 1}-10.0.0.2:80`, proto: "tcp", session: 0 })) as unknown as State["conns"];
  for (const n of [0, 1, 2, 11, 12, 13, 30]) {
    const rows = Array.from({ length: 2 * n }, (_, i) => ({ conn: i % n }));
    const lanes = lanesOf(rows, { conns });
    equal([n, lanes.length], [n, Math.min(n, 12)]);
    equal([n, rows.every((r) => lanes.filter((l) => l.conns.has(r.conn)).length === 1)], [n, true]);
    equal([n, lanes.at(-1)?.name], [n, n === 0 ? undefined : n > 12 ? `${n - 11} others` : `${n} ⇄ 80`]);
  }
  const row = (n: number, conn: number): FrameRow => ({ n, conn, t: 0, kind: "message", name: "A", type: "A", len: 0, d: 0 });
  equal(flowText([row(1, 0), row(2, 1)], { ...noState(), conns }).split("\n").map((line) => line.includes("⇄")), [true, true]);
  equal(flowText([row(1, 0), row(2, 0)], { ...noState(), conns }).includes("⇄"), false);
});

test("columns: those of the project until others are chosen; what was stored before only without them", () => {
  for (const key of ["of", "old"]) {
    localStorage.removeItem(`wirebench.frames.${key}`);
  }
  new Columns("old").addField("A.x");
  const ids = (c: Columns): string[] => c.shown.map(({ id }) => id);
  const shared = ["info", "n", "=C_SAY.text", "nothing"];
  equal(ids(new Columns("of", [], "old")).includes("=A.x"), true);
  const first = new Columns("of", shared, "old");
  equal([ids(first), first.areShared], [["info", "n", "=C_SAY.text"], false]);
  first.show("len", true);
  equal(ids(new Columns("of", ["n"], "old")), ids(first));
  first.restore();
  equal(ids(first), ["info", "n", "=C_SAY.text"]);
  equal(new Columns("of", ["n"], "old").areShared, true);
  localStorage.removeItem("wirebench.frames.old");
});

test("what a project shares is replaced part by part, and removed when nothing is left", () => {
  equal(patchOf({ columns: ["n"], filters: [], colors: [] }), { list: { columns: ["n"], filters: null, colors: null } });
  equal(patchOf({ columns: [], filters: [], colors: [] }), { list: null });
});
