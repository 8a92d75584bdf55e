// Where the bytes of a frame are in what carried it. A frame is made of runs of the payloads of packets; deciphered, a payload has the same
// size and places. So any place of the frame is found in the packets, and back.

import type { PacketInfo } from "./api";
import type { FrameAnswer } from "./frames/protocol";

/** Bytes from start up to end. */
export interface Run {
  start: number;
  end: number;
}

/** A captured packet, as GET .../packets gives it. */
export type Packet = PacketInfo;

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** What a tab shows: bytes, and which of them the frame is made of. */
export interface Layer {
  data: Uint8Array;
  head: number; // bytes at the start that are of what carries the payload
  runs: { start: number; end: number; at: number }[]; // of the frame; at: where the run is in the frame
}

/** The frame's runs in its packets, with their places in the frame. */
function placed(frame: FrameAnswer): { packet: number; off: number; len: number; at: number }[] {
  let at = 0;
  return frame.sources.map((s) => {
    const run = { ...s, at };
    at += s.len;
    return run;
  });
}

/** The frame in a packet as it was captured, or in its payload. */
export function inPacket(frame: FrameAnswer, packet: Packet, clear: boolean): Layer {
  const head = clear ? 0 : (packet.payload ?? 0);
  const data = bytesOf(clear ? (packet.clear ?? "") : packet.hex);
  const runs = placed(frame)
    .filter((s) => s.packet === packet.n && (clear || packet.payload !== undefined))
    .map((s) => ({ start: Math.min(head + s.off, data.length), end: Math.min(head + s.off + s.len, data.length), at: s.at }))
    .filter((run) => run.end > run.start);
  return { data, head, runs };
}

/** The payloads of a stream around a frame, put together: what stood before it in its first packet, the frame, what stands behind it in
 *  the last one. A packet that is not known is left out. */
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

/** A part of the frame as parts of a layer, side by side ones put together. */
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

/** A part of a layer as a part of the frame; undefined where it has none of it. */
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
