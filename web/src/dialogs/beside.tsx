// A text beside that of the editor: of a link, or one that nothing knows the base of. It stays beside until somebody takes it.

import type { ComparedDefinitions } from "../api";
import { Button, dialog, Says } from "../dialog";
import { apiOf, request } from "../http";
import { Fragment, h } from "../ui";
import { TextLines } from "./compare";

export interface Beside {
  workspace: string;
  message: string;
  why: string; // where the text comes from
  now: string; // the text of the editor
  text: string;
}

/** Shows how the text differs; resolves to whether it is to be taken. The dialog opens with the differences, so that its buttons do not move. */
export async function besideDialog({ workspace, message, why, now, text }: Beside): Promise<boolean> {
  const side = (of: string) => ({ message, text: of === "" ? "\n" : of });
  const reply = await request<ComparedDefinitions>(`${apiOf(workspace)}/compare`, { body: { old: side(now), new: side(text) } });
  let taken = false;
  const d = dialog(`Another text of ${message}`, (open) => (
    <>
      <p>{why} Nothing is changed unless you take it; undo restores the present text.</p>
      {reply.ok ? <TextLines of={reply.answer} only /> : <pre>{text}</pre>}
      <div class="row">
        <Button text="Take it" run={() => { taken = true; open.close(); }} />
        <Button text="Discard it" primary data-focus="" run={open.close} />
      </div>
      <Says d={open} />
    </>
  ));
  if (!reply.ok) {
    d.say(reply.why);
  }
  await d.closed;
  return taken;
}
