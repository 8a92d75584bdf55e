// The dialog that asks how raw bytes are cut into messages, and shows the first of them while one chooses.
//
//   dialog.operate.framing > form > .row > .field, .framing-preview > table

import { opcode } from "./frames/text";
import { hexNumber, hexOf } from "./hex/text";
import { dialog, field, select } from "./dialog";
import { make } from "./dom";

const sample = 64 << 10; // bytes of the file that are cut to show what comes out

/** What the controls say. Sizes and hex are as typed. */
export interface Framing {
  kind: "prefixed" | "fixed" | "delimited" | "lines" | "whole";
  before: string; // bytes before the length
  size: string; // of the length: "1", "2" or "4"
  order: "le" | "be";
  counts: "rest" | "self" | "all";
  keep: boolean;
  fixed: string; // bytes of a message
  delimiter: string; // hex
  ends: "0a" | "0d0a"; // of lines
  dir: "" | "c2s" | "s2c";
}

/** The framing as the server reads it. */
export function framingText(f: Framing): string {
  const keep = f.keep ? "+keep" : "";
  const dir = f.dir === "" ? "" : `+${f.dir}`;
  switch (f.kind) {
    case "whole":
      return `whole${dir}`;
    case "fixed":
      return `fixed:${f.fixed.trim()}${dir}`;
    case "lines":
      return `delimited:${f.ends}${dir}`;
    case "delimited":
      return `delimited:${f.delimiter.replace(/\s|0x|,/g, "")}${keep}${dir}`;
    case "prefixed": {
      const before = f.before.trim() === "" || Number(f.before) === 0 ? "" : `@${f.before.trim()}`;
      const counts = f.counts === "self" || (f.counts === "all" && before === "") ? "+self" : f.counts === "all" ? "+all" : "";
      return `prefixed:${f.size}${f.size === "1" ? "" : f.order}${before}${counts}${keep}${dir}`;
    }
  }
}

interface Tried {
  frames?: { offset: number; length: number; hex: string; code?: number; message?: string; status?: string; problem?: string }[];
  more?: boolean;
  detail?: string;
}

function cells(row: HTMLElement, texts: readonly string[], tag: "td" | "th" = "td"): void {
  texts.forEach((text, i) => row.append(make(tag, ["num", "num", "name", "", "bytes"][i] ?? "", text)));
}

/** Draws what a framing makes of the first bytes. */
function draw(host: HTMLElement, answer: Tried): string {
  const frames = answer.frames ?? [];
  const table = make("table", "framing-frames");
  const head = make("tr");
  cells(head, ["offset", "bytes", "message", "status", "its first bytes"], "th");
  table.append(head);
  for (const frame of frames) {
    const row = make("tr", frame.problem !== undefined || frame.status === "illegal" || frame.status === "incomplete" ? "err" : "");
    const code = opcode(frame.code);
    const bytes = (frame.hex.match(/../g) ?? []).join(" ") + (frame.length * 2 > frame.hex.length ? " …" : "");
    cells(row, [hexNumber(frame.offset, 4), String(frame.length), frame.message ?? code, frame.problem ?? frame.status ?? "", bytes]);
    table.append(row);
  }
  host.replaceChildren(table);
  const wrong = frames.filter((frame) => frame.problem !== undefined).length;
  const known = frames.filter((frame) => (frame.message ?? "") !== "").length;
  const good = frames.length - wrong;
  if (frames.length === 0) {
    return answer.more === true ? "No message ends within the first 64 KiB." : "There is no message.";
  }
  const more = answer.more === true ? ", and more" : "";
  return `${good} ${good === 1 ? "message" : "messages"}${more}${known > 0 ? `, ${known} of them defined` : ""}${wrong > 0 ? ". Then it does not go on: this is not how they are cut, or the file is damaged." : "."}`;
}

