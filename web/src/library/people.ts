// Who has which definitions open: names beside the messages in the list, and definitions that were begun and not saved above it.
//
//   #rail-list a[data-people]    the names of the others who have opened it, for a mark and the tooltip

import type { PeopleList } from "../api/api";
import { onChanged } from "../kit/changes";
import { request } from "../kit/http";
import { listBegun, markPeople } from "./messages";

/** Marks the messages of the list that others have open, from now on. `isOwn` tells which of the people of a file is this page; the returned
 *  function marks them again, after that has changed. */
export function startPeople(workspace: string, isOwn: (file: string, id: string) => boolean): () => void {
  let files: PeopleList["files"] = [];
  const mark = (): void => {
    const names = new Map<string, string[]>();
    for (const { file, people } of files) {
      for (const { id, message, name } of people) {
        if (message !== undefined && !isOwn(file, id)) {
          names.set(message, [...(names.get(message) ?? []), name]);
        }
      }
    }
    markPeople(new Map([...names].map(([message, list]) => [message, list.join(", ")])));
  };
  onChanged("people", () => void request("GET people", { project: workspace }).then((reply) => {
    if (reply.ok) { // otherwise the page says that the server is away
      files = reply.answer.files;
      listBegun((reply.answer.begun ?? []).map(({ message }) => message));
      mark();
    }
  }));
  return mark;
}
