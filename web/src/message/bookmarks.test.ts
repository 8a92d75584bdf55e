import { equal, test } from "../kit/testing";
import { Bookmarks } from "./bookmarks";
import { packBookmarks } from "./hex/bookmarks";

test("bookmarks: of the shown message, in order, and moved by edits of its bytes", () => {
  let show = 0;
  const drawn: string[] = [];
  const went: [number, number][] = [];
  const selection = { start: 0, end: 0, caret: 0 };
  const bookmarks = new Bookmarks({
    grid: { bookmark: (list) => drawn.push(list.map(({ start, end }) => `${start}-${end}`).join()), selection, pointOf: () => ({ x: 0, y: 0 }), focus: () => undefined },
    show: () => show, size: () => 10, path: () => "", changing: () => undefined, changed: () => undefined,
    select: (start, end) => {
      went.push([start, end]);
      Object.assign(selection, { start, end });
    },
  }, packBookmarks([
    { show: 0, start: 8, end: 12, hue: 1, name: "tail" }, { show: 0, start: 2, end: 4, hue: 2, name: "head" }, { show: 1, start: 0, end: 1, hue: 1, name: "of another" },
  ]));
  equal(drawn, []); // with the message only
  bookmarks.draw();
  equal(drawn, ["2-4,8-12"]);
  bookmarks.step(1);
  bookmarks.step(1);
  bookmarks.step(1); // from the last to the first
  bookmarks.step(-1);
  equal(went, [[2, 4], [8, 10], [2, 4], [8, 10]]); // not behind the end of the message
  bookmarks.move(0, 1, 3);
  equal(drawn.at(-1), "4-6,10-14");
  show = 1;
  bookmarks.draw();
  equal(drawn.at(-1), "0-1");
  equal(bookmarks.bar.textContent, "of another");
  bookmarks.clear();
  equal([drawn.at(-1), bookmarks.packed, bookmarks.bar.hidden], ["", "", true]);
});
