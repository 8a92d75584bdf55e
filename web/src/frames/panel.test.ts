import type { Found, FrameRow, State, View } from "../api/frames";
import { equal, test } from "../kit/testing";
import { Columns } from "./columns";
import { columnItems } from "./columnsmenu";
import { Marks } from "./marks";
import { Moves } from "./moves";
import { ProjectList } from "./projectlist";
import { RowColors, withColor } from "./rowcolors";
import { sized } from "./shelf";
import { noState } from "./socket";
import { Vacant, vacancyOf } from "./vacant";

test("a drawer leaves room for the list, and is never too small to be grabbed", () => {
  equal(sized(300, 1000), { px: 300, percent: 30 });
  equal(sized(990, 1000), { px: 800, percent: 80 });
  equal(sized(3, 1000), { px: 120, percent: 12 });
  equal(sized(500, 100), { px: 120, percent: 120 });
});

const plain: View = { filter: "", chips: [], columns: [], colors: [], highlight: "" };
const wrong: State["mistakes"][number] = { in: "filter", start: 0, end: 1, message: "unknown field", help: "look" };

function state(part: Partial<State>): State {
  return { ...noState(), seq: 1, ...part };
}

test("why a list has no rows", () => {
  const done = { done: true, total: 5, scanned: 5 };
  const of = (part: Partial<State>, view: Partial<View> = {}, connection: "open" | "connecting" | "lost" | "gone" = "open"): string => vacancyOf(state(part), connection, { ...plain, ...view });
  equal(of({ fit: 3 }), "");
  equal(of({ fit: 3 }, {}, "lost"), "");
  equal(of({ fit: 3 }, {}, "gone"), "gone");
  equal(of({}, {}, "connecting"), "connecting");
  equal(of({ total: 5, scanned: 2 }), "coming");
  equal(of(done, { filter: "x" }), "nothing");
  equal(of(done, { chips: ["x"] }), "nothing");
  equal(of({ ...done, mistakes: [wrong] }, { filter: "x" }), "wrong");
  equal(of({ ...done, mistakes: [{ ...wrong, in: "color" }] }, { filter: "x" }), "nothing");
  equal(of({ ...done, total: 0, scanned: 0 }), "none");
  equal(of({ live: true }), "waiting");
});

test("what is said in the place of rows is said once, and again for another reason", () => {
  let cleared = 0;
  const vacant = new Vacant({ clear: () => cleared++, edit: () => undefined });
  const show = (part: Partial<State>, filter = ""): string | undefined => vacant.show(state(part), "open", { ...plain, filter });
  const text = (): string => vacant.element.textContent ?? "";
  equal([show({ total: 5, done: true, scanned: 5 }, "x"), vacant.element.hidden, text().includes("None of 5 frames matches the filter.")], ["nothing", false, true]);
  equal(show({ total: 5, done: true, scanned: 5 }, "x"), undefined);
  vacant.element.querySelector("button")?.click();
  equal(cleared, 1);
  equal([show({ mistakes: [wrong] }, "x"), text().includes("unknown field: look")], ["wrong", true]);
  equal([show({ fit: 1 }), vacant.element.hidden], ["", true]);
  vacant.waiting = "for a client";
  equal([show({ live: true }), text().includes("for a client")], ["waiting", true]);
  vacant.forget();
  equal([vacant.element.hidden, show({ live: true })], [true, "waiting"]);
});

test("the colors of rows: those of the person, then of the project, then of earlier versions", () => {
  localStorage.removeItem("wirebench.frames.colors.p");
  localStorage.setItem("wirebench.frames.colors", JSON.stringify([{ filter: "old", hue: 1 }, { filter: "", hue: 1 }, { filter: "x", hue: 9 }, 7]));
  const shared = [{ filter: "shared", hue: 2 }];
  equal(new RowColors({ project: "p", colors: [] }).rules, [{ filter: "old", hue: 1 }]);
  const colors = new RowColors({ project: "p", colors: shared });
  equal(colors.rules, shared);
  equal(colors.put([]), []);
  equal(colors.rules, []);
  equal([colors.put(undefined), colors.rules], [shared, shared]);
  equal(withColor(shared, "C_SAY", 3), [{ filter: "C_SAY", hue: 3 }, ...shared]);
  equal(withColor(shared, "shared", 0), []);
  localStorage.removeItem("wirebench.frames.colors");
  localStorage.removeItem("wirebench.frames.colors.p");
});

function row(n: number, id?: string): FrameRow {
  return { n, t: 0, d: 0, kind: "message", conn: 0, len: 1, type: "", ...(id === undefined ? {} : { id }) };
}

