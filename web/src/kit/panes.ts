// The layout of the page: splitters between panes, a maximized pane, tabs in narrow windows.
//
//   [data-split="row"|"column"]#ID               a row or a column of panes; may be a pane itself
//     > [data-pane="NAME"][data-min="PX"]        NAME, or the element's id, is the key of its stored size
//     > [data-splitter][role=separator][tabindex=0]    between two panes
//     > [data-pane][data-fold=FOLD]              folds away in wide windows; sizes.ts has the table of folds
//   [data-fold-toggle=FOLD]                      a button that opens and closes it
//   [data-tabs]#ID                               narrow windows show one of its panes
//   [data-tabs-for=ID] > [role=tab][data-tab=PANEID]   ... selected by this list
//
// Sizes and tabs are rules of a style sheet managed here: they apply before the body exists (applyEarly), and replaced parts of the page
// cannot lose them. panes.css reads them as --size, and --basis is there with it. Without a stored size
// a pane's share is --grow.
//
// When sizes change, "wb:panes" is dispatched on the document, for elements that measure themselves.

import { register } from "./commands";
import { keysOf, keysText } from "./keys";
import { announce, notify } from "./notify";
import { applyEarly, draw, folds, isOpen, mins, save, type Share, splits, tabs, wide } from "./sizes";

// 2. Splitters.

function isRow(split: Element): boolean {
  return split.getAttribute("data-split") !== "column";
}

function panesOf(split: Element): HTMLElement[] {
  return Array.from(split.querySelectorAll<HTMLElement>(":scope > [data-pane]"));
}

function nameOf(pane: HTMLElement, at: number): string {
  const name = pane.dataset["pane"] ?? "";
  return name !== "" ? `=${name}` : pane.id !== "" ? `#${pane.id}` : String(at + 1);
}

/** The minimum size of a pane in a row or a column: its data-min, else the sum of its own panes, else a default. */
function minOf(pane: HTMLElement, row: boolean): number {
  const min = Number(pane.dataset["min"] ?? NaN);
  if (min >= 0) {
    return min;
  }
  return pane.matches("[data-split]") && isRow(pane) === row
    ? panesOf(pane).reduce((sum, inner) => sum + minOf(inner, row), 0)
    : row ? 160 : 80;
}

function sizeOf(pane: Element, row: boolean): number {
  const box = pane.getBoundingClientRect();
  return row ? box.width : box.height;
}

/** A splitter with its two panes, and the range of sizes of the first. */
interface Gap {
  splitter: HTMLElement;
  split: HTMLElement;
  row: boolean;
  before: HTMLElement;
  after: HTMLElement;
  size: number; // of the first pane, in pixels
  room: number; // of both panes
  least: number;
  most: number;
}

function isShown(element: Element): boolean {
  return element.getClientRects().length > 0;
}

function gapOf(target: EventTarget | null): Gap | undefined {
  const splitter = target instanceof Element ? target.closest<HTMLElement>("[data-splitter]") : null;
  const split = splitter?.parentElement;
  if (splitter === null || split === null || split === undefined || !split.matches("[data-split]")) {
    return undefined;
  }
  const children = Array.from(split.children);
  const at = children.indexOf(splitter);
  const isPane = (e: Element): e is HTMLElement => e instanceof HTMLElement && e.matches("[data-pane]") && isShown(e);
  const before = children.slice(0, at).reverse().find(isPane);
  const after = children.slice(at + 1).find(isPane);
  if (before === undefined || after === undefined) {
    return undefined;
  }
  const row = isRow(split);
  const size = sizeOf(before, row);
  const room = size + sizeOf(after, row);
  const least = Math.min(minOf(before, row), size);
  const most = Math.max(room - minOf(after, row), size);
  return { splitter, split, row, before, after, size, room, least, most };
}

/** Sets the ARIA values of a splitter. */
function describe(splitter: HTMLElement): void {
  const gap = gapOf(splitter);
  if (gap === undefined || gap.room === 0) {
    return;
  }
  const percent = (size: number): string => String(Math.round((100 * size) / gap.room));
  splitter.setAttribute("aria-valuemin", percent(gap.least));
  splitter.setAttribute("aria-valuemax", percent(gap.most));
  splitter.setAttribute("aria-valuenow", percent(gap.size));
  splitter.setAttribute("aria-valuetext", `${percent(gap.size)} percent`);
  splitter.setAttribute("aria-orientation", gap.row ? "vertical" : "horizontal"); // orientation of the splitter, not of the panes
  if (gap.before.id !== "") {
    splitter.setAttribute("aria-controls", gap.before.id);
  }
}

