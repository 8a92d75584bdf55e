// The text field of a definition, which the editor replaces once it is loaded: it is large, and the page works without it.

import { load } from "../../kit/load";
import type { DefinitionEditor, EditorOptions, LineScore, LineThreads, Mistake, Shared, SharedEvents, SharedStart, UnsavedMark } from "./index";

/** The definition's text, in its text field or in the editor. The methods are those of DefinitionEditor. */
export class DefinitionField {
  private readonly field: HTMLTextAreaElement;
  private readonly options: EditorOptions;
  private readonly waiting = new Map<string, (editor: DefinitionEditor) => void>(); // for the editor: the last call of each kind
  private editor: DefinitionEditor | undefined;
  private shares = 0; // calls of share and unshare
  private another = (): void => undefined; // the last call of share has been followed by another one
  private readonly begin: () => void; // loads the editor
  private plain: string; // the text without the editor; fields normalize line ends

  /** Puts the editor beside the field, in the element. */
  constructor(element: HTMLElement, field: HTMLTextAreaElement, options: EditorOptions) {
    this.field = field;
    this.options = options;
    this.plain = options.text;
    if (field.value !== options.text) {
      field.value = options.text;
    }
    field.addEventListener("input", () => {
      this.plain = field.value;
      options.events.change(this.plain, 0);
    });
    const start = (): void => {
      delete element.dataset["folded"];
      void this.start(element);
    };
    field.addEventListener("focus", start); // again after a failure
    this.begin = start;
    if (field.checkVisibility()) {
      start();
      return;
    }
    element.dataset["folded"] = ""; // as beside a capture, at first
    const shown = new IntersectionObserver((entries) => {
      if (entries.some((e) => e.isIntersecting)) {
        shown.disconnect();
        start();
      }
    });
    shown.observe(element);
  }

  private async start(element: HTMLElement): Promise<void> {
    const module = await load(() => import("./index"));
    if (module === undefined || this.editor !== undefined) {
      return;
    }
    const { field } = this;
    const focused = document.activeElement === field;
    const host = document.createElement("div");
    host.className = "editor-host";
    element.append(host);
    element.classList.add("live"); // hides the field
    this.editor = new module.DefinitionEditor(host, { ...this.options, text: this.plain, caret: focused ? field.selectionEnd : 0 });
    for (const call of this.waiting.values()) {
      call(this.editor);
    }
    this.waiting.clear();
    if (focused) {
      this.editor.focus();
    }
  }

  /** Resolves to the shared text, once the editor is loaded; undefined if another call has followed. */
  share(start: SharedStart, events: SharedEvents): Promise<Shared | undefined> {
    this.another();
    this.begin();
    return new Promise((resolve) => {
      this.another = () => resolve(undefined);
      const last = ++this.shares;
      this.call("share", (editor) => resolve(last === this.shares ? editor.share(start, events) : undefined));
    });
  }

  unshare(): void {
    this.shares++;
    this.call("share", (editor) => editor.unshare());
  }

  private call(kind: string, call: (editor: DefinitionEditor) => void): void {
    if (this.editor === undefined) {
      this.waiting.delete(kind); // it comes after the calls of other kinds
      this.waiting.set(kind, call);
    } else {
      call(this.editor);
    }
  }

  get text(): string {
    return this.editor?.text ?? this.plain;
  }

  open(text: string): void {
    this.plain = text;
    if (this.editor === undefined) {
      this.field.value = text;
    } else {
      this.editor.open(text);
    }
  }

  replace(text: string): void {
    if (this.editor !== undefined) {
      this.editor.replace(text);
    } else if (text !== this.plain) {
      this.open(text);
      this.options.events.change(text, 0);
    }
  }

  rewrite(of: string, text: string): boolean {
    return this.editor?.rewrite(of, text) ?? false;
  }

  setMistakes(list: readonly Mistake[], of: string): void {
    this.call("mistakes", (editor) => editor.setMistakes(list, of));
  }

  setScores(lines: readonly LineScore[]): void {
    this.call("scores", (editor) => editor.setScores(lines));
  }

  setThreads(lines: readonly LineThreads[], open: (id: string) => void): void {
    this.call("threads", (editor) => editor.setThreads(lines, open));
  }

  setUnsaved(list: readonly UnsavedMark[]): void {
    this.call("unsaved", (editor) => editor.setUnsaved(list));
  }

  setLineHelp(help: ReadonlyMap<number, string>): void {
    this.call("help", (editor) => editor.setLineHelp(help));
  }

  light(lines: readonly number[]): void {
    this.call("light", (editor) => editor.light(lines));
  }

  select(line: number): void {
    this.call("select", (editor) => editor.select(line));
  }

  reveal(line: number): void {
    this.call("reveal", (editor) => editor.reveal(line));
  }

  narrow(first: number, last: number): void {
    this.call("narrow", (editor) => editor.narrow(first, last));
  }

  goTo(line: number): void {
    this.focus();
    this.call("go", (editor) => editor.goTo(line));
  }

  setReadOnly(reason: string | null): void {
    this.call("lock", (editor) => editor.setReadOnly(reason));
  }

  nextMistake(): void {
    this.call("mistake", (editor) => editor.nextMistake());
  }

  /** Focuses the text, with the caret at its end. */
  focusEnd(): void {
    this.focus();
    this.field.setSelectionRange(this.field.value.length, this.field.value.length);
    this.call("end", (editor) => editor.focusEnd());
  }

  focus(): void {
    if (this.editor === undefined) {
      this.field.focus();
    } else {
      this.editor.focus();
    }
  }
}
