// Which definition is open: opening another one, beginning one that is not saved, and its name until it is saved.

import type { FrameOffer } from "../../api/frames";
import { addressOf, messageIn, pathOf } from "../../kit/address";
import { askText } from "../../kit/notebox";
import { lookOnly } from "../../kit/role";
import { listedVersions } from "../../library/messages";
import type { Controls } from "../../message/socket";
import type { DefinitionField } from "../../text/editor/field";
import type { OldDraft } from "../../text/olddrafts";
import type { Together } from "../../text/together";
import type { Actions } from "./actions";
import { field, isEnvelope, type Sent, showPart } from "./controls";
import type { Steps } from "./steps";

/** The page. */
interface OpeningHost extends Sent {
  readonly workspace: string;
  readonly envelope: boolean; // the open text is an envelope
  readonly capture: boolean; // the address is that of a capture
  readonly editor: Pick<DefinitionField, "text" | "replace" | "select" | "focus" | "focusEnd">;
  readonly steps: Pick<Steps, "now" | "remember" | "dropSame">;
  readonly actions: Pick<Actions, "press">;
  readonly together: Pick<Together, "active" | "rename" | "share">;
  closing(): void; // another definition is about to be opened
  moved(): void; // the address of the page may be another one
  begun(name: string, was: string): void; // a definition was begun by typing, or an unsaved one was renamed
}

/** The open definition. */
export class Opening {
  isOpening = false; // another definition
  isBeginning = false; // one that is not saved
  private readonly host: OpeningHost;
  private readonly offers = new Map<string, FrameOffer>(); // unsaved definitions, by name, that get the code of the message which they were begun from
  private wanted = ""; // the name that this page asks for

  constructor(host: OpeningHost) {
    this.host = host;
  }

  /** Opens another definition. */
  open(message: string, push = true): Promise<void> {
    const { host } = this;
    if (!host.capture && isEnvelope(message) !== host.envelope) {
      return this.leaveFor(pathOf(host.workspace, "definitions", message));
    }
    host.closing();
    host.set(this.leave());
    const before = host.steps.now();
    host.steps.remember();
    return host.actions.press(`open:${message}`).then((answer) => {
      this.isOpening = false;
      host.steps.dropSame(before, true); // the bytes stay
      if (push && !host.capture && (answer.failed ?? "") === "") {
        history.pushState({ message }, "", pathOf(host.workspace, "definitions", message));
      }
      host.moved();
      showPart("definition-pane");
    });
  }

  /** Opens a definition if it is not open, at a line. */
  go(message: string, line: number): Promise<void> {
    const { controls, editor } = this.host;
    return (message === controls.message ? Promise.resolve() : this.open(message)).then(() => {
      if (line > 0) {
        editor.select(line);
        editor.focus();
      }
    });
  }

  /** Goes to a text in another language, on a page of its own. */
  private leaveFor(address: string): Promise<void> {
    location.assign(address);
    return new Promise(() => undefined);
  }

  /** The controls needed by the server before another definition opens: the text of the current one. */
  leave(): Pick<Controls, "definition" | "base" | "shared"> {
    this.isOpening = true;
    this.host.controls.shared = "";
    return { definition: "", base: "", shared: "" };
  }

  /** Opens the address of a definition, or of a new one, in this page. Returns false for other addresses. */
  openAt(href: string): boolean {
    const url = new URL(href, location.href);
    const message = messageIn(url);
    const name = url.searchParams.get("new");
    if (message !== null) {
      void this.open(message);
    } else if (name !== null) {
      this.begin(name);
    }
    return message !== null || name !== null;
  }

  /** Opens what the address is about after the user has gone back or forth. */
  follow(): void {
    const { controls } = this.host;
    const url = new URL(location.href);
    const message = messageIn(url);
    const begun = url.searchParams.get("new");
    if (message !== null && message !== controls.message) {
      void this.open(message, false);
    } else if (begun !== null && begun !== "" && begun !== controls.message) {
      this.isOpening = true;
      void this.beginNew(begun).then(() => { this.isOpening = false; });
    }
  }

  /** An answer is about another definition, or the same one renamed. */
  opened(before: string, isRenamed: boolean): void {
    const { controls: { message, base }, capture, workspace } = this.host;
    const isOther = message !== before && !isRenamed;
    const { isOpening } = this;
    if (isOther) {
      this.isOpening = false; // an answer that was on its way is about the definition before
    }
    if (capture || !isOther && !isRenamed) {
      return;
    }
    document.title = message === "" ? "Wirebench" : `${message} · Wirebench`;
    const address = addressOf(location.href, workspace, message, base !== "");
    if (isRenamed) {
      history.replaceState(history.state, "", address + location.hash);
    } else if (!isOpening) { // a new one, or the one of the message
      history.pushState({}, "", address);
    }
  }

