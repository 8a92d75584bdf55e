// The values of the message as a form, made from its definition: every field with a control for its type, lists with their elements, which
// can be added, duplicated, moved and removed, and the alternatives of the message. Each change makes the message anew.
//
//   .values-form > .vf-row (.vf-name .vf-type, .vf-value), .vf-says

import type { PageValuesForm as ValuesForm, ViewFormCase as FormCase, ViewFormField as FormField } from "../../api/api";
import { isObject, type Json, jsonText } from "../../kit/copy/json";
import { Fragment, h, render, signal, useLayoutEffect, useRef } from "../../kit/ui";

/** The page. */
export interface FormHost {
  /** Makes the message one of these values; resolves to the reason for a refusal, or "". */
  fill(value: string): Promise<string>;
  /** A field has the focus; its path. */
  focused(path: string): void;
}

const mostElements = 50; // shown of a list, at first and with each "more"

type Path = readonly (string | number)[];

function pathText(path: Path): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");
}

/** The value at a path. */
function at(value: Json, path: Path): Json {
  return path.reduce<Json>((inside, part) => (Array.isArray(inside) ? (inside[part as number] ?? null) : isObject(inside) ? (inside[part] ?? null) : null), value);
}

/** A copy with the value at a path replaced. Missing groups are made. */
function put(value: Json, path: Path, to: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) {
    return to;
  }
  if (typeof first === "number") {
    const list = Array.isArray(value) ? value : [];
    return list.map((v, i) => (i === first ? put(v, rest, to) : v));
  }
  const group = isObject(value) ? value : {};
  return { ...group, [first]: put(group[first] ?? null, rest, to) };
}

/** The common values of a message, and defaults for the fields of an alternative. */
function withCase(value: Json, cases: readonly FormCase[], next: FormCase | undefined): { [name: string]: Json } {
  const own = new Set(cases.flatMap((c) => c.fields.map(({ name }) => name)));
  const common = Object.entries(isObject(value) ? value : {}).filter(([name]) => !own.has(name));
  return Object.fromEntries([...common, ...(next?.fields ?? []).map(({ name }): [string, Json] => [name, null])]);
}

/** The JSON of a typed value; a reason if it is none. */
function parse(field: FormField, typed: string, was: Json): Json | { why: string } {
  const text = typed.trim();
  switch (field.kind) {
    case "int": {
      const named = field.values?.find(({ name }) => name === text)?.value;
      if (named !== undefined && field.named === true) {
        return named;
      }
      const sign = text.startsWith("-") ? -1n : 1n;
      if (named === undefined && !/^-?(0x[0-9a-f]+|0b[01]+|\d+)$/i.test(text)) {
        return { why: "a number, decimal, 0x or 0b" };
      }
      const n = BigInt(named ?? (sign < 0 ? text.slice(1) : text)) * (named === undefined ? sign : 1n);
      return typeof was === "string" || n > 0xffff_ffffn || n < -0x8000_0000n ? String(n) : Number(n);
    }
    case "float": {
      if (/^(NaN|-?Infinity)$/.test(text)) {
        return text;
      }
      return text === "" || Number.isNaN(Number(text)) ? { why: "a number" } : Number(text);
    }
    case "bytes": {
      const hex = text.replace(/[\s:]/g, "").toLowerCase();
      return /^([0-9a-f]{2})*$/.test(hex) ? hex : { why: "bytes in hex" };
    }
    case "json":
      try {
        return JSON.parse(text) as Json;
      } catch {
        return { why: "JSON: a number, true, \"text\", [list], {\"name\": value}, or null if there is none" };
      }
    default:
      return typed;
  }
}

/** Whether a parsed value is a reason. */
function isWhy(value: Json | { why: string }): value is { why: string } {
  return isObject(value as Json) && "why" in (value as object);
}

function shown(field: FormField, value: Json): string {
  if (field.kind === "json") {
    return jsonText(value);
  }
  if (value === null) {
    return field.kind === "text" || field.kind === "bytes" ? "" : "0";
  }
  return typeof value === "object" ? jsonText(value) : typeof value === "number" && Object.is(value, -0) ? "-0" : String(value);
}

