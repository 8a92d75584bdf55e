import type { ScoresScore } from "../api/api";
import { fitText, scoreText, shortCount } from "./score";
import { equal, test } from "../kit/testing";

const state = { captures: 1, frames: 10 };
const base: ScoresScore = { message: "A.1", frames: 10, of: 10, clean: 10, leftover: 0, over: 0, differ: 0, doubtful: 0, state };

test("score: numbers in few characters", () => {
  equal([0, 9, 999, 1000, 1049, 9949, 9950, 12345, 999499, 1e6, 1.5e6].map(shortCount), ["0", "9", "999", "1k", "1k", "9.9k", "10k", "12k", "999k", "1M", "1.5M"]);
});

test("score: what the line says", () => {
  const says = (more: Partial<ScoresScore>): string => scoreText({ ...base, ...more }).text;
  equal(says({}), "10 of 10 in captures");
  equal(says({ clean: 8, leftover: 2 }), "8 of 10 in captures; 2 with bytes left over");
  equal(says({ frames: 4, clean: 3, over: 1 }), "3 of 4 in captures (10 in all); 1 past the end");
  equal(says({ frames: 1, of: 1, clean: 1 }), "1 of 1 in captures; too few to tell");
  equal(says({ frames: 0, of: 0, clean: 0 }), "none in captures");
  equal(says({ frames: 0, of: 0, clean: 0, state: { captures: 0, frames: 0 } }), "");
  equal(says({ clean: 0, over: 10, usedBy: "A.2" }), "0 of 10 in captures; 10 past the end; A.2 decodes them");
});

test("score: how many messages fit", () => {
  const says = (more: Partial<ScoresScore>): string => fitText({ ...base, ...more });
  equal(says({ frames: 4120, of: 4120, clean: 4119 }), "4,119 of 4,120 fit");
  equal(says({ clean: 0, mistakes: true }), "0 of 10 fit, with mistakes");
  equal(says({ frames: 4, clean: 3 }), "3 of 4 judged so far fit");
  equal(says({ state: { ...state, reading: 1 } }), "10 of 10 judged so far fit");
  equal(says({ message: "", frames: 0, of: 0 }), "not known: no layout");
  equal(says({ frames: 0, of: 0, clean: 0 }), "not known: no such messages in the captures");
  equal(says({ frames: 0, of: 0, clean: 0, state: { captures: 0, frames: 0 } }), "not known: no captures");
  equal(says({ frames: 0, of: 0, clean: 0, state: { ...state, reading: 1 } }), "not known yet: captures are being read");
});
