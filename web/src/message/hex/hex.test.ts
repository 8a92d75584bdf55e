import { equal, test } from "../../kit/testing";
import { type HexEvents, type HexMessage, HexGrid } from "./index";
import { Marks, noRanges, rangeAfter } from "./marks";
import { edited } from "./message";
import { parseHex, spacedHex } from "../../kit/hextext";

function message(data: Uint8Array): HexMessage {
  const n = data.length;
  return { data, tints: ["", "t-int"], tintOf: new Uint16Array(n), starts: new Uint8Array(n), changed: new Uint8Array(n) };
}

/** A grid in the page, 240 pixels high with rows of 20, and its events. */
function grid(data: Uint8Array, answer?: (g: HexGrid, start: number, end: number, caret: number) => void) {
  const style = document.createElement("style");
  style.textContent = `.hex-scroll { height: 240px; overflow: auto; } .hex-line { height: 20px; overflow: hidden; white-space: pre; }
    .hex-line.head { position: sticky; top: 0; } .hex-space { position: relative; } .hex-rows { position: absolute; top: 0; }`;
  const host = document.createElement("div");
  document.body.append(style, host);
  const told: string[] = [];
  const events: HexEvents = {
    hover: () => undefined,
    select: (start, end, caret, how) => {
      told.push(`${how} ${start}-${end} @${caret}`);
      answer?.(g, start, end, caret);
    },
    edit: (now, start, end) => told.push(`edit ${spacedHex(now)} [${start}, ${end})`),
    undo: () => told.push("undo"),
    redo: () => told.push("redo"),
    notice: (text) => told.push(text),
  };
  const g: HexGrid = new HexGrid(host, events);
  g.apply({ columns: 16, upper: false, decimal: false });
  g.show(message(data), { scroll: false });
  const box = host.querySelector<HTMLElement>(".hex-scroll") ?? host;
  return {
    g,
    box,
    told: (): string[] => told.splice(0),
    press: (...keys: string[]): void => {
      for (const key of keys) {
        const parts = key.split("+");
        box.dispatchEvent(
          new KeyboardEvent("keydown", {
            key: parts.at(-1) ?? "",
            shiftKey: parts.includes("Shift"),
            ctrlKey: parts.includes("Ctrl"),
            bubbles: true,
            cancelable: true,
          }),
        );
      }
    },
    paste: (text: string): void => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    },
    copied: (): string => {
      const clipboardData = new DataTransfer();
      box.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
      return clipboardData.getData("text/plain");
    },
    end: (): void => {
      g.destroy();
      host.remove();
      style.remove();
    },
  };
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

test("pasted hex: any separators, and half a byte is refused", () => {
  const read = (text: string): string => {
    const got = parseHex(text);
    return typeof got === "string" ? got : spacedHex(got);
  };
  equal(read("0A1b 2c\n3D"), "0a 1b 2c 3d");
  equal(read("{0x0a, 0x1, 0xFF}"), "0a 01 ff");
  equal(read("\\x0a\\x1b %2c 3d:4e-5f"), "0a 1b 2c 3d 4e 5f");
  equal(read("0a 1b2"), 'an odd number of hex digits: "1b2" at character 4');
  equal(read("0a zz"), 'not hex: "zz" at character 4');
  equal(read(" ,\n"), "no hex digits");
});

test("an edit keeps the old message and marks the new bytes", () => {
  const old = message(bytes(1, 2, 3, 4));
  old.tintOf.set([0, 1, 1, 0]);
  old.starts.set([1, 1, 0, 1]);
  const now = edited(old, 1, 1, bytes(7, 8, 9));
  equal(spacedHex(old.data), "01 02 03 04");
  equal(spacedHex(now.data), "01 07 08 09 03 04");
  equal([...now.changed].join(""), "011100");
  equal([...now.tintOf].join(""), "011110");
  equal([...now.starts].join(""), "110001");
});

test("the outline of a range runs around all of its rows", () => {
  const marks = new Marks();
  const none = { start: 0, end: 0 };
  marks.set(0, 3, 8, { selection: none, light: [{ start: 6, end: 18 }], aim: [], hits: noRanges, bookmarks: [], peers: [] });
  equal(marks.classes(5, 5), "");
  equal(marks.classes(6, 6), " on on-t on-l");
  equal(marks.classes(7, 7), " on on-t on-r");
  equal(marks.classes(8, 0), " on on-t on-l");
  equal(marks.classes(14, 6), " on on-b");
  equal(marks.classes(17, 1), " on on-r on-b");
});

test("found bytes are marked, and the next is known", () => {
  const hits = { starts: Uint32Array.of(2, 9, 40), ends: Uint32Array.of(4, 11, 41) };
  equal([0, 1, 3, 4, 10, 11, 40, 41].map((byte) => rangeAfter(hits, byte)), [0, 0, 0, 1, 1, 2, 2, 3]);
  const marks = new Marks();
  marks.set(1, 1, 8, { selection: { start: 9, end: 10 }, light: [], aim: [], hits, bookmarks: [{ start: 8, end: 9, hue: 3 }], peers: [{ start: 10, end: 11, color: 2 }] });
  equal([8, 9, 10, 11].map((byte) => marks.classes(byte, byte - 8)), [" bookmarked hue3", " hit sel", " peer-byte peer-2 hit", ""]);
});

