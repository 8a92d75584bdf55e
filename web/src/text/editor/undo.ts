// What one can take back in texts that are not open: of the page, and after a reload of its tab. Changes of others since then are not among it.

import { historyField } from "@codemirror/commands";
import { EditorState, type EditorStateConfig, Transaction } from "@codemirror/state";

import { changesTo } from "./changes";

const storage = "wirebench.undo";
const most = 10; // texts
const mostStored = 500_000; // characters of each

/** The histories of texts, by names of texts. */
export class Undos {
  private readonly kept = new Map<string, unknown>(); // the least recent first

  constructor() {
    try {
      this.kept = new Map(JSON.parse(sessionStorage.getItem(storage) ?? "[]") as [string, unknown][]);
      sessionStorage.removeItem(storage); // not for a copy of the tab
    } catch {
      // No storage, or others have written there.
    }
  }

  /** Keeps the history of a text that is left. */
  keep(name: string, state: EditorState): void {
    this.kept.delete(name);
    const { history } = state.toJSON({ history: historyField }) as { history?: { done?: unknown[]; undone?: unknown[] } };
    if (name === "" || ((history?.done ?? []).length === 0 && (history?.undone ?? []).length === 0)) {
      return;
    }
    this.kept.set(name, state.toJSON({ history: historyField }));
    const [oldest] = this.kept.keys();
    if (this.kept.size > most && oldest !== undefined) {
      this.kept.delete(oldest);
    }
  }

  /** The state of a text with its history, if that is kept; what has changed since cannot be undone. */
  state(name: string, doc: string, config: EditorStateConfig): EditorState | undefined {
    const kept = this.kept.get(name);
    this.kept.delete(name);
    if (kept === undefined) {
      return undefined;
    }
    try {
      const before = EditorState.fromJSON(kept, config, { history: historyField });
      return before.update({
        changes: changesTo(before.doc, doc), annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)],
      }).state;
    } catch {
      return undefined; // of another version of the program
    }
  }

  /** Stores the histories for a reload. */
  store(): void {
    try {
      sessionStorage.setItem(storage, JSON.stringify([...this.kept].filter(([, kept]) => JSON.stringify(kept).length <= mostStored)));
    } catch {
      // No storage, or it is full: after a reload nothing can be undone.
    }
  }
}
