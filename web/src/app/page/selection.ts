// What is selected and hovered: in all panes, in the status line, and in the inspector.

import { askDialog } from "../../kit/dialogs";
import { put } from "../../kit/dom";
import { hexNumber } from "../../kit/hextext";
import { notify } from "../../kit/notify";
import { bitOffsetOf, numberOf } from "../../kit/numbers";
import type { Subject } from "../../message/fields";
import { Inspector } from "../../message/inspector";
import type { Bits } from "../../message/model";
import { roleWord } from "../../message/roles";
import type { ShownMessage } from "../../message/shown";
import type { DefinitionField } from "../../text/editor/field";
import { Links, type Target } from "../link";
import { sizeText } from "../sample";
import { field, showPart } from "./controls";

/** The page. */
interface SelectionHost {
  readonly shown: Pick<ShownMessage, "hex" | "tree" | "layout" | "message">;
  readonly editor: DefinitionField;
  name(): string; // of the open definition
  mayEdit(): boolean;
  isBehind(): boolean; // the panes are about earlier texts
  moved(): void;
}

interface Bytes {
  start: number;
  end: number;
}

/** The hovered and the selected part. */
export class Selection {
  readonly links = new Links((target, picked) => this.tell(target, picked));
  pending: Bytes | undefined; // selected as soon as there is a message
  resting = ""; // the status line without hover
  private readonly host: SelectionHost;
  private readonly inspector: Inspector;
  private readonly line = field("selected") ?? document.createElement("span"); // in the status line
  private elsewhere: (Bytes & { data: Uint8Array }) | undefined; // inspected instead of the message

  constructor(host: SelectionHost) {
    this.host = host;
    const { hex, tree, layout } = host.shown;
    this.inspector = new Inspector(field("inspector") ?? document.createElement("div"), (at, bytes) => hex.replace(at, bytes), field("inspector-line"));
    this.links.attach(hex, host.editor, tree, layout);
  }

  /** The selected bytes; undefined without any. */
  get bytes(): Bytes | undefined {
    const { start, end } = this.host.shown.hex.selection;
    return end > start ? { start, end } : undefined;
  }

  /** A selection in the hex grid: a click selects the whole field. */
  chose(start: number, end: number, caret: number, how: "click" | "drag" | "keyboard"): void {
    this.pending = undefined; // a selection made meanwhile stays
    const target = this.links.ofByte(caret);
    const [bits] = target?.ranges ?? [];
    if (how === "click" && bits !== undefined && end - start <= 1) {
      this.host.shown.hex.select(bits.start >> 3, (bits.end + 7) >> 3, { reveal: false, caret });
    }
    if (end - start <= 1 || how === "click") {
      this.links.pick(target);
    } else {
      this.links.pick({ from: "hex", ranges: [{ start: start * 8, end: end * 8 }], lines: [], keys: new Set(), path: "", run: -1 });
    }
    this.host.moved();
  }

  /** Selects bytes of the message, like the user. */
  select(start: number, end: number, how: "click" | "keyboard" = "keyboard"): void {
    this.host.shown.hex.select(start, end, { reveal: true });
    this.chose(start, end, start, how);
  }

  /** Selects what was asked for before there was a message. */
  selectPending(): void {
    const { pending } = this;
    if (pending !== undefined && this.host.shown.message !== null) {
      this.pending = undefined;
      this.select(pending.start, pending.end);
    }
  }

  /** Selects a target in all panes, or none. */
  pick(target: Target | null): void {
    this.links.pick(target);
    this.host.moved();
  }

  /** Asks for an offset, and goes there. */
  goTo(): void {
    const { message, hex } = this.host.shown;
    const size = message?.data.length ?? 0;
    if (size === 0) {
      notify("No bytes", "warn");
      return;
    }
    void askDialog("Go to offset", `0 to ${size - 1} (${hexNumber(size - 1)}), decimal or hex with 0x`, "Go", (text) => {
      const at = text === "" ? NaN : Number(text);
      return Number.isInteger(at) && at >= 0 && at < size ? "" : `An offset is a number from 0 to ${size - 1}`;
    }).then((text) => {
      const at = Number(text);
      if (text !== undefined) {
        this.select(at, at + 1, "click");
        hex.focus();
      }
    });
  }

