// The drawer of the timeline: frames over time, by direction, and those with a problem. A selection becomes a filter, a click goes there.

import uPlot from "uplot";
import { button, make } from "../dom";
import { type Drawer, type DrawerHost, Refresher } from "./drawer";
import { betweenTimes, timeLiteral } from "./filters";
import type { State, TimelineAnswer } from "./protocol";
import { isGivenUp } from "./socket";
import { count, counted, dayAndClock, seconds, span } from "./text";

const mostBuckets = 600;
const barPx = 3; // approximate width of a bucket
const timeSteps = [1e-6, 1e-5, 1e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 604800];
const timeChip = /^time >= \d+\.\d+ && time < \d+\.\d+$/;

/** The data of the chart: the middle of each bucket in seconds since the start, all frames, those from the client, those with a problem. */
export function chartData(a: TimelineAnswer, start: number): uPlot.AlignedData {
  const c2s = a.c2s ?? [];
  const s2c = a.s2c ?? [];
  const bad = a.bad ?? [];
  const n = Math.max(c2s.length, s2c.length, bad.length);
  const x = Array.from({ length: n }, (_, i) => (a.from - start + i * a.step) / 1e6);
  return [x, x.map((_, i) => (c2s[i] ?? 0) + (s2c[i] ?? 0)), x.map((_, i) => c2s[i] ?? 0), x.map((_, i) => bad[i] ?? 0)];
}

/** A label of the time axis, in seconds since the start. */
function axisText(s: number, step: number): string {
  if (Math.abs(s) >= 3600 || step >= 60) {
    const sign = s < 0 ? "-" : "";
    const whole = Math.round(Math.abs(s));
    const minutes = Math.floor(whole / 60);
    const rest = String(whole % 60).padStart(2, "0");
    return minutes >= 60 ? `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${sign}${minutes}:${rest}`;
  }
  return `${Number(s.toFixed(6))} s`;
}

export class TimelineDrawer implements Drawer {
  readonly element = make("div", "frames-timeline");
  private readonly host: DrawerHost;
  private readonly refresher: Refresher;
  private readonly readout = make("span", "note");
  private readonly plot = make("div", "tl-plot");
  private readonly probe = make("span", "tl-probe");
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
    this.readout.setAttribute("aria-hidden", "true"); // the slider has the same value
    bar.append(this.readout, this.clear);
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "slider");
    this.plot.setAttribute("aria-valuenow", "0");
    this.plot.setAttribute("aria-label", "Time. Arrows move, Shift selects a range, Enter goes there or filters by it");
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.element.append(bar, this.plot, this.probe);
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
      this.answer = await this.host.ask("timeline", { buckets }, signal);
      this.build();
    } catch (error) {
      if (!isGivenUp(error)) {
        this.host.failed(error);
      }
    }
  }

  /** The computed value of a color: the chart cannot use names of the style sheet. */
  private color(name: string): string {
    this.probe.style.color = `var(${name})`;
    return getComputedStyle(this.probe).color;
  }

  private build(): void {
    const answer = this.answer;
    const width = this.plot.clientWidth;
    const height = this.plot.clientHeight;
    if (answer === undefined || width === 0 || height === 0) {
      return;
    }
    const data = chartData(answer, this.host.state.start);
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    const series = (label: string, color: string, alpha: string): uPlot.Series => ({
      label,
      stroke: color,
      width: 1,
      fill: color.replace(/^rgb\((.*)\)$/, `rgb($1 / ${alpha})`).replaceAll(/,(?=.*\/)/g, " "),
      points: { show: false },
      ...(stepped === undefined ? {} : { paths: stepped }),
    });
    const dim = this.color("--dim");
    const grid = { stroke: this.color("--line"), width: 1 };
    const axis = { stroke: dim, grid, ticks: grid, font: `11px ${getComputedStyle(this.element).fontFamily}` };
    this.chart?.destroy();
    this.chart = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        padding: [8, 12, 0, 0],
        scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
        axes: [
          { ...axis, size: 26, space: 70, incrs: timeSteps, values: (_, splits) => splits.map((s) => axisText(s, (splits[1] ?? 1) - (splits[0] ?? 0))) },
          { ...axis, size: 48, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7], values: (_, splits) => splits.map((s) => count(s)) },
        ],
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 } },
        series: [{}, series("S→C", this.color("--ok"), "45%"), series("C→S", this.color("--accent"), "65%"), series("bad", this.color("--bad"), "90%")],
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
      `${count(a.s2c?.[index] ?? 0)} S→C, ${count(a.bad?.[index] ?? 0)} bad`;
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
    this.build();
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
