// A text beside that of the editor: of a link, or one that nothing knows the base of. It stays beside until somebody takes it.

import type { ComparedDefinitions } from "../api";
import { Button, dialog, Says } from "../dialog";
import { apiOf, request } from "../http";
import { Fragment, h, signal } from "../ui";
import { TextLines } from "./compare";

export interface Beside {
  workspace: string;
  message: string;
  why: string; // where the text comes from
  now: string; // the text of the editor
  text: string;
}

/** Shows how the text differs; resolves to whether it is to be taken. */
export async function besideDialog({ workspace, message, why, now, text }: Beside): Promise<boolean> {
  let taken = false;
  const compared = signal<ComparedDefinitions | undefined>(undefined);
  const d = dialog(`Another text of ${message}`, (open) => (
    <>
      <p>{why} Nothing is changed unless you take it; undo restores the present text.</p>
      {compared.value === undefined ? <pre>{text}</pre> : <TextLines of={compared.value} only />}
      <div class="row">
        <Button text="Take it" run={() => { taken = true; open.close(); }} />
        <Button text="Discard it" primary data-focus="" run={open.close} />
      </div>
      <Says d={open} />
    </>
  ));
  const side = (of: string) => ({ message, text: of === "" ? "\n" : of });
  const reply = await request<ComparedDefinitions>(`${apiOf(workspace)}/compare`, { body: { old: side(now), new: side(text) } });
  if (reply.ok) {
    compared.value = reply.answer;
  } else {
    d.say(reply.why);
  }
  await d.closed;
  return taken;
}
