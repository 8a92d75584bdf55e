// The controls of the page, and what they are when it opens.

import type { readAddress } from "../../kit/address";
import { showPane } from "../../kit/panes";
import type { Controls } from "../../message/socket";
import type { Pasted } from "../reload";

/** An element of the page. */
export function field<T extends HTMLElement>(id: string): T | null {
  return document.getElementById(id) as T | null;
}

/** Shows the pane with an id, or on a page without it the one that all are in. */
export function showPart(id: string): void {
  showPane(field(id) ?? field("bench") ?? document.body);
}

/** What the server knows of the page. Most changes are of both. */
export interface Sent {
  readonly controls: Controls;
  /** Tells the server values of controls. */
  set(change: Partial<Controls>): void;
}

const ownPattern = "pattern:"; // starts the form of a text that is read by the user's own pattern

/** The form that is chosen for the text, or the own pattern. */
export function chosenForm(form: string, pattern: string): string {
  return pattern === "" ? form : ownPattern + pattern;
}

/** Shows the form in its menu, or the own pattern. */
export function showForm(form: string): void {
  const [menu, pattern] = [field<HTMLSelectElement>("form"), field<HTMLInputElement>("pattern")];
  if (menu !== null && pattern !== null) {
    const own = form.startsWith(ownPattern);
    menu.value = own ? "" : form;
    pattern.value = own ? form.slice(ownPattern.length) : "";
  }
}

/** The values of the controls, as the server has written them. */
export function readControls(form: HTMLFormElement, score: boolean): Controls {
  const value = (name: string): string => {
    const control = form.elements.namedItem(name);
    return control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement || control instanceof HTMLSelectElement ? control.value : "";
  };
  return {
    message: value("message"),
    name: value("name"),
    definition: field<HTMLTextAreaElement>("definition")?.value ?? "",
    base: value("base"),
    shared: "",
    score,
    input: value("input"),
    form: chosenForm(value("form"), value("pattern")),
    dir: value("dir"),
    bycode: field<HTMLInputElement>("bycode")?.checked ?? false,
    value: value("value"),
    made: value("made"),
    code: value("code"),
    show: Number(value("show")),
    edits: JSON.parse(value("edits") || "{}") as Record<string, string>,
    values: document.documentElement.dataset["fields"] === "values",
  };
}

const noFrame: NonNullable<Controls["frame"]> = { kind: "", dir: "", group: "", name: "", alternate: false, about: null, offer: "" };

/** The controls of a list of frames, whose messages come from the list. */
export function ofFrames(controls: Controls): Controls {
  return { ...controls, bycode: true, form: "hex", name: "", input: "", edits: {}, frame: noFrame };
}

/** The controls with what the address of the page asks for, and then with the input that the page had before it was loaded again. */
export function asAsked(controls: Controls, asked: ReturnType<typeof readAddress>, before: Pasted | undefined): Controls {
  const now = { ...controls };
  if (asked.definition !== undefined && asked.definition !== now.message) {
    Object.assign(now, { message: asked.definition, definition: "", base: "" });
  }
  if (asked.hex !== undefined) {
    Object.assign(now, { input: asked.hex, edits: {}, show: 0 });
  }
  if (before !== undefined) {
    const { bookmarks, ...kept } = before;
    Object.assign(now, kept);
  }
  return now;
}

/** Whether a name is that of a text that says how messages travel. */
export function isEnvelope(name: string): boolean {
  return name.toLowerCase().endsWith(".envelope");
}