test("marks show at once; what is unmarked are the frames that are part of a row", () => {
  let about: FrameRow[] = [row(1, "1:0:0"), row(2)];
  let now = state({ marked: [], noted: [] });
  const told: unknown[] = [];
  const marks = new Marks({
    get state() {
      return now;
    },
    row: undefined,
    about: () => about,
    anchor: () => document.body,
    changed: () => told.push([...marks.numbers]),
    mark: (frames, on) => told.push([frames, on]),
    note: () => undefined,
  });
  marks.take(now);
  equal(marks.sets, true);
  marks.toggle();
  equal(told.splice(0), [[1, 2], [["1:0:0", 2], true]]);
  equal(marks.sets, false);
  now = state({ marked: [1, 2], noted: [{ n: 1, id: "1:0:0", mark: true }, { n: 1, id: "1:9:0", mark: true }] });
  marks.take(now);
  about = [row(1, "1:0:0")];
  marks.toggle();
  equal(told, [[2], [["1:0:0", "1:9:0"], false]]);
});

test("the menu of columns: of one of them, and of all", () => {
  localStorage.removeItem("wirebench.frames.menu");
  const columns = new Columns("menu");
  let changes = 0;
  const items = (id: string, hasReference = false) => columnItems(columns, id, new ProjectList("p", undefined), {
    sort: { by: "time", desc: true }, setSort: () => undefined, hasReference, widthOf: () => 100, changed: () => changes++, colors: () => undefined,
  });
  const of = (id: string, title: string) => items(id).find((item) => item.title.trim() === title);
  equal([of("n", "Move left")?.disabled, of("n", "Move right")?.disabled, of("time", "Sort, falling ↓")?.disabled, of("time", "Sort, rising ↑")?.disabled], [true, false, true, false]);
  of("n", "Move right")?.run?.();
  of("name", "Hide")?.run?.();
  equal([columns.shown.map((c) => c.id).slice(0, 2), columns.shown.some((c) => c.id === "name"), changes], [["time", "n"], false, 2]);
  equal([of("", "Colors of frames …") !== undefined, of("n", "Colors of frames …"), of("", "Default columns")?.disabled], [true, undefined, false]);
  localStorage.removeItem("wirebench.frames.menu");
});

test("moves: a later one makes those under way void, and only direct ones are jumps", async () => {
  const gone: number[] = [];
  const asked: [unknown, (found: Found) => void][] = [];
  const said: string[] = [];
  let current = { position: 4, frameNumber: 5 };
  const moves = new Moves({
    get position() {
      return current.position;
    },
    get frameNumber() {
      return current.frameNumber;
    },
    go: (pos) => gone.push(pos),
    step: (by) => gone.push(current.position + by),
    ask: (kind, question) => new Promise((resolve) => asked.push([{ [kind]: question }, resolve as (found: Found) => void])),
    say: (text) => said.push(text),
    failed: () => said.push("failed"),
  }, "7:0:0", 7);
  const answer = async (found: Found): Promise<unknown> => {
    const [question, resolve] = asked.shift() ?? [undefined, () => undefined];
    resolve(found);
    await new Promise((done) => setTimeout(done));
    return question;
  };

  moves.start(state({ scanned: 3 })); // not read that far
  equal(asked.length, 0);
  moves.start(state({ scanned: 8 }));
  equal([await answer({ pos: 6, n: 7 }), gone.splice(0), moves.arrived(row(7, "7:0:0"))], [{ where: { frame: "7:0:0" } }, [6], false]);
  moves.start(state({ scanned: 9 }));
  equal(asked.length, 0);

  void moves.goTo(9);
  moves.walk(1, false);
  await answer({ pos: 8, n: 9 });
  equal([gone.splice(0), moves.arrived(row(6)), moves.arrived(undefined)], [[5], false, false]);
  void moves.goTo(9);
  equal([await answer({ pos: 8, n: 9 }), gone.splice(0), moves.arrived(row(9)), moves.arrived(row(9))], [{ where: { n: 9 } }, [8], true, false]);
  void moves.next("problem", true);
  await answer({ pos: -1, n: 0 });
  equal([gone, said.splice(0)], [[], ["no earlier frame with a problem"]]);
  void moves.travel(-1);
  equal([await answer({ pos: 5, n: 6 }), gone.splice(0), moves.arrived(row(6))], [{ where: { n: 6 } }, [5], false]);

  // Frames are found by the numbers that they had.
  moves.saw([row(20, "20:0:0")]);
  moves.renumbered();
  const where = moves.where(20);
  await answer({ pos: 2, n: 3, meant: 3 });
  equal(await where, { pos: 2, n: 20, meant: 3 });
  current = { position: 0, frameNumber: 1 };
});
