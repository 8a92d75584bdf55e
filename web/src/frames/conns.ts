// The drawer of connections: all with their counts of frames; a click shows one alone.

import { make } from "../dom";
import type { Drawer, DrawerHost } from "./drawer";
import { ofConnection } from "./filters";
import type { Connection, State } from "./protocol";
import { count, counted, shortConnection } from "./text";

const mostRows = 500;

export class ConnectionsDrawer implements Drawer {
  readonly element = make("div", "frames-conns");
  private readonly host: DrawerHost;
  private readonly body = make("tbody");
  private readonly summary = make("span", "note");
  private shown: readonly Connection[] | undefined;

  constructor(host: DrawerHost) {
    this.host = host;
    const bar = make("div", "frames-bar");
    bar.append(this.summary);
    const table = make("table", "data");
    table.setAttribute("aria-label", "Connections");
    const head = make("tr");
    for (const [title, className] of [["Connection", ""], ["Session", "num"], ["Over", ""], ["Frames", "num"], ["Share", ""]] as const) {
      const cell = make("th", className, title);
      cell.scope = "col";
      head.append(cell);
    }
    const thead = make("thead");
    thead.append(head);
    table.append(thead, this.body);
    const box = make("div", "frames-box");
    box.append(table);
    this.element.append(bar, box);
    this.body.addEventListener("click", (event) => {
      const index = event.target instanceof Element ? event.target.closest<HTMLElement>("button")?.dataset["conn"] : undefined;
      const conn = this.shown?.[Number(index ?? -1)];
      if (conn !== undefined) {
        const chip = ofConnection(conn);
        if (this.host.chips.includes(chip)) {
          this.host.removeChip(chip);
        } else {
          this.host.addChip(chip, `only: ${shortConnection(conn)}`);
        }
      }
    });
    this.draw();
  }

  private draw(): void {
    const conns = this.host.state.conns;
    const at = document.activeElement instanceof HTMLElement && this.body.contains(document.activeElement) ? document.activeElement.dataset["conn"] : undefined;
    this.shown = conns;
    const most = Math.max(1, ...conns.slice(0, mostRows).map((c) => c.frames));
    const order = conns.map((conn, i) => ({ conn, i })).sort((a, b) => b.conn.frames - a.conn.frames || a.i - b.i);
    this.summary.textContent = counted(conns.length, "connection") + (conns.length > mostRows ? `, the ${mostRows} with the most frames` : "");
    this.body.replaceChildren(
      ...order.slice(0, mostRows).map(({ conn, i }) => {
        const row = make("tr");
        const name = make("td");
        const only = make("button", "link", conn.name);
        only.type = "button";
        only.dataset["conn"] = String(i);
        const on = this.host.chips.includes(ofConnection(conn));
        only.title = on ? "Show other connections too" : "Show only this connection";
        only.setAttribute("aria-pressed", String(on));
        name.append(only);
        const share = make("td", "share");
        const bar = make("span", "bar");
        bar.style.setProperty("width", `${(100 * conn.frames) / most}%`);
        share.append(bar);
        row.append(name, make("td", "num", String(conn.session)), make("td", "dim", conn.proto), make("td", "num", count(conn.frames)), share);
        return row;
      }),
    );
    if (at !== undefined) {
      this.body.querySelector<HTMLElement>(`[data-conn="${at}"]`)?.focus();
    }
  }

  changed(state: State, anew: boolean): void {
    if (anew || state.conns !== this.shown) {
      this.draw();
    }
  }

  focus(): void {
    this.body.querySelector("button")?.focus();
  }

  close(): void {
    // No request is pending.
  }
}
