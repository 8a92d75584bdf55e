// A text beside that of the editor: of a link, or one that nothing knows the base of. It stays beside until somebody takes it.

import { Button, dialog, type Open, Says } from "../../kit/dialog";
import { request } from "../../kit/http";
import { notify } from "../../kit/notify";
import { personName } from "../../kit/person";
import { lookOnly } from "../../kit/role";
import { Fragment, h, signal } from "../../kit/ui";
import { LayoutRows, summary, TextLines } from "../../kit/compared";

export interface Beside {
  workspace: string;
  file: string; // "" if the definition is not stored
  message: string;
  why: string; // where the text comes from
  now: string; // the text of the editor
  text: string;
}

/** Shows how the text differs; resolves to what is to be taken of it, if anything. The dialog opens with the differences, so that its buttons do
 * not move. */
export async function besideDialog({ workspace, file, message, why, now, text }: Beside): Promise<string | undefined> {
  const wanted = signal(text); // of which parts may be left out
  const layout = signal(false);
  const side = (of: string) => ({ message, text: of === "" ? "\n" : of });
  const compare = () => request("POST compare", { project: workspace }, { body: { old: side(now), new: side(wanted.value) } });
  const first = await compare();
  const shown = signal(first.ok ? first.answer : undefined);
  let taken = false;
  const leaveOut = async (rest: string): Promise<void> => {
    wanted.value = rest;
    const reply = await compare();
    shown.value = reply.ok ? reply.answer : undefined;
  };
  const keep = async (d: Open): Promise<void> => {
    const made = await request("POST threads", { project: workspace }, { body: { file, name: personName(), text: why, suggest: { base: now, text } } });
    if (made.ok) {
      notify("It is kept as a suggestion");
      d.close();
    } else {
      d.say(made.why);
    }
  };
  const d = dialog(`Another text of ${message}`, (open) => (
    <>
      <p>{why} Nothing is changed unless you take it; undo restores the present text.</p>
      {shown.value === undefined ? <pre>{wanted.value}</pre> : (
        <>
          <p class="dim">{summary(shown.value)}</p>
          {layout.value ? <LayoutRows of={shown.value} only go={() => undefined} /> : <TextLines of={shown.value} only back={(rest) => void leaveOut(rest)} backText="Leave out" />}
        </>
      )}
      <div class="row">
        <Button text={wanted.value === text ? "Take it" : "Take the rest"} run={() => { taken = true; open.close(); }} />
        {file === "" || lookOnly("commenter") ? null : <Button text="Keep it as a suggestion" title="For later: it is in the list of comments and suggestions" run={() => void keep(open)} />}
        <Button text={layout.value ? "Lines" : "Layout"} title="How the text differs: in its lines, or in its layout" run={() => { layout.value = !layout.value; }} />
        <Button text="Discard it" primary data-focus="" run={open.close} />
      </div>
      <Says d={open} />
    </>
  ));
  if (!first.ok) {
    d.say(first.why);
  }
  await d.closed;
  return taken ? wanted.value : undefined;
}