/** Describes the splitters again, and reports new sizes of panes. */
export function changed(): void {
  document.querySelectorAll<HTMLElement>("[data-splitter]").forEach(describe);
  document.dispatchEvent(new CustomEvent("wb:panes"));
}

/** Shows a size of the pane before a splitter; the one after it gets the rest. Not stored. */
function preview(gap: Gap, size: number): void {
  const now = Math.min(gap.most, Math.max(gap.least, size));
  const panes = panesOf(gap.split);
  const sizes = panes.map((p) => (p === gap.before ? now : p === gap.after ? gap.room - now : sizeOf(p, gap.row)));
  panes.forEach((p, i) => {
    const px = sizes[i] ?? 0;
    if (px > 0) {
      p.style.setProperty("--size", px.toFixed(2));
      p.style.setProperty("--basis", "0px");
    }
  });
}

function clearPreview(split: Element): void {
  for (const pane of panesOf(split)) {
    pane.style.removeProperty("--size");
    pane.style.removeProperty("--basis");
    if (pane.getAttribute("style") === "") {
      pane.removeAttribute("style");
    }
  }
}

/** Stores the current sizes of the panes of a split. A hidden pane keeps its share. */
function commit(split: HTMLElement): void {
  const row = isRow(split);
  const old = new Map(splits.get(split.id)?.shares.map((s) => [s[0], s] as const));
  const panes = panesOf(split).map((pane, i) => ({ pane, name: nameOf(pane, i) }));
  const seen = panes.filter((p) => isShown(p.pane));
  const room = seen.reduce((sum, p) => sum + sizeOf(p.pane, row), 0);
  if (split.id === "" || room <= 0) {
    return;
  }
  const shares = new Map<string, Share>(old);
  const oldTotal = seen.reduce((sum, p) => sum + (old.get(p.name)?.[1] ?? 0), 0);
  for (const { pane, name } of seen) {
    shares.set(name, [name, Number(((sizeOf(pane, row) / room) * (oldTotal || 1)).toFixed(5)), minOf(pane, row)]);
  }
  splits.set(split.id, { row, shares: [...shares.values()] });
  save();
  draw();
  clearPreview(split);
  changed();
}

function moveTo(gap: Gap, size: number): void {
  preview(gap, size);
  commit(gap.split);
}

function reset(gap: Gap): void {
  splits.delete(gap.split.id);
  save();
  draw();
  clearPreview(gap.split);
  changed();
}

let drag: { gap: Gap; pointer: number; from: number } | undefined;

function endDrag(keep: boolean): void {
  if (drag === undefined) {
    return;
  }
  const { gap } = drag;
  drag = undefined;
  document.documentElement.classList.remove("splitting-row", "splitting-column");
  gap.splitter.classList.remove("dragged");
  if (keep && gap.splitter.isConnected) {
    commit(gap.split);
  } else {
    clearPreview(gap.split);
    changed();
  }
}

