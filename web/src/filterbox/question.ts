// What the server says of a filter.

import type { FilterInfo } from "../api";
import { apiOf, request } from "../http";

/** A definition that is edited and not stored yet. */
export interface Draft {
  name: string;
  text: string;
}

export interface Question {
  text: string;
  caret?: number;
  draft?: Draft;
}

/** Asks what a filter means. It rejects with the reason if there is no answer. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<FilterInfo>;

/** Asks the server about filters of a workspace. */
export function asker(workspace: string): Ask {
  return async (question, signal) => {
    const reply = await request<FilterInfo>(`${apiOf(workspace)}/filter`, { body: question, signal });
    if (!reply.ok) {
      throw new Error(reply.why);
    }
    return reply.answer;
  };
}
