// The bar of proposals above the list of a capture: better ways to read it, each with its evidence, to accept or to dismiss.
//
//   .proposals > .proposal > span, button

import { pathOf } from "../kit/address";
import type { CapturesProposal } from "../api/api";
import { Button } from "../kit/dialog";
import { dialogs } from "../kit/dialogs";
import { openElsewhere } from "../kit/elsewhere";
import { sentence } from "../kit/frametext";
import { ask, type At, request } from "../kit/http";
import { notify } from "../kit/notify";
import { lookOnly, lookOnlyWhy } from "../kit/role";
import { h, render, signal } from "../kit/ui";

const mostShown = 3;

/** Draws the bar into an element, which is hidden while there are no proposals. Returns a function that asks for them again. */
export function startProposals(host: HTMLElement, workspace: string, capture: string, name: () => string): () => Promise<void> {
  const at: At = { project: workspace, id: capture };
  const all = signal<readonly CapturesProposal[]>([]);
  let asked = 0;

  const look = async (): Promise<void> => {
    const n = ++asked;
    const reply = await request("GET captures/{id}/proposals", at);
    if (n === asked && reply.ok) { // after a failure the next change of the list repeats it
      all.value = reply.answer.proposals;
      host.hidden = all.value.length === 0;
    }
  };
  const change = async (body: object): Promise<void> => {
    if (await ask("PATCH captures/{id}", at, body) !== undefined) {
      await look();
    }
  };
  const accept = (p: CapturesProposal): void => {
    if (p.kind === "envelope") {
      void useEnvelope();
    } else if (p.kind === "size") {
      void useSize(p);
    } else if (p.kind === "settings") {
      void change({ settings: p.settings });
    } else if (p.kind === "open") {
      void openElsewhere(at, p.project ?? "");
    } else {
      void dialogs().then((d) => d?.settingsDialog(workspace, capture, name(), "keys"));
    }
  };
  const useEnvelope = async (): Promise<void> => {
    const used = await ask("POST captures/{id}/envelope", at, {});
    if (used !== undefined) {
      notify(`Stored as ${used.file}: all captures of the project are read with it`, "ok", { title: "Open it", run: () => open(pathOf(workspace, "definitions", used.file), "_self") });
      await look();
    }
  };
  const useSize = async (p: CapturesProposal): Promise<void> => {
    const used = await ask("POST captures/{id}/envelope", at, p.size === undefined ? {} : { size: p.size });
    if (used !== undefined) {
      notify(`Written into ${used.file}`, "ok", { title: "Open it", run: () => open(pathOf(workspace, "definitions", used.file), "_self") });
      await look();
    }
  };
  const showEnvelopes = (): void => void dialogs().then((d) => d?.envelopesDialog(workspace, capture, () => void look()));
  const may = lookOnly() ? { disabled: true, title: lookOnlyWhy() } : {};
  const Bar = () => (
    <div class="proposals" role="region" aria-label="Proposals">
      {all.value.slice(0, mostShown).map((p) => (
        <div class="proposal" key={p.id}>
          <span class="proposal-text">{sentence(p.evidence)}.</span>
          {p.kind === "map" ? <span>{sentence(p.text)}.</span> : <Button kind="proposal-do" text={sentence(p.text)} {...may} run={() => accept(p)} />}
          {p.kind === "envelope" ? <Button text="Show" title="The envelope, and others that fit the capture" run={showEnvelopes} /> : null}
          <Button text="Dismiss" aria-label={`Dismiss: ${p.text}`} title="Do not propose this again for this capture" {...may} run={() => void change({ dismiss: [p.id] })} />
        </div>
      ))}
    </div>
  );
  render(<Bar />, host);
  return look;
}
