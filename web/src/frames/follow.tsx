// The drawer that follows a connection: its bytes as text or hex, or its messages, in both directions.

import { copyText } from "../kit/copy/index";
import { notify } from "../kit/notify";
import { Fragment, h, render, signal } from "../kit/ui";
import { AskedDrawer } from "./asked";
import type { DrawerHost } from "./drawer";
import type { FollowPart, FrameRow } from "../api/frames";
import { counted, direction, seconds } from "../kit/frametext";

type As = "messages" | "text" | "hex";

function bytesOf(hex: string): number[] {
  return Array.from({ length: hex.length / 2 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/** Bytes as printable text; others are dots, and UTF-16 text is read as such. */
export function printable(hex: string): string {
  const data = bytesOf(hex);
  let out = "";
  for (let i = 0; i < data.length; i++) {
    const [a = 0, b, c, d] = [data[i], data[i + 1], data[i + 2], data[i + 3]];
    const letter = (x: number | undefined): boolean => x !== undefined && x >= 32 && x < 127;
    if (letter(a) && b === 0 && (letter(c) && d === 0 || out.endsWith(String.fromCharCode(data[i - 2] ?? 0)) && data[i - 1] === 0)) {
      out += String.fromCharCode(a); // UTF-16
      i++;
    } else {
      out += letter(a) || a === 10 ? String.fromCharCode(a) : a === 13 ? "" : "·";
    }
  }
  return out;
}

/** Bytes as lines of 16 with their offsets. */
export function hexLines(hex: string): string {
  const data = bytesOf(hex);
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += 16) {
    const row = data.slice(at, at + 16);
    const digits = row.map((b, i) => (i === 8 ? " " : "") + b.toString(16).padStart(2, "0")).join(" ");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${digits.padEnd(48)}  ${row.map((b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : ".")).join("")}`);
  }
  return lines.join("\n");
}

export class FollowDrawer extends AskedDrawer<"follow"> {
  protected override readonly firstControl = ".segments button";
  readonly as = signal<As>("messages");
  readonly n = signal(0); // a frame of the connection
  readonly place = signal<{ from?: number; back?: boolean }>({});

  constructor(host: DrawerHost) {
    super(host, "follow", "frames-follow");
    this.n.value = host.row?.n ?? 0;
    render(<Follow drawer={this} />, this.element);
  }

  protected question(): { n: number; from?: number; back?: boolean } | undefined {
    return this.n.value === 0 ? undefined : { n: this.n.value, ...this.place.value };
  }

  /** Follows the connection of a frame, from its start. */
  follow(n: number): void {
    this.n.value = n;
    this.turn_to({});
  }

  turn_to(place: { from?: number; back?: boolean }): void {
    this.place.value = place;
    this.refresher.now();
  }

  selected(row: FrameRow | undefined): void {
    if (this.n.value === 0 && row !== undefined) {
      this.follow(row.n);
    }
  }
}

function textOf(part: FollowPart, as: As): string {
  const cut = part.len > part.hex.length / 2 ? `\n… ${part.len - part.hex.length / 2} more bytes` : "";
  return as === "messages" ? `${part.name}  ${part.info}` : (as === "hex" ? hexLines(part.hex) : printable(part.hex)) + cut;
}

function Follow({ drawer }: { drawer: FollowDrawer }) {
  const { host } = drawer;
  const a = drawer.answer.value;
  const as = drawer.as.value;
  const start = host.state.start;
  const all = (): string => (a?.parts ?? []).map((part) => `${direction(part.dir)} ${part.n} ${seconds(part.t - start)}\n${textOf(part, as)}`).join("\n");
  const other = host.row !== undefined && host.row.n !== drawer.n.value;
  void drawer.turn.value;
  return (
    <>
      <div class="frames-bar">
        <span class="segments" role="group" aria-label="Show as">
          {(["messages", "text", "hex"] as const).map((kind) => (
            <button key={kind} type="button" class="btn quiet small" aria-pressed={as === kind} onClick={() => (drawer.as.value = kind)}>{{ messages: "Messages", text: "Text", hex: "Hex" }[kind]}</button>
          ))}
        </span>
        <button type="button" class="btn quiet small" disabled={(a?.before ?? 0) === 0} onClick={() => drawer.turn_to({ from: a?.before ?? 0, back: true })}>Earlier</button>
        <button type="button" class="btn quiet small" disabled={(a?.after ?? 0) === 0} onClick={() => drawer.turn_to({ from: a?.after ?? 0 })}>Later</button>
        <button type="button" class="btn quiet small" disabled={a === undefined} onClick={() => void copyText(all()).then((done) => done && notify("Copied", "ok"))}>Copy</button>
        {other ? <button type="button" class="btn quiet small" onClick={() => drawer.follow(host.row?.n ?? 0)}>That of frame {host.row?.n}</button> : null}
        <span class="note" role="status">{a === undefined ? (drawer.n.value === 0 ? "Choose a frame: its connection is followed." : "Reading …") : `${a.conn}, ${counted(a.parts.length, "frame")} from ${a.parts[0]?.n ?? 0} to ${a.parts.at(-1)?.n ?? 0}`}</span>
      </div>
      <div class="frames-box follow-box" tabIndex={0} role="log" aria-live="off" aria-label="Conversation">
        {(a?.parts ?? []).map((part) => (
          <div key={part.n} class={`follow-part ${part.dir}${part.kind === "problem" ? " bad" : ""}`}>
            <button type="button" class="link" title="Go to this frame" onClick={() => host.goTo(part.n)}>{direction(part.dir)} {part.n} <span class="dim">{seconds(part.t - start)}</span></button>
            <pre>{textOf(part, as)}</pre>
          </div>
        ))}
      </div>
    </>
  );
}
