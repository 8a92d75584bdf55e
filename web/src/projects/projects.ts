// The menu of the projects, and what a page does when its own project is renamed or closed on another page.

import { pathOf } from "../kit/address";
import type { ProjectList } from "../api/api";
import { onChanged } from "../kit/changes";
import { make } from "../kit/dom";
import { request } from "../kit/http";
import { notify } from "../kit/notify";

export function startProjects(): void {
  const workspace = document.getElementById("main")?.dataset["workspace"];
  const menu = document.querySelector<HTMLElement>(".views .menu-box");
  if (workspace === undefined || menu === null) {
    return;
  }
  let closed = false;
  onChanged("projects", () => {
    void request("GET settings", { project: workspace }).then((reply) => {
      if (!reply.ok) {
        if (reply.status !== 404 || closed) {
          return;
        }
        closed = true;
        notify("This project has been archived or deleted. Your text stays in this page; the list of projects can open it again.", "err");
      } else if (reply.answer.name !== workspace) {
        const url = new URL(location.href);
        url.pathname = url.pathname.replace(pathOf(workspace), pathOf(reply.answer.name));
        url.hash = url.hash.replace(`#w=${workspace}&`, `#w=${reply.answer.name}&`);
        location.replace(url.href);
      } else if (closed) {
        closed = false;
        notify("This project is open again.");
      }
    });
    void request("GET /projects", {}).then((reply) => {
      if (reply.ok) {
        draw(menu, workspace, reply.answer);
      }
    });
  });
}

const stored = ["wirebench.draft.", "wirebench.filter.history.", "wirebench.filter.presets."];

/** What the browser has stored for a project under its earlier names is stored under its name. Before anything reads it. */
export function takeEarlier(): void {
  const { workspace, formerly } = document.getElementById("main")?.dataset ?? {};
  if (workspace === undefined || formerly === undefined) {
    return;
  }
  for (const key of Object.keys(localStorage)) {
    for (const prefix of stored.flatMap((start) => formerly.split(" ").map((name) => start + name))) {
      const rest = key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
      const next = rest === "" || rest?.startsWith(".") === true ? prefix.slice(0, prefix.lastIndexOf(".") + 1) + workspace + rest : undefined;
      if (next === undefined || localStorage.getItem(next) !== null) {
        continue;
      }
      try {
        localStorage.setItem(next, localStorage.getItem(key) ?? "");
        localStorage.removeItem(key); // not before: the storage may be full
      } catch {
        return;
      }
    }
  }
}

/** Draws the open projects, before the link to all of them. */
function draw(menu: HTMLElement, workspace: string, { projects }: ProjectList): void {
  const open = projects.filter(({ state }) => state === "open");
  const last = menu.lastElementChild;
  menu.replaceChildren(...open.map(({ name, title }) => {
    const link = make("a", "btn quiet", title);
    link.href = pathOf(name, "definitions");
    if (name === workspace) {
      link.ariaCurrent = "page";
    }
    return link;
  }), ...(last === null ? [] : [last]));
  const summary = menu.parentElement?.querySelector("summary");
  const own = open.find(({ name }) => name === workspace);
  if (own !== undefined && summary !== null && summary !== undefined) {
    summary.textContent = own.title;
  }
}
