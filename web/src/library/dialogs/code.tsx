// The dialog that gives a message a code: a line of a code map is added or changed, or a map is made.

import { Button, dialog, Field, Says } from "../../kit/dialog";
import { readCode } from "../codetable";
import { request } from "../../kit/http";
import { listedNames } from "../messages";
import { undoOffer } from "../../kit/journal";
import { hexNumber } from "../../kit/hextext";
import { notify } from "../../kit/notify";
import { Fragment, h, signal } from "../../kit/ui";
import { codesDialog, MapField, mapsOf } from "./codes";

/** What is known before the dialog opens. */
export interface GivenCode {
  message?: string;
  code?: string;
  /** the code map to change, "" for the one in use */
  map?: string;
}

/** Asks for a message and its code, and stores them. Resolves to whether they were stored. */
export async function codeDialog(workspace: string, known: GivenCode): Promise<boolean> {
  const reply = await request("GET settings/in-force", { project: workspace });
  const { maps, inUse } = mapsOf(reply, known.map ?? "");
  const message = signal(known.message?.replace(/\.\d+$/, "") ?? "");
  const code = signal(known.code ?? "");
  const map = signal(maps[0] ?? "");
  let done = false;
  const taken = signal(false); // another message has the code
  const names = listedNames();

  await dialog("Give a message a code", (d) => {
    const edit = (to: { value: string }) => (event: { currentTarget: HTMLInputElement }): void => {
      to.value = event.currentTarget.value;
      taken.value = false;
    };
    const give = async (take: boolean): Promise<void> => {
      const number = readCode(code.value);
      if (number === undefined) {
        d.say("A code is a number, such as 19900 or 0x4DBC.");
        return;
      }
      const given = await request("POST codes", { project: workspace }, { body: { message: message.value.trim(), code: number, map: map.value, take } });
      if (!given.ok) {
        taken.value = given.status === 409;
        d.say(given.why);
        return;
      }
      notify(`${given.answer.message} is ${number} (${hexNumber(number)}) in ${given.answer.map}`, "ok", undoOffer(workspace, given.answer.undo));
      done = true;
      d.close();
    };
    return (
      <>
        <Field label="Message">
          <input type="text" name="message" list="code-names" value={message.value} spellcheck={false} autocomplete="off" onInput={edit(message)} {...(message.value === "" ? { "data-focus": "" } : {})} />
        </Field>
        <datalist id="code-names">{names.map((n) => <option key={n} value={n} />)}</datalist>
        <Field label="Code, decimal or 0x…">
          <input type="text" name="code" value={code.value} spellcheck={false} autocomplete="off" onInput={edit(code)} {...(message.value === "" ? {} : { "data-focus": "" })} />
        </Field>
        <MapField maps={maps} inUse={inUse} map={map} />
        <Says d={d} />
        <div class="row">
          <Button text="Give the code" primary run={() => void give(false)} />
          {taken.value ? <Button text="Take it from that message" run={() => void give(true)} /> : null}
          <Button text="Cancel" run={d.close} />
          <Button text="A table of codes…" run={() => { d.close(); void codesDialog(workspace); }} />
        </div>
      </>
    );
  }, { kind: "question" }).closed;
  return done;
}
