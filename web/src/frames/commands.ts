// The commands of the list. They are registered once and apply to the list in the page.

import { register, type Command } from "../kit/commands";
import { keysOf, pressed, strokeOf } from "../kit/keys";
import { lookOnly } from "../kit/role";

/** The implementation of the commands, in the pane of the list. */
export interface FrameActions {
  /** The list has the focus, or nothing has. */
  ready(): boolean;
  /** Like ready, with a current row. */
  hasRow(): boolean;
  finds(): boolean; // the find bar has the focus
  step(by: number, extend: boolean): void;
  page(by: number, extend: boolean): void;
  edge(end: boolean, extend: boolean): void;
  selectAll(): void;
  jump(by: "type" | "conn" | "mark" | "note" | "problem", back: boolean): void;
  mark(): void;
  named(): void;
  note(): void;
  reference(): void;
  hide(): void;
  only(): void;
  manage(): void;
  copy(): void;
  link(): void;
  open(): void;
  travel(by: -1 | 1): void;
  find(): void;
  findNext(back: boolean): void;
  goTo(): void;
  columns(): void;
  colors(): void;
  highlighted(back: boolean): void;
  drawer(name: string): void;
  compare(): void;
  rowMenu(): void;
  escape(): void;
  follow(): void;
}

let actions: FrameActions | undefined;
let commands: Command[] = [];
const sequenceMillis = 1000; // as in keys.ts

