// The drawer of the timeline: frames over time, by direction, and those with a problem. A selection becomes a filter, a click goes there.

import uPlot from "uplot";
import { button, make } from "../kit/dom";
import { fit, labelSize, lineColors, Palette, timeAxis } from "./chart";
import { type Drawer, type DrawerHost, Refresher } from "./drawer";
import { betweenTimes, timeLiteral } from "./filters";
import type { State, TimelineAnswer } from "../api/frames";
import { isGivenUp } from "./socket";
import { keep, recall, recallList } from "../kit/store";
import { count, counted, dayAndClock, seconds, span } from "../kit/frametext";

const mostBuckets = 600;
const barPx = 3; // approximate width of a bucket
const timeChip = /^time >= \d+\.\d+ && time < \d+\.\d+$/;

/**
 * The data of the chart: the start of each bucket in seconds since the start, all frames, those from the client, those with a problem, and
 * those of each line.
 */
export function chartData(a: TimelineAnswer, start: number, unit: Unit = "frames"): uPlot.AlignedData {
  const ofBytes = unit === "bytes";
  const share = unit === "frames" ? 1 : 1e6 / a.step;
  const c2s = (ofBytes ? a.c2s_bytes : a.c2s) ?? [];
  const s2c = (ofBytes ? a.s2c_bytes : a.s2c) ?? [];
  const bad = a.bad ?? [];
  const n = Math.max(c2s.length, s2c.length, bad.length);
  const x = Array.from({ length: n }, (_, i) => (a.from - start + i * a.step) / 1e6);
  const lines = (a.lines ?? []).map((line) => x.map((_, i) => ((ofBytes ? line.bytes : line.frames)[i] ?? 0) * share));
  return [x, x.map((_, i) => ((c2s[i] ?? 0) + (s2c[i] ?? 0)) * share), x.map((_, i) => (c2s[i] ?? 0) * share), x.map((_, i) => (bad[i] ?? 0) * (ofBytes ? 0 : share)), ...lines];
}

const units = { frames: "frames", rate: "frames/s", bytes: "bytes/s" } as const;
type Unit = keyof typeof units;

const intervals: readonly (readonly [micros: number, title: string])[] = [[0, "auto"], [1e3, "1 ms"], [1e4, "10 ms"], [1e5, "100 ms"], [1e6, "1 s"], [1e7, "10 s"], [6e7, "1 min"], [6e8, "10 min"], [3.6e9, "1 h"]];
const mostLines = 6; // as on the server

function isFilter(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= 8192;
}

export class TimelineDrawer implements Drawer {
  readonly element = make("div", "frames-timeline");
  private readonly host: DrawerHost;
  private readonly refresher: Refresher;
  private readonly readout = make("span", "note");
  private readonly plot = make("div", "tl-plot");
  private readonly palette = new Palette();
  private readonly keys = make("span", "tl-lines");
  private unit: Unit = recall("timeline.unit") === "bytes" ? "bytes" : recall("timeline.unit") === "rate" ? "rate" : "frames";
  private interval = Number(recall("timeline.interval") ?? 0) || 0;
  private lines: string[] = recallList("timeline.lines", isFilter).slice(0, mostLines);
  private readonly clear: HTMLButtonElement;
  private readonly stopped = new AbortController();
  private readonly themes = new MutationObserver(() => this.build());
  private answer: TimelineAnswer | undefined;
  private chart: uPlot | undefined;
  private at = -1; // the bucket at the cursor
  private from = -1; // start of a selection by keys
  private dragged = false;

