// A strip beside the list with an overview of all rows: problems, marks, notes, colors, highlighted frames and frames without a definition. A
// box marks the part in view; pressing or dragging scrolls there.
//
//   .frames-map > canvas, .frames-map-view, .frames-map-tip, .frames-map-ink

import { make } from "../kit/dom";
import type { MapAnswer, State } from "../api/frames";
import { isGivenUp } from "./socket";
import { count, counted } from "../kit/frametext";

/** The list beside the strip, and the source of the overview. */
export interface MapHost {
  ask(buckets: number, signal: AbortSignal): Promise<MapAnswer>;
  /** The rows in view, including partly visible ones. */
  view(): { first: number; rows: number };
  scrollTo(first: number): void;
  scrollBy(px: number): void;
}

const restMillis = 1000; // between two requests while the list grows
const onMillis = 150; // until the rest of the rows is requested
const soonMillis = 30; // after a change of the list
const leastView = 8; // pixels of the box
const leastLine = 2; // pixels of rare rows

const inks = ["bad", "mark", "note", "hit", "unknown", "hue1", "hue2", "hue3", "hue4", "hue5", "hue6", "hue7", "hue8"] as const;
type Ink = (typeof inks)[number];

/** The content of rows in words: "rows 12,000–12,400: 3 problems, 1 mark". */
export function partWords(map: MapAnswer, at: number): string {
  const parts = map.bad.length;
  const from = Math.floor((at * map.total) / parts) + 1;
  const to = Math.max(from, Math.floor(((at + 1) * map.total) / parts));
  const said = [
    [map.bad[at], "problem"], [map.marked[at], "mark"], [map.noted[at], "note"], [map.hit[at], "found row", "found rows"], [map.hued[at], "colored row"],
    [map.unknown[at], "frame without a definition", "frames without a definition"],
  ] as const;
  const words = said.filter(([n]) => (n ?? 0) > 0).map(([n, one, many]) => counted(n ?? 0, one, many));
  const where = from === to ? `row ${count(from)}` : `rows ${count(from)}–${count(to)}`;
  return `${where}: ${words.length > 0 ? words.join(", ") : !map.done && from > map.known ? "not read yet" : "no problems, marks or hits"}`;
}

/** The content of the whole list in words. */
export function mapWords(map: MapAnswer): string {
  const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
  return `Overview of the list: ${counted(sum(map.bad), "problem")}, ${counted(sum(map.marked), "mark")}, ${counted(sum(map.noted), "note")}`;
}

export class Minimap {
  readonly element = make("div", "frames-map");
  private readonly host: MapHost;
  private readonly canvas = make("canvas");
  private readonly frame = make("div", "frames-map-view");
  private readonly tip = make("div", "frames-map-tip");
  private readonly ink = make("span", "frames-map-ink");
  private readonly stopped = new AbortController();
  private readonly watcher = new ResizeObserver(() => this.resize());
  private readonly themes = new MutationObserver(() => this.recolor());
  private colors: ReadonlyMap<Ink, string> = new Map();
  private state: State | undefined;
  private map: MapAnswer | undefined;
  private noted = 0; // incremented with each change of marks and notes
  private asked = ""; // key of the last response or the pending request
  private askedAt = -Infinity;
  private asking: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private drag: { y: number; first: number } | undefined;
  private painting = 0;
  private height = 0; // of the strip, pixels

