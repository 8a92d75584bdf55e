// Whether the page is connected to the server, in its head and for its style.

import type { Connection } from "../../kit/connection";
import { markStale } from "../../kit/stale";
import type { State } from "../../message/socket";
import { field } from "./controls";

const words: Readonly<Record<State, string>> = { open: "connected", connecting: "connecting …", lost: "reconnecting …" };

/** Shows the state of the channel. */
export function showConnection(state: State, connection: Pick<Connection, "opened" | "tries">): void {
  document.documentElement.classList.toggle("live", state === "open");
  markStale(state === "lost" && connection.opened);
  // The page was loaded, but websockets are blocked: it works by its forms.
  const forms = state === "lost" && connection.tries >= 2 && !connection.opened;
  document.documentElement.classList.toggle("forms", forms);
  const mark = field("connection");
  if (mark !== null && forms) {
    mark.className = "connection warn";
    mark.textContent = "no websocket: buttons only";
    mark.title = "No websocket connection: something between this browser and the server blocks it. Changes appear when a button is pressed.";
  } else if (mark !== null) {
    mark.className = `connection ${state === "open" ? "ok" : "warn"}`;
    mark.textContent = words[state];
    mark.title = state === "open" ? "" : "The server cannot be reached. Your changes stay here and are sent once it is back.";
  }
}
