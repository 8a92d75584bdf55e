// The text field of a definition: its lines are coloured behind it, and the line of the pointer or of the caret lights up what it
// explains. Without a script the field shows its text itself, and its numbers are those of the text that the server sent.
//
//   .code > .lines > .ln[data-line] > .no, .tx > .dash .ty .nm .cm, .lint
//   .code > textarea.editor

import { light } from "./link";

/** A line as it is coloured: dashes, type, name, comment. The same cut as in templates/lines.go. */
function cut(text: string): readonly [string, string, string, string] {
  const hash = text.indexOf("#");
  const code = hash < 0 ? text : text.slice(0, hash);
  const comment = hash < 0 ? "" : text.slice(hash);
  const rest = code.replace(/^[- \t]+/, "");
  const dash = code.slice(0, code.length - rest.length);
  const words = rest.replace(/[ \t]+$/, "");
  const at = Math.max(words.lastIndexOf(" "), words.lastIndexOf("\t"));
  return at < 0 ? [dash, "", rest, comment] : [dash, rest.slice(0, at + 1), rest.slice(at + 1), comment];
}

function span(kind: string, text: string): HTMLElement {
  const element = document.createElement("span");
  element.className = kind;
  element.textContent = text;
  return element;
}

function newLine(number: number): HTMLElement {
  const line = document.createElement("div");
  line.className = "ln";
  line.dataset["line"] = String(number);
  line.append(span("no", String(number)), span("tx", ""));
  return line;
}

/** Makes the lines behind a field those of its text. What was said about a line that changed is no longer said. */
function redraw(lines: HTMLElement, text: string): void {
  const wanted = text.split("\n");
  if (wanted.length > 1 && wanted.at(-1) === "") {
    wanted.pop();
  }
  while (lines.children.length > wanted.length) {
    lines.lastElementChild?.remove();
  }
  wanted.forEach((now, i) => {
    const line = lines.children[i] ?? lines.appendChild(newLine(i + 1));
    const shown = line.querySelector(".tx");
    if (shown === null || shown.textContent === now) {
      return;
    }
    const [dash, type, name, comment] = cut(now);
    shown.replaceChildren(span("dash", dash), span("ty", type), span("nm", name), span("cm", comment));
    line.className = "ln";
    line.querySelectorAll(".lint").forEach((old) => old.remove());
  });
}

function editorOf(target: EventTarget | null): HTMLTextAreaElement | null {
  return target instanceof HTMLTextAreaElement && target.matches(".code > .editor") ? target : null;
}

function linesOf(field: HTMLTextAreaElement): HTMLElement | null {
  return field.parentElement?.querySelector<HTMLElement>(":scope > .lines") ?? null;
}

/** The line at a height of the window. */
function lineAt(lines: HTMLElement, y: number): Element | null {
  for (const line of lines.children) {
    const box = line.getBoundingClientRect();
    if (y >= box.top && y < box.bottom) {
      return line;
    }
  }
  return null;
}

/** The line of the caret. */
function caretLine(field: HTMLTextAreaElement, lines: HTMLElement): Element | null {
  return lines.children[field.value.slice(0, field.selectionStart).split("\n").length - 1] ?? null;
}

export function startEditor(): void {
  document.addEventListener("DOMContentLoaded", () => {
    for (const field of document.querySelectorAll<HTMLTextAreaElement>(".code > .lines + .editor")) {
      const lines = linesOf(field);
      if (lines !== null) {
        redraw(lines, field.value); // a browser that goes back keeps what was typed
        field.parentElement?.classList.add("live");
      }
    }
  });
  document.addEventListener("input", (event) => {
    const field = editorOf(event.target);
    const lines = field === null ? null : linesOf(field);
    if (field !== null && lines !== null) {
      redraw(lines, field.value);
    }
  });
  document.addEventListener("pointermove", (event) => {
    const field = editorOf(event.target);
    const lines = field === null ? null : linesOf(field);
    if (lines !== null) {
      light(lineAt(lines, event.clientY));
    }
  });
  document.addEventListener("selectionchange", () => {
    const field = editorOf(document.activeElement);
    const lines = field === null ? null : linesOf(field);
    if (field !== null && lines !== null) {
      light(caretLine(field, lines));
    }
  });
}
