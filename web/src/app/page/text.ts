// The text of the open definition: what is typed, saved and discarded, of one's own or in the room that others see.

import { confirmDialog } from "../../kit/dialogs";
import { put } from "../../kit/dom";
import { request } from "../../kit/http";
import { notify } from "../../kit/notify";
import { type Socket, sumOfText } from "../../message/socket";
import type { DefinitionField } from "../../text/editor/field";
import type { Together } from "../../text/together";
import type { Actions } from "./actions";
import { field, type Sent, showPart } from "./controls";
import type { Opening } from "./opening";
import { RecentTexts } from "./recent";

/** The page. */
interface TextHost extends Sent {
  readonly workspace: string;
  readonly editor: Pick<DefinitionField, "text" | "open" | "replace" | "rewrite" | "focus">;
  readonly actions: Pick<Actions, "press" | "settled">;
  readonly together: Pick<Together, "active" | "alone" | "apart" | "forget" | "has" | "joins" | "othersUnsaved" | "part" | "save" | "settled" | "typed">;
  readonly opening: Pick<Opening, "isOpening" | "isBeginning" | "beginTyped" | "rename">;
  readonly socket: Pick<Socket, "state" | "retake">;
  suggest(): void; // sends a suggestion
  changed(text: string): void; // of the definition
  draft(draft: { name: string; text: string } | undefined): void; // an unsaved text, by which frames are decoded
}

/** The text. */
export class PageText {
  edited = false; // it is not that of the file
  private readonly host: TextHost;
  private readonly recent = new RecentTexts(sumOfText);

  constructor(host: TextHost) {
    this.host = host;
  }

  /** The file of the open definition, "" if it is not stored. */
  get file(): string {
    const { file, stored } = field("definition-head")?.dataset ?? {};
    return stored === undefined ? "" : (file ?? "");
  }

  /** The file whose room has the text, or would have it. */
  get place(): { file: string; is: "stored" | "begun" | "" } {
    const { file, stored, begun } = field("definition-head")?.dataset ?? {};
    return { file: this.host.controls.message === "" ? "" : file ?? "", is: stored !== undefined ? "stored" : begun !== undefined ? "begun" : "" };
  }

  /** Puts a text into the editor; undo takes it back. */
  restore(text: string): void {
    this.host.editor.replace(text);
    showPart("definition-pane");
    this.host.editor.focus();
  }

  /** The text was changed on this page. */
  typed(text: string): void {
    const { controls, together, opening, socket } = this.host;
    if (!together.active) {
      together.alone(controls.definition, text);
    }
    if (opening.isOpening) { // typed into the definition being closed
      return;
    }
    this.keep(text);
    this.edited = true;
    const saved = document.querySelector("#facts .ok");
    if (saved !== null && socket.state !== "open") { // the server cannot say so
      put(saved, "className", "warn");
      put(saved, "textContent", "not saved");
      document.querySelector('#definition-head button[value="save"]')?.toggleAttribute("disabled", !together.active);
    }
    const begun = controls.message === "" ? opening.beginTyped() : {};
    this.tellDraft();
    this.recall(text);
    if (controls.shared === "") {
      this.host.set({ definition: controls.definition, ...begun });
    }
    together.typed();
  }

  /** The text was changed by others. */
  received(text: string): void {
    this.keep(text);
    this.recall(text);
    this.host.together.typed();
  }

  private keep(text: string): void {
    this.host.controls.definition = text === "" ? "\n" : text; // an empty text would mean the stored one
    this.host.changed(text);
  }

  /** Another room has the text, "" for none; or the server is away. */
  shared(file: string, isAway: boolean): void {
    const { controls, opening, editor } = this.host;
    if (file === controls.shared || file !== "" && (opening.isOpening || opening.isBeginning)) { // the answer is about another one
      return;
    }
    controls.shared = file;
    this.recent.clear();
    this.recall(editor.text);
    if (!isAway) { // otherwise it gets everything when it is back
      this.host.set({ shared: file });
    }
  }

