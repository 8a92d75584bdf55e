// Parts of the page that stand for parts of the message or the definition: pointing at one shows it in all panes, and a press selects it.

import type { ShownMessage } from "../../message/shown";
import type { Socket } from "../../message/socket";
import { startTree } from "../../message/tree";
import type { Values } from "../../message/values";
import type { DefinitionField } from "../../text/editor/field";
import { linkedElement } from "../link";
import type { Menus } from "./menus";
import type { Opening } from "./opening";
import type { Selection } from "./selection";

/** The page. */
interface PointingHost {
  readonly selection: Pick<Selection, "links" | "pick">;
  readonly shown: Pick<ShownMessage, "tree" | "layout">;
  readonly editor: Pick<DefinitionField, "select" | "focus">;
  readonly socket: Pick<Socket, "state">;
  readonly opening: Pick<Opening, "openAt">;
  readonly menus: Pick<Menus, "ofRow">;
  readonly values: Pick<Values, "edit" | "insert" | "changeElement" | "shift">;
}

const ownPanes = "#hex,.editor-host"; // they report themselves

/** Follows the pointer, the focus and presses. */
export function followPointer(host: PointingHost): void {
  const { selection, editor, values } = host;
  const { links } = selection;
  document.addEventListener("pointerover", (event) => {
    const element = linkedElement(event.target);
    if (element?.closest(ownPanes) != null) {
      return;
    }
    if (element !== null) {
      links.point(links.ofElement(element));
    } else if (!(event.target instanceof Element && event.target.closest(ownPanes) !== null)) {
      links.point(null);
    }
  });
  document.documentElement.addEventListener("pointerleave", () => links.point(null));
  document.addEventListener("focusin", (event) => {
    const element = linkedElement(event.target);
    if (element !== null && element.matches("tr[tabindex]")) {
      selection.pick(links.ofElement(element));
    }
  });
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) {
      return;
    }
    const link = event.target.closest<HTMLAnchorElement>(".rail a[href],.fits a");
    if (link !== null && host.socket.state === "open" && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      if (host.opening.openAt(link.href)) {
        event.preventDefault();
      }
      return;
    }
    const problem = event.target.closest<HTMLElement>(".problems li[data-line]");
    const element = linkedElement(event.target);
    if (problem !== null) {
      editor.select(Number(problem.dataset["line"]));
      editor.focus();
    } else if (element !== null && element.closest(ownPanes) === null && !element.matches(".tree tr, .tree tr *")) {
      selection.pick(links.ofElement(element));
    } else if (element?.matches(".tree tr") === true) {
      element.focus({ preventScroll: true });
    }
  });
  startTree(host.shown.tree, host.shown.layout.list, {
    edit: (row) => void values.edit(row),
    menu: (row, at) => void host.menus.ofRow(row, at),
    insert: (path) => values.insert(path),
    remove: (row) => values.changeElement("remove", row),
    copy: (row) => values.changeElement("copy", row),
    shift: (row, by) => void values.shift(row, by),
  });
}
