// A message as a form: its values one by one, as JSON, or its bytes. What was changed is seen beside what it was.
//
//   .message-form > .segments, .mf-fields > .mf-row (> label, input, .mf-was), or textarea
//                 > .check

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = readonly (string | number)[];

/** What is to be sent: values, or bytes in hex. */
export type Content = { value: unknown } | { hex: string; raw: boolean };

type Mode = "fields" | "json" | "bytes";

const mostFields = 300; // a form that is longer is no help
const modeNames: Readonly<Record<Mode, string>> = { fields: "Fields", json: "JSON", bytes: "Bytes" };

interface Leaf {
  path: Path;
  value: null | boolean | number | string;
}

function pathText(path: Path): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");
}

/** The single values of a message, in their order. */
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

/** A copy with another value at a path. */
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

function hexText(hex: string): string {
  return (hex.match(/../g) ?? []).join(" ");
}

let forms = 0;

export class MessageForm {
  readonly element = document.createElement("div");
  private readonly id = `mf${++forms}`;
  private readonly modes = document.createElement("div");
  private readonly body = document.createElement("div");
  private readonly wrong = document.createElement("label");
  private readonly raw = document.createElement("input");
  private mode: Mode = "bytes";
  private before: Json | undefined; // as it came; undefined: nothing says what is in it
  private now: Json | undefined;
  private hex = "";
  private text: HTMLTextAreaElement | undefined;

  constructor() {
    this.element.className = "message-form";
    this.modes.className = "segments";
    this.modes.setAttribute("role", "radiogroup");
    this.modes.setAttribute("aria-label", "What is changed");
    this.body.className = "mf-body";
    this.wrong.className = "check";
    this.raw.type = "checkbox";
    this.wrong.append(this.raw, " leave lengths, numbers and checksums as they are written, right or wrong");
    this.element.append(this.modes, this.body, this.wrong);
  }

  /** Shows a message: its values, undefined if nothing defines it, and its bytes. `now` are values that it begins with instead. */
  show(value: unknown, hex: string, now: unknown = value): void {
    this.before = value === undefined || value === null ? undefined : (value as Json);
    this.now = now === undefined || now === null ? this.before : (now as Json);
    this.hex = hexText(hex);
    const leaves = this.now === undefined ? [] : leavesOf(this.now);
    this.mode = this.now === undefined ? "bytes" : leaves.length === 0 || leaves.length > mostFields ? "json" : "fields";
    this.drawModes(leaves.length);
    this.draw();
  }

  /** Shows what somebody has made of a message before. */
  resume(value: unknown, hex: string, content: Content): void {
    if ("value" in content) {
      this.show(value, hex, content.value);
      return;
    }
    this.show(value, content.hex);
    this.raw.checked = content.raw;
    if (this.mode !== "bytes") {
      this.mode = "bytes";
      this.drawModes(this.now === undefined ? 0 : leavesOf(this.now).length);
      this.draw();
    }
  }

  focus(): void {
    this.body.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }

  /** What the person wrote; fails with an Error that says what is wrong. */
  content(): Content {
    this.take();
    return this.mode === "bytes" ? { hex: this.hex, raw: this.raw.checked } : { value: this.now };
  }

  private drawModes(leaves: number): void {
    const modes: Mode[] = this.now === undefined ? ["bytes"] : ["fields", "json", "bytes"];
    this.modes.hidden = modes.length === 1;
    this.modes.replaceChildren(...modes.map((mode) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      input.type = "radio";
      input.name = this.id;
      input.value = mode;
      input.checked = mode === this.mode;
      input.disabled = mode === "fields" && (leaves === 0 || leaves > mostFields);
      input.addEventListener("change", () => this.turn(mode));
      label.append(input, modeNames[mode]);
      return label;
    }));
  }

  private turn(mode: Mode): void {
    try {
      this.take();
    } catch {
      // It is no JSON: the other form begins with what was right last.
    }
    this.mode = mode;
    this.draw();
    this.focus();
  }

  /** Takes in what is in the text, if one is shown; fields are taken as they are written. */
  private take(): void {
    if (this.mode === "bytes") {
      this.hex = this.text?.value ?? this.hex;
    } else if (this.mode === "json" && this.text !== undefined) {
      try {
        this.now = JSON.parse(this.text.value) as Json;
      } catch (error) {
        throw new Error(`That is no JSON: ${error instanceof Error ? error.message : ""}`);
      }
    } else {
      const bad = this.body.querySelector<HTMLInputElement>("[aria-invalid=true]");
      if (bad !== null) {
        bad.focus();
        throw new Error(`${bad.dataset["path"] ?? "A field"} is a number`);
      }
    }
  }

  private draw(): void {
    this.wrong.hidden = this.mode !== "bytes";
    this.text = undefined;
    if (this.mode === "fields" && this.now !== undefined) {
      const old = new Map(this.before === undefined ? [] : leavesOf(this.before).map((leaf) => [pathText(leaf.path), leaf.value]));
      const rows = document.createElement("div");
      rows.className = "mf-fields";
      rows.append(...leavesOf(this.now).map((leaf) => this.row(leaf, old)));
      this.body.replaceChildren(rows);
      return;
    }
    const text = document.createElement("textarea");
    text.className = "hex-input";
    text.spellcheck = false;
    text.value = this.mode === "bytes" ? this.hex : JSON.stringify(this.now, null, 2);
    text.rows = Math.max(4, Math.min(16, text.value.split("\n").length + 1));
    text.setAttribute("aria-label", this.mode === "bytes" ? "Bytes in hex" : "Values as JSON");
    this.text = text;
    this.body.replaceChildren(text);
  }

  private row(leaf: Leaf, old: ReadonlyMap<string, Leaf["value"]>): HTMLElement {
    const path = pathText(leaf.path);
    const row = document.createElement("div");
    row.className = "mf-row";
    const label = document.createElement("label");
    const was = document.createElement("span");
    was.className = "mf-was";
    const draw = (value: Leaf["value"]): void => {
      const first = old.has(path) ? old.get(path) : value;
      row.classList.toggle("changed", first !== value);
      was.textContent = first === value ? "" : `was ${JSON.stringify(first)}`;
    };
    let control: HTMLInputElement | HTMLSelectElement;
    if (typeof leaf.value === "boolean") {
      control = document.createElement("select");
      control.append(new Option("true", "true", false, leaf.value), new Option("false", "false", false, !leaf.value));
    } else {
      control = document.createElement("input");
      control.type = "text";
      control.autocomplete = "off";
      control.spellcheck = false;
      control.value = String(leaf.value ?? "");
    }
    control.id = `${this.id}-${path}`;
    control.dataset["path"] = path;
    control.addEventListener("input", () => {
      const value = parse(control.value, leaf.value);
      control.setAttribute("aria-invalid", String(value === undefined));
      if (value !== undefined && this.now !== undefined) {
        this.now = withValue(this.now, leaf.path, value);
        draw(value);
      }
    });
    label.htmlFor = control.id;
    label.textContent = path;
    label.title = path;
    row.append(label, control, was);
    draw(leaf.value);
    return row;
  }
}

/** What is typed as a value of the kind that was there; undefined if it is none. */
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
