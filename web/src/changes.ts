// Change notifications that the server pushes over the socket of the page. Scripts that show a topic then request it once.
//
// The topics are those of server/push.go: "captures", "listeners", "held:ID", "replay:ID", "people".

import type { Connection } from "./connection";

const changed = "wb:changed";
const everything = "*";

/** Notifies the scripts of the page; without topics, that everything may have changed, as after reconnecting. */
function tellChanged(topics: readonly string[] = [everything]): void {
  for (const detail of topics) {
    document.dispatchEvent(new CustomEvent(changed, { detail }));
  }
}

/** Calls run when a topic may have changed, until the returned function is called. */
export function onChanged(topic: string, run: () => void): () => void {
  const listen = (event: Event): void => {
    if (event instanceof CustomEvent && (event.detail === topic || event.detail === everything)) {
      run();
    }
  };
  document.addEventListener(changed, listen);
  return () => document.removeEventListener(changed, listen);
}

/** Receives the notifications of a connection. */
export function pushes(connection: Connection): void {
  const pushed = (topics?: readonly string[]): void => tellChanged(topics);
  connection.channel("pushed", undefined, { open: pushed, message: ({ changed }: { changed: string[] }) => pushed(changed), lost: pushed });
}
