// Scripts loaded on first use: each puts its exports into the global wirebench, under a name.

const loading = new Map<string, Promise<unknown>>();

function there(name: string): unknown {
  return (globalThis as unknown as { wirebench?: Record<string, unknown> }).wirebench?.[name];
}

/** Loads a script and returns its exports. After a failure the next call retries. */
export function load<T>(name: string, address: string): Promise<T> {
  let coming = loading.get(name);
  if (coming === undefined) {
    coming = new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = address;
      element.addEventListener("load", () => resolve(there(name)));
      element.addEventListener("error", () => {
        loading.delete(name);
        element.remove();
        reject(new Error("The server cannot be reached"));
      });
      document.head.append(element);
    });
    loading.set(name, coming);
  }
  return coming as Promise<T>;
}
