// The list of the captures of a project, which other pages, listeners and programs also change.

import { pathOf } from "../../kit/address";
import type { CaptureList as Captures, StoreCapture } from "../../api/api";
import { onLookAtCaptures, tellDeleted } from "../captures";
import { onChanged } from "../../kit/changes";
import { request } from "../../kit/http";

/** A capture in the list. */
export type Listed = Omit<StoreCapture, "notes">;

/** Maximum number of captures on the page. */
export const mostListed = 500;

/** What the button of the menu of a capture says. */
export const moreTitle = "Rename, decode as, replay, compare, save, delete";

export function pageOf(workspace: string, id: string): string {
  return pathOf(workspace, "captures", id);
}

/** The list, kept up to date. */
export class CaptureList {
  captures: readonly Listed[] | undefined; // newest first
  counts: NonNullable<Captures["counts"]> = {}; // by id, of captures that were read
  quota = 0; // bytes that they may take together, 0 for any number
  lake = ""; // what the lake has, in words
  kept: Captures["kept"]; // how long they stay, undefined for ever
  private readonly project: string;
  private readonly shown: string | undefined;
  private readonly watchers: ((list: CaptureList) => void)[] = [];
  private tag = ""; // of the shown list
  private looking = false;
  private again = false; // a change arrived during a request

  constructor(workspace: string, shown: string | undefined) {
    this.project = workspace;
    this.shown = shown;
    document.addEventListener("visibilitychange", () => void this.look());
    onLookAtCaptures(() => void this.look());
    onChanged("captures", () => void this.look());
    onChanged("growth", () => void this.look());
    void this.look();
  }

  /** Calls back with the list, now if it is known, and after each change. */
  watch(call: (list: CaptureList) => void): void {
    this.watchers.push(call);
    if (this.captures !== undefined) {
      call(this);
    }
  }

  private async look(): Promise<void> {
    this.again = this.looking;
    if (document.visibilityState !== "visible" || this.looking) {
      return;
    }
    this.looking = true;
    do {
      this.again = false;
      const reply = await request("GET captures", { project: this.project, brief: true, known: this.tag });
      if (reply.ok) {
        this.took(reply.answer);
      } // The page itself reports that the server is away.
    } while (this.again as boolean);
    this.looking = false;
  }

  private took(answer: Captures): void {
    if (answer.same === true) {
      return;
    }
    this.tag = answer.tag ?? "";
    this.quota = answer.quota ?? 0;
    this.kept = answer.kept;
    this.lake = answer.lake ?? "";
    this.counts = answer.counts ?? {};
    this.captures = answer.captures;
    this.watchers.forEach((call) => call(this));
    if (this.shown !== undefined && !answer.captures.some((x) => x.id === this.shown)) {
      void this.check(this.shown);
    }
  }

  /** Checks whether a capture exists: the list may be some seconds old, and the capture new. */
  private async check(id: string): Promise<void> {
    const reply = await request("GET captures", { project: this.project, since: id });
    if (reply.ok && !reply.answer.captures.some((x) => x.id === id)) {
      tellDeleted(id);
    } // After a failure the next change of the list repeats it.
  }
}
