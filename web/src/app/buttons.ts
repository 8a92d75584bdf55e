// Buttons and links of the page as commands, for the palette.

import { register, type Command } from "../kit/commands";

const buttons: readonly (readonly [id: string, title: string, group: string, selector: string])[] = [
  ["language", "Keywords of the definition language", "Definition", '[popovertarget="reference"]'],
  ["delete-definition", "Delete the definition …", "Definition", '#definition-pane button[name="action"][value="delete"]'],
  ["form", "Form of the values of the message", "Go to", '[data-segment="form"]'],
  ["values", "Values of the message as JSON", "Go to", '[data-segment="values"]'],
  ["upload", "Upload definitions, code maps or a zip file …", "Library", "#files"],
  ["projects", "All projects, new project …", "Project", 'a[href$="/projects"]'],
  ["theme", "Theme: system, light or dark", "View", "[data-theme-toggle]"],
];

/** Makes the buttons commands that are enabled where the page has the button. */
export function startButtons(): void {
  register(...buttons.map(([id, title, group, selector]): Command => {
    const button = (): HTMLElement | null => document.querySelector<HTMLElement>(`${selector}:not(:disabled)`);
    return { id: `button.${id}`, title, group, enabled: () => button() !== null, run: () => button()?.click() };
  }));
}