  /** The selected bytes, or the selected part of the message or the layout. */
  subject(): Subject {
    const { hex, message } = this.host.shown;
    const { start, end } = hex.selection;
    const target = this.links.chosen;
    const [part] = target?.ranges ?? [];
    const path = target === null || target.run < 0 && target.from === "hex" ? "" : target.path.replace(/ \[\w+\]$/, "");
    let bits: Bits | undefined = end > start ? { start: start * 8, end: end * 8 } : undefined;
    if (part !== undefined && (bits === undefined || (part.start >> 3 === start && (part.end + 7) >> 3 === end))) {
      bits = { ...part }; // which may be bits of a byte
    } else if (message === null && target !== null) {
      bits = this.links.layoutBits(target);
    }
    const run = bits === undefined ? -1 : (message?.runAt(bits.end) ?? -1);
    const next = run >= 0 ? message?.bits(run) : undefined;
    return { bits, path: path === "unexplained" ? "" : path, next: next?.start === bits?.end ? next : undefined };
  }

  /** Inspects other bytes than those of the message; undefined: those of the message. */
  inspectOther(place: (Bytes & { data: Uint8Array }) | undefined): void {
    this.elsewhere = place;
    this.inspect();
  }

  inspect(): void {
    if (this.elsewhere !== undefined) {
      this.inspector.show(this.elsewhere.data, this.elsewhere.start, this.elsewhere.end);
      return;
    }
    const { selection: { start, end, caret }, data } = this.host.shown.hex;
    const target = this.links.chosen;
    const nowhere = target !== null && target.ranges.length === 0; // a line that no byte of the message belongs to
    this.inspector.show(data, nowhere ? data.length : end - start > 1 ? start : caret, end, this.host.mayEdit());
    put(this.line, "textContent", end > start ? selectionText(data, start, end) : "");
  }

  /** Moves the focus into the inspector, which opens. */
  openInspector(): void {
    const strip = field<HTMLDetailsElement>("inspector-strip");
    showPart("bytes-pane");
    if (strip?.open === false) {
      strip.querySelector("summary")?.click(); // it is remembered
    }
    document.querySelector<HTMLElement>('.inspector [tabindex="0"]')?.focus();
  }

  /** Says in the status line what is hovered or selected. */
  tell(target: Target | null, picked: boolean): void {
    if (picked) {
      this.inspect();
    }
    const line = field("pointed");
    if (line === null) {
      return;
    }
    if (target === null || (target.path === "" && target.ranges.length === 0)) {
      line.textContent = this.host.isBehind() ? "" : this.resting;
      return;
    }
    const { message } = this.host.shown;
    const name = message?.name ?? this.host.name();
    const part = target.run >= 0 ? message?.partOfRun(target.run) : undefined;
    line.textContent = targetText(target, name, part);
  }

  /** Marks the lines where others are, and their bytes; the colors of others are by line. */
  setPeers(peers: ReadonlyMap<number, number>): void {
    this.host.shown.layout.setPeers(peers);
    this.host.shown.hex.setPeers([...peers].flatMap(([line, color]) => (this.links.ofLine(line)?.ranges ?? []).map(({ start, end }) => ({ start: start >> 3, end: (end + 7) >> 3, color }))));
  }
}

/** A part in words: its path, its type, and where it is. */
export function targetText(target: Target, name: string, part: { role: string; type: string } | undefined): string {
  const [first] = target.ranges;
  const size = first === undefined ? 0 : first.end - first.start;
  const where = first === undefined ? "" : ` @ ${bitOffsetOf(first.start)} +${size % 8 === 0 ? numberOf(size / 8) : `${size} bit`}`;
  const more = target.ranges.length > 1 ? `, ${target.ranges.length} places` : "";
  const gap = part?.role === "gap";
  const role = part === undefined || gap ? "" : roleWord(part.role, target.path);
  return `${name} › ${target.path || (gap ? "unexplained" : target.lines[0] === undefined ? "bytes" : `line ${target.lines[0]}`)}${role}${part === undefined ? "" : `: ${part.type}`}${where}${more}`;
}

/** Selected bytes in words: where they are, how many, and their sum. */
export function selectionText(data: Uint8Array, start: number, end: number): string {
  let sum = 0;
  for (let i = start; i < end; i++) {
    sum += data[i] ?? 0;
  }
  const n = end - start;
  return `${sizeText(n)} (${hexNumber(n)}) selected at ${hexNumber(start)}, sum ${sum} (${hexNumber(sum)})`;
}
