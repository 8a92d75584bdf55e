// Further sums of the frames of the list: by length, by the ends of their connections, and the times between requests and answers. Each has a
// row that becomes a chip.

import { Fragment, h, render } from "../kit/ui";
import { AskedDrawer } from "./asked";
import type { Drawer, DrawerHost } from "./drawer";
import { quote } from "./filters";
import type { EndRow, LengthRow, ReplyType } from "../api/frames";
import { bytes, count, counted, frameName, seconds, span } from "../kit/frametext";

export type SumName = "lengths" | "replies" | "ports" | "addresses";

const mostRows = 500;

/** A button that adds a chip to the list, or removes it. */
function Chip({ host, chip, label, children }: { host: DrawerHost; chip: string; label: string; children: string }) {
  const on = host.chips.includes(chip);
  const toggle = (): void => (on ? host.removeChip(chip) : host.addChip(chip, label));
  return <button type="button" class="link" aria-pressed={on} title={on ? "Show other frames too" : "Show only these frames"} onClick={toggle}>{children}</button>;
}

function Head({ titles }: { titles: readonly (readonly [title: string, num?: boolean, hint?: string])[] }) {
  return <thead><tr>{titles.map(([title, num, hint]) => <th key={title} scope="col" class={num === true ? "num" : ""} title={hint ?? title}>{title}</th>)}</tr></thead>;
}

function Note({ children }: { children: string }) {
  return <div class="frames-bar"><span class="note" role="status">{children}</span></div>;
}

const reading = "Reading the frames …";

/** The filter for frames of some lengths. */
export function ofLengths({ from, to }: Pick<LengthRow, "from" | "to">): string {
  return from === to ? `len == ${from}` : `len >= ${from} && len <= ${to}`;
}

/** The filter for the frames of an end of connections: one with a port or an address. */
export function ofEnd(name: string, ports: boolean): string {
  return ports ? `src == ${quote(name)} || dst == ${quote(name)}` : `ip == ${quote(name)}`;
}

class LengthsDrawer extends AskedDrawer<"types"> {
  constructor(host: DrawerHost) {
    super(host, "types", "frames-sums");
    render(<Lengths drawer={this} />, this.element);
  }

  protected question(): object {
    return {};
  }
}

