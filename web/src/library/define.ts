// Naming a message without a definition: the name goes into the code map, so that all its frames have it at once.

import type { CodeReport } from "../api/api";
import { ask } from "../kit/http";
import type { FrameOffer } from "../api/frames";

/** Gives a name the code of a message, in the code map of the offer, in place of the name `was`. A failure is reported; the result is then undefined. */
export async function nameCode(workspace: string, { code, map }: FrameOffer, name: string, was = ""): Promise<CodeReport | undefined> {
  return ask("POST codes", { project: workspace }, { message: name, code, ...(map === undefined ? {} : { map }), take: was !== "" });
}

/** Whether a name for a message can be stored: a code map is there or can be made, and it has no name for the code. */
export function canName({ map, known }: FrameOffer): boolean {
  return map !== undefined && map !== "" && known !== true;
}
