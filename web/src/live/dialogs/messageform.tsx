// A message as a form: values one by one, as JSON, or bytes. Changed values are shown beside the originals.
//
//   .message-form > .segments, .mf-fields > .mf-row (> label, input, .mf-was), or textarea
//                 > .check

import { h, signal, useLayoutEffect, useRef } from "../../kit/ui";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = readonly (string | number)[];

/** The message to send: values, or bytes in hex. */
export type Content = { value: unknown } | { hex: string; raw: boolean };

type Mode = "fields" | "json" | "bytes";

const mostFields = 300; // a longer form is not useful
const modeNames = { fields: "Fields", json: "JSON", bytes: "Bytes" } as const;

interface Leaf {
  path: Path;
  value: null | boolean | number | string;
}

function pathText(path: Path): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");
}

/** The scalar values of a message, in order. */
function leavesOf(value: Json, path: Path = [], out: Leaf[] = []): Leaf[] {
  if (out.length > mostFields) {
    return out;
  }
  if (Array.isArray(value)) {
    value.forEach((v, i) => leavesOf(v, [...path, i], out));
  } else if (typeof value === "object" && value !== null) {
    Object.entries(value).forEach(([key, v]) => leavesOf(v, [...path, key], out));
  } else {
    out.push({ path, value });
  }
  return out;
}

/** A copy with the value at a path replaced. */
function withValue(value: Json, path: Path, to: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) {
    return to;
  }
  if (Array.isArray(value)) {
    return value.map((v, i) => (i === first ? withValue(v, rest, to) : v));
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, key === first ? withValue(v, rest, to) : v]));
  }
  return value;
}

/** Parses text as a value of the same type as like; undefined for invalid text. */
function parse(text: string, like: Leaf["value"]): Leaf["value"] | undefined {
  if (typeof like === "boolean") {
    return text === "true";
  }
  if (typeof like !== "number") {
    return text;
  }
  const trimmed = text.trim();
  const n = /^0x[0-9a-f]+$/i.test(trimmed) || /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(trimmed) ? Number(trimmed) : NaN;
  return Number.isFinite(n) ? n : undefined;
}

/** A message being edited. */
export class MessageDraft {
  readonly shown = signal({ mode: "bytes" as Mode, nth: 0 }); // redrawn from the values with each nth
  readonly now = signal<Json | undefined>(undefined); // undefined: values unknown
  readonly raw = signal(false);
  readonly focused = signal(0); // incremented to request the focus
  old: ReadonlyMap<string, Leaf["value"]> = new Map(); // original values
  text = ""; // of the textarea: JSON, or bytes in hex
  private hex = "";
  private readonly wrong = new Set<string>(); // paths of invalid values

  /** Shows a message: its values, undefined without a definition, and its bytes. `now` are initial values that differ. */
  show(value: unknown, hex: string, now: unknown = value): void {
    const before = value === null ? undefined : (value as Json | undefined);
    this.old = new Map(before === undefined ? [] : leavesOf(before).map((leaf) => [pathText(leaf.path), leaf.value]));
    this.now.value = now === null || now === undefined ? before : (now as Json);
    this.hex = (hex.match(/../g) ?? []).join(" ");
    this.draw(this.now.value === undefined ? "bytes" : this.hasFields ? "fields" : "json");
  }

  focus(): void {
    this.focused.value++;
  }

  get hasFields(): boolean {
    const leaves = this.now.value === undefined ? 0 : leavesOf(this.now.value).length;
    return leaves > 0 && leaves <= mostFields;
  }

  turn(mode: Mode): void {
    try {
      this.take();
    } catch {
      // Invalid JSON: the other form starts with the last valid values.
    }
    this.draw(mode);
    this.focus();
  }

  /** Sets a value from typed text; false if the text is invalid. */
  type(leaf: Leaf, text: string): boolean {
    const value = parse(text, leaf.value);
    const path = pathText(leaf.path);
    if (value === undefined || this.now.value === undefined) {
      this.wrong.add(path);
      return false;
    }
    this.wrong.delete(path);
    this.now.value = withValue(this.now.value, leaf.path, value);
    return true;
  }

