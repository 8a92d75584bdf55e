// Two captures side by side: their types of frames with counts, lengths and first times. Each number leads to its frames. The frames of a type that
// both have are compared on request, in their order.

import type { FramesDifferingFrames, FramesTypeRow, FramesTypes } from "../../api/api";
import { Button, dialog, type Open, Says } from "../../kit/dialog";
import { count, counted, dayAndClock, direction, frameName, opcode, seconds, span } from "../../kit/frametext";
import { ask } from "../../kit/http";
import { Fragment, h, type Signal, signal, useLayoutEffect, useRef } from "../../kit/ui";
import { type Listed, pageOf } from "./list";

const mostShown = 2000;
const columns = 12; // of the table of types

/** What was read of a capture. */
interface Side {
  id: string;
  name: string;
  types: FramesTypes;
  less: string; // why frames are missing; "" if none are
}

/** A type of frames in one of the captures or in both. */
export interface Pair {
  name: string;
  dir: string;
  a: FramesTypeRow | undefined;
  b: FramesTypeRow | undefined;
  differs: string; // in words; "" if nothing but the times does
}

/** What identifies a type in any capture: its name or code, and its direction. */
function keyOf(row: FramesTypeRow): string {
  return [row.kind, row.dir ?? "", row.group ?? "", row.name ?? opcode(row.code)].join(" ");
}

function byKey(rows: readonly FramesTypeRow[]): Map<string, FramesTypeRow> {
  const out = new Map<string, FramesTypeRow>();
  for (const row of rows) {
    const key = keyOf(row);
    out.set(out.has(key) ? `${key} ${row.ver ?? ""} ${opcode(row.code)}` : key, row);
  }
  return out;
}

