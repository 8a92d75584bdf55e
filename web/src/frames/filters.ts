// Filters written by the menus of the list, in the language of codec/filter.

import type { Connection, FrameRow } from "../api/frames";
import { endName, opcode } from "../kit/frametext";

/** A quoted string. Control and other non-printable characters are escaped. */
export function quote(text: string): string {
  const escaped = text.replaceAll(/["\\\x00-\x1f\x7f]/g, (c) => {
    if (c === '"' || c === "\\") {
      return `\\${c}`;
    }
    return c === "\n" ? "\\n" : c === "\t" ? "\\t" : c === "\r" ? "\\r" : `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `"${escaped}"`;
}

/** A displayed value as a filter literal: numbers, booleans and names unquoted, other values quoted. */
export function literal(value: string, type = ""): string {
  if (type === "hex") {
    return `x"${value}"`; // a byte of a type without a definition
  }
  if (type.startsWith("string") || type.startsWith("text")) {
    return quote(value);
  }
  if (/^-?(\d+(\.\d+)?([eE][-+]?\d+)?|0x[0-9a-fA-F]+)$/.test(value) || value === "true" || value === "false") {
    return value;
  }
  if (/^([0-9a-fA-F]{2}[ :]?)+$/.test(value) && /^(bytes|byte\[|blob)/.test(type)) {
    return `x"${value.replaceAll(":", " ")}"`;
  }
  return quote(value);
}

/** A time literal: seconds since 1970. */
export function timeLiteral(micros: number): string {
  const whole = Math.round(micros);
  return `${Math.floor(whole / 1e6)}.${String(((whole % 1e6) + 1e6) % 1e6).padStart(6, "0")}`;
}

export function betweenTimes(from: number, to: number): string {
  return `time >= ${timeLiteral(from)} && time < ${timeLiteral(to)}`;
}

/** A filter for a connection. */
export function ofConnection(c: Connection): string {
  return `conn == ${quote(c.name)} && session == ${c.session}`;
}

export function not(filter: string): string {
  return `!(${filter})`;
}

/** The type hidden by a chip, or undefined for other chips. */
export function hiddenType(chip: string): string | undefined {
  return /^!\((.+)\)$/s.exec(chip)?.[1];
}

/** A filter for a cell of the list, or "". */
export function ofCell(column: string, row: FrameRow, conns: readonly Connection[], userColumns: readonly string[]): string {
  const conn = conns[row.conn ?? 0];
  switch (column) {
    case "n":
      return `n == ${row.n}`;
    case "time":
      return `time >= ${timeLiteral(row.t)}`;
    case "delta":
      return `delta >= ${((row.d ?? 0) / 1e6).toFixed(6)}`;
    case "dir":
      return row.dir === undefined || row.dir === "" ? "" : `dir == ${row.dir}`;
    case "code":
      return row.code === undefined ? "" : `op == ${opcode(row.code)}`;
    case "name":
      return row.type ?? "";
    case "ver":
      return row.ver === undefined ? "" : `ver == ${row.ver}`;
    case "len":
      return `len == ${row.len ?? 0}`;
    case "conn":
      return conn === undefined ? "" : ofConnection(conn);
    case "src": case "dst":
      return conn === undefined ? "" : `${column} == ${quote(endName(row, conns, column === "src"))}`;
    case "info":
      return row.status === "incomplete" || row.status === "illegal" ? `status == ${row.status}` : (row.type ?? "");
    case "flags":
      return row.flags?.includes("*") === true ? "injected" : row.flags?.includes("~") === true ? "modified" : row.flags?.includes("X") === true ? "dropped" : "";
    case "layers":
      return (row.from?.length ?? 0) === 0 ? "" : `depth == ${row.via?.length ?? 1}`;
    default: {
      const index = userColumns.indexOf(column.replace(/^=/, ""));
      const value = row.cells?.[index];
      return index < 0 || value === undefined || value === "" ? "" : `${userColumns[index]} == ${literal(value)}`;
    }
  }
}
