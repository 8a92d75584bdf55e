// The commands of the page.

import { register } from "../../kit/commands";
import { notify } from "../../kit/notify";
import { nextNumbers } from "../../kit/numbers";
import { lookOnly } from "../../kit/role";
import type { ShownMessage } from "../../message/shown";
import type { Values } from "../../message/values";
import type { CodeArea } from "../../text/codearea";
import type { DefinitionField } from "../../text/editor/field";
import type { Mistakes } from "../../text/mistakes";
import type { Parts } from "../../text/parts";
import type { Sample } from "../sample";
import type { Actions } from "./actions";
import { field, showPart } from "./controls";
import type { Menus } from "./menus";
import type { Opening } from "./opening";
import type { Selection } from "./selection";
import type { Steps } from "./steps";
import type { PageText } from "./text";

/** The parts of the page. */
interface CommandsHost {
  readonly capture: boolean; // the messages are the frames of a list, which has the keys for them
  readonly actions: Pick<Actions, "press">;
  readonly codeArea: Pick<CodeArea, "toggle">;
  readonly editor: Pick<DefinitionField, "focus" | "nextMistake">;
  readonly menus: Pick<Menus, "copyBytes" | "ofField" | "place" | "renameField">;
  readonly mistakes: Pick<Mistakes, "any" | "toggleList">;
  readonly opening: Pick<Opening, "beginNew">;
  readonly parts: Pick<Parts, "toggleWhole">;
  readonly sample: Pick<Sample, "edit" | "fromClipboard" | "paste">;
  readonly selection: Pick<Selection, "goTo" | "links" | "openInspector" | "pick">;
  readonly shown: Pick<ShownMessage, "bookmarks" | "findBytes" | "hasBytes" | "hex" | "layout" | "message" | "setGrid">;
  readonly steps: Pick<Steps, "undo" | "redo">;
  readonly text: Pick<PageText, "discard" | "edited" | "save">;
  readonly values: Pick<Values, "alternatives" | "changeElement" | "element">;
  mayEdit(): boolean;
  focusFields(): void;
  share(): void; // offers the message as a page
  copyLink(): void;
}

/** Moves the focus to a control, whose text is selected. */
function focus(id: string): void {
  showPart(id);
  const element = field(id);
  element?.focus();
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement) {
    element.select();
  }
}

const byBrowser = (): boolean => false; // its keys make the browser paste, without asking
const onParts = (): boolean => document.activeElement?.closest("#bytes-pane, #fields-pane, #layout-pane") !== null;
const onBytes = (): boolean => document.activeElement?.closest("#bytes-pane") != null;

