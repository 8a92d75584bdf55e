// Popup menus: items beside a button or at the pointer, with a preview of the focused one.
//
// A menu is in the top layer, so that panes do not clip it, and inside a modal dialog if one is open, because everything else is inert.

import { above, make } from "./dom";

const edge = 8; // pixels kept free at the edges of the window
const gap = 4; // pixels between the anchor and the menu
const leastHeight = 200; // with less space a menu covers its anchor
const previewLines = 6;
const previewColumns = 76; // a line of a dump, and the longest line of an array
const typingMillis = 700; // letters typed faster form a word

/** An item of a menu. */
export interface MenuItem {
  title: string;
  /** Heading; consecutive items with the same heading form a group. */
  group?: string;
  /** The shortcut to display. */
  hint?: string;
  /** Text beside the title, such as a value; truncated if it is long. */
  note?: string;
  /** The preview; called on first focus. */
  preview?(): string;
  run(): void;
  disabled?: boolean;
  /** Why it is disabled. */
  why?: string;
}

/** The contents of a menu. */
export interface MenuOptions {
  /** Accessible name. */
  label: string;
  items: readonly MenuItem[];
}

/** Where a menu opens: beside an element or at a point of the window. */
export type Anchor = HTMLElement | { x: number; y: number };

interface Open {
  root: HTMLElement;
  close(refocus: boolean): void;
}

let current: Open | undefined;
let justClosed: HTMLElement | undefined; // the button whose press closed its menu: the click must not open it again

/** Opens a menu, closing an open one. Choosing an item closes it, returns the focus and then runs the item. */
export function openMenu(anchor: Anchor, options: MenuOptions): void {
  const again = anchor === justClosed;
  justClosed = undefined;
  current?.close(true);
  if (again || options.items.length === 0) {
    return;
  }
  current = open(anchor, options);
}

/** Closes an open menu and returns the focus. */
export function closeMenu(): void {
  current?.close(true);
}

/** The first lines of a text, truncated to a width. */
export function firstLines(text: string, lines = previewLines, columns = previewColumns): string[] {
  const out: string[] = [];
  for (let at = 0; at < text.length; ) {
    if (out.length === lines) {
      out.push("…");
      break;
    }
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    const letters = [...text.slice(at, Math.min(end, at + 2 * columns + 2)).replace(/\r$/, "")];
    out.push(letters.length > columns ? `${letters.slice(0, columns - 1).join("")}…` : letters.join(""));
    at = end + 1;
  }
  return out;
}