function build(): Command[] {
  const group = "Frames";
  const at = (id: string, title: string, keys: string[], run: (a: FrameActions) => void, row = false): Command => ({
    id: `frames.${id}`, title, group, keys,
    run: () => actions !== undefined && run(actions),
    enabled: () => actions !== undefined && (row ? actions.hasRow() : actions.ready()),
  });
  const anywhere = (id: string, title: string, keys: string[], run: (a: FrameActions) => void, enabled: (a: FrameActions) => boolean = () => true): Command => ({
    id: `frames.${id}`, title, group, keys, anywhere: true,
    run: () => actions !== undefined && run(actions),
    enabled: () => actions !== undefined && enabled(actions),
  });
  const operators = (c: Command): Command => ({ ...c, enabled: () => !lookOnly("commenter") && c.enabled?.() === true });
  return [
    at("next", "Next frame", ["j", "ArrowDown"], (a) => a.step(1, false)),
    at("previous", "Previous frame", ["k", "ArrowUp"], (a) => a.step(-1, false)),
    at("ten-on", "Ten frames forward", ["Space"], (a) => a.step(10, false)),
    at("ten-back", "Ten frames back", ["Shift+Space"], (a) => a.step(-10, false)),
    at("page-down", "A page forward", ["PageDown"], (a) => a.page(1, false)),
    at("page-up", "A page back", ["PageUp"], (a) => a.page(-1, false)),
    at("first", "First frame", ["g g", "Home"], (a) => a.edge(false, false)),
    at("last", "Last frame", ["Shift+G", "End"], (a) => a.edge(true, false)),
    at("extend-next", "Extend the selection to the next frame", ["Shift+ArrowDown", "Shift+J"], (a) => a.step(1, true)),
    at("extend-previous", "Extend the selection to the previous frame", ["Shift+ArrowUp", "Shift+K"], (a) => a.step(-1, true)),
    at("extend-page-down", "Extend the selection by a page", ["Shift+PageDown"], (a) => a.page(1, true)),
    at("extend-page-up", "Extend the selection back by a page", ["Shift+PageUp"], (a) => a.page(-1, true)),
    at("extend-first", "Extend the selection to the first frame", ["Shift+Home"], (a) => a.edge(false, true)),
    at("extend-last", "Extend the selection to the last frame", ["Shift+End"], (a) => a.edge(true, true)),
    at("all", "Select all frames", ["Ctrl+A"], (a) => a.selectAll()),
    at("type-next", "Next frame of the same type", ["."], (a) => a.jump("type", false), true),
    at("type-previous", "Previous frame of the same type", [","], (a) => a.jump("type", true), true),
    at("conn-next", "Next frame of the same conversation", ["Shift+."], (a) => a.jump("conn", false), true),
    at("conn-previous", "Previous frame of the same conversation", ["Shift+,"], (a) => a.jump("conn", true), true),
    at("mark-next", "Next marked frame", ["g m"], (a) => a.jump("mark", false)),
    at("mark-previous", "Previous marked frame", ["g Shift+M"], (a) => a.jump("mark", true)),
    at("note-next", "Next frame with a note", ["g n"], (a) => a.jump("note", false)),
    at("note-previous", "Previous frame with a note", ["g Shift+N"], (a) => a.jump("note", true)),
    at("problem-next", "Next frame with a problem", ["g e"], (a) => a.jump("problem", false)),
    at("problem-previous", "Previous frame with a problem", ["g Shift+E"], (a) => a.jump("problem", true)),
    at("open", "Open the frame", ["Enter"], (a) => a.open(), true),
    operators(at("mark", "Mark or unmark the frame; m a also gives it the letter a", ["m"], (a) => a.mark(), true)),
    at("named", "Go to a frame by its letter: ' a after m a", ["'"], (a) => a.named()),
    operators(at("note", "Write a note about the frame", ["n"], (a) => a.note(), true)),
    at("reference", "Times relative to this frame, or to the start", ["t"], (a) => a.reference(), true),
    at("hide", "Hide frames of this type", ["h"], (a) => a.hide(), true),
    at("only", "Show only frames of this type", ["o"], (a) => a.only(), true),
    at("manage", "Manage hidden types and chips", ["Shift+H"], (a) => a.manage()),
    at("copy", "Copy the frame as …", ["c"], (a) => a.copy(), true),
    at("link", "Copy a link to the frame", ["l"], (a) => a.link(), true),
    at("menu", "Menu of the frame", ["Shift+F10", "ContextMenu"], (a) => a.rowMenu(), true),
    at("compare", "Compare two frames", ["Shift+C"], (a) => a.compare(), true),
    at("back", "Back to the previously selected frame", ["Alt+ArrowLeft"], (a) => a.travel(-1)),
    at("forth", "Forward to the next selected frame", ["Alt+ArrowRight"], (a) => a.travel(1)),
    at("goto", "Go to a frame by number", ["Ctrl+G"], (a) => a.goTo()),
    anywhere("find", "Find frames", ["Ctrl+F"], (a) => a.find(), (a) => !a.finds()),
    anywhere("find-next", "Find the next", ["F3"], (a) => a.findNext(false)),
    anywhere("find-previous", "Find the previous", ["Shift+F3"], (a) => a.findNext(true)),
    at("follow", "Go to the end and follow it", ["Shift+F"], (a) => a.follow()),
    at("highlighted-next", "Next highlighted frame", ["g h"], (a) => a.highlighted(false)),
    at("highlighted-previous", "Previous highlighted frame", ["g Shift+H"], (a) => a.highlighted(true)),
    anywhere("colors", "Colors of frames", [], (a) => a.colors()),
    anywhere("columns", "Choose columns of the list", [], (a) => a.columns()),
    at("types", "Frame types", ["w t"], (a) => a.drawer("types")),
    at("timeline", "Timeline", ["w l"], (a) => a.drawer("timeline")),
    at("problems", "Problems", ["w p"], (a) => a.drawer("problems")),
    at("graph", "Graph of numbers over time", ["w g"], (a) => a.drawer("graph")),
    at("follow-conn", "Follow the connection", ["w o"], (a) => a.drawer("follow"), true),
    at("flow", "Flow between client and server", ["w a"], (a) => a.drawer("flow")),
    at("connections", "Connections", ["w c"], (a) => a.drawer("conns")),
    at("table", "Field table of this type", ["w f"], (a) => a.drawer("table")),
    at("markers", "Markers and related fields", ["w m"], (a) => a.drawer("markers")),
    at("escape", "Select only the current frame", ["Escape"], (a) => a.escape()),
  ];
}

/** Makes the commands apply to a list; returns a function that ends this. */
export function offerCommands(to: FrameActions): () => void {
  if (commands.length === 0) {
    commands = build();
  }
  actions = to;
  register(...commands);
  return () => {
    if (actions === to) {
      actions = undefined;
    }
  };
}

let sequenceUntil = 0; // time until which a key may continue a sequence

/** Runs the command of a key pressed in the list, where other commands of the page may use the same key; returns whether there is one. */
export function runKey(event: KeyboardEvent): boolean {
  if (performance.now() < sequenceUntil) {
    if (strokeOf(event) !== "") {
      sequenceUntil = 0; // the keys of the page continue the sequence
    }
    return false;
  }
  const command = commands.find((c) => pressed(event, c.id) && c.enabled?.() === true);
  if (command !== undefined) {
    event.preventDefault();
    command.run();
    return true;
  }
  const stroke = strokeOf(event);
  if (stroke !== "" && commands.some((c) => keysOf(c.id).some((keys) => keys.startsWith(`${stroke} `)))) {
    sequenceUntil = performance.now() + sequenceMillis;
  }
  return false;
}
