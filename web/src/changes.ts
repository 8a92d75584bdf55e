// What the server pushes over the socket of the page: names of what has changed. Scripts that show it then ask once.
//
// The names are those of server/push.go: "captures", "listeners", "held:ID", "replay:ID".

const changed = "wb:changed";
const everything = "*";

/** Tells the scripts of the page what has changed; without topics that anything may have, since the connection was lost or is new. */
export function tellChanged(topics: readonly string[] = [everything]): void {
  for (const detail of topics) {
    document.dispatchEvent(new CustomEvent(changed, { detail }));
  }
}

/** Calls when a topic may have changed, until the function that it returns is called. */
export function onChanged(topic: string, run: () => void): () => void {
  const listen = (event: Event): void => {
    if (event instanceof CustomEvent && (event.detail === topic || event.detail === everything)) {
      run();
    }
  };
  document.addEventListener(changed, listen);
  return () => document.removeEventListener(changed, listen);
}
