// The search of the library for the palette: messages, fields, codes and comments. The server finds them.

import { request } from "../kit/http";
import { type FoundEntry, setSearcher } from "../kit/entries";

const groups: Readonly<Record<string, string>> = { message: "Messages", field: "Fields of the library", comment: "Comments", code: "Codes without a definition" };

/** Lets the palette search a library. `open` opens a definition at a line, `begin` begins a new one. */
export function searchLibrary(workspace: string, open: (message: string, line: number) => void, begin: (message: string) => void): void {
  setSearcher(async (query, signal) => {
    const reply = await request("GET search", { project: workspace, limit: 40, q: query.slice(0, 200) }, { signal });
    return reply.ok ? reply.answer.found.map(({ kind, title, message, line, hint }): FoundEntry => ({
      group: groups[kind] ?? kind,
      title,
      hint: hint ?? "",
      exact: kind === "message" && (title.toLowerCase() === query.toLowerCase() || title.toLowerCase().replace(/\.\d+$/, "") === query.toLowerCase()),
      run: () => (kind === "code" ? begin(message) : open(message, line ?? 0)),
    })) : [];
  }, Object.values(groups));
}
