// Drawers with several views, one of which is shown. The first is there at once, the others are loaded when they are chosen.

import { button, make } from "../kit/dom";
import { load } from "../kit/load";
import { ConnectionsDrawer } from "./conns";
import type { Drawer, DrawerHost } from "./drawer";
import type { State } from "../api/frames";
import { keep, recallText } from "../kit/store";
import type { SumName } from "./sums";
import { TypesDrawer } from "./types";

const sums = () => import("./sums");

class Views implements Drawer {
  readonly element = make("div");
  private readonly host: DrawerHost;
  private readonly first: new (host: DrawerHost) => Drawer;
  private readonly tabs = new Map<string, HTMLButtonElement>();
  private view: Drawer | undefined;
  private name = "";

  /** Views by name, with their titles; the first one has no name. */
  constructor(host: DrawerHost, key: string, first: new (host: DrawerHost) => Drawer, views: readonly (readonly [name: SumName | "", title: string])[]) {
    this.host = host;
    this.first = first;
    const group = make("span", "segments");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Show");
    for (const [name, title] of views) {
      const tab = button(title, () => {
        keep(key, name);
        this.choose(name);
      }, "", "btn quiet small");
      this.tabs.set(name, tab);
      group.append(tab);
    }
    const bar = make("div", "frames-bar frames-views");
    bar.append(group);
    this.element.append(bar);
    const kept = recallText(key, "");
    this.choose(views.find(([name]) => name === kept)?.[0] ?? "");
  }

  private choose(name: SumName | ""): void {
    this.name = name;
    this.tabs.forEach((tab, of) => tab.setAttribute("aria-pressed", String(of === name)));
    this.view?.close();
    this.view?.element.remove();
    this.view = undefined;
    if (name === "") {
      this.put(new this.first(this.host));
      return;
    }
    void load(sums).then((m) => {
      if (m !== undefined && this.name === name && this.view === undefined && this.element.isConnected) {
        this.put(new m.sums[name](this.host));
      }
    });
  }

  private put(view: Drawer): void {
    this.view = view;
    this.element.append(view.element);
  }

  changed(state: State, anew: boolean): void {
    this.view?.changed(state, anew);
  }

  focus(): void {
    if (this.view === undefined) {
      this.tabs.get(this.name)?.focus();
    } else {
      this.view.focus();
    }
  }

  close(): void {
    this.view?.close();
    this.view = undefined;
    this.name = "";
  }
}

/** The types of frames, their lengths, and the times between requests and answers. */
export class TypesViews extends Views {
  constructor(host: DrawerHost) {
    super(host, "types.view", TypesDrawer, [["", "Types"], ["lengths", "Lengths"], ["replies", "Answer times"]]);
  }
}

/** The connections, and their ends. */
export class ConnectionsViews extends Views {
  constructor(host: DrawerHost) {
    super(host, "conns.view", ConnectionsDrawer, [["", "Connections"], ["ports", "Endpoints"], ["addresses", "Addresses"]]);
  }
}
