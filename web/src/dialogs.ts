// Dialogs that few people open on most days: their script is loaded when one is.

import { load } from "./load";
import { notify } from "./notify";

interface Dialogs {
  openHelp(): void;
  askFraming(workspace: string, file: File): Promise<string | undefined>;
  rulesDialog(api: string, filter: string, on: boolean): Promise<void>;
  replayDialog(workspace: string, capture: string, name: string): Promise<void>;
}

/** The dialogs, once their script is there; undefined where it cannot be loaded, which is told. */
export async function dialogs(): Promise<Dialogs | undefined> {
  try {
    return await load<Dialogs>("dialogs", document.documentElement.dataset["dialogs"] ?? "");
  } catch (error) {
    notify(String(error), "err");
    return undefined;
  }
}
