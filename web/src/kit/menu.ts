// Popup menus, which popup.ts opens: it is loaded with the first one.

import { loadAsked, loadedNow, prefetch } from "./load";
import type { Anchor, MenuOptions } from "./popup";

export type { Anchor, MenuItem, MenuOptions } from "./popup";

const popup = () => import("./popup");

prefetch(popup);

/** Opens a menu, closing an open one. Choosing an item closes it, returns the focus and then runs the item. */
export function openMenu(anchor: Anchor, options: MenuOptions): void {
  void loadAsked(popup).then((m) => m?.openMenu(anchor, options));
}

/** Closes an open menu and returns the focus. */
export function closeMenu(): void {
  loadedNow(popup)?.closeMenu();
}