test("Shift extends from the anchor, also after the page widened the selection", () => {
  const t = grid(new Uint8Array(64), (g, start, end, caret) => g.select(start, end, { reveal: false, caret }));
  t.press("ArrowDown", "ArrowDown", "Shift+ArrowUp", "Shift+ArrowLeft", "Shift+ArrowRight");
  equal(t.told(), [
    "keyboard 16-17 @16",
    "keyboard 32-33 @32",
    "keyboard 16-33 @16",
    "keyboard 15-33 @15",
    "keyboard 16-33 @16",
  ]);
  t.press("End", "Ctrl+End", "PageUp", "Home", "Ctrl+a", "Escape", "Ctrl+z", "Ctrl+y");
  equal(t.told(), [
    "keyboard 31-32 @31",
    "keyboard 63-64 @63",
    "keyboard 15-16 @15",
    "keyboard 0-1 @0",
    "keyboard 0-64 @0",
    "keyboard 0-0 @0",
    "undo",
    "redo",
  ]);
  t.end();
});

test("typing overwrites nibble by nibble, and only in edit mode", () => {
  const t = grid(bytes(1, 2));
  t.press("a");
  equal(t.told(), []);
  t.press("Enter", "a", "B", "c", "Backspace");
  equal(t.told(), [
    "edit a1 02 [0, 1)",
    "keyboard 0-1 @0",
    "edit ab 02 [0, 1)",
    "keyboard 1-2 @1",
    "edit ab c2 [1, 2)",
    "keyboard 1-2 @1",
    "edit ab 00 [1, 2)",
    "keyboard 1-2 @1",
  ]);
  t.press("Ctrl+End", "7");
  equal(t.told(), ["keyboard 2-2 @2", "End of the message: press Insert to add bytes."]);
  t.press("Insert", "7", "8");
  equal(t.told(), ["edit ab 00 70 [2, 3)", "keyboard 2-3 @2", "edit ab 00 78 [2, 3)", "keyboard 3-3 @3"]);
  t.press("Home", "Shift+ArrowRight", "Delete");
  equal(t.told().at(-2), "edit 78 [0, 0)");
  equal(t.g.editing, true);
  t.press("Escape");
  equal(t.g.editing, false);
  t.end();
});

test("an edit applies to the caret if the page widened the selection", () => {
  const t = grid(bytes(1, 2, 3, 4));
  t.g.setEditing(true);
  t.g.select(0, 4, { reveal: false, caret: 2 });
  t.press("Delete");
  equal(t.told()[0], "edit 01 02 00 04 [2, 3)");
  t.g.select(0, 2, { reveal: false });
  t.press("Delete");
  equal(t.told()[0], "edit 00 00 00 04 [0, 2)");
  t.end();
});

test("paste overwrites bytes and refuses too many", () => {
  const t = grid(bytes(1, 2, 3));
  t.paste("ff");
  equal(t.told(), []);
  t.g.setEditing(true);
  t.paste("aa bb");
  equal(t.told()[0], "edit aa bb 03 [0, 2)");
  t.paste("01 02");
  equal(t.told(), ["Not pasted: 2 bytes over 1. Press Insert to make room for them."]);
  t.paste("one");
  equal(t.told(), ['Not pasted: not hex: "one" at character 1.']);
  t.press("Insert");
  t.paste("01 02");
  equal(t.told()[0], "edit aa bb 01 02 03 [2, 4)");
  equal(t.copied(), "03");
  t.press("Escape", "Escape");
  equal(t.copied(), "aa bb 01 02 03");
  t.end();
});

test("a message of 16 MB is a few rows in the page, and its last byte can be reached", async () => {
  const data = new Uint8Array(16 << 20);
  data[data.length - 1] = 0xd2;
  const t = grid(data);
  t.press("Ctrl+End");
  await Promise.resolve();
  equal(t.box.querySelectorAll("*").length < 1500, true);
  const cell = document.getElementById(t.box.getAttribute("aria-activedescendant") ?? "");
  equal(cell?.getAttribute("aria-label"), "0xffffff: d2, 210");
  const at = cell?.getBoundingClientRect();
  const view = t.box.getBoundingClientRect();
  equal(at !== undefined && at.top >= view.top && at.bottom <= view.bottom, true);
  equal(t.box.getAttribute("aria-rowcount"), String((16 << 20) / 16 + 1));
  t.g.apply({ columns: 32, upper: true, decimal: true });
  equal([...t.box.querySelectorAll(".off")].some((off) => off.textContent === String((16 << 20) - 32)), true);
  t.end();
});
