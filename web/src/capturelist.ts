// The list of captures at the side: a menu for each, to rename, to replay and to delete it and to save its file. The bar over running
// traffic gets a button for its replay, too.

import { lookAtCaptures, onLookAtCaptures, tellDeleted } from "./captures";
import { confirmDialog } from "./dialog";
import { openMenu } from "./menu";
import { notify } from "./notify";
import { askText } from "./frames/notebox";
import { bytes } from "./frames/text";
import { replayDialog } from "./replay";
import { lookOnly, operatorsItem } from "./role";

const mostName = 200; // characters, as the server has it
const period = 5000; // milliseconds between two looks at what there is

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
            void send(address, "PATCH", { name: text }).then((done) => {
              if (done) {
                showName(item, text);
                lookAtCaptures();
              }
            });
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
          void confirmDialog(`Delete ${name} with its marks and notes? This cannot be undone.`, "Delete").then(async (yes) => {
            const done = yes && await send(address, "DELETE");
            if (!done) {
              return;
            }
            if (item.querySelector("a")?.ariaCurrent === "page") {
              location.assign(`/w/${encodeURIComponent(workspace)}`);
              return;
            }
            lookAtCaptures();
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

const mostListed = 50; // captures, as the server draws them; those that came since are listed too

/** Keeps the list as the captures are: other pages, listeners and programs make, rename and delete some, too. */
class CaptureList {
  private readonly list: HTMLElement;
  private readonly workspace: string;
  private tag = ""; // of what is shown
  private looking = false;
  private again = false; // something happened while it was looking
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(list: HTMLElement, workspace: string) {
    this.list = list;
    this.workspace = workspace;
    document.addEventListener("visibilitychange", () => this.look());
    onLookAtCaptures(() => this.look());
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
    if (this.looking) {
      this.again = true;
      return;
    }
    this.looking = true;
    void (async () => {
      do {
        this.again = false;
        try {
          const response = await fetch(`/api/${encodeURIComponent(this.workspace)}/captures?${new URLSearchParams({ brief: "true", known: this.tag }).toString()}`);
          if (response.ok) {
            const { captures, tag, same } = (await response.json()) as { captures: Listed[]; tag: string; same?: boolean };
            if (same !== true) {
              this.tag = tag;
              this.show(captures);
            }
          }
        } catch {
          // The page says by itself that the server is away.
        }
      } while (this.again);
      this.looking = false;
      this.later();
    })();
  }

  /** Makes the list what it is to be, the newest first. What stays is the same element: its menu may be open. */
  private show(all: readonly Listed[]): void {
    const items = new Map<string, HTMLElement>();
    for (const button of this.list.querySelectorAll<HTMLElement>("[data-capture-menu]")) {
      const item = button.closest<HTMLElement>(".item");
      if (item !== null) {
        items.set(button.dataset["captureMenu"] ?? "", item);
      }
    }
    const listed = all.filter((x, i) => i < mostListed || items.has(x.id));
    const there = new Set(listed.map((x) => x.id));
    for (const [id, item] of items) {
      if (there.has(id)) {
        continue;
      }
      const next = item.contains(document.activeElement) ? item.nextElementSibling ?? item.previousElementSibling : null;
      item.remove();
      (next?.querySelector("a") ?? undefined)?.focus();
    }
    for (const [i, x] of listed.entries()) {
      let item = items.get(x.id);
      if (item === undefined) {
        item = this.item(x);
      } else {
        if (item.querySelector(".name")?.textContent !== x.name) {
          showName(item, x.name);
        }
        const size = item.querySelector("small");
        if (size !== null && size.textContent !== bytes(x.size)) {
          size.textContent = bytes(x.size);
        }
      }
      if (this.list.children[i] !== item) {
        this.list.insertBefore(item, this.list.children[i] ?? null);
      }
    }
    document.querySelector("#captures summary small")?.replaceChildren(String(all.length));
    this.say("none", all.length === 0 ? "None yet. Drop a pcap, a pcapng or the log of a proxy on this page." : "");
    const more = all.length - listed.length;
    this.say("more", more === 0 ? "" : `${more} ${more === 1 ? "capture" : "captures"} more; GET /api/…/captures lists all.`);
    const shown = document.getElementById("main")?.dataset["capture"];
    if (shown !== undefined && !all.some((x) => x.id === shown)) {
      void this.check(shown);
    }
  }

  /** Asks whether a capture is there: the list may be some seconds old, and the capture new. */
  private async check(id: string): Promise<void> {
    try {
      const response = await fetch(`/api/${encodeURIComponent(this.workspace)}/captures?${new URLSearchParams({ since: id }).toString()}`);
      if (response.ok && !((await response.json()) as { captures: Listed[] }).captures.some((x) => x.id === id)) {
        tellDeleted(id);
      }
    } catch {
      // It is asked again when the list is another one.
    }
  }

  /** Says something below the list, or no more. */
  private say(name: "none" | "more", text: string): void {
    const old = document.querySelector(`#captures > [data-${name}]`);
    if (text === "") {
      old?.remove();
    } else if (old !== null) {
      old.textContent = text;
    } else {
      const said = document.createElement("p");
      said.className = "empty";
      said.dataset[name] = "";
      said.textContent = text;
      this.list.after(said);
    }
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
    size.textContent = bytes(x.size);
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
    new CaptureList(list, workspace);
  }
  document.getElementById("captures")?.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-capture-menu]") : null;
    if (button !== null) {
      captureMenu(button, workspace, button.dataset["captureMenu"] ?? "");
    }
  });
}
