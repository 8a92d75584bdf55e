// Filters and columns that this browser stored under version 1 of the filter language, in which .x could mean the top of a message only.

import { request } from "../../kit/http";
import { notify } from "../../kit/notify";
import type { Place } from "./stored";

const present = "2";

/** Says once for each project which stored filters find more than when they were stored. */
export async function sayWidened(project: string, capture: string, stored: readonly string[], place: Place | undefined, say: typeof notify = notify): Promise<void> {
  const key = `wirebench.filter.language.${project}`;
  if (place === undefined) {
    return;
  }
  try {
    if (place.getItem(key) === present) {
      return;
    }
    const said: string[] = [];
    for (const text of new Set(stored)) {
      const reply = await request("POST filter", { project }, { body: { text, capture } });
      if (!reply.ok) {
        return; // the next page asks again
      }
      said.push(...reply.answer.widened.map((sentence) => `${text}: ${sentence}`));
    }
    place.setItem(key, present);
    if (said.length > 0) {
      say(`Stored filters and columns find more than before. ${said.join(". ")}.`, "warn");
    }
  } catch {
    // The storage is full or not permitted: nothing is stored there.
  }
}
