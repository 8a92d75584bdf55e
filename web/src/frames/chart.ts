// Colors and axes of the charts, from the style sheet: uPlot draws on a canvas, which cannot use its names.

import type uPlot from "uplot";
import { make } from "../kit/dom";

/** The colors of lines in a chart, by their order. */
export const lineColors = ["--accent", "--warn", "--ok", "--type", "--bad", "--dim"] as const;

/** Reads colors in a place of the page. */
export class Palette {
  readonly probe = make("span", "tl-probe");

  /** The computed value of a color. */
  color(name: string): string {
    this.probe.style.color = `var(${name})`;
    return getComputedStyle(this.probe).color;
  }

  /** The common parts of the axes. */
  axis(): uPlot.Axis {
    const grid = { stroke: this.color("--line"), width: 1 };
    return { stroke: this.color("--dim"), grid, ticks: grid, font: `11px ${getComputedStyle(this.probe).fontFamily}` };
  }
}

/** Gives a chart the size of its element; the point that is shown stays. Returns false if there is none to resize. */
export function fit(chart: uPlot | undefined, { clientWidth: width, clientHeight: height }: HTMLElement, at: number, show: (at: number) => void): boolean {
  if (chart === undefined || width === 0 || height === 0) {
    return false;
  }
  if (chart.width !== width || chart.height !== height) {
    chart.setSize({ width, height });
    const x = chart.data[0][at];
    if (x !== undefined) {
      chart.setCursor({ left: chart.valToPos(x, "x"), top: 0 }, false);
      show(at);
    }
  }
  return true;
}

const axisGap = 20; // pixels for the ticks, and the gap between them and the labels

/** The width of a vertical axis, for its widest label. */
export function labelSize({ font }: uPlot.Axis): (u: Pick<uPlot, "ctx">, labels: readonly (string | number | null)[] | null) => number {
  return ({ ctx }, labels) => {
    ctx.save();
    ctx.font = font ?? "";
    const widest = Math.max(0, ...(labels ?? []).map((label) => ctx.measureText(String(label ?? "")).width));
    ctx.restore();
    return Math.ceil(widest) + axisGap;
  };
}

/** The steps of a time axis, in seconds. */
export const timeSteps = [1e-6, 1e-5, 1e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 604800];

/** A label of the time axis, in seconds since the start. */
export function axisText(s: number, step: number): string {
  if (Math.abs(s) >= 3600 || step >= 60) {
    const sign = s < 0 ? "-" : "";
    const whole = Math.round(Math.abs(s));
    const minutes = Math.floor(whole / 60);
    const rest = String(whole % 60).padStart(2, "0");
    return minutes >= 60 ? `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${sign}${minutes}:${rest}`;
  }
  return `${Number(s.toFixed(6))} s`;
}

/** The time axis of a chart. */
export function timeAxis(axis: uPlot.Axis): uPlot.Axis {
  return { ...axis, size: 26, space: 70, incrs: timeSteps, values: (_, splits) => splits.map((s) => axisText(s, (splits[1] ?? 1) - (splits[0] ?? 0))) };
}
