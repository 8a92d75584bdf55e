// The values of the message, changed and copied from the rows of the tree.

import type { PageValueAnswer } from "../api/api";
import { copyMenus } from "../kit/dialogs";
import { type Anchor, openMenu } from "../kit/menu";
import { notify } from "../kit/notify";
import type { Action, Answer } from "./socket";
import { editValue } from "./tree";

export type ValueAnswer = PageValueAnswer["value"];

/** The page. */
interface ValuesHost {
  act(action: Action): Promise<Answer>;
  press(action: string, more: Partial<Action>): Promise<Answer>; // changes the message, as a step
  isShown(): boolean; // a message
  redraw(): void; // the rows
}

/** The values. */
export class Values {
  private readonly host: ValuesHost;

  constructor(host: ValuesHost) {
    this.host = host;
  }

  /** The value of a row; undefined after reporting why there is none. */
  async of(row: HTMLElement): Promise<ValueAnswer | undefined> {
    const { role, path = "" } = row.dataset;
    const answer = await this.host.act({ action: `value:${role === undefined ? "" : bitOf(row)}`, path, role: role ?? "value" });
    if (answer.value === undefined || (answer.value.failed ?? "") !== "") {
      notify(answer.value?.failed ?? answer.failed ?? "No such value", "warn");
      return undefined;
    }
    return answer.value;
  }

  /** Edits the value of a row in its place. */
  async edit(row: HTMLElement): Promise<void> {
    const { role } = row.dataset;
    if (role === undefined || !this.host.isShown()) {
      return;
    }
    const value = await this.of(row);
    if (value === undefined || !row.isConnected) {
      return;
    }
    const commit = async (typed: string): Promise<string> => {
      if (typed === value.typed) {
        return "";
      }
      const exactly = document.documentElement.dataset["lengths"] === "keep";
      const answer = await this.host.press(`set:${bitOf(row)}`, { path: value.path, role, typed, exactly });
      return answer.failed ?? "";
    };
    editValue(row, value, commit, () => this.host.redraw());
  }

  /** Opens the menu of the formats of a value. */
  async copy(row: HTMLElement, at: Anchor): Promise<void> {
    const value = await this.of(row);
    if (value !== undefined) {
      const name = value.path.slice(Math.max(value.path.lastIndexOf("."), value.path.lastIndexOf("[") - 1) + 1);
      (await copyMenus())?.copyValueMenu(at, { path: value.path, name: name || value.message, message: value.message, value: value.value, type: value.type, role: value.role }, { notify });
    }
  }

  /** Offers the alternatives of the message. The bytes are made anew, with defaults for fields that only the chosen one has. */
  async alternatives(at: Anchor): Promise<void> {
    const { form } = await this.host.act({ action: "form" });
    const cases = form?.form.cases ?? [];
    if (form === undefined || form.made || cases.length === 0) {
      notify(form?.failed ?? "The message has no alternatives", "warn");
      return;
    }
    openMenu(at, {
      label: "Alternative",
      items: cases.map(({ title, fields }, i) => ({
        title, note: i === form.case ? "now" : fields.map(({ name }) => name).join(", "), disabled: i === form.case, why: "the message has this alternative",
        run: () => this.change(`case:${i}`, ""),
      })),
    });
  }

  /** The row of the current element of a list in the tree, or null. */
  get element(): HTMLElement | null {
    return document.querySelector<HTMLElement>('.tree tr[data-element][tabindex="0"]:not([data-run])');
  }

  /** Inserts, duplicates, moves or removes an element of a list: that of a row, by default the current one. */
  changeElement(action: "insert" | "copy" | "up" | "down" | "remove", row = this.element): void {
    if (row !== null) {
      this.change(action, row.dataset["path"] ?? "");
    }
  }

  /** Adds an element to the list with a path, or before an element. */
  insert(path: string): void {
    this.change("insert", path);
  }

  private change(action: string, path: string): void {
    void this.changed(action, path);
  }

  /** Resolves to whether it was possible. */
  private async changed(action: string, path: string): Promise<boolean> {
    const { failed = "" } = await this.host.press(action, { path });
    if (failed !== "") {
      notify(failed, "warn");
    }
    return failed === "";
  }

  /** Exchanges an element with the one before or after it; the focus goes with it. */
  async shift(row: HTMLElement, by: -1 | 1): Promise<void> {
    const path = row.dataset["path"] ?? "";
    if (await this.changed(by < 0 ? "up" : "down", path)) {
      document.querySelector<HTMLElement>(`.tree tr[data-path="${CSS.escape(besides(path, by))}"][data-element]`)?.focus();
    }
  }
}

/** The first bit of a row. */
function bitOf(row: HTMLElement): string {
  const [at = ""] = (row.dataset["range"] ?? "").split(":");
  return at;
}

/** The path of the element after another one, or before it. */
export function besides(path: string, by: -1 | 1): string {
  return path.replace(/\[(\d+)\]$/, (_, n: string) => `[${Number(n) + by}]`);
}