  /** Whether the address names a definition that is not stored. */
  get isNew(): boolean {
    return messageIn(new URL(location.href)) === null && listedVersions(this.host.controls.message).length === 0;
  }

  // Definitions that are not saved.

  /** Begins a definition, for its text to be typed; the message stays. */
  begin(name: string): void {
    void this.beginNew(name).then(() => {
      if (document.activeElement?.id !== "name") { // unless somebody types its name already
        this.host.editor.focus();
      }
    });
  }

  /** Begins a definition. */
  async beginNew(name: string): Promise<void> {
    const { host } = this;
    if (host.envelope && !isEnvelope(name)) {
      await this.leaveFor(`${pathOf(host.workspace, "definitions")}?new=${encodeURIComponent(name)}`);
    }
    this.isBeginning = true;
    await host.actions.press(`new:${name}`).finally(() => { this.isBeginning = false; });
    host.together.share();
  }

  /** Names a definition started by typing, after the proposed name. A frame without a definition gets that name, too. */
  beginTyped(): { name?: string } {
    const name = field<HTMLInputElement>("name")?.value.trim() ?? "";
    if (name === "") {
      return {};
    }
    this.host.controls.message = name;
    this.host.begun(name, "");
    return { name };
  }

  /** Starts a definition of the shown message, under a name that the user may change. */
  beginFrom(button: HTMLElement): void {
    const { begin = "", code = "", map = "" } = button.dataset;
    askText(button, { label: "Name of the new definition", text: begin, button: "Begin", most: 100 }, (name) => {
      void this.host.actions.press(`begin:${name}`).then((answer) => {
        if ((answer.failed ?? "") !== "") {
          return;
        }
        showPart("definition-pane");
        this.host.editor.focusEnd();
        if (map !== "" && !lookOnly()) {
          this.offers.set(name, { name, map, code: Number(code) });
        }
      });
    });
  }

  /** Writes the code of a definition that was begun from a message, and has been saved: the message is found by its code then. */
  async giveCode(): Promise<void> {
    const { workspace, controls: { message } } = this.host;
    const offer = this.offers.get(message);
    if (offer !== undefined) {
      this.offers.delete(message);
      const { nameCode } = await import("../../library/define");
      await nameCode(workspace, offer, message.replace(/\.\d+$/, ""));
    }
  }

  /** Opens a definition that an earlier version of the program has kept in this browser. */
  async openOld({ key, message, text, base }: OldDraft): Promise<void> {
    if (base !== "") {
      await this.open(message); // where it is merged
      return;
    }
    await this.beginNew(message);
    this.host.editor.replace(text);
    localStorage.removeItem(key);
  }

  /** Applies the typed name to an unsaved definition. */
  rename(): void {
    const { controls, together } = this.host;
    const name = field<HTMLInputElement>("name")?.value.trim() ?? "";
    if (controls.base !== "" || name === "" || name === controls.message) {
      return;
    }
    this.wanted = name;
    together.rename(name);
    if (!together.active) {
      this.begunAs(name);
      this.host.set({ name, definition: controls.definition || "\n" });
    }
  }

  /** Gives the definition, which was begun, another name in this page. */
  private begunAs(name: string): void {
    const { message } = this.host.controls;
    this.host.begun(name, message);
    const offer = this.offers.get(message);
    if (offer !== undefined) {
      this.offers.delete(message);
      this.offers.set(name, offer);
    }
  }

  /** Takes the name that somebody has given the open definition, which is not saved yet. */
  named(name: string): void {
    const { controls, editor, capture, workspace } = this.host;
    const { message } = controls;
    if (name !== message) {
      const begin = field("code")?.dataset["begin"] ?? ""; // of the text of a new definition, with its name
      const said = begin.replaceAll("$NAME", message);
      if (name === this.wanted && said !== begin && editor.text.startsWith(said)) {
        editor.replace(begin.replaceAll("$NAME", name) + editor.text.slice(said.length));
      }
      this.begunAs(name);
      controls.message = name;
      this.host.set({ name });
      if (!capture) {
        document.title = `${name} · Wirebench`;
        history.replaceState(history.state, "", addressOf(location.href, workspace, name, false));
      }
    }
    this.wanted = "";
    const input = field<HTMLInputElement>("name");
    if (input !== null) {
      input.value = name;
    }
  }
}
