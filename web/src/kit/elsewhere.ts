// A capture in another project.

import { pathOf } from "./address";
import { ask, type At } from "./http";

/** Stores a capture in another project, too, and opens it there. */
export async function openElsewhere(at: At, project: string): Promise<void> {
  const stored = await ask("POST captures/{id}/copy", { ...at, to: project });
  if (stored !== undefined) {
    location.assign(pathOf(project, "captures", stored.id));
  }
}
