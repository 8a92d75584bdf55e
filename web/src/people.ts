// Who edits which definitions: names beside the messages in the list.
//
//   #rail-list a[data-people]    the names of those who have opened it, for a mark and the tooltip

import type { PeopleList } from "./api";
import { onChanged } from "./changes";
import { apiOf, request } from "./http";
import { markPeople } from "./messages";

async function look(workspace: string): Promise<void> {
  const reply = await request<PeopleList>(`${apiOf(workspace)}/people`);
  if (!reply.ok) {
    return; // the page says that the server is away
  }
  const names = new Map<string, string[]>();
  for (const { people } of reply.answer.files) {
    for (const { message, name } of people) {
      if (message !== undefined) {
        names.set(message, [...(names.get(message) ?? []), name]);
      }
    }
  }
  markPeople(new Map([...names].map(([message, list]) => [message, list.join(", ")])));
}

/** Marks the messages of the list that people edit, from now on. */
export function startPeople(workspace: string): void {
  onChanged("people", () => void look(workspace));
}
