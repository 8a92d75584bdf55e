// Dialogs, and the menus of formats to copy, which are loaded on first use.

import { loadAsked, prefetch } from "./load";

const module = () => import("../app/dialogs");
const question = () => import("./dialog");
const copying = () => import("./copy/menus");

prefetch(question);
prefetch(copying);
prefetch(module);

/** Loads the less common dialogs; undefined after a failure, which is reported. */
export function dialogs(): Promise<Awaited<ReturnType<typeof module>> | undefined> {
  return loadAsked(module);
}

/** Loads the menus for copying bytes and values. */
export function copyMenus(): Promise<Awaited<ReturnType<typeof copying>> | undefined> {
  return loadAsked(copying);
}

/** Asks for confirmation; resolves to whether it was given. */
export async function confirmDialog(...asked: Parameters<Awaited<ReturnType<typeof question>>["confirmDialog"]>): Promise<boolean> {
  return await (await loadAsked(question))?.confirmDialog(...asked) ?? false;
}

/** Asks for a line of text; `wrong` returns the mistake in a text, or "". Resolves to undefined on cancel. */
export async function askDialog(...asked: Parameters<Awaited<ReturnType<typeof question>>["askDialog"]>): Promise<string | undefined> {
  return (await loadAsked(question))?.askDialog(...asked);
}
