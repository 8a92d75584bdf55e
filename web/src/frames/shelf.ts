// The tool that is open beside the list or, in a narrow window, below it: its drawer, the line that sizes it, and the strip of all tools.
//
//   .frames-body > .frames-split, .frames-drawer > .drawer-head, the drawer; .frames-tools

import type { FrameRow, State } from "../api/frames";
import { button, make } from "../kit/dom";
import { load, prefetch } from "../kit/load";
import type { MenuItem } from "../kit/menu";
import { keep, recall, recallText } from "../kit/store";
import { Analyze } from "./analyze";
import type { Drawer, DrawerHost, DrawerName } from "./drawer";

const mostShare = 0.8; // of the pane, for the drawer
const leastDrawer = 120; // pixels
const step = 24; // pixels, of a key

const drawers = () => import("./drawers");

prefetch(drawers);

const titles: Readonly<Record<DrawerName, string>> = {
  types: "Types", problems: "Problems", timeline: "Timeline", graph: "Graph", conns: "Connections", follow: "Follow", flow: "Flow", table: "Fields",
  diff: "Compare", markers: "Markers",
};

/** A size of the drawer in a room, and its share of that in percent. */
export function sized(px: number, room: number): { px: number; percent: number } {
  const size = Math.round(Math.max(leastDrawer, Math.min(px, Math.max(leastDrawer, room * mostShare))));
  return { px: size, percent: Math.round((100 * size) / Math.max(1, room)) };
}

/** A remembered size in CSS. */
function remembered(way: "width" | "height", otherwise: string): string {
  const value = recall(`drawer.${way}`);
  return typeof value === "number" && value >= leastDrawer && value < 4000 ? `${value}px` : otherwise;
}

/** The pane of the list. */
export interface ShelfHost {
  /** What a drawer knows of the list, for each one that is opened. */
  drawerHost(): DrawerHost;
  /** The tool was closed by the user. */
  refocus(): void;
}

export class Shelf {
  readonly element = make("div", "frames-drawer");
  private readonly body: HTMLElement;
  private readonly host: ShelfHost;
  private readonly title = make("h3");
  private readonly splitter = make("div", "frames-split");
  private readonly analyze = new Analyze();
  private readonly tools = new Map<DrawerName, HTMLButtonElement>();
  private readonly watcher = new ResizeObserver(() => this.drawer?.resized?.());
  private drawer: Drawer | undefined;
  private name: DrawerName | undefined;

  /** Adds the tools to the body of the pane, until the signal. */
  constructor(body: HTMLElement, names: readonly DrawerName[], host: ShelfHost, signal: AbortSignal) {
    this.body = body;
    this.host = host;
    for (const name of names) {
      this.tools.set(name, this.analyze.add(titles[name], () => this.toggle(name)));
    }
    const head = make("div", "drawer-head");
    head.append(this.title, button("×", () => this.close(true), "Close (Esc)"));
    this.element.append(head);
    this.splitter.tabIndex = 0;
    this.splitter.setAttribute("role", "separator");
    this.splitter.setAttribute("aria-label", "Size of the tool");
    this.splitter.setAttribute("aria-valuenow", "50");
    this.show(false);
    body.append(this.splitter, this.element, this.analyze.element);
    body.style.setProperty("--drawer-height", remembered("height", "max(50%, 15rem)"));
    body.style.setProperty("--drawer-width", remembered("width", "42%"));
    this.watcher.observe(this.element);
    this.listen(signal);
    signal.addEventListener("abort", () => {
      this.watcher.disconnect();
      this.drawer?.close();
    });
  }

  private show(on: boolean): void {
    this.element.hidden = this.splitter.hidden = !on;
  }

  /** The tools as items of a menu, while they are not beside the list. */
  get items(): MenuItem[] {
    return this.analyze.items;
  }

  /** Opens the tool that was open on the last page. */
  reopen(): void {
    const opened = recallText("drawer", "");
    if (opened !== "" && opened !== "diff" && opened in titles) {
      this.open(opened as DrawerName, false);
    }
  }