function startSplitters(): void {
  const place = (event: PointerEvent, gap: Gap): number => (gap.row ? event.clientX : event.clientY);
  document.addEventListener("pointerdown", (event) => {
    const gap = event.button === 0 && event.isPrimary ? gapOf(event.target) : undefined;
    if (gap === undefined) {
      return;
    }
    event.preventDefault(); // do not select text
    gap.splitter.focus({ preventScroll: true });
    gap.splitter.setPointerCapture(event.pointerId);
    gap.splitter.classList.add("dragged");
    document.documentElement.classList.add(gap.row ? "splitting-row" : "splitting-column");
    drag = { gap, pointer: event.pointerId, from: place(event, gap) };
  });
  document.addEventListener("pointermove", (event) => {
    if (drag?.pointer === event.pointerId) {
      preview(drag.gap, drag.gap.size + place(event, drag.gap) - drag.from);
    }
  });
  const end = (event: PointerEvent): void => {
    if (drag?.pointer === event.pointerId) {
      // A press without a move may start a double click and changes nothing.
      endDrag(event.type === "pointerup" && place(event, drag.gap) !== drag.from);
    }
  };
  document.addEventListener("pointerup", end);
  document.addEventListener("pointercancel", end);
  document.addEventListener("lostpointercapture", end); // the splitter was removed
  document.addEventListener("dblclick", (event) => {
    const gap = gapOf(event.target);
    if (gap !== undefined) {
      reset(gap);
    }
  });
  // In the capture phase: a focused splitter handles its keys itself.
  document.addEventListener("keydown", (event) => {
    if (drag !== undefined && event.key === "Escape") {
      event.preventDefault();
      endDrag(false);
      return;
    }
    const gap = gapOf(event.target);
    if (gap === undefined || drag !== undefined || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const step = event.shiftKey ? 64 : 16;
    const [less, more] = gap.row ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    switch (event.key) {
      case less:
        moveTo(gap, gap.size - step);
        break;
      case more:
        moveTo(gap, gap.size + step);
        break;
      case "Home":
        moveTo(gap, gap.least);
        break;
      case "End":
        moveTo(gap, gap.most);
        break;
      case "Enter":
        reset(gap);
        break;
      default:
        return;
    }
    event.preventDefault();
  }, true);
}

// 3. The maximized pane; moving between panes by keyboard.

/** Identifies a pane whose element was replaced. */
interface Address {
  split: string;
  name: string;
}

let filling: Address | undefined;
let lastPane: HTMLElement | undefined; // last focused or pressed
const lastFocus = new WeakMap<HTMLElement, HTMLElement>(); // by pane

function addressOf(pane: HTMLElement): Address | undefined {
  const split = pane.parentElement?.closest("[data-split]");
  return split === null || split === undefined ? undefined : { split: split.id, name: nameOf(pane, panesOf(split).indexOf(pane)) };
}

function paneAt(address: Address): HTMLElement | undefined {
  const split = document.getElementById(address.split);
  return split === null ? undefined : panesOf(split).find((p, i) => nameOf(p, i) === address.name);
}

/** The visible panes without panes inside, in page order. */
function innermost(): HTMLElement[] {
  const panes = Array.from(document.querySelectorAll<HTMLElement>("[data-split] > [data-pane]"));
  const roomy = matchMedia(wide).matches;
  const closed = (p: HTMLElement): boolean => p.dataset["fold"] !== undefined && !isOpen(p.dataset["fold"]);
  return panes.filter((p) => p.querySelector("[data-pane]") === null && p.closest("[hidden]") === null &&
    (roomy ? !closed(p) : isShown(p) || tabFor(p) !== undefined));
}

function paneOf(element: Element | null | undefined): HTMLElement | undefined {
  return element?.closest<HTMLElement>("[data-split] > [data-pane]") ?? undefined;
}

function currentPane(): HTMLElement | undefined {
  const last = lastPane?.isConnected === true ? lastPane : undefined;
  return paneOf(document.activeElement) ?? last ?? innermost()[0];
}

/** The title of a pane: its label, its heading, or its name. */
function titleOf(pane: HTMLElement): string {
  const by = pane.getAttribute("aria-labelledby");
  const heading = by === null ? pane.querySelector("h1, h2, h3") : document.getElementById(by);
  return pane.getAttribute("aria-label") ?? heading?.textContent?.trim() ?? pane.dataset["pane"] ?? "";
}

/** Sets the classes of the maximized pane and its ancestors. */
function drawFilling(): void {
  const chain = new Set<Element>();
  const pane = filling === undefined ? undefined : paneAt(filling);
  for (let e: Element | null = pane ?? null; e !== null && e !== document.body; e = e.parentElement) {
    if (e === pane || e.matches("[data-pane], [data-split]")) {
      chain.add(e);
    }
  }
  for (const old of document.querySelectorAll(".maximised")) {
    if (!chain.has(old)) {
      old.classList.remove("maximised");
    }
  }
  chain.forEach((e) => e.classList.add("maximised"));
}

function fill(pane: HTMLElement | undefined): void {
  filling = pane === undefined ? undefined : addressOf(pane);
  drawFilling();
  changed();
}

/** Maximizes the focused pane, or restores the others. */
export function toggleMaximised(): void {
  const pane = currentPane();
  if (filling !== undefined) {
    fill(undefined);
    announce("All panes are shown");
  } else if (pane !== undefined) {
    fill(pane);
    const keys = keysOf("pane.maximise")[0];
    const back = keys === undefined ? "" : `; ${keysText(keys)} restores the others`;
    notify(`${titleOf(pane) || "This pane"} fills the page${back}`);
  }
}

/** Makes an element visible that panes or tabs hide, before focusing it or scrolling to it. */
export function showPane(element: Element): void {
  const pane = paneOf(element);
  if (pane === undefined) {
    return;
  }
  if (filling !== undefined && !pane.classList.contains("maximised")) {
    fill(undefined);
  }
  const { fold } = pane.dataset;
  if (fold !== undefined && !isOpen(fold) && matchMedia(wide).matches) {
    setFold(fold, true);
  }
  const found = isShown(pane) ? undefined : tabFor(pane);
  if (found !== undefined) {
    choose(...found);
  }
}

const focusable = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex], [contenteditable="true"]';

