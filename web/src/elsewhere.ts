// A capture in another project.

import { pathOf } from "./address";
import type { StoreCapture } from "./api";
import { ask } from "./http";

/** Stores a capture in another project, too, and opens it there. */
export async function openElsewhere(api: string, project: string): Promise<void> {
  const stored = await ask<StoreCapture>(`${api}/copy?${new URLSearchParams({ to: project }).toString()}`, "POST");
  if (stored !== undefined) {
    location.assign(pathOf(project, "captures", stored.id));
  }
}