  toggle(name: DrawerName): void {
    if (this.name === name) {
      this.close(false);
    } else {
      this.open(name);
    }
  }

  /** Opens a tool, in the place of another one; `then` gets it once it is loaded. */
  open(name: DrawerName, focus = true, then?: (drawer: Drawer) => void): void {
    if (this.name !== name) {
      this.close(false);
      this.show(true);
      this.title.textContent = titles[name];
      this.element.dataset["drawer"] = name;
      this.name = name;
      this.tools.get(name)?.setAttribute("aria-expanded", "true");
      keep("drawer", name);
    }
    void load(drawers).then((loaded) => {
      if (this.name !== name) {
        return; // closed in the meantime
      }
      if (loaded === undefined) {
        this.close(focus);
        return;
      }
      if (this.drawer === undefined) {
        this.drawer = new loaded.drawers[name](this.host.drawerHost());
        this.element.append(this.drawer.element);
        for (const part of this.drawer.element.children) { // a bar that gets another line takes it from what is below it
          this.watcher.observe(part);
        }
      }
      then?.(this.drawer);
      if (focus) {
        this.drawer.focus();
      }
    });
  }

  close(refocus: boolean): void {
    if (this.name === undefined) {
      return;
    }
    this.drawer?.close();
    this.drawer?.element.remove();
    this.tools.get(this.name)?.setAttribute("aria-expanded", "false");
    this.drawer = undefined;
    this.name = undefined;
    this.show(false);
    keep("drawer", "");
    if (refocus) {
      this.host.refocus();
    }
  }

  /** The list changed: another view (`anew`), or more frames. */
  changed(state: State, anew: boolean): void {
    this.drawer?.changed(state, anew);
  }

  /** The current row changed. */
  selected(row: FrameRow | undefined): void {
    this.drawer?.selected?.(row);
  }

  /** Whether the drawer is beside the list and not, in a narrow window, below it. */
  private get isBeside(): boolean {
    return getComputedStyle(this.body).flexDirection === "row";
  }

  /** Gives the drawer a width, or below the list a height, in pixels. */
  private resize(to: number): void {
    const way = this.isBeside ? "width" : "height";
    const { px, percent } = sized(to, way === "width" ? this.body.clientWidth : this.body.clientHeight);
    this.body.style.setProperty(`--drawer-${way}`, `${px}px`);
    this.splitter.setAttribute("aria-valuenow", String(percent));
    keep(`drawer.${way}`, px);
  }

  private listen(signal: AbortSignal): void {
    const { splitter } = this;
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) {
        event.preventDefault();
        event.stopPropagation();
        this.close(true);
      }
    }, { signal });
    const size = (): number => (this.isBeside ? this.element.offsetWidth : this.element.offsetHeight);
    const place = (event: PointerEvent): number => (this.isBeside ? event.clientX : event.clientY);
    let from: { place: number; size: number } | undefined;
    splitter.addEventListener("pointerdown", (event) => {
      from = { place: place(event), size: size() };
      splitter.setPointerCapture(event.pointerId);
      event.preventDefault();
    }, { signal });
    splitter.addEventListener("pointermove", (event) => {
      if (from !== undefined) {
        this.resize(from.size + from.place - place(event));
      }
    }, { signal });
    for (const name of ["pointerup", "pointercancel"] as const) {
      splitter.addEventListener(name, () => (from = undefined), { signal });
    }
    splitter.addEventListener("dblclick", () => this.resize(this.isBeside ? 0.42 * this.body.clientWidth : 260), { signal });
    splitter.addEventListener("focus", () => splitter.setAttribute("aria-orientation", this.isBeside ? "vertical" : "horizontal"), { signal });
    splitter.addEventListener("keydown", (event) => {
      const [more, less] = this.isBeside ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
      const by = event.key === more ? step : event.key === less ? -step : 0;
      if (by !== 0) {
        event.preventDefault();
        event.stopPropagation();
        this.resize(size() + by);
      }
    }, { signal });
  }
}
