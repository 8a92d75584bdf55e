// How a message that nothing defines gets a name: the code map says it, so that all its frames have it at once.

import { notify } from "./notify";
import type { FrameOffer } from "./frames/protocol";

/** Adds a name to a code map, in the place of an earlier one if that is there; says whether it is there now. Another edit of the map that
 *  came in between is kept. */
export async function nameCode(workspace: string, offer: FrameOffer, name: string, was = ""): Promise<boolean> {
  if (offer.map === undefined || offer.map === "" || offer.known === true) {
    return true;
  }
  const address = `/api/${encodeURIComponent(workspace)}/definitions/${encodeURIComponent(offer.map)}`;
  try {
    const read = await fetch(address);
    const file = (await read.json()) as { revision?: string; text?: string; read_only?: string; detail?: string };
    if (!read.ok || file.text === undefined || file.revision === undefined || (file.read_only ?? "") !== "") {
      notify(file.read_only ?? file.detail ?? `${offer.map} cannot be read`, "err");
      return false;
    }
    const end = file.text === "" || file.text.endsWith("\n") ? "" : "\n";
    const line = `${name} ${offer.code}`;
    const old = was === "" ? -1 : file.text.split("\n").lastIndexOf(`${was} ${offer.code}`);
    const body = old < 0 ? `${file.text}${end}${line}\n` : file.text.split("\n").with(old, line).join("\n");
    const written = await fetch(address, {
      method: "PUT",
      headers: { "Content-Type": "text/plain", "If-Match": `"${file.revision}"` },
      body,
    });
    if (!written.ok) {
      notify(((await written.json()) as { detail?: string }).detail ?? `${offer.map} was not written`, "err");
      return false;
    }
    return true;
  } catch {
    notify("The server cannot be reached: the code is still unnamed", "err");
    return false;
  }
}
