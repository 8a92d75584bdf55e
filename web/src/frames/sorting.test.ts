import { equal, test } from "../kit/testing";
import { mapWords, Minimap, partWords } from "./minimap";
import type { MapAnswer, State } from "../api/frames";
import { noState } from "./socket";
import { keepSort, nextSort, sameSort, sortOf, sortText, sortWords } from "./sorting";

test("sorting: three presses of a head, and one of another head", () => {
  const up = nextSort(undefined, "len");
  const down = nextSort(up, "len");
  equal([up, down, nextSort(down, "len"), nextSort(down, "name")], [{ by: "len", desc: false }, { by: "len", desc: true }, undefined, { by: "name", desc: false }]);
  equal([sameSort(up, { by: "len", desc: false }), sameSort(up, down), sameSort(up, undefined), sameSort(undefined, undefined), sameSort(up, { by: "len", desc: false, again: 1 })], [true, false, false, true, false]);
});

test("sorting: valid and invalid orders in the address", () => {
  for (const text of ["len", "-len", "=C_SAY.text", "-=.gold"]) {
    equal(sortText(sortOf(text)), text);
  }
  equal([sortOf(""), sortOf(null), sortOf("-"), sortOf("="), sortOf("nothing"), sortOf(`=${"x".repeat(600)}`)], [undefined, undefined, undefined, undefined, undefined, undefined]);
  equal([sortWords({ by: "len", desc: true }), sortWords({ by: "=.gold", desc: false })], ["Length in bytes ↓", ".gold ↑"]);
  const before = location.href;
  keepSort("sorting-test", { by: "=a+b", desc: true });
  equal([new URL(location.href).searchParams.get("sort"), localStorage.getItem("wirebench.frames.sort.sorting-test")], ["-=a+b", '"-=a+b"']);
  keepSort("sorting-test", undefined);
  equal(location.href, before);
  localStorage.removeItem("wirebench.frames.sort.sorting-test");
});

function mapOf(total: number, parts: number, change: Partial<MapAnswer> = {}): MapAnswer {
  const none = (): number[] => Array.from({ length: parts }, () => 0);
  return { seq: 1, order: 0, total, known: total, done: true, bad: none(), unknown: none(), hit: none(), marked: none(), noted: none(), hue: none(), hued: none(), ...change };
}

test("minimap: parts of the list in words", () => {
  const map = mapOf(20_000, 50, { bad: Array.from({ length: 50 }, (_, i) => (i === 30 ? 3 : 0)), marked: Array.from({ length: 50 }, (_, i) => (i === 30 ? 1 : 0)) });
  equal(partWords(map, 30), "rows 12,001–12,400: 3 problems, 1 mark");
  equal(partWords(map, 0), "rows 1–400: no problems, marks or hits");
  equal(partWords({ ...map, known: 100, done: false }, 49), "rows 19,601–20,000: not read yet");
  equal(partWords(mapOf(3, 3), 2), "row 3: no problems, marks or hits");
  equal(mapWords(map), "Overview of the list: 3 problems, 1 mark, 0 notes");
});

test("minimap: a growing list is requested once a second, a changed one at once", async () => {
  const asked: number[] = [];
  const scrolled: number[] = [];
  const begun = performance.now();
  let state: State = { ...noState(), seq: 1, fit: 1000, total: 1000, scanned: 1000 };
  const map = new Minimap({
    ask: (n) => {
      asked.push(performance.now() - begun);
      return Promise.resolve({ ...mapOf(state.fit, n), seq: state.seq, order: state.order });
    },
    view: () => ({ first: 100, rows: 20 }),
    scrollTo: (first) => scrolled.push(Math.round(first)),
    scrollBy: (px) => scrolled.push(px),
  });
  map.element.style.cssText = "position: absolute; left: 0; top: 0; width: 11px; height: 400px;";
  document.body.append(map.element);
  const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  map.update(state);
  await rest(150);
  const first = asked.length;
  for (let i = 0; i < 20; i++) {
    state = { ...state, fit: state.fit + 10 };
    map.update(state);
    await rest(20);
  }
  equal([first, asked.length], [1, 1]);
  state = { ...state, order: 1 };
  map.update(state);
  await rest(1100);
  equal(asked.length >= 2 && asked.length <= 3, true);
  map.element.dispatchEvent(new WheelEvent("wheel", { deltaY: 60, cancelable: true }));
  map.element.setPointerCapture = () => undefined;
  map.element.dispatchEvent(new PointerEvent("pointerdown", { clientY: 200, button: 0 }));
  equal(scrolled, [60, 590]); // the box is around the middle of 1200 rows
  map.destroy();
});
