// The captures and listeners of the project, as the server has listed them.

import type { Session } from "../../kit/relays";
import { type ComponentChildren, computed, signal } from "../../kit/ui";
import type { CaptureList, Listed } from "./list";

/** Bytes that the captures may take together, 0 for any number. */
export const quota = signal(0);
export const lake = signal("");
export const kept = signal<CaptureList["kept"]>(undefined);
export const captures = signal<readonly Listed[] | undefined>(undefined); // newest first
/** What the captures have, by id, of those that were read. */
export const counts = signal<CaptureList["counts"]>({});
/** What stands above the list of captures in place of the button for it. */
export const tool = signal<ComponentChildren>(undefined);
/** A further column of the list of captures. */
export const column = signal<{ title: string; cell(x: Listed): ComponentChildren } | undefined>(undefined);
export const sessions = signal<readonly Session[]>([]);
export const away = signal(false); // the state of listeners is unknown

/** Sizes of recordings, which grow during sessions. */
export const recorded = computed(() => new Map(sessions.value.map((s) => [s.id, s.record.files?.[0]?.bytes ?? s.record.bytes])));

/** How a capture is read, where it differs from its project. */
export function settingsText({ settings, framing, keyed, keep }: Listed): string {
  const parts = Object.entries(settings ?? {}).map(([name, value]) => (name === "map" && typeof value === "string" ? value : typeof value === "string" ? `${name} ${value}` : name));
  return [...parts, framing === undefined ? "" : `framing ${framing}`, keyed === true ? "keys" : "", keep === true ? "kept" : ""].filter((part) => part !== "").join(" · ");
}
