// Popup menus, which popup.ts opens: it is loaded with the first one.

import { loadAsked, loadedNow, prefetch } from "./load";

const popup = () => import("./popup");

prefetch(popup);

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

/** Opens a menu, closing an open one. Choosing an item closes it, returns the focus and then runs the item. */
export function openMenu(anchor: Anchor, options: MenuOptions): void {
  void loadAsked(popup).then((m) => m?.openMenu(anchor, options));
}

/** Closes an open menu and returns the focus. */
export function closeMenu(): void {
  loadedNow(popup)?.closeMenu();
}
