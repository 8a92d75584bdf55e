import { equal, test } from "../kit/testing";
import { Columns } from "./columns";
import { FrameList } from "./list";
import type { FrameRow, State } from "../api/frames";
import { noState } from "./socket";

const sheet = `.frames-list { position: relative; height: 400px; width: 900px; font: 12px monospace; } .frames-scroll { height: 100%; overflow: auto; }
  .frames-head, .frame { display: grid; grid-template-columns: var(--frame-columns); height: 20px; overflow: hidden; white-space: pre; }
  .frames-head { position: sticky; top: 0; } .frames-space { position: relative; } .frames-rows { position: absolute; top: 0; width: 100%; }`;

/** Waits for the next drawing and its requests. */
function drawn(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(resolve)))));
}

/** A list of frames 1, 1+step, … in the page, recording its requests and events. */
function listOf(rows: number, step = 1) {
  const style = document.createElement("style");
  style.textContent = sheet;
  const host = document.createElement("div");
  document.body.append(style, host);
  localStorage.removeItem("wirebench.frames.list-test");
  const asked: number[] = [];
  const told: string[] = [];
  const now = { step, until: Promise.resolve() }; // when requests are answered
  let state: State = noState();
  const list = new FrameList(
    host,
    new Columns("list-test"),
    {
      rows: (from, n) => {
        asked.push(from);
        const some = Array.from({ length: Math.max(0, Math.min(n, state.fit - from)) }, (_, i) => ({ n: (from + i) * now.step + 1, t: from + i, name: `F${(from + i) * now.step + 1}` }) as FrameRow);
        return now.until.then(() => some);
      },
      where: (n) => {
        const pos = Math.ceil((n - 1) / now.step);
        return Promise.resolve(pos < state.fit ? { pos, n: pos * now.step + 1 } : { pos: -1, n: 0 });
      },
    },
    {
      select: (row, pos) => told.push(`select ${row?.n} @${pos}`),
      open: (row) => told.push(`open ${row.n}`),
      menu: (row, column) => told.push(`menu ${row.n} ${column}`),
      columns: () => told.push("columns"),
      columnMenu: (id) => told.push(`column ${id}`),
      selection: (n) => told.push(`chosen ${n}`),
      sort: (id) => told.push(`sort ${id}`),
      unsort: () => told.push("unsort"),
      sortAnew: () => told.push("sort anew"),
    },
  );
  const box = host.querySelector<HTMLElement>(".frames-scroll") ?? host;
  const update = (change: Partial<State>): void => {
    state = { ...state, ...change };
    list.update(state, new Set());
  };
  update({ seq: 1, total: rows, scanned: rows, fit: rows, done: true });
  return {
    list, box, asked, now, update,
    told: (): string[] => told.splice(0),
    frames: (): HTMLElement[] => [...host.querySelectorAll<HTMLElement>(".frame")],
    /** Names of the rows in view, from the top. */
    view: (): string[] => {
      const { top, bottom } = box.getBoundingClientRect();
      return [...host.querySelectorAll<HTMLElement>(".frame")]
        .filter((f) => f.getBoundingClientRect().top >= top + 19 && f.getBoundingClientRect().bottom <= bottom)
        .map((f) => f.querySelector(".fc-name")?.textContent ?? "");
    },
    row: (pos: number): HTMLElement => host.querySelector<HTMLElement>(`.frame[aria-rowindex="${pos + 2}"]`) ?? host,
    pill: (): HTMLElement => host.querySelector<HTMLElement>(".frames-new") ?? host,
    end: (): void => {
      list.destroy();
      host.remove();
      style.remove();
    },
  };
}

test("frame list: of ten million rows few are in the page, and each can be reached", async () => {
  const t = listOf(10_000_000);
  await drawn();
  equal(t.view()[0], "F1");
  for (const pos of [9_999_999, 0, 5_000_000, 5_000_001, 123_456]) {
    t.list.go(pos);
    await drawn();
    equal([t.view().includes(`F${pos + 1}`), t.frames().length < 60, t.list.row?.n], [true, true, pos + 1]);
    equal(t.box.getAttribute("aria-activedescendant"), t.row(pos).id);
  }
  equal(t.box.getAttribute("aria-rowcount"), "10000001");
  t.end();
});

test("frame list: late rows do not move others, and have empty rows before", async () => {
  const t = listOf(5000);
  await drawn();
  t.box.scrollTop = 20 * 2000;
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))); // the event, and its drawing
  const before = t.row(2003).getBoundingClientRect().top;
  equal(t.row(2003).classList.contains("coming"), true);
  await new Promise((resolve) => setTimeout(resolve, 150));
  await drawn();
  equal([t.row(2003).getBoundingClientRect().top, t.row(2003).classList.contains("coming")], [before, false]);
  t.end();
});

