import type { FrameAnswer } from "../api/frames";
import { inPacket, joined, type Packet, toFrame, toLayer } from "./layers";
import { equal, test } from "../kit/testing";

function frame(sources: [packet: number, off: number, len: number][]): FrameAnswer {
  return {
    n: 1, hex: "", dir: "c2s", group: "", name: "", conn: "", row: { n: 1, t: 0, d: 0, kind: "message", conn: 0, len: 0, type: "" },
    sources: sources.map(([packet, off, len]) => ({ packet, off, len })),
  };
}

function packet(n: number, payload: string, clear?: string): Packet {
  return { n, link: 1, captured: 2, size: 2, payload: 2, length: payload.length / 2, hex: `eeee${payload}`, ...(clear === undefined ? {} : { clear }) };
}

const hex = (data: Uint8Array): string => Array.from(data, (b) => b.toString(16).padStart(2, "0")).join("");

test("a stream around a frame is joined", () => {
  const f = frame([[7, 1, 2], [8, 0, 1]]);
  const layer = joined(f, new Map([[7, packet(7, "a0a1a2", "b0b1b2")], [8, packet(8, "a3a4", "b3b4")]]));
  equal(hex(layer.data), "b0b1b2b3b4");
  equal(layer.runs, [{ start: 1, end: 3, at: 0 }, { start: 3, end: 4, at: 2 }]);
  equal(toLayer(layer, { start: 1, end: 3 }), [{ start: 2, end: 4 }]);
  equal(toFrame(layer, { start: 0, end: 5 }), { start: 0, end: 3 });
  equal(toFrame(layer, { start: 4, end: 5 }), undefined);
});

test("unencrypted payloads are joined as captured", () => {
  const layer = joined(frame([[7, 0, 2], [8, 1, 1]]), new Map([[7, packet(7, "a0a1")], [8, packet(8, "a2a3")]]));
  equal(hex(layer.data), "a0a1a3");
});

test("a frame is found in its packets", () => {
  const f = frame([[7, 1, 2], [7, 4, 1], [8, 0, 1]]);
  const seven = packet(7, "a0a1a2a3a4", "b0b1b2b3b4");
  equal(inPacket(f, seven, false).runs, [{ start: 3, end: 5, at: 0 }, { start: 6, end: 7, at: 2 }]);
  const clear = inPacket(f, seven, true);
  equal(hex(clear.data), "b0b1b2b3b4");
  equal(toLayer(clear, { start: 0, end: 4 }), [{ start: 1, end: 3 }, { start: 4, end: 5 }]);
  equal(toFrame(clear, { start: 2, end: 3 }), { start: 1, end: 2 });
});

test("a truncated packet, or one without a payload, has its available bytes", () => {
  equal(inPacket(frame([[7, 1, 200]]), packet(7, "a0a1a2"), false).runs, [{ start: 3, end: 5, at: 0 }]);
  equal(inPacket(frame([[7, 90, 2]]), packet(7, "a0a1a2"), false).runs, []);
  equal(inPacket(frame([[7, 0, 2]]), { n: 7, link: 1, captured: 2, size: 2, hex: "a0a1" }, false).runs, []);
  equal(joined(frame([[7, 0, 2], [8, 0, 2]]), new Map([[8, packet(8, "a2a3")]])).data.length, 2);
});