function firstFocusable(pane: HTMLElement): HTMLElement | undefined {
  return Array.from(pane.querySelectorAll<HTMLElement>(focusable))
    .find((e) => e.tabIndex >= 0 && !e.matches(":disabled, [data-splitter]") && isShown(e));
}

/** Moves the focus into a pane: to the element focused before, else to the first focusable one. */
export function focusPane(pane: HTMLElement): void {
  if (filling !== undefined && !pane.classList.contains("maximised")) {
    fill(pane); // the next pane is maximized instead
  }
  showPane(pane);
  const before = lastFocus.get(pane);
  const target = before?.isConnected === true && isShown(before) && pane.contains(before) ? before : firstFocusable(pane);
  if (target === undefined) {
    pane.tabIndex = -1;
  }
  (target ?? pane).focus();
}

function cycle(step: 1 | -1): void {
  const panes = innermost();
  const here = paneOf(document.activeElement);
  // From outside, the first or the last visible pane.
  const at = here === undefined ? -1 : panes.indexOf(here);
  const next = at < 0 ? panes[step > 0 ? "find" : "findLast"](isShown) : panes[(at + step + panes.length) % panes.length];
  if (next !== undefined) {
    focusPane(next);
  }
}

function startFilling(): void {
  document.addEventListener("focusin", (event) => {
    const target = event.target;
    const pane = target instanceof HTMLElement ? paneOf(target) : undefined;
    if (pane === undefined || !(target instanceof HTMLElement) || target.matches("[data-splitter]")) {
      return;
    }
    lastPane = pane;
    if (target !== pane) {
      lastFocus.set(pane, target);
    }
  });
  document.addEventListener("pointerdown", (event) => {
    lastPane = paneOf(event.target instanceof Element ? event.target : null) ?? lastPane;
  });
  const many = (): boolean => document.querySelector("[data-split] > [data-pane]") !== null;
  register(
    { id: "pane.next", title: "Next pane", group: "Panes", keys: ["F6", "Ctrl+F6"], anywhere: true, enabled: many, run: () => cycle(1) },
    {
      id: "pane.previous", title: "Previous pane", group: "Panes", keys: ["Shift+F6", "Ctrl+Shift+F6"], anywhere: true, enabled: many,
      run: () => cycle(-1),
    },
    {
      id: "pane.maximise", title: "Maximize this pane, or restore the others", group: "Panes", keys: ["\\"],
      enabled: () => many() && matchMedia(wide).matches, run: toggleMaximised,
    },
    {
      id: "pane.reset", title: "Reset the sizes of all panes", group: "Panes", enabled: () => splits.size > 0,
      run: () => {
        splits.clear();
        save();
        draw();
        changed();
      },
    },
  );
}

// 4. Tabs of narrow windows.

function tabsOf(id: string): HTMLElement[] {
  return Array.from(document.querySelectorAll<HTMLElement>(`[data-tabs-for="${CSS.escape(id)}"] [data-tab]`));
}

/** The tab of a pane, and the id of its tabbed element. */
function tabFor(pane: HTMLElement): [id: string, tab: HTMLElement] | undefined {
  for (const id of tabs.keys()) {
    const tab = tabsOf(id).find((t) => document.getElementById(t.dataset["tab"] ?? "")?.contains(pane));
    if (tab !== undefined) {
      return [id, tab];
    }
  }
  return undefined;
}

function choose(id: string, tab: HTMLElement): void {
  tabs.set(id, tab.dataset["tab"] ?? "");
  save();
  draw();
  describeTabs(id);
  changed();
}

function describeTabs(id: string): void {
  for (const tab of tabsOf(id)) {
    const pane = tab.dataset["tab"] ?? "";
    const on = tabs.get(id) === pane;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", String(on));
    tab.setAttribute("aria-controls", pane);
    const panel = document.getElementById(pane);
    if (matchMedia(wide).matches) {
      panel?.removeAttribute("role"); // a pane beside others
    } else {
      panel?.setAttribute("role", "tabpanel");
    }
    tab.tabIndex = on ? 0 : -1;
  }
}