  constructor(host: DrawerHost) {
    this.host = host;
    this.refresher = new Refresher((signal) => this.load(signal));
    const bar = make("div", "frames-bar");
    for (const [className, text] of [["c2s", "C→S"], ["s2c", "S→C"], ["bad", "! bad"]] as const) {
      bar.append(make("span", `tl-key ${className}`, text));
    }
    this.clear = button("All times", () => this.host.chips.filter((c) => timeChip.test(c)).forEach((c) => this.host.removeChip(c)), "", "btn quiet small");
    bar.append(this.keys, ...this.controls());
    this.drawLines();
    this.readout.setAttribute("aria-hidden", "true"); // the slider has the same value
    bar.append(this.readout, this.clear);
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "slider");
    this.plot.setAttribute("aria-valuenow", "0");
    this.plot.setAttribute("aria-label", "Time. Arrows move, Shift selects a range, Enter goes there or filters by it");
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.element.append(bar, this.plot, this.palette.probe);
    this.themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.build(), { signal: this.stopped.signal });
    this.rest();
    queueMicrotask(() => {
      if (!this.stopped.signal.aborted) {
        this.refresher.now(); // after insertion: the width determines the number of buckets
      }
    });
  }

  private async load(signal: AbortSignal): Promise<void> {
    try {
      const buckets = Math.max(50, Math.min(mostBuckets, Math.floor(this.plot.clientWidth / barPx)));
      this.answer = await this.host.ask("timeline", { buckets, ...(this.interval > 0 ? { step: this.interval } : {}), ...(this.lines.length > 0 ? { filters: this.lines } : {}) }, signal);
      this.build();
      this.drawLines();
    } catch (error) {
      if (!isGivenUp(error)) {
        this.host.failed(error);
      }
    }
  }

  /** The choices of the unit and of the interval, and the field for another line. */
  private controls(): HTMLElement[] {
    const select = (label: string, options: readonly (readonly [string, string])[], value: string, change: (value: string) => void): HTMLElement => {
      const control = make("select");
      control.setAttribute("aria-label", label);
      control.append(...options.map(([id, text]) => new Option(text, id, false, id === value)));
      control.addEventListener("change", () => change(control.value));
      return control;
    };
    const unit = select("Unit of the timeline", Object.entries(units), this.unit, (value) => {
      this.unit = value as Unit;
      keep("timeline.unit", value);
      this.build();
    });
    const interval = select("Interval of the timeline", intervals.map(([micros, title]) => [String(micros), title] as const), String(this.interval), (value) => {
      this.interval = Number(value);
      keep("timeline.interval", this.interval);
      this.refresher.now();
    });
    const form = make("form", "graph-add");
    const input = make("input");
    Object.assign(input, { name: "line", placeholder: "line of a filter", maxLength: 8192, autocomplete: "off", spellcheck: false });
    input.setAttribute("aria-label", "Filter of another line");
    form.append(input, Object.assign(button("Add", () => undefined, "", "btn quiet small"), { type: "submit" }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (isFilter(text) && !this.lines.includes(text)) {
        this.setLines([...this.lines, text].slice(-mostLines));
        input.value = "";
      }
    });
    return [unit, interval, form];
  }

  private setLines(lines: string[]): void {
    this.lines = lines;
    keep("timeline.lines", lines);
    this.drawLines();
    this.refresher.now();
  }

  /** Draws the keys of the lines, with what is wrong with their filters. */
  private drawLines(): void {
    this.keys.replaceChildren(...this.lines.map((filter, i) => {
      const key = make("span", `tl-key line${i + 1}`, filter);
      const mistake = this.answer?.lines?.find((line) => line.filter === filter)?.mistake ?? "";
      if (mistake !== "") {
        key.append(make("span", "err", mistake));
      }
      const remove = button("×", () => this.setLines(this.lines.filter((other) => other !== filter)), "", "link");
      remove.setAttribute("aria-label", `Remove ${filter}`);
      key.append(remove);
      return key;
    }));
  }

  private build(): void {
    const answer = this.answer;
    const width = this.plot.clientWidth;
    const height = this.plot.clientHeight;
    if (answer === undefined || width === 0 || height === 0) {
      return;
    }
    const data = chartData(answer, this.host.state.start, this.unit);
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    const series = (label: string, color: string, alpha: string): uPlot.Series => ({
      label,
      stroke: color,
      width: 1,
      fill: color.replace(/^rgb\((.*)\)$/, `rgb($1 / ${alpha})`).replaceAll(/,(?=.*\/)/g, " "),
      points: { show: false },
      ...(stepped === undefined ? {} : { paths: stepped }),
    });
    const axis = this.palette.axis();
    const color = (name: string): string => this.palette.color(name);
    this.chart?.destroy();
    this.chart = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        padding: [8, 12, 0, 0],
        scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
        axes: [
          timeAxis(axis),
          { ...axis, size: labelSize(axis), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7, 1e8, 1e9], values: (_, splits) => splits.map((s) => count(s)) },
        ],
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 } },
        series: [
          {}, series("S→C", color("--ok"), "45%"), series("C→S", color("--accent"), "65%"), series("bad", color("--bad"), "90%"),
          ...(answer.lines ?? []).map((line, i): uPlot.Series => ({ label: line.filter, stroke: color(lineColors[(i + 1) % lineColors.length] ?? "--dim"), width: 2, points: { show: false }, ...(stepped === undefined ? {} : { paths: stepped }) })),
        ],
        hooks: {
          setCursor: [(u) => this.pointed(u.cursor.idx ?? -1)],
          setSelect: [(u) => this.brushed(u)],
        },
      },
      data,
      this.plot,
    );
    const over = this.chart.over;
    over.addEventListener("mousedown", () => (this.dragged = false));
    over.addEventListener("click", (event) => {
      if (!this.dragged && this.chart !== undefined) {
        this.goTo(this.timeAt(event.clientX - over.getBoundingClientRect().left));
      }
      this.dragged = false;
    });
    this.plot.setAttribute("aria-valuemin", "0");
    this.plot.setAttribute("aria-valuemax", String(Math.max(0, data[0].length - 1)));
    this.pointed(-1);
  }

  /** The time at a distance from the left edge of the chart, in microseconds since 1970. */
  private timeAt(left: number): number {
    return this.host.state.start + (this.chart?.posToVal(left, "x") ?? 0) * 1e6;
  }

  private rest(): void {
    const total = this.answer === undefined ? 0 : [...(this.answer.c2s ?? []), ...(this.answer.s2c ?? [])].reduce((sum, n) => sum + n, 0);
    this.readout.textContent = this.answer === undefined ? "" : `${counted(total, "frame")} · drag to filter by time, click to go there`;
    this.clear.hidden = !this.host.chips.some((c) => timeChip.test(c));
  }

  private pointed(index: number): void {
    const a = this.answer;
    this.at = index;
    if (a === undefined || index < 0 || index >= (this.chart?.data[0].length ?? 0)) {
      this.rest();
      return;
    }
    const at = a.from + index * a.step;
    const text =
      `${seconds(at - this.host.state.start)} s (${dayAndClock(at).slice(0, -3)}), ${span(a.step)}: ${count(a.c2s?.[index] ?? 0)} C→S, ` +
      `${count(a.s2c?.[index] ?? 0)} S→C, ${count(a.bad?.[index] ?? 0)} bad` +
      (a.lines ?? []).map((line) => `, ${count(line.frames[index] ?? 0)} ${line.filter}`).join("") +
      (this.unit === "bytes" ? `; ${count(((a.c2s_bytes?.[index] ?? 0) + (a.s2c_bytes?.[index] ?? 0)) * (1e6 / a.step))} bytes/s` : "");
    this.readout.textContent = text;
    this.plot.setAttribute("aria-valuenow", String(index));
    this.plot.setAttribute("aria-valuetext", text);
  }

  private brushed(u: uPlot): void {
    const { left, width } = u.select;
    if (width < 2 || this.from >= 0) {
      return; // keyboard input has not ended yet
    }
    this.dragged = true;
    this.only(this.timeAt(left), this.timeAt(left + width));
  }

  private only(from: number, to: number): void {
    const start = this.host.state.start;
    this.host.chips.filter((c) => timeChip.test(c)).forEach((c) => this.host.removeChip(c));
    this.host.addChip(betweenTimes(from, to), `time: ${seconds(from - start).slice(0, -3)} – ${seconds(to - start).slice(0, -3)} s`);
  }

  private goTo(time: number): void {
    this.host.goToFirst(`time >= ${timeLiteral(time)}`);
  }

  private key(event: KeyboardEvent): void {
    const a = this.answer;
    const u = this.chart;
    const n = u?.data[0].length ?? 0;
    if (a === undefined || u === undefined || n === 0 || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    let to = this.at;
    switch (event.key) {
      case "ArrowRight": to++; break;
      case "ArrowLeft": to--; break;
      case "PageDown": to += 20; break;
      case "PageUp": to -= 20; break;
      case "Home": to = 0; break;
      case "End": to = n - 1; break;
      case "Enter": {
        event.preventDefault();
        event.stopPropagation();
        const low = Math.min(this.from, this.at);
        const high = Math.max(this.from, this.at);
        const chosen = this.from >= 0 && low !== high;
        this.from = -1;
        if (chosen) {
          this.only(a.from + low * a.step, a.from + high * a.step);
        } else {
          this.goTo(a.from + Math.max(0, this.at) * a.step);
        }
        return;
      }
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
    to = Math.max(0, Math.min(to, n - 1));
    this.from = event.shiftKey ? (this.from < 0 ? Math.max(0, this.at) : this.from) : -1;
    const left = (i: number): number => u.valToPos(u.data[0][i] ?? 0, "x");
    u.setCursor({ left: left(to), top: 0 }, false);
    this.pointed(to);
    const low = this.from < 0 ? 0 : left(Math.min(this.from, to));
    u.setSelect({ left: low, width: this.from < 0 ? 0 : left(Math.max(this.from, to)) - low, top: 0, height: u.over.clientHeight }, false);
  }

  changed(state: State, anew: boolean): void {
    this.refresher.changed(state, anew);
    if (anew) {
      this.rest();
    }
  }

  resized(): void {
    if (!fit(this.chart, this.plot, this.at, (at) => this.pointed(at))) {
      this.build();
    }
  }

  focus(): void {
    this.plot.focus({ preventScroll: true });
  }

  close(): void {
    this.refresher.stop();
    this.themes.disconnect();
    this.stopped.abort();
    this.chart?.destroy();
    this.chart = undefined;
  }
}
