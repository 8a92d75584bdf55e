// The drawer of a graph: decoded numbers over time. Points lead to frames.

import uPlot from "uplot";
import { Fragment, h, render, signal } from "../kit/ui";
import { make } from "../kit/dom";
import { AskedDrawer } from "./asked";
import { fit, labelSize, lineColors, Palette, timeAxis } from "./chart";
import type { DrawerHost } from "./drawer";
import type { GraphAnswer } from "../api/frames";
import { keep, recallList } from "../kit/store";
import { count, counted, seconds } from "../kit/frametext";

const mostFields = 6;
const mostListed = 500;

function isPath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 500;
}

export class GraphDrawer extends AskedDrawer<"graph"> {
  protected override readonly firstControl = "input";
  readonly fields = signal<readonly string[]>(recallList("graph", isPath).slice(0, mostFields));
  readonly listed = signal(false);
  private readonly plot = make("div", "tl-plot");
  private readonly palette = new Palette();
  private readonly says = make("span", "sr-only");
  private readonly stopped = new AbortController();
  private readonly themes = new MutationObserver(() => this.build());
  private chart: uPlot | undefined;
  private at = -1; // the point at the keyboard's cursor, an index of the chart
  private readonly top = make("div", "graph-top");

  constructor(host: DrawerHost) {
    super(host, "graph", "frames-graph");
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "slider");
    this.plot.setAttribute("aria-label", "Values over time. Arrows move between points, Enter goes to the frame");
    this.plot.setAttribute("aria-valuenow", "0");
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.says.setAttribute("role", "status");
    this.element.append(this.top, this.plot, this.palette.probe, this.says);
    render(<Graph drawer={this} />, this.top);
    this.themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.build(), { signal: this.stopped.signal });
    this.answer.subscribe(() => this.build());
    this.listed.subscribe((on) => {
      this.plot.hidden = on;
    });
  }

  protected question(): { fields: string[]; points: number } | undefined {
    return this.fields.value.length === 0 ? undefined : { fields: [...this.fields.value], points: 2000 };
  }

  show(fields: readonly string[]): void {
    this.fields.value = [...new Set(fields)].slice(0, mostFields);
    keep("graph", this.fields.value);
    this.refresher.now();
  }

  addField(field: string): void {
    this.show([...this.fields.value.filter((f) => f !== field), field].slice(-mostFields));
  }

  private build(): void {
    const a = this.answer.value;
    const { clientWidth: width, clientHeight: height } = this.plot;
    this.chart?.destroy();
    this.chart = undefined;
    if (a === undefined || width === 0 || height === 0 || a.series.every((s) => s.points.length === 0)) {
      return;
    }
    const start = this.host.state.start;
    const tables = a.series.map((s): uPlot.AlignedData => [s.points.map((p, i) => (p.t - start) / 1e6 + i * 1e-9), s.points.map((p) => p.value)]); // x increases
    const data = uPlot.join(tables);
    const axis = this.palette.axis();
    this.chart = new uPlot({
      width,
      height,
      legend: { show: false },
      padding: [8, 12, 0, 0],
      scales: { x: { time: false } },
      axes: [timeAxis(axis), { ...axis, size: labelSize(axis) }],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      series: [{}, ...a.series.map((s, i): uPlot.Series => ({ label: s.field, stroke: this.palette.color(lineColors[i] ?? "--dim"), width: 1.5, spanGaps: true, points: { show: s.points.length < 200, size: 5 } }))],
      hooks: { setCursor: [(u) => this.pointed(u.cursor.idx ?? -1)] },
    }, data, this.plot);
    this.chart.over.addEventListener("click", () => this.open(this.chart?.cursor.idx ?? -1));
    this.plot.setAttribute("aria-valuemin", "0");
    this.plot.setAttribute("aria-valuemax", String(Math.max(0, data[0].length - 1)));
  }

  /** The point at an index of the chart: of the first field that has one there. */
  private point(index: number): { field: string; n: number; t: number; value: number } | undefined {
    const x = this.chart?.data[0][index];
    const a = this.answer.value;
    if (x === undefined || a === undefined) {
      return undefined;
    }
    const k = a.series.findIndex((_, i) => this.chart?.data[i + 1]?.[index] != null);
    const series = a.series[k];
    const start = this.host.state.start;
    const p = series?.points.find((point, i) => (point.t - start) / 1e6 + i * 1e-9 === x);
    return series === undefined || p === undefined ? undefined : { field: series.field, ...p };
  }

  private pointed(index: number): void {
    this.at = index;
    const p = this.point(index);
    this.over.value = p === undefined ? "" : `${p.field} ${p.value} at ${seconds(p.t - this.host.state.start)} s, frame ${count(p.n)}`;
    this.plot.setAttribute("aria-valuenow", String(Math.max(0, index)));
    this.plot.setAttribute("aria-valuetext", this.over.value);
  }

  readonly over = signal("");

  private open(index: number): void {
    const p = this.point(index);
    if (p !== undefined) {
      this.host.goTo(p.n);
    }
  }

  private key(event: KeyboardEvent): void {
    const u = this.chart;
    const n = u?.data[0].length ?? 0;
    if (u === undefined || n === 0 || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, PageDown: this.at + 20, PageUp: this.at - 20, Home: 0, End: n - 1 }[event.key];
    if (to !== undefined) {
      const at = Math.max(0, Math.min(to, n - 1));
      u.setCursor({ left: u.valToPos(u.data[0][at] ?? 0, "x"), top: 0 }, false);
      this.pointed(at);
    } else if (event.key === "Enter") {
      this.open(this.at);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  resized(): void {
    if (!fit(this.chart, this.plot, this.at, (at) => this.pointed(at))) {
      this.build();
    }
  }

  override close(): void {
    super.close();
    this.themes.disconnect();
    this.stopped.abort();
    this.chart?.destroy();
    this.chart = undefined;
  }
}

function problemOf(a: GraphAnswer | undefined, field: string): string {
  const s = a?.series.find((x) => x.field === field);
  return s === undefined ? "" : s.frames > 0 ? counted(s.frames, "value") : (s.texts ?? 0) > 0 ? "not a number" : "no frame has it";
}

function Graph({ drawer }: { drawer: GraphDrawer }) {
  const fields = drawer.fields.value;
  const a = drawer.answer.value;
  const start = drawer.host.state.start;
  const add = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const field = String(new FormData(form).get("field")).trim();
    if (isPath(field)) {
      drawer.addField(field);
      form.reset();
    }
  };
  return (
    <>
      <div class="frames-bar">
        {fields.map((field, i) => (
          <span key={field} class={`tl-key line${i + 1}`}>{field} <span class="dim">{problemOf(a, field)}</span>
            <button type="button" class="link" aria-label={`Remove ${field}`} onClick={() => drawer.show(fields.filter((f) => f !== field))}>×</button></span>
        ))}
        {fields.length >= mostFields ? null : (
          <form class="graph-add" onSubmit={add}>
            <input name="field" aria-label="Field of the graph" placeholder={fields.length === 0 ? "A field with numbers: .damage, S_CHAT.channel" : "another field"} maxLength={500} autocomplete="off" spellcheck={false} />
            <button type="submit" class="btn quiet small">Add</button>
          </form>
        )}
        {fields.length === 0 ? null : <button type="button" class="btn quiet small" aria-pressed={drawer.listed.value} onClick={() => (drawer.listed.value = !drawer.listed.value)}>Table</button>}
        <span class="note" aria-hidden="true">{drawer.over.value}</span>
      </div>
      {drawer.listed.value ? (
        <div class="frames-box graph-list">
          <table class="data" aria-label="Values over time">
            <thead><tr><th scope="col" class="num">Frame</th><th scope="col" class="num">Time</th><th scope="col">Field</th><th scope="col" class="num">Value</th></tr></thead>
            <tbody>
              {(a?.series ?? []).flatMap((s) => s.points.map((p) => ({ ...p, field: s.field }))).sort((x, y) => x.n - y.n).slice(0, mostListed).map((p) => (
                <tr key={`${p.n} ${p.field}`}>
                  <td class="num"><button type="button" class="link" onClick={() => drawer.host.goTo(p.n)}>{count(p.n)}</button></td>
                  <td class="num">{seconds(p.t - start)}</td>
                  <td>{p.field}</td>
                  <td class="num">{p.value}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </>
  );
}