/** Asks how the bytes of a file are cut. The answer is "" if they are to be shown as they are, undefined if nothing is to be done. */
export async function askFraming(workspace: string, file: File): Promise<string | undefined> {
  const head = new Uint8Array(await file.slice(0, sample).arrayBuffer());
  const hex = hexOf(head);
  const { box, form, says, say } = dialog(`${file.name}: how are these bytes cut into messages?`);
  box.classList.add("framing");
  const number = (name: string, value: string, most: number): HTMLInputElement => {
    const input = make("input");
    Object.assign(input, { type: "number", name, value, min: "0", max: String(most), inputMode: "numeric" });
    return input;
  };
  const named = (name: string, control: HTMLSelectElement): HTMLSelectElement => {
    control.name = name;
    return control;
  };
  const kind = named("kind", select([
    ["prefixed", "A length stands before each message"],
    ["fixed", "All messages have one size"],
    ["delimited", "Bytes stand behind each message"],
    ["lines", "Each line is a message"],
    ["whole", "The whole file is one message"],
  ]));
  const size = named("size", select([["1", "1 byte"], ["2", "2 bytes"], ["4", "4 bytes"]], "2"));
  const order = named("order", select([["le", "little-endian"], ["be", "big-endian"]]));
  const before = number("before", "0", 4096);
  const counts = named("counts", select([["rest", "what follows it"], ["self", "itself and what follows"], ["all", "the whole message"]], "self"));
  const keep = named("keep", select([["keep", "a part of the message"], ["cut", "cut off"]]));
  const fixed = number("fixed", "64", 16 << 20);
  fixed.min = "1";
  const delimiter = make("input");
  Object.assign(delimiter, { type: "text", name: "delimiter", value: "00", spellcheck: false, autocomplete: "off", placeholder: "0d 0a" });
  const ends = named("ends", select([["0a", "line feed (0a)"], ["0d0a", "carriage return, line feed (0d 0a)"]]));
  ends.value = hex.includes("0d0a") ? "0d0a" : "0a";
  const dir = named("dir", select([["", "not known"], ["c2s", "C→S, to the server"], ["s2c", "S→C, to the client"]]));
  const row = (...fields: HTMLElement[]): HTMLElement => {
    const element = make("div", "row");
    element.append(...fields);
    return element;
  };
  const kept = field("Then it is", keep);
  const groups: [Framing["kind"][], HTMLElement][] = [
    [["prefixed"], row(field("Bytes before the length", before), field("Length", size), field("Order", order))],
    [["prefixed"], row(field("It counts", counts))],
    [["fixed"], row(field("Bytes of a message", fixed))],
    [["delimited"], row(field("These bytes, in hex", delimiter))],
    [["lines"], row(field("A line ends with", ends))],
  ];
  const preview = make("div", "framing-preview");
  preview.tabIndex = 0;
  preview.setAttribute("role", "group");
  preview.setAttribute("aria-label", "The first messages");
  const press = (value: string, text: string, title: string, primary = false): HTMLButtonElement => {
    const element = make("button", primary ? "btn primary" : "btn", text);
    element.type = "button";
    element.title = title;
    element.addEventListener("click", () => box.close(value));
    return element;
  };
  const go = press("keep", "Keep as a capture", "Stores the file; how it is cut can be changed later", true);
  form.append(row(field("Messages", kind), field("They go", dir)), ...groups.map(([, element]) => element), preview, says, row(go, press("show", "Show the bytes", "Takes the file for one message, and stores nothing"), press("", "Cancel", "Does nothing")));

  const chosen = (): Framing => ({
    kind: kind.value as Framing["kind"], before: before.value, size: size.value, order: order.value as Framing["order"], counts: counts.value as Framing["counts"],
    keep: keep.value === "keep", fixed: fixed.value, delimiter: delimiter.value, ends: ends.value as Framing["ends"], dir: dir.value as Framing["dir"],
  });
  let asked = 0;
  const show = async (): Promise<void> => {
    const now = chosen();
    for (const [kinds, element] of groups) {
      element.hidden = !kinds.includes(now.kind);
    }
    (now.kind === "delimited" ? groups[3] : groups[1])?.[1].append(kept);
    order.disabled = now.size === "1";
    const n = ++asked;
    const text = framingText(now);
    try {
      const response = await fetch(`/api/${encodeURIComponent(workspace)}/framing`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ framing: text, hex, cut: file.size > head.length }),
      });
      const answer = (await response.json()) as Tried;
      if (n !== asked) {
        return;
      }
      go.disabled = !response.ok;
      if (response.ok) {
        say(draw(preview, answer), (answer.frames ?? []).some((frame) => frame.problem !== undefined));
      } else {
        preview.replaceChildren();
        say(answer.detail ?? response.statusText);
      }
    } catch {
      say("The server cannot be reached.");
    }
  };
  let soon: ReturnType<typeof setTimeout> | undefined;
  form.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(() => void show(), 80);
  });
  kind.focus();
  void show();
  return new Promise((resolve) => {
    box.addEventListener("close", () => {
      clearTimeout(soon);
      asked++;
      resolve(box.returnValue === "keep" ? framingText(chosen()) : box.returnValue === "show" ? "" : undefined);
    });
  });
}
