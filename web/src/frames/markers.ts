// The drawer of markers: moments marked by users, and the messages and fields related to the selected one.
//
//   .frames-markers > .frames-bar, .marker-panes > .frames-box (the markers), .frames-box.related (the related messages and fields)

import { button, make } from "../kit/dom";
import { type Drawer, type DrawerHost, type Related, Refresher } from "./drawer";
import { quote } from "./filters";
import { askText } from "../kit/notebox";
import type { Marker, Noted, State } from "../api/frames";
import { FramesError } from "./socket";
import { count, counted, nowhere } from "../kit/frametext";

const mostRelated = 12; // of types, and of fields

function table(label: string, heads: readonly (readonly [string, string])[], body: HTMLElement): HTMLTableElement {
  const element = make("table", "data");
  element.setAttribute("aria-label", label);
  const head = make("tr");
  for (const [title, className] of heads) {
    if (title === "") {
      head.append(make("td")); // a column of buttons
      continue;
    }
    const cell = make("th", className, title);
    cell.scope = "col";
    head.append(cell);
  }
  const thead = make("thead");
  thead.append(head);
  element.append(thead, body);
  return element;
}

function link(text: string, title: string, run: () => void): HTMLButtonElement {
  const element = button(text, run, "", "link");
  element.title = title;
  return element;
}

function called(m: Marker): string {
  return m.text === "" ? "marker" : m.text;
}

export class MarkersDrawer implements Drawer {
  readonly element = make("div", "frames-markers");
  private readonly host: DrawerHost;
  private readonly summary = make("span", "note");
  private readonly body = make("tbody");
  private readonly lostBody = make("tbody");
  private readonly lost = table("Marks and notes of frames that are not in this list", [["Noted", ""], ["Frame", ""], ["", ""]], this.lostBody);
  private lostFrom: readonly Noted[] | undefined;
  private readonly side = make("div", "frames-box related");
  private readonly refresher: Refresher;
  private shown: readonly Marker[] | undefined;
  private chosen: Marker | undefined;
  private value = ""; // searched instead of the marker's
  private drawn = "";

  constructor(host: DrawerHost) {
    this.host = host;
    const bar = make("div", "frames-bar");
    const add = button("Add …", () => this.add(add), "Set a marker: now, or before the selected frame of a capture");
    add.hidden = host.markers?.may !== true;
    bar.append(this.summary, add);
    const box = make("div", "frames-box");
    box.append(table("Markers", [["Frame", "num"], ["Marker", ""], ["Value", ""], ["", ""], ...(host.markers?.may === true ? [["", ""] as const] : [])], this.body));
    const panes = make("div", "marker-panes");
    box.append(this.lost);
    panes.append(box, this.side);
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.element.append(bar, panes);
    this.refresher = new Refresher((signal) => this.load(signal));
    this.draw();
  }

  private add(anchor: HTMLElement): void {
    const { state, row, markers } = this.host;
    const n = state.live ? state.total + 1 : (row?.n ?? 0);
    if (n === 0) {
      this.host.failed(new FramesError("failed", "select a frame first: the marker goes before it"));
      return;
    }
    const label = `Marker before frame ${count(n)}. Description. A value finds its field: max HP = 48211`;
    askText(anchor, { label, text: "", button: "Set", most: 250 }, (text) => void markers?.add(n, text, state.live ? undefined : row?.id));
  }

  private draw(): void {
    const { markers } = this.host.state;
    this.shown = markers;
    const held = this.body.contains(document.activeElement) ? document.activeElement?.closest("tr")?.querySelector<HTMLElement>("[data-marker]") : undefined;
    const at = held?.dataset["marker"];
    this.chosen = markers.find((m) => m.at === this.chosen?.at) ?? markers.at(-1);
    this.summary.textContent = markers.length === 0 ? "No markers yet. ` sets one during live traffic" : counted(markers.length, "marker");
    this.body.replaceChildren(...markers.map((m, i) => {
      const row = make("tr", m === this.chosen ? "chosen" : "");
      const frame = make("td", "num");
      frame.append(link(count(m.n), "Show the frame after it", () => this.host.goTo(m.n)));
      const text = make("td");
      const choose = link(called(m), `Related messages and fields; set at ${new Date(m.at).toLocaleTimeString()}`, () => this.choose(m));
      choose.dataset["marker"] = String(i);
      choose.setAttribute("aria-pressed", String(m === this.chosen));
      text.append(choose);
      const since = make("td");
      since.append(link("since then", "Show only the frames between this marker and the next", () => this.host.filter(`marker == ${quote(m.text)}`)));
      row.append(frame, text, make("td", "", m.value ?? ""), since);
      if (this.host.markers?.may === true) {
        const change = make("td", "marker-change");
        const rename = button("✎", () => this.rename(m, rename), `Rename ${called(m)} (F2)`);
        const remove = button("×", () => void this.host.markers?.remove(m), `Delete ${called(m)} (Del)`);
        change.append(rename, remove);
        row.append(change);
      }
      return row;
    }));
    if (at !== undefined) { // the row was removed or redrawn
      const i = Math.min(Number(at), markers.length - 1);
      (this.body.querySelector<HTMLElement>(`[data-marker="${i}"]`) ?? this.element.querySelector<HTMLElement>("button:not([hidden])"))?.focus();
    }
    this.drawLost();
    this.refresher.now();
  }

