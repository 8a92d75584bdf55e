// Requests about filters.

import type { FilterInfo } from "../../api/api";
import { request } from "../../kit/http";

/** An unsaved definition. */
export interface Draft {
  name: string;
  text: string;
}

export interface Question {
  text: string;
  caret?: number;
  draft?: Draft;
  /** id of the capture whose settings apply */
  capture?: string;
}

/** Requests the meaning of a filter. Rejects with the reason on failure. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<FilterInfo>;

/** Requests for the filters of a workspace, or of a capture of it. */
export function asker(workspace: string, capture?: string): Ask {
  return async (question, signal) => {
    const reply = await request("POST filter", { project: workspace }, { body: capture === undefined ? question : { ...question, capture }, signal });
    if (!reply.ok) {
      throw new Error(reply.why);
    }
    return reply.answer;
  };
}