  constructor(host: MapHost) {
    this.host = host;
    this.element.setAttribute("role", "img");
    this.element.setAttribute("aria-label", "Overview of the list");
    this.tip.hidden = true;
    this.ink.hidden = true;
    this.element.append(this.canvas, this.frame, this.tip, this.ink);
    this.listen();
    this.watcher.observe(this.element);
    this.themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
    const { signal } = this.stopped;
    for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => this.recolor(), { signal });
    }
    document.addEventListener("visibilitychange", () => this.want(), { signal });
  }

  /** Takes a new state of the list. */
  update(state: State): void {
    if (state.marked !== this.state?.marked || state.notes !== this.state.notes) {
      this.noted++;
    }
    this.state = state;
    this.want();
    this.place();
  }

  private get buckets(): number {
    return Math.min(2000, Math.round(this.height * devicePixelRatio));
  }

  private get subject(): string {
    const s = this.state;
    return s === undefined ? "" : [s.seq, s.order, s.epoch, s.fit, this.buckets, this.noted].join(" ");
  }

  /** Requests missing parts, when due. */
  private want(): void {
    const { state } = this;
    if (state === undefined || this.height === 0 || document.hidden || this.asking !== undefined || state.seq === 0) {
      return;
    }
    const { subject } = this;
    const partly = this.map?.done === false;
    if (subject === this.asked && !partly) {
      return;
    }
    const other = this.map === undefined || this.map.seq !== state.seq || this.map.order !== state.order || state.done;
    const rest = subject === this.asked ? onMillis : other ? soonMillis : restMillis;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), Math.max(soonMillis, rest - (performance.now() - this.askedAt)));
  }

  private async ask(): Promise<void> {
    if (this.asking !== undefined || this.stopped.signal.aborted) {
      return;
    }
    const asking = new AbortController();
    this.asking = asking;
    this.asked = this.subject;
    try {
      const map = await this.host.ask(this.buckets, asking.signal);
      this.map = map;
      this.element.setAttribute("aria-label", mapWords(map));
      this.draw();
    } catch (error) {
      if (isGivenUp(error)) {
        this.asked = ""; // the list has changed: request again
      }
    }
    this.askedAt = performance.now();
    this.asking = undefined;
    this.want();
  }

  private resize(): void {
    this.height = this.element.clientHeight;
    this.want();
    this.draw();
    this.place();
  }

  private recolor(): void {
    this.colors = new Map();
    this.draw();
  }

  /** The colors of the current theme. */
  private paints(): ReadonlyMap<Ink, string> {
    if (this.colors.size === 0) {
      this.ink.hidden = false;
      this.colors = new Map(inks.map((ink) => {
        this.ink.className = `frames-map-ink ${ink}`;
        return [ink, getComputedStyle(this.ink).color];
      }));
      this.ink.hidden = true;
    }
    return this.colors;
  }

  private draw(): void {
    if (this.painting === 0) {
      this.painting = requestAnimationFrame(() => {
        this.painting = 0;
        this.paint();
      });
    }
  }

  private paint(): void {
    const { map, canvas } = this;
    const ratio = devicePixelRatio;
    const width = Math.round(this.element.clientWidth * ratio);
    const height = Math.round(this.height * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const to = canvas.getContext("2d");
    if (to === null || width === 0 || height === 0) {
      return;
    }
    to.clearRect(0, 0, width, height);
    if (map === undefined || map.total === 0) {
      return;
    }
    const paints = this.paints();
    const parts = map.bad.length;
    // Colors and undefined frames at the left, problems at the right, where nothing covers them; the rest from the left to the middle.
    const line = (at: number, ink: Ink, left: number, right: number, least: number, alpha = 1): void => {
      const top = Math.floor((at * height) / parts);
      const bottom = Math.max(Math.ceil(((at + 1) * height) / parts), top + Math.round(least * ratio));
      to.globalAlpha = alpha;
      to.fillStyle = paints.get(ink) ?? "gray";
      to.fillRect(Math.round(left * width), top, Math.round((right - left) * width), bottom - top);
    };
    const rows = map.total / parts;
    const share = (n: number): number => 0.35 + 0.65 * Math.min(1, n / rows);
    const some = (list: readonly number[], each: (at: number, n: number) => void): void => list.forEach((n, at) => n > 0 && each(at, n));
    some(map.unknown, (at, n) => line(at, "unknown", 0, 0.5, 0, share(n)));
    some(map.hued, (at, n) => line(at, `hue${map.hue[at] ?? 1}` as Ink, 0, 0.5, 0, share(n)));
    some(map.hit, (at) => line(at, "hit", 0.3, 0.62, leastLine));
    some(map.marked, (at) => line(at, "mark", 0, 0.62, leastLine));
    some(map.noted, (at) => line(at, "note", 0.35, 0.62, leastLine));
    some(map.bad, (at, n) => line(at, "bad", 0.66, 1, leastLine, share(n)));
    to.globalAlpha = 1;
  }

  /** Positions the box around the part in view. */
  place(): void {
    const total = this.state?.fit ?? 0;
    const { first, rows } = this.host.view();
    this.frame.hidden = total === 0 || rows >= total;
    if (this.frame.hidden) {
      return;
    }
    const px = Math.max(leastView, (rows / total) * this.height);
    const top = Math.min((first / Math.max(1, total - rows)) * (this.height - px), this.height - px);
    this.frame.style.height = `${px}px`;
    this.frame.style.transform = `translateY(${Math.max(0, top)}px)`;
  }

  /** The first row in view when the box is at a position of the strip. */
  private firstAt(y: number): number {
    const total = this.state?.fit ?? 0;
    return (y / Math.max(1, this.height)) * total - this.host.view().rows / 2;
  }

  private listen(): void {
    const { signal } = this.stopped;
    const { element } = this;
    const yOf = (event: PointerEvent): number => event.clientY - element.getBoundingClientRect().top;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) {
        return;
      }
      event.preventDefault(); // keep the focus in the list
      element.setPointerCapture(event.pointerId);
      const y = yOf(event);
      const box = this.frame.getBoundingClientRect();
      if (this.frame.hidden || event.clientY < box.top || event.clientY > box.bottom) {
        this.host.scrollTo(this.firstAt(y));
      }
      this.drag = { y, first: this.host.view().first };
      this.tip.hidden = true;
    }, { signal });
    element.addEventListener("pointermove", (event) => {
      const y = yOf(event);
      if (this.drag === undefined) {
        this.hint(y);
        return;
      }
      const total = this.state?.fit ?? 0;
      const { rows } = this.host.view();
      const px = Math.max(leastView, (rows / Math.max(1, total)) * this.height);
      this.host.scrollTo(this.drag.first + ((y - this.drag.y) / Math.max(1, this.height - px)) * Math.max(0, total - rows));
    }, { signal });
    for (const name of ["pointerup", "pointercancel"] as const) {
      element.addEventListener(name, () => (this.drag = undefined), { signal });
    }
    element.addEventListener("pointerleave", () => (this.tip.hidden = true), { signal });
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.host.scrollBy(event.deltaMode === 0 ? event.deltaY : event.deltaY * 20);
    }, { passive: false, signal });
  }

  private hint(y: number): void {
    const { map } = this;
    if (map === undefined || map.total === 0 || y < 0 || y >= this.height) {
      this.tip.hidden = true;
      return;
    }
    this.tip.textContent = partWords(map, Math.min(map.bad.length - 1, Math.floor((y / this.height) * map.bad.length)));
    this.tip.hidden = false;
    this.tip.style.top = `${Math.max(0, Math.min(y - this.tip.offsetHeight / 2, this.height - this.tip.offsetHeight))}px`;
  }

  destroy(): void {
    this.stopped.abort();
    this.watcher.disconnect();
    this.themes.disconnect();
    this.asking?.abort();
    clearTimeout(this.timer);
    cancelAnimationFrame(this.painting);
    this.element.remove();
  }
}
