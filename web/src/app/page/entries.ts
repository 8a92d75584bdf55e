// What the palette finds on the page besides commands.

import { addProvider } from "../../kit/entries";
import { numberOf, offsetOf } from "../../kit/numbers";
import { listed, listedEntries } from "../../library/messages";
import { searchLibrary } from "../../library/search";
import type { Socket } from "../../message/socket";
import type { ShownMessage } from "../../message/shown";
import { oldDrafts } from "../../text/olddrafts";
import type { Actions } from "./actions";
import { showPart } from "./controls";
import type { Opening } from "./opening";
import type { Selection } from "./selection";

/** The parts of the page. */
interface EntriesHost {
  readonly workspace: string;
  readonly socket: Pick<Socket, "state">;
  readonly opening: Pick<Opening, "open" | "openAt" | "openOld" | "begin">;
  readonly selection: Pick<Selection, "links">;
  readonly shown: Pick<ShownMessage, "bookmarks" | "tree">;
  readonly actions: Pick<Actions, "press">;
}

/** Adds the entries. */
export function addEntries({ workspace, socket, opening, selection: { links }, shown, actions }: EntriesHost): void {
  searchLibrary(workspace, (message, line) => {
    void opening.open(message).then(() => {
      if (line > 0) {
        links.pick(links.ofLine(line));
      }
    });
  }, (message) => opening.begin(message));
  addProvider({
    group: "Messages",
    ready: listed,
    entries: () =>
      listedEntries().map(({ name, note, href }) => ({
        title: name,
        hint: note,
        run: () => {
          if (socket.state !== "open" || !opening.openAt(href)) {
            location.assign(href);
          }
        },
      })),
  });
  addProvider({
    group: "Fields of the message",
    entries: () => shown.tree.fields().map(({ title, hint, focus }) => ({ title, hint, run: () => { showPart("fields-pane"); focus(); } })),
  });
  addProvider({ group: "Bookmarks", entries: () => shown.bookmarks.shown.map((b) => ({ title: b.name, hint: `${numberOf(b.end - b.start)} at ${offsetOf(b.start)}`, run: () => shown.bookmarks.goTo(b) })) });
  addProvider({
    group: "Unsaved texts of an earlier version",
    entries: () => oldDrafts(workspace).map((old) => ({ title: old.message, hint: "in this browser", run: () => void opening.openOld(old) })),
  });
  addProvider({
    group: "Samples",
    entries: () =>
      Array.from(document.querySelectorAll<HTMLButtonElement>("#samples button[value^='sample:']"), (button) => ({
        title: button.querySelector("span")?.textContent ?? "",
        run: () => void actions.press(button.value),
      })),
  });
}
