// What the server answers, in the panes.

import type { PagePicked } from "../../api/api";
import { put } from "../../kit/dom";
import { morph } from "../../kit/morph";
import { notify } from "../../kit/notify";
import { numberOf, offsetOf } from "../../kit/numbers";
import { markMessage, update as updateMessages } from "../../library/messages";
import type { FormPane } from "../../message/formpane";
import type { ShownMessage } from "../../message/shown";
import { type Answer, type Controls, isAnswer } from "../../message/socket";
import type { CodeArea } from "../../text/codearea";
import type { DefinitionField } from "../../text/editor/field";
import type { Mistakes } from "../../text/mistakes";
import type { Parts } from "../../text/parts";
import type { Threads } from "../../text/threads";
import type { Together } from "../../text/together";
import { showText } from "../sample";
import type { PageAddress } from "./address";
import { field, showForm } from "./controls";
import type { Linked } from "./linked";
import type { Opening } from "./opening";
import type { Selection } from "./selection";
import type { PageText } from "./text";

/** The parts of the page. */
interface AnswersHost {
  readonly controls: Controls;
  readonly form: HTMLFormElement;
  readonly envelope: boolean; // the text is an envelope
  readonly address: Pick<PageAddress, "write">;
  readonly codeArea: Pick<CodeArea, "refresh">;
  readonly editor: Pick<DefinitionField, "setLineHelp" | "text">;
  readonly formPane: Pick<FormPane, "refresh">;
  readonly linked: Pick<Linked, "answered">;
  readonly mistakes: Pick<Mistakes, "markListed" | "take">;
  readonly opening: Pick<Opening, "isOpening" | "opened">;
  readonly parts: Pick<Parts, "follow" | "reveal">;
  readonly selection: Pick<Selection, "inspect" | "links" | "resting" | "selectPending">;
  readonly shown: Pick<ShownMessage, "bookmarks" | "layout" | "message" | "show" | "showLayout">;
  readonly text: Pick<PageText, "file" | "place" | "rewriteOf" | "take" | "textOf">;
  readonly threads: Pick<Threads, "follow">;
  readonly together: Pick<Together, "follow" | "goAlongTo" | "has" | "share" | "tellPeers">;
  picked(frame: PagePicked): void; // something is said about the picked frame
  drawn(): void; // another message, or another state of it
}

/** The answers. */
export class Answers {
  private readonly host: AnswersHost;

  constructor(host: AnswersHost) {
    this.host = host;
  }

  take(answer: Answer): void {
    if (isAnswer(answer)) {
      return; // for its caller
    }
    const { host } = this;
    const { controls } = host;
    const set = answer.set ?? {};
    const before = controls.message;
    const isRenamed = answer.renamed?.some(({ from, to }) => from === before && to === set.message) === true;
    Object.assign(controls, set, { name: "" });
    if (set.input !== undefined && showText(set.input)) {
      host.shown.bookmarks.clear();
    }
    this.takeControls();
    if (answer.list !== undefined) {
      updateMessages(answer.list);
    }
    for (const [id, html] of Object.entries(answer.html ?? {})) {
      this.part(id, html);
    }
    const { together, text, opening } = host;
    if (isRenamed) {
      together.goAlongTo(text.place.file);
    }
    if (set.definition !== undefined && set.reset !== true && answer.of === undefined && together.has(text.place.file)) {
      delete set.definition; // it was made before the server took the text from the room, which has it, too
      controls.definition = host.editor.text;
    }
    if (answer.older !== true) {
      opening.opened(before, isRenamed && set.definition === undefined);
      text.take(set.definition, set.reset === true, set.edited);
    }
    if (answer.rewritten !== undefined) {
      text.rewriteOf(answer.of ?? 0, answer.rewritten);
    }
    this.draw(answer, text.textOf(answer.of));
    markMessage(controls.message);
    const { file, is } = text.place;
    together.follow(file, is);
    if (!opening.isOpening) {
      together.share();
    }
    host.linked.answered();
    host.threads.follow(text.file, controls.base);
    if (answer.picked !== undefined) {
      host.picked(answer.picked);
    }
    if (answer.data !== undefined) {
      host.drawn();
    }
    host.selection.selectPending();
    host.address.write();
    if (Object.keys(answer.html ?? {}).some((id) => id !== "facts")) {
      document.dispatchEvent(new CustomEvent("wb:morphed"));
    }
    host.formPane.refresh();
    host.codeArea.refresh();
    performance.mark("wb:answered", { detail: answer.n });
    host.parts.reveal();
    host.parts.follow();
    document.dispatchEvent(new CustomEvent("wb:answered", { detail: answer.n }));
  }

  /** Shows the controls that an answer has changed. */
  private takeControls(): void {
    const { message, base, form, bycode } = this.host.controls;
    const byCode = field<HTMLInputElement>("bycode");
    showForm(form);
    if (byCode !== null) {
      byCode.checked = bycode;
    }
    field("new-definition")?.toggleAttribute("hidden", message !== "" && (base !== "" || this.host.envelope));
    const name = field<HTMLInputElement>("name");
    if (name !== null && message !== "" && document.activeElement !== name) {
      name.value = message;
    }
  }

  /** Draws the layout, the message and the mistakes of a text. */
  draw(answer: Answer, text: string): void {
    const { shown, selection, editor, mistakes, together } = this.host;
    if (answer.layout !== undefined) {
      shown.showLayout(answer.layout);
      selection.links.lines(shown.layout.keys());
      const help = shown.layout.help();
      if (help !== undefined) {
        editor.setLineHelp(help);
      }
    }
    if (answer.data !== undefined) {
      shown.show(answer.data);
    }
    mistakes.take(answer.mistakes, text);
    selection.resting = answer.status ?? selection.resting;
    selection.links.show(shown.message);
    together.tellPeers(); // with the new lines and bytes
    selection.inspect(); // even while something else is hovered
  }

  private part(id: string, html: string): void {
    morph(id, html);
    if (id === "tree-problems") {
      numberProblems();
    }
    if (id === "values-body") {
      const made = this.host.form.elements.namedItem("made");
      this.host.controls.value = field<HTMLTextAreaElement>("value")?.value ?? "";
      this.host.controls.made = made instanceof HTMLInputElement ? made.value : "";
    }
    if (id === "notices") {
      takeNotices();
    }
    if (id === "definition-notes") {
      this.host.mistakes.markListed();
    }
  }
}

/** Success messages of the last action disappear automatically. */
function takeNotices(): void {
  const good = document.querySelector("#notices .ok");
  if (good !== null) {
    notify(good.textContent ?? "");
    good.remove();
  }
}

/** Writes the offsets and sizes of the problems, which come in hex and decimal, as chosen. */
export function numberProblems(): void {
  for (const e of document.querySelectorAll<HTMLElement>("#tree-problems :is([data-offset], [data-size])")) {
    const { offset, size } = e.dataset;
    put(e, "textContent", offset === undefined ? numberOf(Number(size)) : offsetOf(Number(offset)));
  }
}
