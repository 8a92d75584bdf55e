// "Go to anything": a few letters find a command, or an entry of a provider: messages, samples, fields. The server searches the library. The
// dialog is in finder.ts.

import { register } from "./commands";
import { providers } from "./entries";
import { loadAsked, prefetch } from "./load";

// Only the first opening waits for entries.
const dialog = async () => {
  const [part] = await Promise.all([import("./finder"), ...providers.map(({ ready }) => ready)]);
  return part;
};

/** Registers the palette's command. */
export function startPalette(): void {
  prefetch(dialog);
  register({
    id: "palette",
    title: "Go to anything",
    group: "General",
    keys: ["Ctrl+K", "Ctrl+Shift+P"],
    anywhere: true,
    run: () => void loadAsked(dialog).then((m) => m?.openPalette()),
  });
}
