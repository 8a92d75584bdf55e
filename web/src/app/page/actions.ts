// What is done with buttons and commands: the server does it with all that is typed.

import { load } from "../../kit/load";
import { notify } from "../../kit/notify";
import type { Action, Answer, Socket } from "../../message/socket";
import type { Together } from "../../text/together";
import type { Steps } from "./steps";

/** The page. */
interface ActionsHost {
  readonly socket: Pick<Socket, "act">;
  readonly steps: Pick<Steps, "now" | "remember" | "dropSame">;
  readonly together: Pick<Together, "pending" | "settled" | "isVersioned">;
  about(): string; // the text for a message that is kept
  saving(): void; // the definition is about to be saved
  saved(): Promise<void>;
  exportPlace(): HTMLElement; // where what was exported is offered, if it is not said
}

const changing = ["encode", "build", "repair", "original", "sample", "set", "insert", "remove", "copy", "up", "down", "fill", "case"]; // the message

/** The actions. */
export class Actions {
  private readonly host: ActionsHost;
  private readonly acting = new Set<Promise<unknown>>();

  constructor(host: ActionsHost) {
    this.host = host;
  }

  /** Does what a button with this value does. Failures are reported, except of what has a place of its own to say so. */
  async press(action: string, more: Partial<Action> = {}, anchor?: HTMLElement): Promise<Answer> {
    const { steps, together, socket } = this.host;
    if (together.pending && !/^(open|new):/.test(action)) {
      await together.settled(); // what is done is done with all that is typed
    }
    const [name = ""] = action.split(":");
    if (name === "save") {
      this.host.saving();
    }
    const before = steps.now();
    const changes = changing.includes(name);
    if (changes) {
      steps.remember();
    }
    const about = this.host.about();
    together.isVersioned = name === "version";
    const acting = socket.act({ action, ...(name === "keep" ? { about } : {}), ...more });
    this.acting.add(acting);
    const answer = await acting.finally(() => this.acting.delete(acting));
    together.isVersioned = false;
    if (changes) {
      steps.dropSame(before); // it changed nothing, so there is nothing to undo
    }
    const failed = answer.failed ?? "";
    if (failed !== "" && more.path === undefined && name !== "fill") {
      notify(failed, "err");
    }
    if (name === "save" && failed === "") {
      await this.host.saved();
    }
    if (answer.export !== undefined) {
      const made = answer.export;
      void load(() => import("./exported")).then((m) => m?.offerExport(made, anchor ?? this.host.exportPlace()));
    }
    return answer;
  }

  /** Resolves when the actions that are under way have been answered. */
  async settled(): Promise<void> {
    await Promise.all(this.acting);
  }
}