function open(anchor: Anchor, options: MenuOptions): Open {
  const before = document.activeElement;
  const from = anchor instanceof HTMLElement ? anchor : before;
  const opener = before instanceof HTMLElement && before !== document.body ? before : from instanceof HTMLElement ? from : undefined;

  const root = make("div", "pop");
  root.popover = "manual";
  const head = make("div", "pop-head", options.label);
  head.setAttribute("aria-hidden", "true");
  const menu = make("div", "pop-menu");
  menu.setAttribute("role", "menu");
  menu.setAttribute("aria-label", options.label);
  const box = make("div", "pop-box");
  box.append(head, menu);
  root.append(box);
  const preview = options.items.some((item) => item.preview !== undefined) ? make("div", "pop-preview") : undefined;
  if (preview !== undefined) {
    preview.setAttribute("aria-hidden", "true"); // long texts of digits are of no use to screen readers
    root.append(preview);
  }

  const rows = new Map<HTMLElement, MenuItem>();
  const texts = new Map<MenuItem, string[]>();
  let into = menu;
  let heading: string | undefined;
  for (const item of options.items) {
    if (item.group !== heading) {
      heading = item.group;
      into = make("div", "pop-group");
      if (heading !== undefined) {
        into.setAttribute("role", "group");
        into.setAttribute("aria-label", heading);
        const title = make("div", "pop-title", heading);
        title.setAttribute("aria-hidden", "true");
        into.append(title);
      }
      menu.append(into);
    }
    const row = make("div", "pop-item", "");
    row.setAttribute("role", "menuitem");
    row.tabIndex = -1;
    if (item.disabled === true) {
      row.setAttribute("aria-disabled", "true");
    }
    if (item.disabled === true && item.why !== undefined) {
      row.title = item.why;
    }
    row.append(make("span", "pop-text", item.title));
    if (item.note !== undefined && item.note !== "") {
      const note = make("span", "pop-note", item.note);
      note.title = item.note;
      row.append(note);
    }
    if (item.hint !== undefined) {
      row.append(make("kbd", "pop-hint", item.hint));
    }
    into.append(row);
    rows.set(row, item);
  }
  const all = [...rows.keys()];

  const show = (item: MenuItem): void => {
    if (preview === undefined) {
      return;
    }
    let lines = texts.get(item);
    if (lines === undefined) {
      lines = item.disabled === true || item.preview === undefined ? [] : firstLines(item.preview());
      texts.set(item, lines);
    }
    preview.replaceChildren(...lines.map((line) => make("div", "pop-line", line === "" ? " " : line)));
  };
  const focus = (row: HTMLElement | undefined, preventScroll = false): void => {
    row?.focus({ preventScroll });
  };
  const listening = new AbortController();
  const { signal } = listening;
  const expands = anchor instanceof HTMLElement && anchor.matches("button, [role=button]");
  const close = (refocus: boolean): void => {
    if (signal.aborted) {
      return;
    }
    listening.abort();
    current = undefined;
    if (expands) {
      anchor.removeAttribute("aria-expanded");
    }
    root.remove();
    if (refocus) {
      // A pane may have been redrawn meanwhile.
      const back = opener?.isConnected === false && opener.id !== "" ? document.getElementById(opener.id) : opener;
      back?.focus({ preventScroll: true });
    }
  };
  const choose = (row: HTMLElement): void => {
    const item = rows.get(row);
    if (item !== undefined && item.disabled !== true) {
      close(true);
      item.run();
    }
  };
  const rowOf = (event: Event): HTMLElement | undefined =>
    (event.target instanceof Element ? event.target.closest<HTMLElement>(".pop-item") : null) ?? undefined;

  menu.addEventListener("focusin", (event) => {
    const item = rows.get(rowOf(event) ?? menu);
    if (item !== undefined) {
      show(item);
    }
  });
  // Not pointerenter: a list scrolling under a resting pointer must keep the focus set by keys.
  menu.addEventListener("pointermove", (event) => {
    const row = rowOf(event);
    if (event.pointerType !== "touch" && row !== undefined && row !== document.activeElement) {
      focus(row, true);
    }
  });
  menu.addEventListener("click", (event) => {
    const row = rowOf(event);
    if (row !== undefined) {
      choose(row);
    }
  });
  root.addEventListener("contextmenu", (event) => event.preventDefault());
  root.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !root.contains(event.relatedTarget)) {
      close(false);
    }
  });

  let typed = "";
  let typedAt = 0;
  const jump = (letter: string, now: number): void => {
    typed = now - typedAt < typingMillis ? typed + letter : letter;
    typedAt = now;
    // Repeating a letter moves through all titles that start with it.
    const word = [...typed].every((c) => c === typed[0]) ? (typed[0] ?? "") : typed;
    const at = all.indexOf(document.activeElement as HTMLElement);
    const first = word.length === 1 ? at + 1 : Math.max(at, 0);
    const order = [...all.slice(first), ...all.slice(0, first)];
    focus(order.find((row) => (rows.get(row)?.title ?? "").toLowerCase().startsWith(word)));
  };
  root.addEventListener("keydown", (event) => {
    if (event.isComposing) {
      return;
    }
    const at = all.indexOf(document.activeElement as HTMLElement);
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    switch (plain ? event.key : "") {
      case "ArrowDown":
        focus(all[(at + 1) % all.length]);
        break;
      case "ArrowUp":
        focus(all[(at <= 0 ? all.length : at) - 1]);
        break;
      case "Home":
      case "PageUp":
        focus(all[0]);
        break;
      case "End":
      case "PageDown":
        focus(all.at(-1));
        break;
      case "Escape":
        close(true);
        break;
      case "Tab":
        close(true);
        return; // the browser continues from there
      case "Enter":
        if (all[at] !== undefined && !event.repeat) {
          choose(all[at]);
        }
        break;
      case " ":
        if (performance.now() - typedAt < typingMillis && typed !== "") {
          jump(" ", performance.now());
        } else if (all[at] !== undefined && !event.repeat) {
          choose(all[at]);
        }
        break;
      default:
        if (!plain || [...event.key].length !== 1) {
          return;
        }
        jump(event.key.toLowerCase(), performance.now());
    }
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener(
    "pointerdown",
    (event) => {
      if (event.target instanceof Node && root.contains(event.target)) {
        return;
      }
      if (anchor instanceof HTMLElement && event.target instanceof Node && anchor.contains(event.target) && event.button === 0) {
        justClosed = anchor;
        // A press that ends elsewhere, or opens nothing, must not suppress a later one.
        addEventListener("click", () => setTimeout(() => (justClosed = undefined)), { once: true, capture: true });
        addEventListener("pointerdown", () => (justClosed = undefined), { once: true, capture: true });
      }
      close(true);
    },
    { capture: true, signal },
  );
  const placed = (): void => place(root, box, menu, preview, anchor);
  addEventListener("resize", placed, { signal });
  document.addEventListener(
    "scroll",
    (event) => {
      if (!(event.target instanceof Node && root.contains(event.target))) {
        placed();
      }
    },
    { capture: true, passive: true, signal },
  );

  if (expands) {
    anchor.setAttribute("aria-expanded", "true");
  }
  above().append(root);
  root.showPopover();
  placed();
  focus(all.find((row) => rows.get(row)?.disabled !== true) ?? all[0], true);
  return { root, close };
}

/** Places a menu below or above its anchor, where there is more space, with the preview beside it, or below in a narrow window. */
function place(root: HTMLElement, box: HTMLElement, menu: HTMLElement, preview: HTMLElement | undefined, anchor: Anchor): void {
  const width = document.documentElement.clientWidth;
  const height = innerHeight;
  let at: { left: number; right: number; top: number; bottom: number };
  if (!(anchor instanceof HTMLElement)) {
    at = { left: anchor.x, right: anchor.x, top: anchor.y, bottom: anchor.y };
  } else if (anchor.isConnected) {
    at = anchor.getBoundingClientRect();
  } else {
    return; // redrawn: the menu stays
  }
  const kept = menu.scrollTop;
  root.classList.remove("below", "flip");
  root.style.setProperty("--pop-height", "none");
  root.style.setProperty("--pop-x", "0px");
  root.style.setProperty("--pop-y", "0px");

  const beside = preview?.offsetWidth ?? 0; // 0: style sheets hide it on touch screens
  const below = beside > 0 && box.offsetWidth + gap + beside > width - 2 * edge;
  root.classList.toggle("below", below);
  const under = below ? (preview?.offsetHeight ?? 0) + gap : 0;

  const down = height - edge - at.bottom - gap;
  const up = at.top - gap - edge;
  const need = root.offsetHeight;
  const most = Math.max(down, up);
  const covers = need > most && most - under < leastHeight;
  const above = !covers && need > down && up > down;
  const room = covers ? height - 2 * edge : above ? up : down;
  root.style.setProperty("--pop-height", `${Math.floor(Math.max(room - under, 0))}px`);

  const total = root.offsetWidth;
  let x = at.left;
  if (x + total > width - edge) {
    x = Math.max(edge, Math.min(at.right, width - edge) - total);
    root.classList.toggle("flip", beside > 0 && !below);
  }
  const used = root.offsetHeight;
  const y = above ? at.top - gap - used : covers ? Math.min(at.bottom + gap, height - edge - used) : at.bottom + gap;
  root.style.setProperty("--pop-x", `${Math.max(x, edge)}px`);
  root.style.setProperty("--pop-y", `${Math.max(y, edge)}px`);
  root.classList.toggle("above", above);
  menu.scrollTop = kept;
}