function Lengths({ drawer: { host, answer, turn } }: { drawer: LengthsDrawer }) {
  void turn.value;
  const rows = answer.value?.lengths ?? [];
  const total = rows.reduce((sum, r) => sum + r.c2s + r.s2c, 0);
  const most = Math.max(1, ...rows.map((r) => r.c2s + r.s2c));
  return (
    <>
      <Note>{answer.value === undefined ? reading : `${counted(total, "frame")} by their length in bytes`}</Note>
      <div class="frames-box">
        <table class="data" aria-label="Frames by length">
          <Head titles={[["Bytes", true], ["Frames", true], ["Share", true], ["C→S", true, "Frames of the client"], ["S→C", true, "Frames of the server"]]} />
          <tbody>
            {rows.map((r) => {
              const words = r.from === r.to ? count(r.from) : `${count(r.from)} to ${count(r.to)}`;
              const all = r.c2s + r.s2c;
              return (
                <tr key={r.from}>
                  <td class="num"><Chip host={host} chip={ofLengths(r)} label={`${words} bytes`}>{words}</Chip></td>
                  <td class="num">{count(all)}</td>
                  <td class="share wide"><span class="bar" style={{ width: `${(90 * all) / most}%` }} /><span>{((all * 100) / total).toFixed(1)} %</span></td>
                  <td class="num dim">{count(r.c2s)}</td>
                  <td class="num dim">{count(r.s2c)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

class EndsDrawer extends AskedDrawer<"conns"> {
  readonly ports: boolean;

  constructor(host: DrawerHost, ports: boolean) {
    super(host, "conns", "frames-sums");
    this.ports = ports;
    render(<Ends drawer={this} />, this.element);
  }

  protected question(): { ends: string } {
    return { ends: this.ports ? "port" : "address" };
  }
}

function Ends({ drawer: { host, answer, turn, ports } }: { drawer: EndsDrawer }) {
  void turn.value;
  const a = answer.value;
  const size = (r: EndRow): number => r.sent_bytes + r.got_bytes;
  const rows = [...(a?.ends ?? [])].sort((x, y) => size(y) - size(x) || x.first - y.first);
  const all = rows.length + (a?.more_ends ?? 0);
  const { start } = host.state;
  return (
    <>
      <Note>{a === undefined ? reading : `${ports ? counted(all, "endpoint") : counted(all, "address", "addresses")} of the whole capture${all > mostRows ? `, the ${mostRows} with most bytes${(a.more_ends ?? 0) > 0 ? ` of the first ${count(rows.length)}` : ""}` : ""}`}</Note>
      <div class="frames-box">
        <table class="data" aria-label={ports ? "Endpoints" : "Addresses"}>
          <Head titles={[[ports ? "Endpoint" : "Address"], ["Connections", true], ["Sent", true, "Frames that it sent"], ["Bytes sent", true], ["Received", true, "Frames that it received"], ["Bytes received", true], ["First", true, "Seconds since the start"], ["Last", true, "Seconds since the start"]]} />
          <tbody>
            {rows.slice(0, mostRows).map((r) => (
              <tr key={r.name}>
                <td><Chip host={host} chip={ofEnd(r.name, ports)} label={`only: ${r.name}`}>{r.name}</Chip></td>
                <td class="num">{count(r.conns)}</td>
                <td class="num">{count(r.sent)}</td>
                <td class="num">{bytes(r.sent_bytes)}</td>
                <td class="num">{count(r.got)}</td>
                <td class="num">{bytes(r.got_bytes)}</td>
                <td class="num dim"><button type="button" class="link" title={`Go to frame ${r.first}`} onClick={() => host.goTo(r.first)}>{seconds(r.from - start)}</button></td>
                <td class="num dim">{seconds(r.to - start)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

class RepliesDrawer extends AskedDrawer<"replies"> {
  constructor(host: DrawerHost) {
    super(host, "replies", "frames-sums");
    render(<Replies drawer={this} />, this.element);
  }

  protected question(): object {
    return {};
  }
}

function nameOf(t: ReplyType): string {
  return frameName({ name: t.name ?? "", ...(t.code === undefined ? {} : { code: t.code }) });
}

function Replies({ drawer: { host, answer, turn } }: { drawer: RepliesDrawer }) {
  void turn.value;
  const a = answer.value;
  const rows = a?.rows ?? [];
  const said = a === undefined ? reading : rows.length === 0 ? "No type of message follows another one reliably." : counted(rows.length, "type that is answered", "types that are answered");
  return (
    <>
      <Note>{`${said}${a?.note === undefined ? "" : `; ${a.note}`}`}</Note>
      {rows.length === 0 ? null : (
        <div class="frames-box">
          <table class="data" aria-label="Times between requests and answers">
            <Head titles={[["Request"], ["Answer"], ["Requests", true], ["Answered", true], ["Least", true], ["Median", true, "To 3 percent"], ["Mean", true], ["95 %", true, "95 percent take no longer, to 3 percent"], ["Most", true]]} />
            <tbody>
              {rows.map((r) => (
                <tr key={r.request.type}>
                  <td><Chip host={host} chip={`${r.request.type} || ${r.answer.type}`} label={`${nameOf(r.request)}, ${nameOf(r.answer)}`}>{nameOf(r.request)}</Chip></td>
                  <td title={`${counted(r.answers, "message")} of this type`}>{nameOf(r.answer)}</td>
                  <td class="num">{count(r.requests)}</td>
                  <td class="num">{count(r.answered)}</td>
                  <td class="num">{span(r.least)}</td>
                  <td class="num">{span(r.median)}</td>
                  <td class="num">{span(r.mean)}</td>
                  <td class="num">{span(r.most95)}</td>
                  <td class="num"><button type="button" class="link" title={`Go to frame ${r.slowest}`} aria-label={`${span(r.most)}, frame ${r.slowest}`} onClick={() => host.goTo(r.slowest)}>{span(r.most)}</button></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

export const sums: Readonly<Record<SumName, new (host: DrawerHost) => Drawer>> = {
  lengths: LengthsDrawer,
  replies: RepliesDrawer,
  ports: class extends EndsDrawer {
    constructor(host: DrawerHost) {
      super(host, true);
    }
  },
  addresses: class extends EndsDrawer {
    constructor(host: DrawerHost) {
      super(host, false);
    }
  },
};
