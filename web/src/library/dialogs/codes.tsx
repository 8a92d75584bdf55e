// The dialog that gives many messages codes from a pasted table. Its lines are checked while it is typed; all of them become one change.

import type { SettingsInUse } from "../../api/api";
import { readTable } from "../codetable";
import { Button, dialog, Field, Says, Select } from "../../kit/dialog";
import { type Reply, request } from "../../kit/http";
import { undoOffer } from "../../kit/journal";
import { notify } from "../../kit/notify";
import { Fragment, h, type Signal, signal } from "../../kit/ui";

const newMap = "protocol.map"; // where a library has none
const mostWrong = 5; // lines that are listed

/** The code maps of a project, the chosen one first, and the one in use. A project without one gets a new one. */
export function mapsOf(reply: Reply<SettingsInUse>, wanted: string): { maps: string[]; inUse: string } {
  const all = reply.ok ? reply.answer.maps : [];
  const inUse = reply.answer.map ?? "";
  const first = [wanted, inUse, all[0] ?? newMap].find((m) => all.includes(m)) ?? newMap;
  return { maps: [first, ...all.filter((m) => m !== first)], inUse };
}

/** The choice of a code map. */
export function MapField({ maps, inUse, map }: { maps: readonly string[]; inUse: string; map: Signal<string> }) {
  return (
    <Field label="Code map">
      <Select name="map" options={maps.map((m) => [m, m === inUse ? `${m}, in use` : inUse === "" && maps.length === 1 && m === newMap ? `${m}, new` : m] as const)} value={map.value} change={(to) => (map.value = to)} />
    </Field>
  );
}

/** Asks for a table of codes, and stores it. */
export async function codesDialog(workspace: string): Promise<void> {
  const reply = await request("GET settings/in-force", { project: workspace });
  const { maps, inUse } = mapsOf(reply, "");
  const map = signal(maps[0] ?? "");
  const text = signal("");
  const taken = signal(false); // other messages have some of the codes
  await dialog("Give codes from a table", (d) => {
    const { codes, wrong } = readTable(text.value);
    const give = async (take: boolean): Promise<void> => {
      if (codes.length === 0 || wrong.length > 0) {
        d.say(codes.length === 0 ? "Paste lines of a name and a code first." : "Correct the lines below first.");
        return;
      }
      const given = await request("PUT codes", { project: workspace }, { body: { codes, map: map.value, take } });
      if (!given.ok) {
        taken.value = given.status === 409;
        d.say(given.why);
        return;
      }
      const what = codes.length === 1 ? "1 code" : `${codes.length} codes`;
      notify(given.answer.undo === undefined ? `${given.answer.map} has these codes already` : `${what} in ${given.answer.map}`, "ok", undoOffer(workspace, given.answer.undo));
      d.close();
    };
    return (
      <>
        <Field label="A name and a code per line, decimal or 0x…">
          <textarea rows={12} value={text.value} placeholder={"C_LOGIN 19900\nS_LOGIN = 0x4dbd"} spellcheck={false} autocomplete="off" data-focus=""
            onInput={(event) => { text.value = event.currentTarget.value; taken.value = false; d.say(""); }} />
        </Field>
        <p class="hint" role="status">{codes.length === 1 ? "1 code" : `${codes.length} codes`}{wrong.length === 0 ? "" : wrong.length === 1 ? ", 1 line with a mistake" : `, ${wrong.length} lines with mistakes`}</p>
        {wrong.length === 0 ? null : (
          <ul class="table-mistakes" aria-label="Mistakes">
            {wrong.slice(0, mostWrong).map(({ line, why }) => <li key={line}>line {line}: {why}</li>)}
            {wrong.length <= mostWrong ? null : <li>and {wrong.length - mostWrong} more</li>}
          </ul>
        )}
        <MapField maps={maps} inUse={inUse} map={map} />
        <p class="hint">Codes are stored in decimal, as all programs read them. Other lines of the map stay as they are.</p>
        <Says d={d} />
        <div class="row">
          <Button text="Give the codes" primary run={() => void give(false)} />
          {taken.value ? <Button text="Take them from other messages" run={() => void give(true)} /> : null}
          <Button text="Cancel" run={d.close} />
        </div>
      </>
    );
  }, { kind: "question" }).closed;
}
