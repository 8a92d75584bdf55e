// Formatting of the facts about frames.

import type { Connection, Direction, FrameRow, Noted } from "../api/frames";

/** The format of the time of a frame. */
export type TimeMode = "start" | "clock" | "reference" | "delta";

export const timeModes: readonly (readonly [TimeMode, string])[] = [
  ["start", "Seconds since the start"],
  ["clock", "Time of day"],
  ["reference", "Seconds since the time reference"],
  ["delta", "Seconds since the previous row"],
];

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** An integer with digit groups. */
export function count(n: number): string {
  return n < 1000 ? String(n) : numbers.format(n);
}

/** "1 frame", "2 frames". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A number of bytes with three significant digits. */
export function bytes(n: number): string {
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1024;
    unit++;
  }
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(n >= 10 ? 1 : 2)} ${units[unit]}`;
}

function two(n: number): string {
  return n < 10 ? `0${n}` : String(n);
}

/** Microseconds as seconds with six decimals. */
export function seconds(micros: number): string {
  const whole = Math.abs(Math.round(micros));
  return `${micros < 0 ? "-" : ""}${Math.floor(whole / 1e6)}.${String(whole % 1e6).padStart(6, "0")}`;
}

/** A time of day in the local time zone. */
export function clock(t: number): string {
  const date = new Date(t / 1000);
  if (Number.isNaN(date.getTime())) {
    return "";
  }
  const micros = ((t % 1e6) + 1e6) % 1e6;
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(Math.floor(micros)).padStart(6, "0")}`;
}

/** A time with its date. */
export function dayAndClock(t: number): string {
  const date = new Date(t / 1000);
  return Number.isNaN(date.getTime()) ? "" : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(t)}`;
}

/** A duration with three significant digits and its unit. */
export function span(micros: number): string {
  const size = Math.abs(micros);
  const digits = (value: number, unit: string): string => {
    const all = Math.abs(value);
    return `${value.toFixed(all >= 100 ? 0 : all >= 10 ? 1 : 2)} ${unit}`;
  };
  if (size < 1000) {
    return `${Math.round(micros)} µs`;
  }
  if (size < 1e6) {
    return digits(micros / 1000, "ms");
  }
  if (size < 600e6) {
    return digits(micros / 1e6, "s");
  }
  const minutes = Math.floor(size / 60e6);
  const hours = Math.floor(minutes / 60);
  const text = hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min ${Math.floor((size % 60e6) / 1e6)} s`;
  return micros < 0 ? `-${text}` : text;
}

/** "C→S". */
export function direction(dir: Direction | undefined): string {
  return dir === "c2s" ? "C→S" : dir === "s2c" ? "S→C" : "";
}

/** A direction in words. */
export function directionWords(dir: Direction | undefined): string {
  return dir === "c2s" ? "client to server" : dir === "s2c" ? "server to client" : "";
}

/** A code in hex with at least four digits. */
export function opcode(code: number | undefined): string {
  return code === undefined ? "" : `0x${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

const kinds: Readonly<Record<string, string>> = { control: "control", opaque: "encrypted", problem: "problem", packet: "packet" };

/** The name of a frame, or "? 0x26D2". */
export function frameName(row: { name?: string; code?: number; kind?: string }): string {
  if (row.name !== undefined && row.name !== "") {
    return row.name;
  }
  return row.code !== undefined && (row.kind ?? "message") === "message" ? `? ${opcode(row.code)}` : (kinds[row.kind ?? ""] ?? "?");
}

/** A short form of a connection: its ports and its session. */
export function shortConnection(c: Connection | undefined): string {
  if (c === undefined) {
    return "";
  }
  const ports = /:(\d+)-.*:(\d+)$/.exec(c.name);
  return `${ports === null ? c.name : `${ports[1]} ⇄ ${ports[2]}`}${c.session > 0 ? ` ·${c.session + 1}` : ""}`;
}

/** The address and port of the sender or the receiver of a frame; "" if they are unknown. */
export function endName(row: FrameRow, conns: readonly Connection[], sender: boolean): string {
  const [client = "", server = ""] = (conns[row.conn ?? 0]?.name ?? "").split("-");
  return (row.dir === "s2c") === sender ? server : client;
}

const mostNumbers = 6;

/** The layers of a frame, outermost last: "chunk, reliable:3 of 41, 42, 44". */
export function layers(row: FrameRow): string {
  const via = row.via?.join(" › ") ?? "";
  const from = row.from ?? [];
  if (from.length === 0) {
    return via;
  }
  const list = from.slice(0, mostNumbers).join(", ") + (from.length > mostNumbers ? ` and ${from.length - mostNumbers} more` : "");
  return `${via === "" ? "" : `${via} `}of ${list}`;
}

/** Whether a frame has a problem. */
export function isBad(row: FrameRow): boolean {
  return row.kind === "problem" || row.status === "incomplete" || row.status === "illegal";
}

/** The Info text of a row, with problems first. */
export function info(row: FrameRow): string {
  const parts = [...new Set([row.info ?? "", row.note ?? ""])].filter((part) => part !== ""); // Info may be the note
  if (row.status === "incomplete" || row.status === "illegal") {
    parts.unshift(row.status);
  }
  return parts.join(" · ").replaceAll(/[\x00-\x1f\x7f]+/g, " ");
}

const flagWords: Readonly<Record<string, string>> = { "*": "injected", "~": "modified", X: "dropped" };

/** The signs of a row and their meanings. A row may be older than the one before it. */
export function flags(row: FrameRow, marked: boolean, noted: boolean): { text: string; words: string } {
  const older = (row.d ?? 0) < 0;
  const text = (marked ? "◆" : "") + (noted ? "✎" : "") + (isBad(row) ? "!" : "") + (older ? "↶" : "") + (row.flags ?? "");
  const words = [marked ? "marked" : "", noted ? "has a note" : "", isBad(row) ? "a problem" : "", older ? "older than the row before: it could be read only when its key was known, or its packet was late" : ""];
  for (const flag of row.flags ?? "") {
    words.push(flagWords[flag] ?? flag);
  }
  return { text, words: words.filter((w) => w !== "").join(", ") };
}

/** Marks and notes of frames that are not in a list of total frames. */
export function nowhere(noted: readonly Noted[], total: number): Noted[] {
  return noted.filter(({ n }) => n === undefined || n > total);
}

/** A text with a capital letter, as a sentence begins. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
