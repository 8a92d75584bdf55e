// Undo and redo of what is done with the message.

import { notify } from "../../kit/notify";

/** A state of the shown message. */
export interface Step {
  message: string;
  show: number;
  input: string;
  form: string;
  bycode: boolean;
  edits: Record<string, string>;
  bookmarks: string;
}

/** The message. */
interface StepsHost {
  now(): Step;
  show(step: Step): void;
}

const most = 500;

/** The states before the present one and, after an undo, those after it. */
export class Steps {
  private readonly host: StepsHost;
  private readonly done: Step[] = [];
  private readonly undone: Step[] = [];

  constructor(host: StepsHost) {
    this.host = host;
  }

  now(): Step {
    return this.host.now();
  }

  /** Keeps the present state before a change. The result goes back to it, and forgets what came after it if it should not come again. */
  remember(): (forget: boolean) => void {
    const step = this.host.now();
    this.done.push(step);
    this.done.splice(0, this.done.length - most);
    this.undone.length = 0;
    return (forget) => {
      while (this.done.includes(step)) {
        this.undo();
      }
      this.undone.splice(forget ? -1 : this.undone.length);
    };
  }

  /** Forgets the last step if the state is that of `before` again: nothing has changed, or only which definition is open. */
  dropSame(before: Step, ofAnyMessage = false): void {
    const text = (step: Step): string => JSON.stringify(ofAnyMessage ? { ...step, message: "" } : step);
    if (text(this.host.now()) === text(before)) {
      this.done.pop();
    }
  }

  /** Forgets all steps: another message is shown. */
  clear(): void {
    this.done.length = 0;
    this.undone.length = 0;
  }

  undo(): void {
    this.move(this.done, this.undone, "Nothing to undo");
  }

  redo(): void {
    this.move(this.undone, this.done, "Nothing to redo");
  }

  private move(from: Step[], to: Step[], nothing: string): void {
    const step = from.pop();
    if (step === undefined) {
      notify(nothing, "warn");
      return;
    }
    to.push(this.host.now());
    this.host.show(step);
  }
}
