// Naming a message without a definition: the name goes into the code map, so that all its frames have it at once.

import type { DefinitionBody } from "./api";
import { apiOf, ask, failure, request } from "./http";
import { notify } from "./notify";
import type { FrameOffer } from "./frames/protocol";

/** Adds a name to a code map, replacing `was` if present, and returns whether the map has it. Concurrent edits of the map are kept. */
export async function nameCode(workspace: string, offer: FrameOffer, name: string, was = ""): Promise<boolean> {
  if (offer.map === undefined || offer.map === "" || offer.known === true) {
    return true;
  }
  const address = `${apiOf(workspace)}/definitions/${encodeURIComponent(offer.map)}`;
  const file = await ask<DefinitionBody>(address);
  if (file === undefined) {
    return false;
  }
  const { read_only: readOnly = "", revision, text } = file;
  if (readOnly !== "") {
    notify(readOnly, "err");
    return false;
  }
  const end = text === "" || text.endsWith("\n") ? "" : "\n";
  const line = `${name} ${offer.code}`;
  const old = was === "" ? -1 : text.split("\n").lastIndexOf(`${was} ${offer.code}`);
  const body = old < 0 ? `${text}${end}${line}\n` : text.split("\n").with(old, line).join("\n");
  const written = await request(address, { method: "PUT", headers: { "Content-Type": "text/plain", "If-Match": `"${revision}"` }, body });
  if (!written.ok) {
    notify(failure(`${offer.map} was not saved`, written), "err");
  }
  return written.ok;
}
