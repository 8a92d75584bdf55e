// The drawer of connections: their frames, bytes, rates and times. A name shows one connection alone.

import { Fragment, h, render, signal } from "../kit/ui";
import { AskedDrawer } from "./asked";
import type { DrawerHost } from "./drawer";
import { ofConnection } from "./filters";
import type { Connection, ConnRow, State } from "../api/frames";
import { bytes, count, counted, seconds, shortConnection, span } from "../kit/frametext";

const mostRows = 500;

const columns: readonly (readonly [id: string, title: string, value: (r: ConnRow) => number | string])[] = [
  ["stream", "#", (r) => r.stream],
  ["name", "Connection", (r) => r.name],
  ["proto", "Over", (r) => r.proto],
  ["frames", "Frames", (r) => r.c2s + r.s2c],
  ["c2s", "C→S", (r) => r.c2s_bytes],
  ["s2c", "S→C", (r) => r.s2c_bytes],
  ["rate", "Rate", (r) => rate(r)],
  ["from", "Start", (r) => r.from],
  ["long", "Duration", (r) => r.to - r.from],
  ["bad", "Bad", (r) => r.bad ?? 0],
];

/** Bytes a second, both ways; 0 without a duration. */
function rate(r: ConnRow): number {
  return r.to > r.from ? ((r.c2s_bytes + r.s2c_bytes) * 1e6) / (r.to - r.from) : 0;
}

export class ConnectionsDrawer extends AskedDrawer<"conns"> {
  readonly sort = signal({ by: "frames", desc: true });

  constructor(host: DrawerHost) {
    super(host, "conns", "frames-conns");
    render(<Connections drawer={this} />, this.element);
  }

  readonly listed = signal(false); // only the frames of the list count
  private conns: readonly Connection[] | undefined;

  protected question(): { listed?: boolean } {
    return this.listed.value ? { listed: true } : {};
  }

  only(listed: boolean): void {
    this.listed.value = listed;
    this.refresher.now();
  }

  /** Connections change also while the list is paused, or its filter matches nothing new. */
  override changed(state: State, anew: boolean): void {
    const fresh = this.conns !== state.conns;
    this.conns = state.conns;
    super.changed(fresh ? { ...state, total: state.conns.reduce((sum, c) => sum + c.frames, 0) } : state, anew);
  }

  choose(by: string): void {
    const { by: was, desc } = this.sort.value;
    this.sort.value = { by, desc: by === was ? !desc : by !== "name" };
  }
}

function Connections({ drawer }: { drawer: ConnectionsDrawer }) {
  const { host } = drawer;
  void drawer.turn.value;
  const a = drawer.answer.value;
  const { by, desc } = drawer.sort.value;
  const value = columns.find(([id]) => id === by)?.[2] ?? ((r: ConnRow) => r.stream);
  const rows = [...(a?.rows ?? [])].sort((x, y) => {
    const [p, q] = [value(x), value(y)];
    return (typeof p === "string" ? p.localeCompare(String(q), "en", { numeric: true }) : p - Number(q)) * (desc ? -1 : 1) || x.stream - y.stream;
  });
  const start = host.state.start;
  const only = (r: ConnRow): void => {
    const conn = { name: r.name, session: r.session ?? 0, proto: r.proto, frames: r.c2s + r.s2c };
    const chip = ofConnection(conn);
    if (host.chips.includes(chip)) {
      host.removeChip(chip);
    } else {
      host.addChip(chip, `only: ${shortConnection(conn)}`);
    }
  };
  return (
    <>
      <div class="frames-bar">
        <span class="note" role="status">{a === undefined ? "Reading the frames …" : `${counted(rows.length + (a.more ?? 0), "connection")}${rows.length > mostRows ? `, the first ${mostRows}` : ""}`}</span>
        <label class="check"><input type="checkbox" checked={drawer.listed.value} onChange={(event) => drawer.only(event.currentTarget.checked)} /> only listed frames</label>
      </div>
      <div class="frames-box">
        <table class="data" aria-label="Connections">
          <thead>
            <tr>
              {columns.map(([id, title]) => (
                <th key={id} scope="col" class={id === "name" || id === "proto" ? "" : "num"} {...(by === id ? { "aria-sort": desc ? "descending" as const : "ascending" as const } : {})}>
                  <button type="button" class="sort" onClick={() => drawer.choose(id)}>{title}{by !== id ? "" : desc ? " ↓" : " ↑"}</button>
                </th>
              ))}
              <th scope="col"><span class="sr-only">Follow</span></th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, mostRows).map((r) => {
              const on = host.chips.includes(ofConnection({ name: r.name, session: r.session ?? 0, proto: r.proto, frames: 0 }));
              return (
                <tr key={`${r.index} ${r.name}`}>
                  <td class="num dim">{r.stream}</td>
                  <td><button type="button" class="link" aria-pressed={on} title={on ? "Show other connections too" : "Show only this connection"} onClick={() => only(r)}>{r.name}{(r.session ?? 0) > 0 ? ` #${r.session ?? 0}` : ""}</button></td>
                  <td class="dim">{r.proto}</td>
                  <td class="num">{count(r.c2s + r.s2c)}</td>
                  <td class="num" title={counted(r.c2s, "frame")}>{bytes(r.c2s_bytes)}</td>
                  <td class="num" title={counted(r.s2c, "frame")}>{bytes(r.s2c_bytes)}</td>
                  <td class="num">{rate(r) === 0 ? "" : `${bytes(rate(r))}/s`}</td>
                  <td class="num">{seconds(r.from - start)}</td>
                  <td class="num">{span(r.to - r.from)}</td>
                  <td class={`num${(r.bad ?? 0) > 0 ? " err" : ""}`}>{r.bad ?? ""}</td>
                  <td><button type="button" class="link" aria-label={`Follow ${r.name}`} onClick={() => host.follow(r.first)}>Follow</button></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