test("frame list: fast scrolling requests nothing on its way", async () => {
  const t = listOf(1_000_000);
  await drawn();
  t.asked.length = 0;
  for (let i = 1; i <= 20; i++) {
    t.box.scrollTop = i * 100_000;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  equal(t.asked.length <= 6, true); // at its end, and before and after
  equal(t.view()[3]?.startsWith("F"), true);
  t.end();
});

test("frame list: Shift and Ctrl select rows, a plain click deselects them", async () => {
  const t = listOf(100);
  await drawn();
  const click = (pos: number, keys: MouseEventInit = {}): boolean => t.row(pos).dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true, button: 0, ...keys }));
  click(2);
  click(5, { shiftKey: true });
  equal(t.list.chosen(), [{ start: 2, end: 6 }]);
  click(9, { ctrlKey: true });
  click(3, { ctrlKey: true });
  equal(t.list.chosen(), [{ start: 2, end: 3 }, { start: 4, end: 6 }, { start: 9, end: 10 }]);
  t.list.step(1, true);
  equal(t.list.chosen(), [{ start: 3, end: 5 }]);
  click(1);
  equal([t.list.chosen(), t.list.position], [[{ start: 1, end: 2 }], 1]);
  t.list.selectAll();
  equal(t.list.ranges.count, 100);
  equal(t.list.clearSelection(), true);
  await drawn();
  equal(t.frames().filter((f) => f.getAttribute("aria-selected") === "true").length, 1);
  t.end();
});

test("frame list: Shift and Ctrl select rows that are those of the old list", async () => {
  for (const [keys, want] of [[{ ctrlKey: true }, [[1000, 1001], [1002, 1003]]], [{ shiftKey: true }, [[1000, 1003]]], [{}, [[1002, 1003]]]] as const) {
    const t = listOf(10_000);
    await drawn();
    t.list.go(4000);
    await drawn();
    t.list.reset(false);
    t.now.step = 4; // frames 1, 5, 9, …: frame 4001 is row 1000, and 4009 row 1002
    t.update({ seq: 2, fit: 0, scanned: 0, done: false });
    t.row(4008).dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true, button: 0, ...keys }));
    t.update({ fit: 2500, scanned: 10_000, done: true });
    await drawn();
    await drawn();
    equal(t.list.chosen().map((r) => [r.start, r.end]), want);
    t.end();
  }
});

test("frame list: a selection stays when the same list is read again, and goes with another one", async () => {
  for (const same of [true, false]) {
    const t = listOf(10_000);
    await drawn();
    t.list.go(40);
    await drawn();
    t.row(44).dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true, button: 0, ctrlKey: true }));
    equal(t.list.chosen().length, 2);
    t.list.reset(false, same);
    t.now.step = 4; // frame 41 is row 10, and 45 row 11
    t.update({ seq: 2, fit: 0, scanned: 0, done: false });
    t.update({ fit: 2500, scanned: 10_000, done: true });
    await drawn();
    await drawn();
    equal(t.list.chosen(), same ? [{ start: 10, end: 12 }] : [{ start: 11, end: 12 }]);
    t.end();
  }
});

test("frame list: the current frame keeps its position when the filter changes", async () => {
  const t = listOf(10_000);
  await drawn();
  t.list.go(4000);
  await drawn();
  const at = t.row(4000).getBoundingClientRect().top;
  t.list.reset(false);
  t.now.step = 4; // frames 1, 5, 9, …: frame 4001 is row 1001
  t.update({ seq: 2, fit: 0, scanned: 0, done: false });
  t.update({ fit: 2500, scanned: 10_000, done: true });
  await drawn();
  await drawn();
  equal([t.list.position, t.list.row?.n, Math.round(t.row(1000).getBoundingClientRect().top - at)], [1000, 4001, 0]);
  // It is hidden: its successor becomes current.
  t.list.reset(false);
  t.now.step = 3;
  t.update({ seq: 3, fit: 3334, scanned: 10_000, done: true });
  await drawn();
  await drawn();
  equal([t.list.position, t.list.row?.n, Math.round(t.row(1334).getBoundingClientRect().top - at)], [1334, 4003, 0]);
  t.end();
});

test("frame list: keys move on and rows stay while the same frames are decoded again", async () => {
  const t = listOf(1000);
  await drawn();
  t.list.go(3);
  await drawn();
  t.list.reset(true);
  t.update({ seq: 2, epoch: 1, fit: 0, scanned: 0, done: false });
  t.asked.length = 0;
  t.list.step(1);
  equal([t.list.position, t.list.row?.n, t.asked.length], [4, 5, 0]);
  t.update({ fit: 10, scanned: 10 });
  t.list.step(1);
  await drawn();
  equal([t.list.position, t.list.row?.n, t.view()[0], t.asked.length], [5, 6, "F1", 0]); // not a part of a page in place of the whole
  t.update({ fit: 1000, scanned: 1000, done: true });
  await drawn();
  equal([t.list.position, t.list.row?.n, t.asked.length > 0], [5, 6, true]);
  t.list.reset(true);
  t.update({ seq: 3, epoch: 2, fit: 0, scanned: 0, done: false });
  t.update({ fit: 4, scanned: 1000, done: true }); // others no longer match
  await drawn();
  equal([t.list.size, t.frames().length], [4, 4]);
  t.end();
});