  /** The edited content; throws an Error for invalid text. */
  content(): Content {
    this.take();
    return this.shown.value.mode === "bytes" ? { hex: this.hex, raw: this.raw.value } : { value: this.now.value };
  }

  private take(): void {
    const { mode } = this.shown.value;
    const [wrong] = this.wrong;
    if (mode === "bytes") {
      this.hex = this.text;
    } else if (mode === "json") {
      try {
        this.now.value = JSON.parse(this.text) as Json;
      } catch (error) {
        throw new Error(`Not valid JSON: ${error instanceof Error ? error.message : ""}`);
      }
    } else if (wrong !== undefined) {
      throw new Error(`${wrong} is a number`);
    }
  }

  private draw(mode: Mode): void {
    this.wrong.clear();
    this.text = mode === "bytes" ? this.hex : JSON.stringify(this.now.value, null, 2);
    this.shown.value = { mode, nth: this.shown.value.nth + 1 };
  }
}

export function MessageForm({ draft }: { draft: MessageDraft }) {
  const { mode, nth } = draft.shown.value;
  const body = useRef<HTMLDivElement>(null);
  const asked = draft.focused.value;
  useLayoutEffect(() => {
    if (asked > 0) {
      body.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    }
  }, [asked]);
  const modes: Mode[] = draft.now.value === undefined ? ["bytes"] : ["fields", "json", "bytes"];
  return (
    <div class="message-form">
      <div class="segments" role="radiogroup" aria-label="Edit as" hidden={modes.length === 1}>
        {modes.map((m) => (
          <label key={m}><input type="radio" name="message-form" value={m} checked={m === mode} disabled={m === "fields" && !draft.hasFields} onChange={() => draft.turn(m)} />{modeNames[m]}</label>
        ))}
      </div>
      <div class="mf-body" ref={body} key={nth}>
        {mode === "fields" && draft.now.value !== undefined ? (
          <div class="mf-fields">{leavesOf(draft.now.value).map((leaf) => <Row key={pathText(leaf.path)} draft={draft} leaf={leaf} />)}</div>
        ) : (
          <textarea class="hex-input" spellcheck={false} aria-label={mode === "bytes" ? "Bytes in hex" : "Values as JSON"} rows={Math.max(4, Math.min(16, draft.text.split("\n").length + 1))}
            defaultValue={draft.text} onInput={(event) => { draft.text = event.currentTarget.value; }} />
        )}
      </div>
      <label class="check" hidden={mode !== "bytes"}>
        <input type="checkbox" checked={draft.raw.value} onChange={(event) => { draft.raw.value = event.currentTarget.checked; }} /> send lengths, counts and checksums as written, even if wrong
      </label>
    </div>
  );
}

function Row({ draft, leaf }: { draft: MessageDraft; leaf: Leaf }) {
  const path = pathText(leaf.path);
  const first = useRef(leaf.value).current; // at first drawing
  const was = draft.old.has(path) ? draft.old.get(path) : first;
  const changed = was !== leaf.value;
  const type = (event: { currentTarget: HTMLInputElement | HTMLSelectElement }): void => {
    event.currentTarget.setAttribute("aria-invalid", String(!draft.type({ path: leaf.path, value: first }, event.currentTarget.value)));
  };
  return (
    <label class={changed ? "mf-row changed" : "mf-row"} title={path}>
      <span class="mf-name">{path}</span>
      {typeof first === "boolean"
        ? <select aria-label={path} onInput={type}><option selected={first}>true</option><option selected={!first}>false</option></select>
        : <input type="text" aria-label={path} autocomplete="off" spellcheck={false} defaultValue={String(first ?? "")} onInput={type} />}
      <span class="mf-was">{changed ? `was ${JSON.stringify(was)}` : ""}</span>
    </label>
  );
}
