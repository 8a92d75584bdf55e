// Maps the bytes of a frame to its packets. A frame consists of ranges of packet payloads; decryption keeps sizes and offsets. So any offset
// in the frame maps to a packet, and back.

import type { PacketInfo } from "../api/api";
import type { FrameAnswer } from "../api/frames";

/** Bytes [start, end). */
export interface Run {
  start: number;
  end: number;
}

/** A captured packet, as in GET .../packets. */
export type Packet = PacketInfo;

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** What is shown in place of the message: bytes, and the ranges that belong to the frame. */
export interface Layer {
  data: Uint8Array;
  head: number; // header bytes before the payload
  runs: { start: number; end: number; at: number }[]; // ranges of the frame; at: offset in the frame
}

/** The ranges of the frame in its packets, with their offsets in the frame. */
function placed(frame: FrameAnswer): { packet: number; off: number; len: number; at: number }[] {
  let at = 0;
  return frame.sources.map((s) => {
    const run = { ...s, at };
    at += s.len;
    return run;
  });
}

/** The frame in a captured packet, or in its payload. */
export function inPacket(frame: FrameAnswer, packet: Packet, clear: boolean): Layer {
  const head = clear ? 0 : (packet.payload ?? 0);
  const data = bytesOf(clear ? (packet.clear ?? "") : packet.hex);
  const runs = placed(frame)
    .filter((s) => s.packet === packet.n && (clear || packet.payload !== undefined))
    .map((s) => ({ start: Math.min(head + s.off, data.length), end: Math.min(head + s.off + s.len, data.length), at: s.at }))
    .filter((run) => run.end > run.start);
  return { data, head, runs };
}

/** The joined payloads of the stream around a frame: the bytes before it in its first packet, the frame, and the bytes after it in the last
 *  one. Packets that are not loaded are omitted. */
export function joined(frame: FrameAnswer, packets: ReadonlyMap<number, Packet>): Layer {
  const parts: Uint8Array[] = [];
  const runs: Layer["runs"] = [];
  let size = 0;
  const put = (part: Uint8Array): void => {
    parts.push(part);
    size += part.length;
  };
  const all = placed(frame);
  all.forEach((s, i) => {
    const packet = packets.get(s.packet);
    if (packet === undefined) {
      return;
    }
    const payload = packet.clear !== undefined ? bytesOf(packet.clear) : bytesOf(packet.hex).subarray(packet.payload ?? 0, (packet.payload ?? 0) + (packet.length ?? 0));
    if (i === 0) {
      put(payload.subarray(0, s.off));
    }
    const run = payload.subarray(s.off, s.off + s.len);
    runs.push({ start: size, end: size + run.length, at: s.at });
    put(run);
    if (i === all.length - 1) {
      put(payload.subarray(s.off + s.len));
    }
  });
  const data = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    data.set(part, at);
    at += part.length;
  }
  return { data, head: 0, runs };
}

/** A range of the frame as ranges of a layer, adjacent ones joined. */
export function toLayer(layer: Layer, part: Run): Run[] {
  const out: Run[] = [];
  for (const run of layer.runs) {
    const from = Math.max(part.start, run.at);
    const to = Math.min(part.end, run.at + run.end - run.start);
    if (from >= to) {
      continue;
    }
    const start = run.start + from - run.at;
    const last = out.at(-1);
    if (last !== undefined && last.end === start) {
      last.end += to - from;
    } else {
      out.push({ start, end: start + to - from });
    }
  }
  return out;
}

/** A range of a layer as a range of the frame; undefined if they do not overlap. */
export function toFrame(layer: Layer, part: Run): Run | undefined {
  let found: Run | undefined;
  for (const run of layer.runs) {
    const from = Math.max(part.start, run.start);
    const to = Math.min(part.end, run.end);
    if (from < to) {
      const start = run.at + from - run.start;
      const end = start + to - from;
      found = found === undefined ? { start, end } : { start: Math.min(found.start, start), end: Math.max(found.end, end) };
    }
  }
  return found;
}
