// The list of captures at the side: a menu for each, to rename, to replay and to delete it and to save its file. The bar over running
// traffic gets a button for its replay, too.

import { openMenu } from "./menu";
import { notify } from "./notify";
import { askText } from "./frames/notebox";
import { bytesText } from "./relays";
import { replayDialog } from "./replay";
import { lookOnly, operatorsItem } from "./role";

const mostName = 200; // characters, as the server has it
const period = 5000; // milliseconds between two looks at whether there are new ones

async function send(address: string, method: string, body?: object): Promise<boolean> {
  try {
    const response = await fetch(address, { method, ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }) });
    if (response.ok) {
      return true;
    }
    notify(((await response.json()) as { detail?: string }).detail ?? response.statusText, "err");
  } catch {
    notify("The server cannot be reached: nothing was changed", "err");
  }
  return false;
}

/** Shows another name of a capture wherever the page has it. */
function showName(item: Element, name: string): void {
  const link = item.querySelector("a");
  const before = item.querySelector(".name")?.textContent ?? "";
  item.querySelector(".name")?.replaceChildren(name);
  item.querySelector("button")?.setAttribute("aria-label", `More about ${name}`);
  if (link !== null && link.title.startsWith(before)) {
    link.title = name + link.title.slice(before.length);
  }
  if (link?.ariaCurrent === "page" && document.title.startsWith(before)) {
    document.title = name + document.title.slice(before.length);
  }
}

function captureMenu(button: HTMLElement, workspace: string, id: string): void {
  const item = button.closest(".item");
  const address = `/api/${encodeURIComponent(workspace)}/captures/${encodeURIComponent(id)}`;
  const name = item?.querySelector(".name")?.textContent ?? "";
  if (item === null) {
    return;
  }
  openMenu(button, {
    label: name,
    items: [
      {
        title: "Rename …", ...operatorsItem(),
        run: () => askText(button, { label: "Name", text: name, button: "Rename", most: mostName }, (text) => {
          if (text !== "" && text !== name) {
            void send(address, "PATCH", { name: text }).then((done) => done && showName(item, text));
          }
        }),
      },
      { title: "Replay …", ...operatorsItem(), run: () => void replayDialog(workspace, id, name) },
      {
        title: "Save its file",
        run: () => {
          const link = document.createElement("a");
          link.href = address;
          link.download = "";
          link.click();
        },
      },
      {
        title: "Delete …", ...operatorsItem(),
        run: () => {
          if (!confirm(`Delete ${name} with its marks and notes? It cannot be taken back.`)) {
            return;
          }
          void send(address, "DELETE").then((done) => {
            if (!done) {
              return;
            }
            if (item.querySelector("a")?.ariaCurrent === "page") {
              location.assign(`/w/${encodeURIComponent(workspace)}`);
              return;
            }
            const count = document.querySelector("#captures summary small");
            count?.replaceChildren(String(Math.max(0, Number(count.textContent) - 1)));
            item.remove();
            notify(`${name} is deleted`, "ok");
          });
        },
      },
    ],
  });
}

/** Puts a button over running traffic: what was recorded so far can be played while it goes on. */
function addReplay(workspace: string): void {
  const bar = document.getElementById("live-bar");
  const id = bar?.dataset["session"] ?? "";
  if (bar === null || id === "" || lookOnly()) {
    return;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn quiet";
  button.id = "live-replay";
  button.textContent = "Replay …";
  button.title = "Play a connection again, against a server or for a client";
  button.addEventListener("click", () => void replayDialog(workspace, id, document.querySelector("#live-list [aria-current] .name")?.textContent ?? "live"));
  (document.getElementById("live-events") ?? bar.lastElementChild)?.before(button);
}

/** A capture, as GET /api/{ws}/captures lists it. */
interface Listed {
  id: string;
  name: string;
  size: number;
  added: string;
}

/** Puts captures that are new into the list: other pages, listeners and programs make some, too. */
class NewCaptures {
  private readonly list: HTMLElement;
  private readonly workspace: string;
  private readonly seen: Set<string>;
  private newest: string;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(list: HTMLElement, workspace: string) {
    this.list = list;
    this.workspace = workspace;
    this.seen = new Set(Array.from(list.querySelectorAll<HTMLElement>("[data-capture-menu]"), (e) => e.dataset["captureMenu"] ?? ""));
    this.newest = [...this.seen].sort().at(-1) ?? "";
    document.addEventListener("visibilitychange", () => this.look());
    this.later();
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), period);
  }

  private look(): void {
    clearTimeout(this.timer);
    if (document.visibilityState !== "visible") {
      return;
    }
    void (async () => {
      try {
        const response = await fetch(`/api/${encodeURIComponent(this.workspace)}/captures?${new URLSearchParams({ since: this.newest }).toString()}`);
        if (response.ok) {
          const { captures } = (await response.json()) as { captures: Listed[] };
          this.add(captures.filter((x) => !this.seen.has(x.id)).reverse());
        }
      } catch {
        // The page says by itself that the server is away.
      }
      this.later();
    })();
  }

  private add(fresh: readonly Listed[]): void {
    for (const x of fresh) {
      this.seen.add(x.id);
      this.newest = x.id > this.newest ? x.id : this.newest;
      this.list.prepend(this.item(x));
    }
    if (fresh.length === 0) {
      return;
    }
    const count = document.querySelector("#captures summary small");
    count?.replaceChildren(String(Number(count.textContent) + fresh.length));
    document.querySelector("#captures > [data-none]")?.remove();
  }

  private item(x: Listed): HTMLElement {
    const item = document.createElement("li");
    item.className = "item";
    const link = document.createElement("a");
    link.href = `/w/${encodeURIComponent(this.workspace)}/captures/${encodeURIComponent(x.id)}`;
    link.title = `${x.name}, ${new Date(x.added).toLocaleString()}`;
    if (location.pathname === link.pathname) {
      link.ariaCurrent = "page";
      item.classList.add("current");
    }
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = x.name;
    const size = document.createElement("small");
    size.textContent = bytesText(x.size);
    link.append(name, size);
    const menu = document.createElement("button");
    menu.type = "button";
    menu.className = "btn quiet js-only";
    menu.dataset["captureMenu"] = x.id;
    menu.setAttribute("aria-label", `More about ${x.name}`);
    menu.title = "Rename, save the file, delete";
    menu.textContent = "⋯";
    item.append(link, menu);
    return item;
  }
}

/** Brings the menus of the captures to life. */
export function startCaptureList(): void {
  const workspace = document.getElementById("main")?.dataset["workspace"] ?? "";
  addReplay(workspace);
  const list = document.querySelector<HTMLElement>("#captures > .items");
  if (list !== null) {
    new NewCaptures(list, workspace);
  }
  document.getElementById("captures")?.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-capture-menu]") : null;
    if (button !== null) {
      captureMenu(button, workspace, button.dataset["captureMenu"] ?? "");
    }
  });
}
