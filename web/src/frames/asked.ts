// A drawer that shows the answer to one question about the list, and asks again when the list changes.

import { make } from "../kit/dom";
import { effect, signal } from "../kit/ui";
import { type Drawer, type DrawerHost, Refresher } from "./drawer";
import type { RequestKind, Requests, State } from "../api/frames";
import { isGivenUp } from "./socket";

export abstract class AskedDrawer<K extends RequestKind> implements Drawer {
  readonly element: HTMLElement;
  readonly host: DrawerHost;
  readonly answer = signal<Requests[K]["answer"] | undefined>(undefined);
  /** Increases when chips, the current row or the like changed. */
  readonly turn = signal(0);
  /** The control that gets the focus first. */
  protected readonly firstControl: string = ".frames-box button:not(.sort)";
  protected readonly refresher = new Refresher((signal) => this.load(signal));
  private readonly kind: K;

  constructor(host: DrawerHost, kind: K, className: string) {
    this.host = host;
    this.kind = kind;
    this.element = make("div", className);
    queueMicrotask(() => this.refresher.now()); // the subclass is complete then
  }

  /** The question; undefined if there is nothing to ask. */
  protected abstract question(): Requests[K]["ask"] | undefined;

  private async load(aborted: AbortSignal): Promise<void> {
    const question = this.question();
    if (question === undefined) {
      this.answer.value = undefined;
      return;
    }
    try {
      const answer = await this.host.ask(this.kind, question, aborted);
      if (!aborted.aborted) {
        this.answer.value = answer;
      }
    } catch (error) {
      if (!isGivenUp(error)) {
        this.host.failed(error);
      }
    }
  }

  changed(state: State, anew: boolean): void {
    this.refresher.changed(state, anew);
    if (anew) {
      this.turn.value++;
    }
  }

  /** Focuses the first control, once there is one. */
  focus(): void {
    const first = (): HTMLElement | null => this.element.querySelector<HTMLElement>(this.firstControl);
    if (first() !== null) {
      first()?.focus();
      return;
    }
    const stop = effect(() => {
      if (this.answer.value !== undefined) {
        queueMicrotask(() => {
          stop();
          if (document.activeElement === document.body) {
            first()?.focus();
          }
        });
      }
    });
  }

  close(): void {
    this.refresher.stop();
  }
}
