// What the palette finds besides commands: entries of providers, and what a search finds.

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