  /** Draws marks and notes of frames that the capture does not have under the current definitions, keys and framing. */
  private drawLost(): void {
    const { noted, total } = this.host.state;
    this.lostFrom = noted;
    const lost = nowhere(noted, total);
    this.lost.hidden = lost.length === 0;
    this.lostBody.replaceChildren(...lost.map((x) => {
      const row = make("tr");
      const last = make("td", "marker-change");
      if (this.host.markers?.may === true) {
        last.append(button("×", () => void this.host.markers?.forget(x), "Delete it"));
      }
      row.append(make("td", "", x.note ?? "a mark"), make("td", "", x.id ?? count(x.n ?? 0)), last);
      return row;
    }));
  }

  private rename(m: Marker, anchor: HTMLElement): void {
    askText(anchor, { label: "Description. A value finds its field: max HP = 48211", text: m.text, button: "Rename", most: 250 }, (text) => {
      if (text !== m.text) {
        void this.host.markers?.rename(m, text);
      }
    });
  }

  /** Keys of the markers: up, down, F2 and Del. */
  private key(event: KeyboardEvent): void {
    const at = event.target instanceof Element ? event.target.closest("tr")?.querySelector<HTMLElement>("[data-marker]") : undefined;
    const i = Number(at?.dataset["marker"] ?? -1);
    const { markers } = this.host.state;
    const m = markers[i];
    if (at === undefined || at === null || m === undefined || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) {
      return;
    }
    const to = event.key === "ArrowDown" ? i + 1 : event.key === "ArrowUp" ? i - 1 : event.key === "Home" ? 0 : event.key === "End" ? markers.length - 1 : undefined;
    const may = this.host.markers?.may === true;
    if (to !== undefined) {
      this.body.querySelector<HTMLElement>(`[data-marker="${Math.max(0, Math.min(to, markers.length - 1))}"]`)?.focus();
    } else if (event.key === "F2" && may) {
      this.rename(m, at);
    } else if (event.key === "Delete" && may) {
      void this.host.markers?.remove(m);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private choose(m: Marker): void {
    this.chosen = m;
    this.value = "";
    this.host.goTo(m.n);
    this.draw();
  }

  private async load(signal: AbortSignal): Promise<void> {
    const m = this.chosen;
    const { markers, state } = this.host;
    if (m === undefined || markers === undefined) {
      this.side.replaceChildren();
      this.drawn = "";
      return;
    }
    if (m.n > state.total) {
      this.tell(m, undefined, "No frames since.");
      return;
    }
    try {
      const answer = await markers.related(m.id ?? m.n, this.value, signal);
      if (!signal.aborted && m === this.chosen) {
        this.tell(m, answer, "");
      }
    } catch (error) {
      if (!signal.aborted) {
        this.host.failed(error);
      }
    }
  }

  private tell(m: Marker, r: Related | undefined, why: string): void {
    const key = JSON.stringify([m.n, m.at, this.value, r, why]);
    if (key === this.drawn) {
      return; // keep the focus
    }
    this.drawn = key;
    const value = make("input");
    value.type = "text";
    value.maxLength = 100;
    value.value = this.value === "" ? (m.value ?? "") : this.value;
    value.placeholder = "a number or text";
    value.addEventListener("change", () => {
      this.value = value.value.trim();
      this.refresher.now();
    });
    const label = make("label", "note", "Value at that time ");
    label.append(value);
    const held = this.side.contains(document.activeElement);
    const parts: HTMLElement[] = [label];
    if (r === undefined) {
      parts.push(make("p", "hint", why));
    } else {
      const wanted = r.value ?? "";
      if (wanted !== "") {
        const fields = make("tbody");
        fields.append(...r.fields.slice(0, mostRelated).map((f) => {
          const row = make("tr");
          const name = make("td");
          name.append(link(`${f.name === "" ? f.type : f.name} ${f.path}`, `Filter: ${f.filter}`, () => this.host.filter(f.filter)));
          const first = make("td", "num");
          first.append(link(count(f.first), "Show the first frame with this value", () => this.host.goTo(f.first)));
          row.append(name, make("td", "num", count(f.here)), make("td", "num", count(f.else)), first);
          return row;
        }));
        parts.push(r.fields.length === 0 ? make("p", "hint", `No field has ${wanted} within seconds of the marker.`) : table(`Fields with ${wanted}`, [[`Has ${wanted}`, ""], ["Near", "num"], ["Elsewhere", "num"], ["First", "num"]], fields));
      }
      const types = make("tbody");
      types.append(...r.types.slice(0, mostRelated).map((t) => {
        const row = make("tr");
        const name = make("td");
        name.append(link(t.name === "" ? t.type : t.name, `Filter: ${t.type}`, () => this.host.filter(t.type)));
        row.append(name, make("td", "num", count(t.here)), make("td", "num", count(t.all)), make("td", "num", t.factor === 0 ? "only here" : `${t.factor}×`));
        return row;
      }));
      parts.push(r.types.length === 0 ? make("p", "hint", "No message is more frequent here than elsewhere.") : table("Messages near the marker", [["Near the marker", ""], ["Near", "num"], ["Total", "num"], ["More often", "num"]], types));
    }
    this.side.replaceChildren(...parts);
    if (held) {
      this.side.querySelector<HTMLElement>("input")?.focus();
    }
  }

  changed(state: State, anew: boolean): void {
    const m = this.chosen;
    if (state.noted !== this.lostFrom) {
      this.drawLost();
    }
    if (state.markers !== this.shown) {
      this.draw();
    } else if (m !== undefined && (anew || (state.live && Date.now() - Date.parse(m.at) < 10_000) || this.drawn.includes("No frames"))) {
      this.refresher.changed(state, anew); // later frames count, too
    }
  }

  focus(): void {
    (this.body.querySelector<HTMLElement>("[aria-pressed=true]") ?? this.element.querySelector<HTMLElement>("button"))?.focus();
  }

  close(): void {
    this.refresher.stop();
  }
}