/** A text field. What is being typed, and what was refused, stays when the values are drawn again. */
function TextInput({ name, text, range, refused, commit, cancel }: { name: string; text: string; range: string; refused: boolean; commit(input: HTMLInputElement): void; cancel(): void }): h.JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const drawn = useRef("");
  useLayoutEffect(() => {
    const { current } = input;
    if (current === null || refused) {
      return;
    }
    if (document.activeElement !== current) {
      current.value = text;
    } else if (current.value === drawn.current && text !== drawn.current) {
      const all = current.selectionStart === 0 && current.selectionEnd === current.value.length;
      current.value = text;
      if (all) {
        current.select();
      }
    }
    drawn.current = text;
  });
  return (
    <input
      ref={input} type="text" data-name={name} aria-label={name} placeholder={range} spellcheck={false} autocomplete="off"
      onBlur={(event) => commit(event.currentTarget)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) {
          event.preventDefault();
          commit(event.currentTarget);
        } else if (event.key === "Escape") {
          event.currentTarget.value = text;
          cancel();
        }
      }}
    />
  );
}

/** A form of the values of the message. */
export class ValuesFormPane {
  private readonly host: FormHost;
  private readonly data = signal<ValuesForm | undefined>(undefined);
  private readonly says = signal({ path: "", text: "" }); // why a change was refused
  private readonly more = signal<ReadonlyMap<string, number>>(new Map()); // elements shown, by path of the list
  private wanted = ""; // name of the control to focus after a change,
  private from: Element | null = null; // unless the user has left this one meanwhile
  private changing = 0; // changes without an answer

  constructor(element: HTMLElement, host: FormHost) {
    this.host = host;
    const Body = (): h.JSX.Element => this.draw();
    render(<Body />, element);
  }

  /** Shows other values, unless a change is under way: its answer has newer ones. */
  show(data: ValuesForm): void {
    if (this.changing > 0) {
      return;
    }
    const other = data.message !== this.data.value?.message;
    this.data.value = data;
    if (other) {
      this.says.value = { path: "", text: "" };
    }
    if (this.wanted !== "") {
      requestAnimationFrame(() => {
        if (document.activeElement !== this.from && document.activeElement !== document.body) {
          this.wanted = "";
          return;
        }
        const control = document.querySelector<HTMLElement>(`.values-form [data-name="${CSS.escape(this.wanted)}"]`);
        if (control !== null) { // otherwise these values are still those before the change
          this.wanted = "";
          control.focus();
        }
      });
    }
  }

  private async change(value: Json, path: string, focus = ""): Promise<void> {
    this.wanted = focus;
    this.from = document.activeElement;
    const before = this.data.value;
    if (before !== undefined) {
      this.data.value = { ...before, value }; // the next change may come before the answer
    }
    const now = this.data.value;
    this.changing++;
    const why = await this.host.fill(jsonText(value)).finally(() => this.changing--);
    this.says.value = { path, text: why };
    if (why !== "") {
      this.wanted = "";
      if (this.data.value === now) {
        this.data.value = before;
      }
    }
  }

  private draw(): h.JSX.Element {
    const data = this.data.value;
    if (data === undefined) {
      return <p class="empty">…</p>;
    }
    if ((data.failed ?? "") !== "") {
      return <p class="empty">{data.failed}</p>;
    }
    const value = data.value as Json;
    const cases = data.form.cases ?? [];
    return (
      <div class="values-form" onFocusIn={(event) => this.host.focused((event.target as HTMLElement).closest<HTMLElement>("[data-path]")?.dataset["path"] ?? "")}>
        {data.made && <p class="hint">No message yet: these are the values of an empty one. A change makes it.</p>}
        {data.form.fields.map((field) => this.field(field, value, [field.name], 0))}
        {cases.length > 0 && this.cases(cases, data.case, value)}
        {data.form.more === true && <p class="hint">The definition has more fields than a form can show.</p>}
        {data.form.fields.length + cases.length === 0 && <p class="empty">This message has no fields.</p>}
      </div>
    );
  }

