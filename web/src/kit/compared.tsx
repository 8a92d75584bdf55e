// Two definitions side by side: strips of bytes, a table of their fields, and the lines of their texts.

import type { ComparedDefinitions, ViewComparedPart as Part, ViewComparedRow as Row } from "../api/api";
import { numberOf, offsetsIn } from "./numbers";
import { Fragment, h } from "./ui";

const words: Readonly<Record<Row["change"], [sign: string, word: string]>> = {
  same: ["", ""], moved: ["→", "moved"], renamed: ["✎", "renamed"], retyped: ["≠", "retyped"], added: ["+", "added"], removed: ["−", "removed"],
};
const mostRows = 2000;
const context = 2; // unchanged lines around changes

const nameOf = ({ path, role }: Part): string => (role === "value" || role === path ? path : `${path} ${role}`);

/** The rows to show: all, or those around changes with the number of those left out. */
function folded<T>(rows: readonly T[], same: (row: T) => boolean, only: boolean, around: number): (T | number)[] {
  if (!only) {
    return rows.slice(0, mostRows);
  }
  const near = new Set<number>();
  rows.forEach((row, i) => {
    for (let n = i - around; !same(row) && n <= i + around; n++) {
      near.add(n);
    }
  });
  const out: (T | number)[] = [];
  rows.forEach((row, i) => {
    const last = out.length - 1;
    if (near.has(i)) {
      out.push(row);
    } else if (typeof out[last] === "number") {
      out[last]++;
    } else {
      out.push(1);
    }
  });
  return out.slice(0, mostRows);
}

/** Both messages as strips of bytes, with each field joined to its new place. */
export function Strips({ rows }: { rows: readonly Row[] }) {
  const fixed = (p: Part | undefined): p is Part & { bit_offset: number } => p !== undefined && p.bit_offset !== null && p.depth === 0 && p.min_bits > 0;
  const shown = rows.filter(({ old, new: now }) => fixed(old) || fixed(now)).slice(0, 400);
  const end = Math.max(8, ...shown.flatMap(({ old, new: now }) => [old, now].map((p) => (fixed(p) ? p.bit_offset + p.min_bits : 0))));
  const x = (bits: number): number => (bits / end) * 1000;
  return (
    <svg class="compare-strips" viewBox="0 0 1000 60" preserveAspectRatio="none" aria-hidden="true">
      {shown.map(({ change, old, new: now }, i) => {
        const [a, b] = [fixed(old) ? old : undefined, fixed(now) ? now : undefined];
        const box = (p: Part & { bit_offset: number }, y: number) => <rect x={x(p.bit_offset)} y={y} width={Math.max(x(p.min_bits) - 1.5, 0.8)} height="16"><title>{`${nameOf(p)} at ${offsetsIn(p.offset)}`}</title></rect>;
        return (
          <g class={`c-${change}`} key={i}>
            {a === undefined ? null : box(a, 0)}
            {a === undefined || b === undefined ? null : <polygon points={`${x(a.bit_offset)},17 ${x(a.bit_offset + a.min_bits)},17 ${x(b.bit_offset + b.min_bits)},43 ${x(b.bit_offset)},43`} />}
            {b === undefined ? null : box(b, 44)}
          </g>
        );
      })}
    </svg>
  );
}

