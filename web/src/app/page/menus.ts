// The menus of bytes and fields.

import { copyMenus } from "../../kit/dialogs";
import { load, prefetch } from "../../kit/load";
import type { Anchor } from "../../kit/menu";
import { notify } from "../../kit/notify";
import type { Selection } from "./selection";
import type { ItemsHost } from "./items";

/** The page. */
interface MenusHost extends Omit<ItemsHost, "copyBytes" | "ofField"> {
  readonly selection: Pick<Selection, "links" | "chose" | "pick" | "select" | "subject">;
}

const items = () => import("./items");

/** The menus. What they are about is what is selected when they are asked for: that may change while they are loaded. */
export class Menus {
  private readonly host: MenusHost & ItemsHost;

  constructor(host: MenusHost) {
    this.host = { ...host, copyBytes: (at) => this.copyBytes(at), ofField: (at) => this.ofField(at) };
    prefetch(items);
  }

  /** Where a menu of the selected bytes opens, without a pointer. */
  get place(): Anchor {
    const row = document.activeElement?.closest<HTMLElement>(".tree tr, .layout-table tr");
    const { hex } = this.host.shown;
    return row?.querySelector("td") ?? hex.pointOf(hex.selection.start);
  }

  /** Opens the menu of the selected bytes or field. */
  async ofField(at = this.place): Promise<void> {
    const subject = this.host.selection.subject();
    await (await load(items))?.fieldMenu(this.host, at, subject);
  }

  /** Renames the selected field. */
  async renameField(): Promise<void> {
    const { path } = this.host.selection.subject();
    if (path === "") {
      notify("Select a field first", "warn");
      return;
    }
    const at = this.place;
    (await load(items))?.renameField(this.host, at, path);
  }

  /** Opens the menu of a byte: of the selection if it is inside. */
  async ofByte(byte: number, at: Anchor): Promise<void> {
    const { shown: { hex }, selection } = this.host;
    const { start, end } = hex.selection;
    if (byte < start || byte >= end) {
      hex.select(byte, byte + 1, { reveal: false });
      selection.chose(byte, byte + 1, byte, "click");
    }
    const subject = selection.subject();
    await (await load(items))?.byteMenu(this.host, at, subject);
  }

  /** Opens the menu of a row of the tree or of the layout. */
  async ofRow(row: HTMLElement, at: Anchor): Promise<void> {
    const { selection } = this.host;
    const target = selection.links.ofElement(row);
    selection.pick(target);
    const subject = selection.subject();
    (await load(items))?.rowMenu(this.host, at, row, target, subject);
  }

  /** Opens the menu of the formats of the selected bytes, or without any of all. */
  copyBytes(at = this.place): void {
    const { message: m, hex } = this.host.shown;
    if (m === null) {
      return;
    }
    const { start, end } = hex.selection;
    const whole = end <= start;
    const dir = m.dir === "c2s" || m.dir === "s2c" ? m.dir : "";
    void copyMenus().then((c) => c?.copyBytesMenu(at, whole ? m.data : m.data.subarray(start, end), { offset: whole ? 0 : start, name: m.name, dir, notify }));
  }
}
