// "Go to anything": a few letters find a command, or an entry of a provider: messages, samples, fields. The server searches the library. The
// dialog is in finder.ts.

import { register } from "./commands";
import { loadAsked, prefetch } from "./load";

// Only the first opening waits for entries.
const dialog = async () => {
  const [part] = await Promise.all([import("./finder"), ...providers.map(({ ready }) => ready)]);
  return part;
};

/** An entry of the palette. */
export interface Entry {
  title: string;
  hint?: string;
  run(): void;
}

/** A source of entries, queried each time the palette opens. */
export interface Provider {
  group: string;
  entries(): Iterable<Entry>;
  /** Resolves when there are entries. */
  readonly ready?: Promise<void>;
}

/** The sources. */
export const providers: Provider[] = [];

/** Adds a provider; one of the same group is replaced. */
export function addProvider(provider: Provider): void {
  const at = providers.findIndex((p) => p.group === provider.group);
  providers.splice(at < 0 ? providers.length : at, at < 0 ? 0 : 1, provider);
}

/** An entry found by a search. */
export interface FoundEntry extends Entry {
  group: string;
  exact?: boolean; // its name is exactly the query
}

/** Searches beyond the entries of the providers, such as on the server. */
export type Searcher = (query: string, signal: AbortSignal) => Promise<readonly FoundEntry[]>;

/** The search beyond the providers; `groups` says what it finds. */
export const searched: { search: Searcher | undefined; groups: readonly string[] } = { search: undefined, groups: [] };

/** Sets it. */
export function setSearcher(search: Searcher, groups: readonly string[]): void {
  Object.assign(searched, { search, groups });
}

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
