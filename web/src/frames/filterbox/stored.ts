// The applied and the named filters of a workspace, stored in the browser.

import { mostText } from "./syntax";

/** A named filter: @name in another filter is replaced by it. */
export interface Preset {
  name: string;
  text: string;
  shared?: boolean; // by the people of the project
}

/** What the people of a project share. */
export interface SharedFilters {
  readonly filters: readonly Preset[];
  save(change: (now: { filters: Preset[] }) => { filters: Preset[] }, said: string): Promise<boolean>;
}

/** The storage: localStorage, or a replacement in tests. */
export type Place = Pick<Storage, "getItem" | "setItem">;

export const mostRemembered = 50;
export const mostPresets = 100;
const longestName = 30;

/** Whether a name may follow @. */
export function isPresetName(name: string): boolean {
  return name.length <= longestName && /^[\p{L}_][\p{L}\d_]*$/u.test(name);
}

export const nameRule = `a name has up to ${longestName} letters, digits and _, no digit first`;

/** The list with a text moved or added to its front, up to its maximum length. */
export function remembered(list: readonly string[], text: string): string[] {
  return text.trim() === "" ? [...list] : [text, ...list.filter((t) => t !== text)].slice(0, mostRemembered);
}

/** The texts that contain all words of another. */
export function matching(list: readonly string[], text: string): string[] {
  const words = text.toLowerCase().split(/\s+/).filter((w) => w !== "");
  return list.filter((t) => words.every((w) => t.toLowerCase().includes(w)));
}

function isFilter(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= mostText;
}

function isPreset(value: unknown): value is Preset {
  if (typeof value !== "object" || value === null || !("name" in value) || !("text" in value)) {
    return false;
  }
  return typeof value.name === "string" && isPresetName(value.name) && isFilter(value.text);
}

/** The filters of a workspace. If they cannot be stored, they last as long as the page. */
export class StoredFilters {
  readonly #place: Place | undefined;
  readonly #shared: SharedFilters | undefined;
  readonly #keys: { history: string; presets: string };
  #history: string[] = [];
  #presets: Preset[] = [];

  constructor(workspace: string, place: Place | undefined, shared?: SharedFilters) {
    this.#place = place;
    this.#shared = shared;
    this.#keys = { history: `wirebench.filter.history.${workspace}`, presets: `wirebench.filter.presets.${workspace}` };
  }

  /** The applied filters, newest first, including those of other windows. */
  history(): readonly string[] {
    this.#history = this.#read(this.#keys.history)?.filter(isFilter).slice(0, mostRemembered) ?? this.#history;
    return this.#history;
  }

  remember(text: string): void {
    if (isFilter(text.trim())) {
      this.#history = remembered(this.history(), text.trim());
      this.#write(this.#keys.history, this.#history);
    }
  }

  forget(text: string): void {
    this.#history = this.history().filter((t) => t !== text);
    this.#write(this.#keys.history, this.#history);
  }

  /** The named filters, in alphabetical order: of those with one name that of the person. */
  presets(): readonly Preset[] {
    const own = this.#own();
    const others = (this.#shared?.filters ?? []).filter(({ name }) => !own.some((p) => p.name === name)).map((p) => ({ ...p, shared: true }));
    return others.length === 0 ? own : [...own, ...others].sort((a, b) => a.name.localeCompare(b.name));
  }

  #own(): readonly Preset[] {
    this.#presets = this.#read(this.#keys.presets)?.filter(isPreset).slice(0, mostPresets) ?? this.#presets;
    return this.#presets;
  }

  /** Saves a filter under a name, replacing an earlier one. Returns the reason for a refusal, or "". */
  save(name: string, text: string): string {
    const others = this.#own().filter((p) => p.name !== name);
    if (!isPresetName(name)) {
      return nameRule;
    }
    if (!isFilter(text)) {
      return text === "" ? "there is no filter to save" : "the filter is too long";
    }
    if (others.length >= mostPresets) {
      return `there are already ${mostPresets} presets: delete one first`;
    }
    this.#presets = [...others, { name, text }].sort((a, b) => a.name.localeCompare(b.name));
    this.#write(this.#keys.presets, this.#presets);
    return "";
  }

  drop(name: string): void {
    this.#presets = this.#own().filter((p) => p.name !== name);
    this.#write(this.#keys.presets, this.#presets);
  }

  /** Whether filters can be shared. */
  get shares(): boolean {
    return this.#shared !== undefined;
  }

  /** Gives a filter to all people of the project, or takes it from them. */
  async share({ name, text }: Preset, on: boolean): Promise<void> {
    const done = await this.#shared?.save(({ filters }) => ({ filters: [...filters.filter((p) => p.name !== name), ...(on ? [{ name, text }] : [])] }), on ? `@${name} is a filter of the project` : `@${name} is not a filter of the project any more`);
    if (done === true && on) {
      this.drop(name);
    }
  }

  /** Whether a storage key belongs to these filters. */
  owns(key: string | null): boolean {
    return key === null || key === this.#keys.history || key === this.#keys.presets;
  }

  #read(key: string): unknown[] | undefined {
    try {
      const value: unknown = JSON.parse(this.#place?.getItem(key) ?? "null");
      return Array.isArray(value) ? value : undefined;
    } catch {
      return undefined; // no storage, or invalid
    }
  }

  #write(key: string, value: unknown): void {
    try {
      this.#place?.setItem(key, JSON.stringify(value));
    } catch {
      // It is full or not permitted.
    }
  }
}