  private field(field: FormField, value: Json, path: Path, depth: number): h.JSX.Element {
    const name = pathText(path);
    const label = field.name === "" ? `[${String(path.at(-1))}]` : field.name;
    if (field.kind === "list") {
      return this.list(field, value, path, depth);
    }
    if (field.kind === "group") {
      return (
        <Fragment key={name}>
          <div class="vf-row vf-group" style={{ "--depth": depth }}><span class="vf-name">{label}</span><span class="vf-type">{field.type}</span></div>
          {(field.fields ?? []).map((inner) => this.field(inner, value, [...path, inner.name], depth + 1))}
        </Fragment>
      );
    }
    const { says } = this;
    const why = says.value.path === name ? says.value.text : "";
    return (
      <label key={name} class="vf-row" data-path={name} style={{ "--depth": depth }} title={field.doc ?? ""}>
        <span class="vf-name">{label}</span>
        <span class="vf-type">{field.type}</span>
        <span class="vf-value">
          {this.control(field, at(value, path), name, (to) => void this.change(this.selected(put(value, path, to), path), name), (text) => { says.value = { path: name, text }; })}
          {why !== "" && <span class="vf-why" role="alert">{why}</span>}
        </span>
      </label>
    );
  }

  private control(field: FormField, value: Json, name: string, set: (to: Json) => void, refuse: (why: string) => void): h.JSX.Element {
    if (field.kind === "bool" && field.shown !== true) {
      return <input type="checkbox" data-name={name} aria-label={name} checked={value === true} onChange={(event) => set(event.currentTarget.checked)} />;
    }
    const text = shown(field, value);
    if (field.shown === true) {
      return <output data-name={name} title="computed from other values">{text}</output>;
    }
    const values = field.values ?? [];
    if (values.length > 0 && values.some((v) => v.value === text)) {
      return (
        <select data-name={name} aria-label={name} value={text} onChange={(event) => set(typeof value === "string" ? event.currentTarget.value : Number(event.currentTarget.value))}>
          {values.map((v) => <option key={v.value} value={v.value} selected={v.value === text}>{field.named === true ? v.name : `${v.name} (${v.value})`}</option>)}
        </select>
      );
    }
    const refused = this.says.value.path === name && this.says.value.text !== "";
    const range = field.kind === "json" ? "JSON" : (field.min ?? "") + (field.max ?? "") === "" ? "" : `${field.min ?? ""} to ${field.max ?? ""}`;
    const commit = (input: HTMLInputElement): void => {
      if (input.value === text) {
        if (refused) {
          refuse("");
        }
        return;
      }
      const to = parse(field, input.value, value);
      if (isWhy(to)) {
        refuse(to.why);
      } else {
        set(to);
      }
    };
    return <TextInput name={name} text={text} range={range} refused={refused} commit={commit} cancel={() => refuse("")} />;
  }

  private list(field: FormField, whole: Json, path: Path, depth: number): h.JSX.Element {
    const name = pathText(path);
    const value = at(whole, path);
    const list = Array.isArray(value) ? value : [];
    const set = (to: Json[], focus: string): void => void this.change(put(whole, path, to), name, focus);
    const most = this.more.value.get(name) ?? mostElements;
    const why = this.says.value.path === name ? this.says.value.text : "";
    const add = (i: number): void => set(list.toSpliced(i, 0, (field.start ?? null) as Json), `${name}[${i}]`);
    const label = field.name === "" ? `[${String(path.at(-1))}]` : field.name;
    return (
      <Fragment key={name}>
        <div class="vf-row vf-group" data-path={name} style={{ "--depth": depth }} title={field.doc ?? ""} role="group" aria-label={name}>
          <span class="vf-name">{label}</span>
          <span class="vf-type">{field.type}</span>
          <span class="vf-value">
            {list.length} element{list.length === 1 ? "" : "s"}
            {field.fixed !== true && <button type="button" class="btn quiet" data-name={`${name}+`} aria-label={`Add an element to ${name}`} onClick={() => add(list.length)}>+ Add</button>}
            {why !== "" && <span class="vf-why" role="alert">{why}</span>}
          </span>
        </div>
        {list.slice(0, most).map((_, i) => this.element(field, whole, path, depth, i, list, set, add))}
        {list.length > most && <button type="button" class="btn quiet" onClick={() => { this.more.value = new Map(this.more.value).set(name, most + 4 * mostElements); }}>{list.length - most} more elements of {name}</button>}
      </Fragment>
    );
  }