/** Registers the commands. */
export function registerCommands(host: CommandsHost): void {
  const { actions, editor, menus, opening, sample, selection, shown, steps, text, values } = host;
  register(
    { id: "filter", title: "Filter the messages of the library", group: "Go to", keys: field("frames") === null ? ["/"] : [], run: () => focus("filter") }, // "/" is for frames if the page has some
    ...(host.capture ? [] : [
      { id: "paste", title: "Paste bytes in the place of these", group: "Message", keys: ["Ctrl+V"], here: byBrowser, run: () => void sample.fromClipboard((text) => void sample.paste(text)) },
      { id: "input", title: "Edit the bytes as text", group: "Message", keys: ["p"], run: () => sample.edit() },
    ]),
    { id: "paste-over", title: "Paste over the selected bytes", group: "Message", keys: ["Ctrl+Shift+V"], enabled: () => host.mayEdit(), here: byBrowser, run: () => void sample.fromClipboard((text) => shown.hex.paste(text)) },
    { id: "editor", title: "Definition", group: "Go to", keys: ["d"], run: () => { showPart("definition-pane"); editor.focus(); } },
    { id: "bytes", title: "Bytes", group: "Go to", keys: ["b"], run: () => { showPart("bytes-pane"); shown.hex.focus(); } },
    { id: "fields", title: "Fields", group: "Go to", keys: ["f"], run: () => host.focusFields() },
    { id: "layout", title: "Layout", group: "Go to", keys: ["y"], run: () => { showPart("layout-pane"); shown.layout.focus(); } },
    { id: "layout-table", title: "Layout as a table, or as a diagram", group: "View", keys: ["g t"], enabled: () => shown.layout.views().length > 0, run: () => { showPart("layout-pane"); shown.layout.views().find((view) => view.ariaPressed !== "true")?.click(); shown.layout.focus(); } },
    { id: "whole-text", title: "The whole text of a definition, or one message of a large one", group: "View", enabled: () => field("part") !== null, run: () => host.parts.toggleWhole() },
    { id: "layout-order", title: "Table of the layout in the order of the definition, or of the wire", group: "View", run: () => shown.layout.reorder() },
    { id: "offset", title: "Go to an offset", group: "Go to", keys: ["Ctrl+G"], run: () => selection.goTo() },
    ...(host.capture ? [] : [
      { id: "bookmark", title: "Bookmark the selected bytes", group: "Message", keys: ["m"], enabled: () => shown.hasBytes, here: onBytes, run: () => shown.bookmarks.add() },
      { id: "bookmark-next", title: "Next bookmark", group: "Go to", keys: ["."], enabled: () => shown.hasBytes, here: onBytes, run: () => shown.bookmarks.step(1) },
      { id: "bookmark-previous", title: "Previous bookmark", group: "Go to", keys: [","], enabled: () => shown.hasBytes, here: onBytes, run: () => shown.bookmarks.step(-1) },
    ]),
    { id: "find-bytes", title: "Find in bytes", group: "Go to", keys: ["Ctrl+F"], enabled: () => shown.hasBytes, here: onBytes, run: () => { showPart("bytes-pane"); void shown.findBytes((find) => find.open()); } },
    { id: "find-bytes-next", title: "Find the next in bytes", group: "Go to", keys: ["F3"], anywhere: true, enabled: () => shown.hasBytes, here: onBytes, run: () => void shown.findBytes((find) => find.next(false)) },
    { id: "find-bytes-previous", title: "Find the previous in bytes", group: "Go to", keys: ["Shift+F3"], anywhere: true, enabled: () => shown.hasBytes, here: onBytes, run: () => void shown.findBytes((find) => find.next(true)) },
    { id: "field-before", title: "Previous field", group: "Go to", keys: ["["], run: () => selection.links.step(-1) },
    { id: "field-after", title: "Next field", group: "Go to", keys: ["]"], run: () => selection.links.step(1) },
    { id: "back", title: "Back to the previous selection", group: "Go to", keys: ["Alt+ArrowLeft"], run: () => selection.links.travel(-1) },
    { id: "forth", title: "Forward again", group: "Go to", keys: ["Alt+ArrowRight"], run: () => selection.links.travel(1) },
    { id: "type", title: "Type of the selected bytes …", group: "Definition", keys: ["t"], enabled: () => onParts(), run: () => void menus.ofField() },
    { id: "rename-field", title: "Rename the selected field", group: "Definition", keys: ["F2"], enabled: () => onParts(), run: () => void menus.renameField() },
    { id: "mistakes", title: "List all mistakes of the definition", group: "Definition", keys: ["Shift+F8"], enabled: () => document.querySelector(".strip .problems") !== null, run: () => host.mistakes.toggleList() },
    { id: "save", title: "Save the definition", group: "Definition", keys: ["Ctrl+S"], anywhere: true, run: () => void text.save() },
    { id: "version", title: "Save the text as a new version", group: "Definition", enabled: () => !lookOnly(), run: () => void actions.press("version") },
    { id: "format", title: "Format the definition", group: "Definition", keys: ["Shift+Alt+F"], run: () => void actions.press("format") },
    { id: "code", title: "Code of the definition, beside its text", group: "Definition", keys: ["g c"], run: () => host.codeArea.toggle() },
    { id: "new", title: "New definition", group: "Definition", run: () => void opening.beginNew("").then(() => focus("name")) },
    { id: "discard", title: "Discard unsaved changes", group: "Definition", enabled: () => text.edited, run: () => void text.discard() },
    { id: "svg", title: "Layout as a picture (SVG)", group: "Definition", run: () => void actions.press("svg") },
    { id: "layout-text", title: "Layout as text", group: "Definition", run: () => void actions.press("text") },
    { id: "build", title: "Build a message from scratch", group: "Message", run: () => void actions.press("build") },
    { id: "alternative", title: "Change to another alternative …", group: "Message", enabled: () => shown.message !== null && shown.layout.alternatives, run: () => void values.alternatives(menus.place) },
    { id: "element-insert", title: "Insert an element into the list", group: "Message", enabled: () => values.element !== null, run: () => values.changeElement("insert") },
    { id: "element-copy", title: "Duplicate the element of the list", group: "Message", enabled: () => values.element !== null, run: () => values.changeElement("copy") },
    { id: "element-up", title: "Move the element of the list up", group: "Message", enabled: () => values.element !== null, run: () => values.changeElement("up") },
    { id: "element-down", title: "Move the element of the list down", group: "Message", enabled: () => values.element !== null, run: () => values.changeElement("down") },
    { id: "element-remove", title: "Remove the element of the list", group: "Message", enabled: () => values.element !== null, run: () => values.changeElement("remove") },
    { id: "mistake-next", title: "Next mistake of the definition", group: "Definition", keys: ["F8"], enabled: () => host.mistakes.any, run: () => { showPart("definition-pane"); editor.nextMistake(); } },
    { id: "keep", title: "Keep the message as a sample", group: "Message", enabled: () => !lookOnly() && shown.message !== null, run: () => { const menu = field<HTMLDetailsElement>("samples"); if (menu !== null) { menu.open = true; field("about")?.focus(); } } },
    { id: "repair", title: "Repair lengths, counts and offsets", group: "Message", enabled: () => shown.message !== null, run: () => void actions.press("repair") },
    { id: "original", title: "Back to the pasted bytes", group: "Message", run: () => void actions.press("original") },
    { id: "undo", title: "Undo a change of bytes", group: "Message", keys: ["Ctrl+Z"], run: () => steps.undo() },
    { id: "redo", title: "Redo a change of bytes", group: "Message", keys: ["Ctrl+Y", "Ctrl+Shift+Z"], run: () => steps.redo() },
    { id: "edit-bytes", title: "Edit bytes", group: "Message", enabled: () => shown.message !== null, run: () => { shown.hex.focus(); shown.hex.setEditing(!shown.hex.editing); } },
    { id: "copy", title: "Copy bytes as …", group: "Message", keys: ["c"], enabled: () => shown.message !== null, run: () => menus.copyBytes() },
    { id: "share", title: "Share the message as a page, without secrets …", group: "Message", enabled: () => !host.capture && shown.message !== null && !lookOnly("commenter"), run: () => host.share() },
    { id: "link", title: "Copy a link to this view", group: "Message", keys: ["l"], run: () => host.copyLink() },
    { id: "clear", title: "Clear the selection", group: "Go to", keys: ["Escape"], run: () => selection.pick(null) },
    { id: "numbers", title: "Offsets and numbers in hex or decimal", group: "View", keys: ["#"], run: () => notify(`Numbers: ${nextNumbers()}`) },
    { id: "upper", title: "Bytes in upper or lower case", group: "View", run: () => shown.setGrid({ upper: !shown.hex.settings.upper }) },
    { id: "byte-order", title: "Byte order of the inspector: little endian, big endian, both", group: "View", run: () => (document.querySelector<HTMLElement>("[data-segments=order] [aria-pressed=true] + button") ?? document.querySelector<HTMLElement>("[data-segments=order] button"))?.click() },
    { id: "inspector", title: "Inspector", group: "Go to", keys: ["g i"], run: () => selection.openInspector() },
    { id: "columns", title: "Bytes per row: 8, 16, 32, automatic", group: "View", run: () => shown.setGrid({ columns: ({ 8: 16, 16: 32, 32: 0, 0: 8 } as const)[shown.hex.settings.columns] }) },
  );
}
