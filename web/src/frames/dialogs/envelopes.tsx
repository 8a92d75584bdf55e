// The dialog of the envelopes that fit a capture: the one it is read with, and others, each with its evidence, to choose one.

import { pathOf } from "../../kit/address";
import type { Candidate, CandidateList, UsedEnvelope } from "../../api/api";
import { Button, dialog, type Open, Says } from "../../kit/dialog";
import { sentence } from "../../kit/frametext";
import { type At, request } from "../../kit/http";
import { notify } from "../../kit/notify";
import { lookOnly, lookOnlyWhy } from "../../kit/role";
import { h, signal } from "../../kit/ui";

/** What a text says of frames and codes, in a line. */
function nameOf(text: string): string {
  return text.split("\n").filter((line) => /^(carrier|frame|code) /.test(line)).map((line) => line.replace(/^carrier /, "")).join(", ");
}

/** Opens the dialog. `changed` is called when another envelope applies. */
export function envelopesDialog(workspace: string, capture: string, changed: () => void): void {
  const at: At = { project: workspace, id: capture };
  const found = signal<CandidateList | undefined>(undefined);
  const shown = signal(0);
  const may = lookOnly() ? { disabled: true, title: lookOnlyWhy() } : {};

  const choose = async (d: Open, text: string, forProject: boolean): Promise<void> => {
    const reply = forProject ? await request("POST captures/{id}/envelope", at, { body: { text } }) : await request("PATCH captures/{id}", at, { body: { settings: { envelope: text } } });
    if (!reply.ok) {
      d.say(reply.why);
      return;
    }
    d.close();
    if (forProject) {
      const { file } = reply.answer as UsedEnvelope;
      notify(`Stored as ${file}: all captures of the project are read with it`, "ok", { title: "Open it", run: () => open(pathOf(workspace, "definitions", file), "_self") });
    } else {
      notify("The capture is read with this envelope");
    }
    changed();
  };

  const Body = ({ d }: { d: Open }): h.JSX.Element => {
    const list = found.value;
    if (list === undefined) {
      return <p class="empty">Looking at the traffic…</p>;
    }
    const { candidates, project } = list;
    const own = list.own !== undefined && !candidates.some(({ used }) => used) ? [{ text: list.own, evidence: "the envelope of this capture", likely: true, used: true }] : [];
    const all: readonly Candidate[] = [...own, ...candidates];
    const one = all[Math.min(shown.value, all.length - 1)];
    if (one === undefined) {
      return <p class="empty">No envelope fits this capture. Its connections may be encrypted, or their start may be missing.</p>;
    }
    return (
      <div class="envelopes">
        {project === undefined ? null : <p class="hint">The project has {project}, which applies to all its captures.</p>}
        <ul class="envelope-list">
          {all.map((c, i) => (
            <li key={i}>
              <button type="button" class="btn quiet" aria-pressed={c === one} onClick={() => { shown.value = i; }}>
                <span><strong>{nameOf(c.text)}</strong><br />{sentence(c.evidence)}.</span>
                {c.used ? <span class="tag">in use</span> : c.likely ? null : <span class="tag warn">unlikely</span>}
              </button>
            </li>
          ))}
        </ul>
        <pre class="envelope-text" tabIndex={0} aria-label="Envelope">{one.text}</pre>
        <div class="row">
          {project === undefined ? <Button text="Use for the project" primary {...may} run={() => void choose(d, one.text, true)} /> : null}
          {project === undefined && !one.used ? <Button text="Use for this capture" {...may} run={() => void choose(d, one.text, false)} /> : null}
          <Button text="Close" run={d.close} />
        </div>
        <Says d={d} />
      </div>
    );
  };
  const d = dialog("Envelopes", (at) => <Body d={at} />, { kind: "wide" });
  void request("GET captures/{id}/envelopes", at).then((reply) => {
    if (reply.ok) {
      found.value = reply.answer;
    } else {
      d.say(reply.why);
    }
  });
}