test("frame list: a live list follows its end until the user scrolls, and then counts new frames", async () => {
  const t = listOf(1000);
  t.update({ live: true, fit: 1010, total: 1010 });
  await drawn();
  equal([t.view().at(-1), t.pill().hidden], ["F1010", true]);
  t.box.dispatchEvent(new WheelEvent("wheel", { deltaY: -100 }));
  t.box.scrollTop -= 400;
  t.box.dispatchEvent(new Event("scroll"));
  const seen = t.box.scrollTop;
  t.update({ fit: 1322, total: 1322 });
  await drawn();
  equal([t.list.follows, t.pill().hidden, t.pill().textContent, t.box.scrollTop], [false, false, "312 new ↓", seen]);
  t.pill().click();
  await drawn();
  equal([t.list.follows, t.pill().hidden, t.view().at(-1)], [true, true, "F1322"]);
  t.update({ fit: 1400, total: 1400 });
  await drawn();
  equal(t.view().at(-1), "F1400");
  t.end();
});

test("frame list: the row on which keys end is reported, with the menu's cell and Enter", async () => {
  const t = listOf(1000);
  await drawn();
  for (let i = 0; i < 30; i++) {
    t.list.step(1);
  }
  await new Promise((resolve) => setTimeout(resolve, 150));
  const told = t.told();
  equal([told.at(-1), told.length < 5], ["select 30 @29", true]);
  const cell = t.row(29).querySelector(".fc-len");
  cell?.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 5, clientY: 5 }));
  cell?.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  equal(t.told(), ["menu 30 len", "open 30"]);
  t.end();
});

test("frame list: a live list has the frames that came while it asked for those before", async () => {
  const t = listOf(1000);
  t.update({ live: true, fit: 1010, total: 1010 });
  await drawn();
  equal(t.view().at(-1), "F1010");
  let answer = (): void => undefined;
  t.now.until = new Promise((resolve) => (answer = resolve));
  for (const fit of [1020, 1025, 1030]) {
    t.update({ fit, total: fit });
    await drawn();
  }
  equal(t.view().at(-1), "F1010");
  answer();
  await drawn();
  await drawn();
  equal([t.view().at(-1), t.list.follows], ["F1030", true]);
  t.end();
});

test("frame list: sorted rows keep the selected frame in view, do not follow, and count new frames", async () => {
  const t = listOf(1000);
  await drawn();
  t.list.go(400);
  await drawn();
  const at = t.row(400).getBoundingClientRect().top;
  t.list.reorder(true);
  t.now.step = 4; // frame 401 is row 101
  t.update({ live: true, order: 1, sorted: { by: "len", desc: true } });
  await drawn();
  await drawn();
  equal([t.list.position, t.list.row?.n, Math.round(t.row(100).getBoundingClientRect().top - at)], [100, 401, 0]);
  t.list.go(999);
  equal([t.list.follows, t.pill().hidden], [false, true]);
  t.update({ total: 1312, fresh: 312 });
  equal([t.list.follows, t.pill().hidden, t.pill().textContent], [false, false, "312 new: sort again"]);
  t.pill().click();
  equal(t.told().at(-1), "sort anew");
  t.end();
});

test("frame list: the head shows the order, and Tab reaches one of its buttons", async () => {
  const t = listOf(100);
  await drawn();
  const cell = (id: string): HTMLElement => t.box.querySelector<HTMLElement>(`.fh[data-column=${id}]`) ?? t.box;
  const key = (element: Element | null, name: string): boolean => element?.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true })) ?? false;
  t.told();
  cell("len").querySelector("button")?.click();
  equal(t.told(), ["sort len"]);
  t.list.showSort({ by: "len", desc: true }, true);
  equal([cell("len").getAttribute("aria-sort"), cell("len").className, cell("name").getAttribute("aria-sort")], ["descending", "fh right sorted pending", "none"]);
  t.list.rebuild();
  equal(cell("len").getAttribute("aria-sort"), "descending");
  const stops = (): string[] => [...t.box.querySelectorAll<HTMLElement>(".fh:has([tabindex='0'])")].map((c) => c.dataset["column"] ?? "");
  equal(stops(), ["n"]);
  cell("n").querySelector("button")?.focus();
  key(document.activeElement, "ArrowRight");
  equal([stops(), document.activeElement?.closest<HTMLElement>(".fh")?.dataset["column"]], [["time"], "time"]);
  key(document.activeElement, "End");
  equal(stops(), ["info"]);
  t.told();
  key(document.activeElement, "Escape");
  equal([t.told()[0], t.list.focused], ["unsort", true]);
  t.end();
});