  private element(field: FormField, whole: Json, path: Path, depth: number, i: number, list: Json[], set: (to: Json[], focus: string) => void, add: (i: number) => void): h.JSX.Element {
    const name = `${pathText(path)}[${i}]`;
    const remove = (): void => set(list.toSpliced(i, 1), list.length === 1 ? `${pathText(path)}+` : `${pathText(path)}[${Math.min(i, list.length - 2)}]`);
    const move = (to: number): void => {
      if (to >= 0 && to < list.length) {
        set(list.toSpliced(i, 1).toSpliced(to, 0, list[i] ?? null), `${pathText(path)}[${to}]`);
      }
    };
    const copy = (): void => set(list.toSpliced(i + 1, 0, list[i] ?? null), `${pathText(path)}[${i + 1}]`);
    const tools = field.fixed === true ? null : (
      <span class="vf-tools">
        <button type="button" class="btn quiet" tabIndex={-1} aria-label={`Move ${name} up`} disabled={i === 0} onClick={() => move(i - 1)}>↑</button>
        <button type="button" class="btn quiet" tabIndex={-1} aria-label={`Move ${name} down`} disabled={i === list.length - 1} onClick={() => move(i + 1)}>↓</button>
        <button type="button" class="btn quiet" tabIndex={-1} aria-label={`Duplicate ${name}`} onClick={copy}>duplicate</button>
        <button type="button" class="btn quiet" tabIndex={-1} aria-label={`Remove ${name}`} onClick={remove}>✕</button>
      </span>
    );
    const keys = (event: KeyboardEvent): void => {
      if (event.target !== event.currentTarget || field.fixed === true) {
        return;
      }
      const run = event.altKey && event.key === "ArrowUp" ? () => move(i - 1)
        : event.altKey && event.key === "ArrowDown" ? () => move(i + 1)
        : event.key === "Delete" ? remove
        : event.key === "Insert" ? () => add(i)
        : event.ctrlKey && event.key === "d" ? copy
        : undefined;
      if (run !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        run();
      }
    };
    const [inner] = field.fields ?? [];
    return (
      <Fragment key={i}>
        <div class="vf-row vf-element" data-path={name} data-name={name} style={{ "--depth": depth + 1 }} tabIndex={0} role="group" aria-label={`Element ${name}`} onKeyDown={keys} title="Insert adds one before, Ctrl+D duplicates, Delete removes, Alt and arrows move">
          <span class="vf-name">[{i}]</span>
          {tools}
        </div>
        {field.plain === true && inner !== undefined
          ? this.field(inner, whole, [...path, i], depth + 2)
          : (field.fields ?? []).map((one) => this.field(one, whole, [...path, i, one.name], depth + 2))}
      </Fragment>
    );
  }

  /** The values after a change: with another number that selects an alternative, the fields of that one. */
  private selected(value: Json, path: Path): Json {
    const cases = this.data.value?.form.cases ?? [];
    const [name] = path;
    if (path.length !== 1 || !cases.some((c) => c.name === name)) {
      return value;
    }
    const next = cases.find((c) => c.name === name && c.value === String(at(value, path)));
    return withCase(value, cases, next);
  }

  /** The alternatives of the message, and the fields of the present one. */
  private cases(cases: readonly FormCase[], now: number, value: Json): h.JSX.Element {
    const choose = (to: number): void => {
      const next = cases[to];
      if (next !== undefined) {
        const selector = (next.name ?? "") === "" ? {} : { [next.name ?? ""]: Number(next.value) };
        void this.change({ ...withCase(value, cases, next), ...selector }, "?");
      }
    };
    const why = this.says.value.path === "?" ? this.says.value.text : "";
    return (
      <>
        <label class="vf-row vf-group">
          <span class="vf-name">Alternative</span>
          <span class="vf-value">
            <select aria-label="Alternative" value={String(now)} onChange={(event) => choose(Number(event.currentTarget.value))}>
              {now < 0 && <option value="-1">none</option>}
              {cases.map((c, i) => <option key={i} value={String(i)} selected={i === now}>{c.title}</option>)}
            </select>
            {why !== "" && <span class="vf-why" role="alert">{why}</span>}
          </span>
        </label>
        {(cases[now]?.fields ?? []).map((field) => this.field(field, value, [field.name], 1))}
      </>
    );
  }
}