function startTabs(): void {
  const tabAt = (event: Event): [id: string, tab: HTMLElement] | undefined => {
    const tab = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-tabs-for] [data-tab]") : null;
    const id = tab?.closest<HTMLElement>("[data-tabs-for]")?.dataset["tabsFor"];
    return tab === null || id === undefined ? undefined : [id, tab];
  };
  document.addEventListener("click", (event) => {
    const found = tabAt(event);
    if (found !== undefined) {
      event.preventDefault();
      choose(...found);
    }
  });
  document.addEventListener("keydown", (event) => {
    const found = tabAt(event);
    if (found === undefined || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) {
      return;
    }
    const [id, tab] = found;
    const all = tabsOf(id);
    const at = all.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const next = to === undefined ? undefined : all[(to + all.length) % all.length];
    if (next !== undefined) {
      event.preventDefault();
      choose(id, next);
      next.focus();
    }
  }, true);
}

// 5. Panes that fold away.

function toggles(): NodeListOf<HTMLElement> {
  return document.querySelectorAll<HTMLElement>("[data-fold-toggle]");
}

function describeFolds(): void {
  for (const toggle of toggles()) {
    toggle.setAttribute("aria-pressed", String(isOpen(toggle.dataset["foldToggle"] ?? "")));
  }
}

function setFold(fold: string, open: boolean): void {
  folds.set(fold, open);
  save();
  draw();
  describeFolds();
  changed();
}

/** Opens a folding pane and focuses it, or closes it; the button gets the focus that was inside. */
function toggleFold(fold: string): void {
  const pane = document.querySelector<HTMLElement>(`[data-fold="${CSS.escape(fold)}"]`);
  if (pane === null) {
    return;
  }
  const open = !isOpen(fold);
  const inside = pane.contains(document.activeElement);
  setFold(fold, open);
  if (!open && filling !== undefined && paneAt(filling) === pane) {
    fill(undefined);
  }
  if (open) {
    showPane(pane);
  } else if (inside) {
    Array.from(toggles()).find((t) => t.dataset["foldToggle"] === fold)?.focus();
  }
}

function startFolds(): void {
  document.addEventListener("click", (event) => {
    const toggle = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-fold-toggle]") : null;
    if (toggle !== null) {
      event.preventDefault();
      toggleFold(toggle.dataset["foldToggle"] ?? "");
    }
  });
  const foldOf = (kind: string): string | undefined => document.querySelector<HTMLElement>(`[data-fold="${kind}"], [data-fold="capture-${kind}"]`)?.dataset["fold"];
  register(...([["messages", "Messages"], ["definition", "Definition"]] as const).map(([kind, title]) => ({
    id: `pane.fold.${kind}`, title: `Show or hide: ${title}`, group: "Panes", enabled: () => foldOf(kind) !== undefined && matchMedia(wide).matches,
    run: () => toggleFold(foldOf(kind) ?? ""),
  })));
}

// 6. The current page.

/** Reads the attributes of panes, initially and after parts of the page were replaced. */
function read(): void {
  mins.clear();
  for (const split of document.querySelectorAll<HTMLElement>("[data-split][id]")) {
    const row = isRow(split);
    mins.set(split.id, { row, shares: panesOf(split).map((p, i) => [nameOf(p, i), 1, minOf(p, row)] as const) });
  }
  for (const nav of document.querySelectorAll<HTMLElement>("[data-tabs-for]")) {
    const id = nav.dataset["tabsFor"] ?? "";
    const all = tabsOf(id);
    if (!all.some((t) => t.dataset["tab"] === tabs.get(id))) {
      const first = all.find((t) => t.getAttribute("aria-selected") === "true") ?? all[0];
      tabs.set(id, first?.dataset["tab"] ?? "");
    }
    nav.setAttribute("role", "tablist");
    describeTabs(id);
  }
  draw();
  drawFilling();
  describeFolds();
  changed();
}

/** Starts splitters, maximizing and tabs. */
export function startPanes(): void {
  applyEarly();
  startSplitters();
  startFilling();
  startTabs();
  startFolds();
  document.addEventListener("DOMContentLoaded", read);
  document.addEventListener("wb:morphed", read);
  matchMedia(wide).addEventListener("change", read);
  addEventListener("resize", changed);
}
