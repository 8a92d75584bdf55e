// The drawer of the flow: the selected frames, or those from the current one on, as arrows between client and server.

import { copyText } from "../kit/copy/index";
import { notify } from "../kit/notify";
import { Fragment, h, render } from "../kit/ui";
import { AskedDrawer } from "./asked";
import type { DrawerHost } from "./drawer";
import type { FrameRow, RowsAnswer, State } from "../api/frames";
import { direction, frameName, seconds, shortConnection } from "../kit/frametext";

const mostArrows = 200;
const rowPx = 22;

export class FlowDrawer extends AskedDrawer<"rows"> {
  private from = 0;

  constructor(host: DrawerHost) {
    super(host, "rows", "frames-flow");
    render(<Flow drawer={this} />, this.element);
  }

  protected question(): { from: number; count: number } {
    const [chosen] = this.host.chosen;
    const many = chosen !== undefined && chosen.end - chosen.start > 1;
    this.from = Math.max(0, chosen?.start ?? 0);
    return { from: this.from, count: many ? Math.min(mostArrows, chosen.end - chosen.start) : mostArrows };
  }

  again(): void {
    this.refresher.now();
  }

  selected(): void {
    this.turn.value++;
  }

  override changed(state: State, anew: boolean): void {
    if (anew) {
      super.changed(state, anew); // more frames at the end do not matter
    }
  }
}

const mostLanes = 12; // drawn; the last one is for all other connections

interface Lane {
  conns: ReadonlySet<number>;
  name: string;
}

/** The pairs of lines that the connections of some rows get, in the order of their first frames. */
export function lanesOf(rows: readonly Pick<FrameRow, "conn">[], state: { conns: State["conns"] }): Lane[] {
  const conns = [...new Set(rows.map((r) => r.conn ?? 0))];
  const alone = conns.length > mostLanes ? conns.slice(0, mostLanes - 1) : conns;
  const others = conns.slice(alone.length);
  return [
    ...alone.map((conn) => ({ conns: new Set([conn]), name: shortConnection(state.conns[conn]) })),
    ...(others.length > 0 ? [{ conns: new Set(others), name: `${others.length} others` }] : []),
  ];
}

/** The flow as text. */
export function flowText(rows: readonly FrameRow[], state: State): string {
  const several = lanesOf(rows, state).length > 1;
  return rows.map((r) => `${String(r.n).padStart(7)}  ${seconds(r.t - state.start).padStart(12)}  ${r.dir === "s2c" ? "<----" : r.dir === "c2s" ? "---->" : "-----"}  ${several ? `${shortConnection(state.conns[r.conn ?? 0])}  ` : ""}${frameName(r)}  ${r.info ?? ""}`.trimEnd()).join("\n");
}

function Flow({ drawer }: { drawer: FlowDrawer }) {
  const { host } = drawer;
  void drawer.turn.value;
  const answer: RowsAnswer | undefined = drawer.answer.value;
  const rows = (answer?.rows ?? []).filter((r) => r.n > 0);
  const lanes = lanesOf(rows, host.state);
  return (
    <>
      <div class="frames-bar">
        <button type="button" class="btn quiet small" title="The selected frames, or those from the current one on" onClick={() => drawer.again()}>Draw the selection</button>
        <button type="button" class="btn quiet small" disabled={rows.length === 0} onClick={() => void copyText(flowText(rows, host.state)).then((done) => done && notify("Copied", "ok"))}>Copy as text</button>
        <span class="note" role="status">{answer === undefined ? "" : rows.length === 0 ? "No frames in the list." : `${rows.length} frames from ${rows[0]?.n ?? 0} to ${rows.at(-1)?.n ?? 0}${lanes.length > 1 ? `, ${lanes.reduce((n, { conns }) => n + conns.size, 0)} connections` : ""}`}</span>
      </div>
      <div class="frames-box">
        <ol class="flow" aria-label="Frames between client and server" style={{ "--lanes": String(Math.max(1, lanes.length)) }}>
          <li class="flow-head" aria-hidden="true">
            <span />
            {(lanes.length > 1 ? lanes : [{ name: "" }]).map(({ name }) => <span class="flow-ends"><span>Client</span><span class="flow-conn">{name}</span><span>Server</span></span>)}
            <span />
          </li>
          {rows.map((r) => (
            <li key={r.n} class={`flow-row ${r.dir ?? ""}${r.kind === "problem" ? " bad" : ""}${host.row?.n === r.n ? " cur" : ""}`}>
              <span class="num dim">{seconds(r.t - host.state.start)}</span>
              {lanes.map(({ conns }) => (
                <span class="flow-lane">{conns.has(r.conn ?? 0) ? (
                  <button type="button" class="link flow-arrow" title={`${direction(r.dir)} ${frameName(r)}: go to frame ${r.n}`} aria-label={`${direction(r.dir)} ${frameName(r)}, frame ${r.n}`} onClick={() => host.goTo(r.n)}>
                    <svg class="flow-line" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" height={rowPx / 2}>
                      <path d={r.dir === "s2c" ? "M100 5 L1 5 M5 1 L1 5 L5 9" : r.dir === "c2s" ? "M0 5 L99 5 M95 1 L99 5 L95 9" : "M0 5 L100 5"} vector-effect="non-scaling-stroke" />
                    </svg>
                    <span class="flow-name">{frameName(r)}</span>
                  </button>
                ) : null}</span>
              ))}
              <span class="dim flow-info">{lanes.length > 1 ? `${shortConnection(host.state.conns[r.conn ?? 0])}  ` : ""}{r.info ?? ""}</span>
            </li>
          ))}
        </ol>
      </div>
    </>
  );
}
