// Change notifications that the server pushes over the socket of the page. Scripts that show a topic then request it once; the listeners
// come with the notification.
//
// The topics are those of server/page/push.go: "captures", "growth", "listeners", "traffic", "held:ID", "replay:ID", "people", "threads", "git".

import type { ListenerList, PagePushed, PagePushedOpened } from "../api/api";
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

const listened = new Set<(all: ListenerList | undefined) => void>();

/** Calls take with the listeners when they have changed, and with undefined when the server cannot be reached. */
export function onListeners(take: (all: ListenerList | undefined) => void): void {
  listened.add(take);
}

/** Receives the notifications of a connection. The counters of listeners and the sizes of captures come to pages that show them. */
export function pushes(connection: Connection): void {
  const asked: PagePushedOpened = { traffic: document.querySelector("#live-bar, #place") !== null };
  const tell = (all: ListenerList | undefined): void => listened.forEach((take) => take(all));
  connection.channel("pushed", asked, {
    open: () => tellChanged(),
    message: ({ changed, listeners }: PagePushed) => {
      if (listeners !== undefined) {
        tell(listeners);
      }
      tellChanged(changed);
    },
    lost: () => {
      tell(undefined);
      tellChanged();
    },
  });
}
