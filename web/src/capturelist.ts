// The list of captures at the side: a menu for each, to rename, to replay and to delete it and to save its file. The bar over running
// traffic gets a button for its replay, too.

import { openMenu } from "./menu";
import { notify } from "./notify";
import { askText } from "./frames/notebox";
import { replayDialog } from "./replay";

const mostName = 200; // characters, as the server has it

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
        title: "Rename …",
        run: () => askText(button, { label: "Name", text: name, button: "Rename", most: mostName }, (text) => {
          if (text !== "" && text !== name) {
            void send(address, "PATCH", { name: text }).then((done) => done && showName(item, text));
          }
        }),
      },
      { title: "Replay …", disabled: lookOnly(), run: () => void replayDialog(workspace, id, name) },
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
        title: "Delete …",
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

/** Whoever came with the token of a viewer may start nothing. */
function lookOnly(): boolean {
  return "lookOnly" in document.documentElement.dataset;
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

/** Brings the menus of the captures to life. */
export function startCaptureList(): void {
  const workspace = document.getElementById("main")?.dataset["workspace"] ?? "";
  addReplay(workspace);
  document.getElementById("captures")?.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-capture-menu]") : null;
    if (button !== null) {
      captureMenu(button, workspace, button.dataset["captureMenu"] ?? "");
    }
  });
}
