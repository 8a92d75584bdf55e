// What the server says of a filter.

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

/** Something wrong; its place is in UTF-16 code units. */
export interface Mistake {
  start: number;
  end: number;
  message: string;
  help: string;
}

/** Something that may stand at the caret. */
export interface Item {
  text: string;
  label: string;
  kind: string;
  doc: string;
}

export interface Answer {
  ok: boolean;
  mistakes: Mistake[];
  rewritten: string;
  explain: string;
  completions: { start: number; end: number; path: string; items: Item[] };
}

/** Asks what a filter means. It rejects with the reason if there is no answer. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;

/** Asks the server about filters of a workspace. */
export function asker(workspace: string): Ask {
  return async (question, signal) => {
    const response = await fetch(`/api/${encodeURIComponent(workspace)}/filter`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
      signal,
    });
    const body: unknown = await response.json();
    if (!response.ok) {
      const detail = typeof body === "object" && body !== null && "detail" in body ? String(body.detail) : response.statusText;
      throw new Error(detail);
    }
    return body as Answer;
  };
}
