// The drawer that compares two frames field by field.

import { make } from "../kit/dom";
import type { Drawer, DrawerHost } from "./drawer";
import { Refresher } from "./drawer";
import type { DiffAnswer, State } from "../api/frames";
import { isGivenUp } from "./socket";
import { counted } from "../kit/frametext";

const mostRows = 2000;

export class DiffDrawer implements Drawer {
  readonly element = make("div", "frames-diff");
  private readonly host: DrawerHost;
  private readonly refresher: Refresher;
  private readonly summary = make("span", "note");
  private readonly all = make("input");
  private readonly box = make("div", "frames-box");
  private a = 0;
  private b = 0;
  private answer: DiffAnswer | undefined;

  constructor(host: DrawerHost) {
    this.host = host;
    this.refresher = new Refresher((signal) => this.load(signal));
    this.all.type = "checkbox";
    this.all.addEventListener("change", () => this.draw());
    const label = make("label", "check");
    label.append(this.all, "Also show equal fields");
    const bar = make("div", "frames-bar");
    bar.append(label, this.summary);
    this.element.append(bar, this.box);
    this.draw();
  }

  /** Compares two frames by number. */
  compare(a: number, b: number): void {
    this.a = a;
    this.b = b;
    this.refresher.now();
  }

  private async load(signal: AbortSignal): Promise<void> {
    try {
      this.answer = await this.host.ask("diff", { a: this.a, b: this.b }, signal);
      this.draw();
    } catch (error) {
      if (!isGivenUp(error)) {
        this.host.failed(error);
      }
    }
  }

  private frameButton(n: number): HTMLButtonElement {
    const button = make("button", "link", `frame ${n}`);
    button.type = "button";
    button.title = "Show it in the list";
    button.addEventListener("click", () => this.host.goTo(n));
    return button;
  }

  private draw(): void {
    if (this.answer === undefined) {
      this.summary.textContent = "";
      this.box.replaceChildren(make("p", "empty", "Select two frames with Ctrl+click, then compare them."));
      return;
    }
    const rows = this.answer.rows ?? [];
    const other = rows.filter((r) => r.same !== true);
    const shown = this.all.checked ? rows : other;
    const note = this.answer.note ?? "";
    this.summary.textContent = `${counted(other.length, "field")} of ${rows.length} differ${note === "" ? "" : ` · ${note}`}`;
    const table = make("table", "data");
    table.setAttribute("aria-label", `Frames ${this.answer.a} and ${this.answer.b}`);
    const head = make("tr");
    const heads = [make("th", "", "Field"), make("th", "", "Type"), make("th"), make("th"), make("th")];
    heads[2]?.append(this.frameButton(this.answer.a));
    heads[3]?.append(make("span", "sr-only", "is"));
    heads[4]?.append(this.frameButton(this.answer.b));
    head.append(...heads);
    const thead = make("thead");
    thead.append(head);
    const body = make("tbody");
    body.append(
      ...shown.slice(0, mostRows).map((r) => {
        const row = make("tr", r.same === true ? "same" : "other");
        row.append(
          make("td", "", r.path), make("td", "ty", r.type ?? ""), make("td", r.a === undefined ? "dim" : "a", r.a ?? "not there"),
          make("td", "sign", r.same === true ? "=" : "≠"), make("td", r.b === undefined ? "dim" : "b", r.b ?? "not there"),
        );
        return row;
      }),
    );
    table.append(thead, body);
    this.box.replaceChildren(table);
    if (shown.length === 0) {
      this.box.append(make("p", "empty", rows.length === 0 ? "No fields to compare." : "All fields are equal."));
    } else if (shown.length > mostRows) {
      this.box.append(make("p", "empty", `The first ${mostRows} fields of ${shown.length}.`));
    }
  }

  changed(_state: State, anew: boolean): void {
    if (anew && this.a > 0) {
      this.refresher.now(); // the definition may have changed
    }
  }

  focus(): void {
    this.all.focus();
  }

  close(): void {
    this.refresher.stop();
  }
}