export function LayoutRows({ of, only, go }: { of: ComparedDefinitions; only: boolean; go(row: Row): void }) {
  const step = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      const all = Array.from(event.currentTarget.querySelectorAll<HTMLElement>("tr[tabindex]"));
      all[all.indexOf(document.activeElement as HTMLElement) + by]?.focus();
    }
  };
  return (
    <table class="data compare-table" aria-label="Fields of both definitions">
      <thead><tr><th>Change</th><th>Field</th><th>Type</th><th class="num">Bytes</th><th>Was at</th><th>Shift</th><th>Is at</th></tr></thead>
      <tbody onKeyDown={step}>
        {folded(of.rows ?? [], ({ change }) => change === "same", only, 0).map((row, i) => {
          if (typeof row === "number") {
            return <tr key={i} class="unchanged"><td colSpan={7}>{row === 1 ? "1 row" : `${row} rows`} unchanged</td></tr>;
          }
          const { change, old, new: now, shift } = row;
          const part = now ?? old as Part;
          const [sign, word] = words[change];
          const both = (of: (p: Part) => string) => (old !== undefined && now !== undefined && of(old) !== of(now) ? <><del>{of(old)}</del> <ins>{of(now)}</ins></> : of(part));
          return (
            <tr key={i} class={`c-${change}`} tabIndex={change === "same" ? -1 : 0} onDblClick={() => go(row)}
              onKeyDown={(event) => { if (event.key === "Enter") { event.preventDefault(); go(row); } }}>
              <td>{sign === "" ? "" : <><span aria-hidden="true">{sign}</span> {word}</>}</td>
              <td class={part.depth === 0 ? "" : `d${Math.min(part.depth, 12)}`}>{both(nameOf)}</td>
              <td class="ty">{both((p) => p.type)}</td>
              <td class="num">{both((p) => p.size.replace(/^\d+(?=\+?$)/, (n) => numberOf(Number(n))))}</td>
              <td>{offsetsIn(old?.offset ?? "")}</td>
              <td class="shift">{offsetsIn(shift ?? "")}</td>
              <td>{offsetsIn(now?.offset ?? "")}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

type Line = NonNullable<ComparedDefinitions["lines"]>[number];

const isSame = (line: Line): boolean => line.old !== undefined && line.new !== undefined;

/** The new text with the lines from `start` on, up to the next that are the same, as they were in the old one. */
export function takenBack(lines: readonly Line[], start: number): string {
  const end = lines.findIndex((line, i) => i >= start && isSame(line));
  const kept = lines.filter((line, i) => (i >= start && (end < 0 || i < end) ? line.old !== undefined : line.new !== undefined));
  return kept.map((line) => `${line.text}\n`).join("");
}

/** The lines of both texts. `back`, if it is given, gets the new text without a part of the changes. */
export function TextLines({ of, only, back, backText = "Take back" }: { of: ComparedDefinitions; only: boolean; back?: ((text: string) => void) | undefined; backText?: string }) {
  const all = of.lines ?? [];
  const begins = new Set(all.filter((line, i) => !isSame(line) && (i === 0 || isSame(all[i - 1] ?? line))));
  return (
    <table class="data changes compare-table" aria-label="Lines of both definitions">
      <thead><tr><th class="num">Old</th><th class="num">New</th><th>Line</th></tr></thead>
      <tbody>
        {folded(all, isSame, only, context).map((line, i) => typeof line === "number"
          ? <tr key={i} class="unchanged"><td colSpan={3}>{line === 1 ? "1 line" : `${line} lines`} unchanged</td></tr>
          : (
            <tr key={i} class={line.old === undefined ? "here" : line.new === undefined ? "disk" : ""}>
              <td class="num">{line.old ?? ""}</td>
              <td class="num">{line.new ?? ""}</td>
              <td class="value">
                {line.old === undefined ? "+ " : line.new === undefined ? "− " : "  "}{line.text}
                {back === undefined || !begins.has(line) ? null : <button type="button" class="btn quiet take-back" title="These lines as they are in the old text" onClick={() => back(takenBack(all, all.indexOf(line)))}>{backText}</button>}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

/** Says how many rows have changed. */
export function summary({ rows, old, new: now, compat, where, noLayout }: ComparedDefinitions): string {
  if (noLayout !== undefined) {
    return `Only the lines are compared: ${noLayout}`;
  }
  const counts = (["added", "removed", "renamed", "retyped", "moved"] as const).flatMap((change) => {
    const n = (rows ?? []).filter((row) => row.change === change).length;
    return n === 0 ? [] : [`${n} ${change}`];
  });
  const size = old.size === now.size ? now.size : `${old.size} before, ${now.size} now`;
  const verdict = { same: "", extended: "extends the layout · ", broken: `breaks the layout${where === undefined ? "" : ` at ${offsetsIn(where)}`} · ` }[compat];
  return `${counts.length === 0 ? "The same bytes in both" : counts.join(", ")} · ${verdict}${size}`;
}
