// Requests about filters.

import type { FilterInfo } from "../api";
import { apiOf, request } from "../http";

/** An unsaved definition. */
export interface Draft {
  name: string;
  text: string;
}

export interface Question {
  text: string;
  caret?: number;
  draft?: Draft;
}

/** Requests the meaning of a filter. Rejects with the reason on failure. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<FilterInfo>;

/** Requests for the filters of a workspace. */
export function asker(workspace: string): Ask {
  return async (question, signal) => {
    const reply = await request<FilterInfo>(`${apiOf(workspace)}/filter`, { body: question, signal });
    if (!reply.ok) {
      throw new Error(reply.why);
    }
    return reply.answer;
  };
}
