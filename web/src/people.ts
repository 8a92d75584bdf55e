// Who has which definitions open: names beside the messages in the list, and definitions that were begun and not saved above it.
//
//   #rail-list a[data-people]    the names of the others who have opened it, for a mark and the tooltip

import type { PeopleList } from "./api";
import { onChanged } from "./changes";
import { apiOf, request } from "./http";
import { listBegun, markPeople } from "./messages";

async function look(workspace: string, isOwn: (file: string, id: string) => boolean): Promise<void> {
  const reply = await request<PeopleList>(`${apiOf(workspace)}/people`);
  if (!reply.ok) {
    return; // the page says that the server is away
  }
  const names = new Map<string, string[]>();
  for (const { file, people } of reply.answer.files) {
    for (const { id, message, name } of people) {
      if (message !== undefined && !isOwn(file, id)) {
        names.set(message, [...(names.get(message) ?? []), name]);
      }
    }
  }
  listBegun((reply.answer.begun ?? []).map(({ message }) => message));
  markPeople(new Map([...names].map(([message, list]) => [message, list.join(", ")])));
}

/** Marks the messages of the list that others have open, from now on. `isOwn` tells which of the people of a file is this page. */
export function startPeople(workspace: string, isOwn: (file: string, id: string) => boolean): void {
  onChanged("people", () => void look(workspace, isOwn));
}
