// How the definition of the page explains the messages of the project: in the line below its text, and in a column beside it.

import type { ScoresScore as Score } from "../api/api";
import { pathOf } from "../kit/address";
import { register } from "../kit/commands";
import { make } from "../kit/dom";

const few = 3; // fewer messages than that say little

/** A number in few characters: 999, 1.2k, 34k, 5.6M. */
export function shortCount(n: number): string {
  for (const [size, sign] of [[1e6, "M"], [1e3, "k"]] as const) {
    if (n >= size) {
      const x = n / size;
      return `${x < 9.95 ? x.toFixed(1).replace(/\.0$/, "") : Math.round(x)}${sign}`;
    }
  }
  return String(n);
}

const defects = { leftover: "with bytes left over", over: "past the end", differ: "with other values or bytes", doubtful: "doubtful" } as const;

/** What the line says of the figures; bad if some messages are not clean. */
export function scoreText(score: Score): { text: string; bad: boolean } {
  const { frames, of, clean, state } = score;
  const reading = (state.reading ?? 0) > 0 ? ", reading captures …" : "";
  if (of === 0 && (score.message === "" || (reading === "" && state.captures === 0))) {
    return { text: "", bad: false }; // no definition, or nothing to judge it by
  }
  if (of === 0) {
    return { text: reading === "" ? "none in captures" : "reading captures …", bad: false };
  }
  const number = (n: number): string => n.toLocaleString("en");
  const parts = (Object.keys(defects) as (keyof typeof defects)[]).filter((kind) => score[kind] > 0).map((kind) => `${number(score[kind])} ${defects[kind]}`);
  const said = [
    `${number(clean)} of ${number(Math.min(frames, of))} in captures${frames < of ? ` (${number(of)} in all)` : ""}`,
    ...(parts.length > 0 ? [parts.join(", ")] : of < few ? ["too few to tell"] : []),
    ...(score.usedBy === undefined ? [] : [`${score.usedBy} decodes them`]),
  ];
  return { text: said.join("; ") + reading, bad: parts.length > 0 && score.usedBy === undefined };
}

/** How many messages fit a definition, in few words, or why that is not known. */
export function fitText({ message, frames, of, clean, mistakes, state }: Score): string {
  const reading = (state.reading ?? 0) > 0;
  if (message === "") {
    return "not known: no layout";
  }
  if (of === 0) {
    return reading ? "not known yet: captures are being read" : state.captures === 0 ? "not known: no captures" : "not known: no such messages in the captures";
  }
  const judged = frames < of || reading ? `${frames.toLocaleString("en")} judged so far` : of.toLocaleString("en");
  return `${clean.toLocaleString("en")} of ${judged} fit${mistakes === true ? ", with mistakes" : ""}`;
}

/** The address of a frame of a capture. */
export function frameAddress(workspace: string, capture: string, frame: number, filter = ""): string {
  const query = filter === "" ? "" : `?f=${encodeURIComponent(filter)}`;
  return `${pathOf(workspace, "captures", capture)}${query}${frame > 0 ? `#n=${frame}` : ""}`;
}

const stored = "wirebench.scores"; // "off" if the figures are not wanted

/** Whether the figures are wanted. */
export function scoresShown(): boolean {
  try {
    return localStorage.getItem(stored) !== "off";
  } catch {
    return true; // no storage
  }
}

/** The command that turns the figures on and off; `changed` is called with what is wanted now. */
export function scoresCommand(changed: (on: boolean) => void): void {
  register({
    id: "scores-beside", title: "Figures of the captures beside the definition: on or off", group: "Definition", run: () => {
      const on = !scoresShown();
      try {
        localStorage.setItem(stored, on ? "on" : "off");
      } catch {
        // It is turned for this page only.
      }
      changed(on);
    },
  });
}

/** Shows the figures in the line below the text; undefined shows none. They lead to the first message that is not clean, or to all definitions. */
export function showScore(workspace: string, score: Score | undefined): void {
  const line = document.getElementById("score");
  if (line === null) {
    return;
  }
  const { text, bad } = score === undefined ? { text: "", bad: false } : scoreText(score);
  const first = score?.first;
  const tag = first === undefined ? "button" : "a";
  const link = line.querySelector<HTMLElement>(tag) ?? make(tag);
  link.className = `btn quiet ${bad ? "warn" : "dim"}`;
  link.textContent = text;
  if (first === undefined) {
    link.setAttribute("type", "button");
    link.dataset["command"] = "scores";
    link.title = `${text}: messages of its code in all captures. A click lists all definitions.`;
  } else {
    link.setAttribute("href", frameAddress(workspace, first.capture, first.frame));
    link.title = `${text}. The first: frame ${first.frame} of ${first.name}: ${first.reason}`;
  }
  if (text === "") {
    link.remove();
  } else if (line.firstChild !== link) {
    line.replaceChildren(link);
  }
}
