// Comments and suggestions: marks in the open definition, and the commands that begin them. The dialog that shows them is in
// dialogs/threads.tsx.

import type { BeginBody, WorkspaceThread as Thread } from "../api/api";
import { onChanged } from "../kit/changes";
import { register } from "../kit/commands";
import { dialogs } from "../kit/dialogs";
import type { DefinitionField } from "./editor/field";
import { askText } from "../kit/notebox";
import { ask, request } from "../kit/http";
import { notify } from "../kit/notify";
import { personName } from "../kit/person";
import { lookOnly } from "../kit/role";

/** The page. */
export interface ThreadsHost {
  readonly workspace: string;
  readonly editor: DefinitionField;
  line(): number; // of the caret
  edited(): boolean; // the text is not that of the file
  shared(): boolean; // others see it
  base(): string; // revision of the file whose text was edited
  discard(): void; // the edited text, which was suggested
  part(): Promise<void>; // begins a text of one's own
  go(message: string, line: number): Promise<void>;
  restore(text: string): void;
  selection(): { capture: string; frame: number; offset: number; length: number } | undefined; // bytes of a frame
}

/** What a list says of a thread. */
export function threadText({ remarks: [first], by }: Thread): string {
  const text = first?.text ?? "";
  return `${by}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}

export class Threads {
  private readonly host: ThreadsHost;
  private file = "";
  private revision = "";
  private list: readonly Thread[] = [];

  constructor(host: ThreadsHost) {
    this.host = host;
    onChanged("threads", () => void this.load());
    const free = (): boolean => !lookOnly("commenter");
    register(
      { id: "threads", title: "Comments and suggestions of the project …", group: "Definition", enabled: () => host.workspace !== "", run: () => this.open() },
      { id: "comment", title: "Comment on the line …", group: "Definition", keys: ["Ctrl+Alt+M"], anywhere: true, enabled: () => free() && this.file !== "", run: () => void this.comment() },
      { id: "comment-bytes", title: "Comment on the selected bytes of the frame …", group: "Definition", enabled: () => free() && host.selection() !== undefined, run: () => this.commentBytes() },
      { id: "suggest", title: "Suggest the edited text …", group: "Definition", enabled: () => free() && this.file !== "" && host.edited() && !host.shared(), run: () => this.send() },
      { id: "suggestion", title: "Suggest a change of the definition", group: "Definition", enabled: () => free() && this.file !== "" && host.shared(), run: () => void host.part() },
    );
  }

  /** The page has another definition open, or its file has another text: the file, "" for a text without one, and its revision. */
  follow(file: string, revision: string): void {
    if (file === this.file && revision === this.revision) {
      return;
    }
    if (file !== this.file) {
      this.list = [];
    }
    this.file = file;
    this.revision = revision;
    this.mark();
    void this.load();
  }

  private async load(): Promise<void> {
    const { file } = this;
    if (file === "") {
      return;
    }
    const reply = await request("GET threads", { project: this.host.workspace, file });
    if (!reply.ok || file !== this.file) {
      return; // the page says that the server is away
    }
    this.list = reply.answer.threads;
    this.mark();
  }

  private mark(): void {
    const lines = new Map<number, { id: string; suggestion: boolean; text: string }[]>();
    for (const thread of this.list) {
      if (thread.line !== undefined) {
        const at = lines.get(thread.line) ?? [];
        at.push({ id: thread.id, suggestion: thread.suggestion !== undefined, text: threadText(thread) });
        lines.set(thread.line, at);
      }
    }
    this.host.editor.setThreads([...lines].map(([line, threads]) => ({ line, threads })), (id) => this.open(id));
  }

  /** Opens the dialog, at a thread, or with those that concern the person. */
  open(id = "", mine = false): void {
    const { workspace } = this.host;
    void dialogs().then((d) => d?.threadsDialog({ workspace, id, mine, file: this.file, go: (message, line) => void this.host.go(message, line), edit: (message, text) => this.edit(message, text) }));
  }

  /** Puts a text into the editor, of the open definition. */
  private edit(message: string, text: string): void {
    void this.host.go(message, 0).then(() => this.host.restore(text));
  }

  /** The stored text of the open definition, and its revision. */
  private async stored(): Promise<{ text: string; etag: string } | undefined> {
    return ask("GET definitions/{file}", { project: this.host.workspace, file: this.file }).then(
      (answer) => (answer === undefined ? undefined : { text: answer.text.replace(/\r\n?/g, "\n"), etag: answer.revision }),
    );
  }

  private async comment(): Promise<void> {
    const line = this.host.line();
    let at = line;
    if (this.host.edited()) {
      const stored = await this.stored();
      if (stored === undefined) {
        return;
      }
      at = sameLine(this.host.editor.text, stored.text, line);
      if (at === 0) {
        notify("This line is not saved yet: save it, or suggest the text", "warn");
        return;
      }
    }
    const anchor = document.querySelector<HTMLElement>(".cm-activeLine") ?? document.body;
    askText(anchor, { label: `Comment on line ${line}`, text: "", button: "Comment" }, (text) => void this.begin({ file: this.file, line: at, text }));
  }

  private commentBytes(): void {
    const bytes = this.host.selection();
    if (bytes !== undefined) {
      const anchor = document.querySelector<HTMLElement>("#bytes-pane") ?? document.body;
      const { length, offset } = bytes;
      askText(anchor, { label: `Comment on ${length} ${length === 1 ? "byte" : "bytes"} at 0x${offset.toString(16)}`, text: "", button: "Comment" }, (text) => void this.begin({ ...bytes, text }));
    }
  }

  private async begin(body: BeginBody): Promise<Thread | undefined> {
    if (body.text === "") {
      return undefined;
    }
    const made = await ask("POST threads", { project: this.host.workspace }, { ...body, name: personName() });
    if (made !== undefined) {
      notify(body.suggest === undefined ? "Commented" : "Suggested: others see it under Comments and suggestions");
      await this.load();
    }
    return made;
  }

  /** Suggests the edited text. */
  send(): void {
    if (this.host.edited()) {
      void this.suggest();
    } else {
      notify("There is nothing to suggest yet: the text is the saved one", "warn");
    }
  }

  private async suggest(): Promise<void> {
    const stored = await this.stored();
    if (stored === undefined) {
      return;
    }
    if (this.host.base() !== "" && stored.etag !== this.host.base()) {
      notify("The file has changed since: merge the texts first", "warn");
      return;
    }
    const { text } = this.host.editor;
    const anchor = document.querySelector<HTMLElement>("#definition-head") ?? document.body;
    askText(anchor, { label: "Why this text?", text: "", button: "Suggest it" }, (why) => {
      void this.begin({ file: this.file, text: why, suggest: { base: stored.text, text: text.replace(/\r\n?/g, "\n") } }).then((made) => (made === undefined ? undefined : this.host.discard()));
    });
  }
}

/** The line of a stored text that a line of an edited one is: the nearest with the same words; 0 if there is none. */
export function sameLine(edited: string, stored: string, line: number): number {
  const wanted = edited.split("\n")[line - 1]?.trim() ?? "";
  const lines = stored.split("\n");
  let best = 0;
  for (const [i, text] of lines.entries()) {
    if (text.trim() === wanted && (best === 0 || Math.abs(i + 1 - line) < Math.abs(best - line))) {
      best = i + 1;
    }
  }
  return best;
}