  /** Keeps a text that answers may be about. */
  recall(text: string): void {
    if (this.host.controls.shared !== "") {
      this.recent.add(text);
      queueMicrotask(() => this.host.socket.retake()); // the editor may be taking the text
    }
  }

  /** Whether an answer can be taken that is about the text with a sum. */
  knows(of: number): boolean {
    return this.host.controls.shared === "" || this.recent.has(of);
  }

  /** The text that an answer is about. */
  textOf(of: number | undefined): string {
    return (of === undefined ? undefined : this.recent.get(of)) ?? this.host.controls.definition;
  }

  /** Takes what an action has made of an earlier text: others may have typed meanwhile. */
  rewrite(was: string | undefined, text: string): void {
    if (was === undefined || !this.host.editor.rewrite(was, text)) {
      notify("The text has changed meanwhile: try again", "warn");
    }
  }

  /** Takes what an action has made of the text with a sum. */
  rewriteOf(of: number, text: string): void {
    this.rewrite(this.recent.get(of), text);
  }

  /** Takes the text of an answer, if it has one; `isOther`: it is of another definition, or of another message of the same text. */
  take(text: string | undefined, isOther: boolean, edited: boolean | undefined): void {
    const { controls, editor, together } = this.host;
    this.edited = edited ?? this.edited;
    if (text !== undefined) {
      if (isOther && together.has(this.place.file)) { // another message of the same text
        controls.definition = editor.text;
      } else if (isOther) {
        editor.open(text);
      } else {
        editor.replace(text);
      }
    }
    this.tellDraft();
    if (text !== undefined) {
      this.host.changed(text);
    }
    if (!this.edited) {
      together.forget(); // it is saved
    }
  }

  /** Reports the definition used for decoding to the list of frames. */
  private tellDraft(): void {
    const { message, definition } = this.host.controls;
    this.host.draft(this.edited && message !== "" ? { name: message, text: definition } : undefined);
  }

  /** Saves the definition. */
  async save(): Promise<void> {
    const { together, opening, actions } = this.host;
    await actions.settled(); // what was asked for before may change the text, as formatting does
    if (together.joins) {
      opening.rename(); // the name field may still have the focus
      together.save();
    } else if (together.apart && document.querySelector("#definition-notes > .notice") === null) { // it may restore a file
      this.host.suggest();
    } else {
      await actions.press("save");
    }
  }

  /** Puts the saved text in the place of the open one; undo takes that back. */
  async discard(): Promise<void> {
    const { controls, together, editor, workspace, actions } = this.host;
    const { message } = controls;
    await together.settled();
    if (!together.active) {
      together.forget();
      await actions.press("stored");
      return;
    }
    const others = together.othersUnsaved;
    if (others.length > 0 && !(await confirmDialog(`Discard all that is not saved of this definition? Lines of ${others.join(", ")} are among it.`, "Discard"))) {
      return;
    }
    const { file } = this;
    if (file === "") { // it is gone when everybody has left it
      editor.replace("");
      return;
    }
    const stored = await request("GET definitions/{file}", { project: workspace, file });
    if (stored.ok && message === controls.message) {
      editor.replace(stored.answer.text.replaceAll("\r\n", "\n"));
    } else if (!stored.ok) {
      notify(stored.why, "err");
    }
  }

  /** Begins a suggestion: a text of one's own, made of the saved one, until it is sent or discarded. */
  async beginSuggestion(): Promise<void> {
    this.host.together.part(true);
    await this.host.actions.press("stored");
    this.host.editor.focus();
  }

  /** Goes back to the text of all, without the suggestion. */
  endSuggestion(): void {
    this.host.together.part(false);
  }

  /** Shows a suggestion, which was made of a revision of the file. */
  showApart(text: string, revision: string): void {
    const { controls, editor } = this.host;
    editor.open(text);
    controls.base = revision;
    this.host.set({ base: revision });
    this.typed(text);
  }
}