function difference(a: FramesTypeRow | undefined, b: FramesTypeRow | undefined): string {
  if (a === undefined || b === undefined) {
    return a === undefined ? "only in B" : "only in A";
  }
  const parts = [
    a.defined === b.defined ? "" : `no definition in ${a.defined ? "B" : "A"}`, (a.ver ?? 0) === (b.ver ?? 0) ? "" : `version ${a.ver ?? "–"}, ${b.ver ?? "–"}`,
    a.code === b.code ? "" : `code ${opcode(a.code)}, ${opcode(b.code)}`, a.min === b.min && a.max === b.max ? "" : "other lengths",
    (a.bad > 0) === (b.bad > 0) ? "" : `problems in ${a.bad > 0 ? "A" : "B"} only`, a.count === b.count ? "" : "other count",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The types of two captures: those in one of them first, then those that differ, each by their number of frames. */
export function pairs(a: readonly FramesTypeRow[], b: readonly FramesTypeRow[]): Pair[] {
  const [inA, inB] = [byKey(a), byKey(b)];
  const all = [...new Set([...inA.keys(), ...inB.keys()])].map((key): Pair => {
    const [x, y] = [inA.get(key), inB.get(key)];
    const any = x ?? y;
    return { name: frameName({ kind: any?.kind ?? "", ...(any?.name === undefined ? {} : { name: any.name }), ...(any?.code === undefined ? {} : { code: any.code }) }), dir: direction(any?.dir), a: x, b: y, differs: difference(x, y) };
  });
  const rank = (p: Pair): number => (p.a === undefined || p.b === undefined ? 0 : p.differs !== "" ? 1 : 2);
  const frames = (p: Pair): number => (p.a?.count ?? 0) + (p.b?.count ?? 0);
  return all.sort((p, q) => rank(p) - rank(q) || frames(q) - frames(p));
}

function startOf({ types: { rows } }: Side): number {
  return Math.min(...rows.map((r) => r.first));
}

/** How much a capture has, and when. */
function about(side: Side): string {
  const { total, rows } = side.types;
  if (rows.length === 0) {
    return "no frames";
  }
  const start = startOf(side);
  return `${counted(total, "frame")} of ${counted(rows.length, "type")}, from ${dayAndClock(start)}, ${span(Math.max(...rows.map((r) => r.last)) - start)}${side.less === "" ? "" : `; ${side.less}`}`;
}

async function read(workspace: string, { id, name }: Pick<Listed, "id" | "name">, wrong: (text: string) => void): Promise<Side | undefined> {
  const at = { project: workspace, id };
  const rows = await ask("GET captures/{id}/rows", { ...at, count: 1 }, undefined, wrong);
  const types = rows === undefined ? undefined : await ask("GET captures/{id}/types", at, undefined, wrong);
  return types === undefined ? undefined : { id, name, types, less: rows?.whole === true ? "" : (rows?.note ?? "not read to its end") };
}

/** How many frames of a type differ, in words. */
export function differText({ a, b, compared, differ, note = "" }: FramesDifferingFrames): string {
  const left = a === b ? "" : `, ${counted(Math.abs(a - b), "frame")} of ${a > b ? "A" : "B"} without a counterpart`;
  return `${differ === 0 ? "no frame differs" : `${count(differ)} of ${counted(compared, "pair")} differ`}${left}${note === "" ? "" : `; ${note}`}`;
}

/** The frames of a type that differ, below its row. */
function Frames({ workspace, sides, pair: { a, b }, columns }: { workspace: string; sides: readonly [Side, Side]; pair: Pair; columns: number }) {
  const answer = useRef(signal<FramesDifferingFrames | string | undefined>(undefined)).current;
  useLayoutEffect(() => {
    if (a !== undefined && b !== undefined) {
      const [{ id }, { id: other }] = sides;
      void ask("GET captures/{id}/differences", { project: workspace, id, with: other, type: a.type, ...(a.type === b.type ? {} : { other_type: b.type }) }, undefined, (text) => (answer.value = text)).then((said) => (answer.value = said ?? answer.value));
    }
  }, []);
  const of = answer.value;
  const link = (side: number, n: number): h.JSX.Element => <a href={`${pageOf(workspace, sides[side]?.id ?? "")}?${new URLSearchParams({ f: (side === 0 ? a : b)?.type ?? "" }).toString()}#n=${n}`}>{count(n)}</a>;
  return (
    <tr class="compare-frames">
      <td colSpan={columns}>
        {of === undefined ? <p class="dim">Comparing …</p> : typeof of === "string" ? <p class="err">{of}</p> : (
          <>
            <p class="dim">{differText(of)}{of.differ > of.rows.length ? `; the first ${count(of.rows.length)}:` : ""}</p>
            {of.rows.length === 0 ? null : (
              <table class="data" aria-label="Frames that differ">
                <thead><tr><th scope="col" class="num">Frame A</th><th scope="col" class="num">B</th><th scope="col">First field that differs</th><th scope="col">Value A</th><th scope="col">B</th><th scope="col" class="num" title="Further fields that differ">More</th></tr></thead>
                <tbody>
                  {of.rows.map((row) => (
                    <tr key={row.a}>
                      <td class="num">{link(0, row.a)}</td>
                      <td class="num">{link(1, row.b)}</td>
                      <td>{row.path}</td>
                      <td class="wrap">{row.was === "" ? "–" : row.was}</td>
                      <td class="wrap">{row.is === "" ? "–" : row.is}</td>
                      <td class="num">{row.more === undefined ? "" : `+${count(row.more)}`}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </>
        )}
      </td>
    </tr>
  );
}

/** Compares a capture with another one, which is chosen in the dialog. */
export async function compareCaptures(workspace: string, x: Listed): Promise<void> {
  const list = await ask("GET captures", { project: workspace, brief: true });
  const others = (list?.captures ?? []).filter(({ id }) => id !== x.id);
  const sides = signal<readonly [Side, Side] | undefined>(undefined);
  const changed = signal(true); // only types that differ
  let turn = 0;
  const choose = async (d: Open, id: string): Promise<void> => {
    const other = others.find((o) => o.id === id);
    sides.value = undefined;
    if (other === undefined) {
      return;
    }
    const now = ++turn;
    d.say("Reading both captures …", false);
    const a = await read(workspace, x, d.say);
    const b = a === undefined ? undefined : await read(workspace, other, d.say);
    if (now === turn && a !== undefined && b !== undefined) {
      d.say("", false);
      sides.value = [a, b];
    }
  };
  await dialog(`Compare ${x.name}`, (d) => (
    <>
      <div class="row">
        <label class="check">with <select data-focus aria-label="Capture to compare with" onChange={(event) => void choose(d, event.currentTarget.value)}>
          <option value="">{others.length === 0 ? "no other capture" : "choose a capture"}</option>
          {others.map((o) => <option key={o.id} value={o.id}>{o.name}, {new Date(o.added).toLocaleString()}</option>)}
        </select></label>
        <label class="check"><input type="checkbox" checked={changed.value} onChange={(event) => (changed.value = event.currentTarget.checked)} /> only what differs</label>
      </div>
      {sides.value === undefined ? null : <Compared workspace={workspace} sides={sides.value} changed={changed} />}
      <Says d={d} />
      <div class="row"><Button text="Close" run={d.close} /></div>
    </>
  ), { kind: "compare scores-dialog" }).closed;
}

function Compared({ workspace, sides, changed }: { workspace: string; sides: readonly [Side, Side]; changed: Signal<boolean> }) {
  const all = pairs(sides[0].types.rows, sides[1].types.rows);
  const rows = changed.value ? all.filter((p) => p.differs !== "") : all;
  const starts = sides.map(startOf);
  const opened = useRef(signal<readonly string[]>([])).current; // types whose frames are compared
  const keyOfPair = (p: Pair): string => `${p.dir} ${p.name} ${p.a?.type ?? p.b?.type ?? ""}`;
  const toggle = (key: string): void => {
    opened.value = opened.value.includes(key) ? opened.value.filter((k) => k !== key) : [...opened.value, key];
  };
  const cells = (p: Pair, cell: (row: FramesTypeRow, side: number) => string): h.JSX.Element[] => [p.a, p.b].map((row, i) => <td key={i} class="num">{row === undefined ? "" : cell(row, i)}</td>);
  const lengths = (r: FramesTypeRow): string => (r.min === r.max ? count(r.min) : `${count(r.min)}–${count(r.max)}`);
  return (
    <>
      <p class="dim"><b>A</b> {sides[0].name}: {about(sides[0])}<br /><b>B</b> {sides[1].name}: {about(sides[1])}<br />{`${counted(all.filter((p) => p.b === undefined).length, "type")} only in A, ${count(all.filter((p) => p.a === undefined).length)} only in B, ${count(all.filter((p) => p.differs === "").length)} the same in count and lengths`}</p>
      <div class="scores-box" tabIndex={0} role="region" aria-label="Types">
        <table class="data scores" aria-label="Types of both captures">
          <thead><tr><th scope="col">Type</th><th scope="col">Dir</th><th scope="col" class="num">Frames A</th><th scope="col" class="num">B</th><th scope="col" class="num">Bytes A</th><th scope="col" class="num">B</th><th scope="col" class="num">Bad A</th><th scope="col" class="num">B</th><th scope="col" class="num" title="Seconds since the start">First A</th><th scope="col" class="num">B</th><th scope="col">Difference</th><td></td></tr></thead>
          <tbody>
            {rows.slice(0, mostShown).map((p) => (
              <Fragment key={keyOfPair(p)}>
              <tr>
                <td>{p.name}</td>
                <td>{p.dir}</td>
                {[p.a, p.b].map((row, i) => (
                  <td key={i} class="num">{row === undefined ? "–" : <a href={`${pageOf(workspace, sides[i]?.id ?? "")}?${new URLSearchParams({ f: row.type }).toString()}`}>{count(row.count)}</a>}</td>
                ))}
                {cells(p, lengths)}
                {cells(p, (r) => (r.bad === 0 ? "" : count(r.bad)))}
                {cells(p, (r, i) => seconds(r.first - (starts[i] ?? 0)))}
                <td class="wrap">{p.differs}</td>
                <td>{p.a === undefined || p.b === undefined ? "" : <button type="button" class="btn quiet" aria-expanded={opened.value.includes(keyOfPair(p))} aria-label={`Compare the frames of ${p.name}`} onClick={() => toggle(keyOfPair(p))}>Frames</button>}</td>
              </tr>
              {opened.value.includes(keyOfPair(p)) ? <Frames workspace={workspace} sides={sides} pair={p} columns={columns} /> : null}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > mostShown ? <p class="dim">{counted(rows.length - mostShown, "type")} more</p> : null}
    </>
  );
}
