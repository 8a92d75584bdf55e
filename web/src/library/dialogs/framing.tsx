// The dialog that chooses the framing of raw bytes, with a preview of the first messages.
//
//   dialog.operate.framing > form > .row > .field, .framing-preview > table

import type { FramingReport } from "../../api/api";
import { Button, dialog, Field, Says, Select } from "../../kit/dialog";
import { opcode } from "../../kit/frametext";
import { hexNumber, hexOf } from "../../kit/hextext";
import { request } from "../../kit/http";
import { Fragment, h, signal } from "../../kit/ui";

const sample = 64 << 10; // bytes of the file used for the preview

/** The values of the controls. Sizes and hex are as typed. */
export interface Framing {
  kind: "prefixed" | "fixed" | "delimited" | "lines" | "whole" | "envelope";
  before: string; // bytes before the length
  size: string; // of the length: "1" to "8", or "varint"
  order: "le" | "be";
  counts: "rest" | "self" | "all";
  keep: boolean;
  fixed: string; // message size
  delimiter: string; // hex
  ends: "0a" | "0d0a"; // of lines
  dir: "" | "c2s" | "s2c";
}

/** The framing in the notation of the server. */
export function framingText(f: Framing): string {
  const keep = f.keep ? "+keep" : "";
  const dir = f.dir === "" ? "" : `+${f.dir}`;
  switch (f.kind) {
    case "whole":
    case "envelope":
      return `${f.kind}${dir}`;
    case "fixed":
      return `fixed:${f.fixed.trim()}${dir}`;
    case "lines":
      return `delimited:${f.ends}${dir}`;
    case "delimited":
      return `delimited:${f.delimiter.replace(/\s|0x|,/g, "")}${keep}${dir}`;
    case "prefixed": {
      const before = f.before.trim() === "" || Number(f.before) === 0 ? "" : `@${f.before.trim()}`;
      const counts = f.counts === "self" || (f.counts === "all" && before === "") ? "+self" : f.counts === "all" ? "+all" : "";
      return `prefixed:${f.size}${ordered(f.size) ? f.order : ""}${before}${counts}${keep}${dir}`;
    }
  }
}

/** Reports whether a length of this size has a byte order. */
const ordered = (size: string): boolean => size !== "1" && size !== "varint";

/** A summary of the messages in the first bytes. */
function summary(answer: Partial<FramingReport>): string {
  const frames = answer.frames ?? [];
  if (frames.length === 0) {
    return answer.more === true ? "No message ends within the first 64 KiB." : "No messages.";
  }
  const wrong = frames.filter((frame) => frame.problem !== undefined).length;
  const known = frames.filter((frame) => (frame.message ?? "") !== "").length;
  const good = frames.length - wrong;
  const more = answer.more === true ? ", and more" : "";
  return `${good} ${good === 1 ? "message" : "messages"}${more}${known > 0 ? `, ${known} of them defined` : ""}${wrong > 0 ? ". Some of it does not fit: wrong framing or a damaged file." : "."}`;
}

function Preview({ answer }: { answer: Partial<FramingReport> }) {
  return (
    <div class="framing-preview" tabIndex={0} role="group" aria-label="The first messages">
      <table class="framing-frames">
        <thead><tr><th class="num">offset</th><th class="num">bytes</th><th>message</th><th>status</th><th>first bytes</th></tr></thead>
        <tbody>
          {(answer.frames ?? []).map((f, i) => (
            <tr key={i} class={f.problem !== undefined || f.status === "illegal" || f.status === "incomplete" ? "err" : ""}>
              <td class="num">{hexNumber(f.offset, 4)}</td><td class="num">{f.length}</td><td>{f.message ?? opcode(f.code)}</td><td>{f.problem ?? f.status ?? ""}</td>
              <td>{(f.hex.match(/../g) ?? []).join(" ")}{f.length * 2 > f.hex.length ? " …" : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Asks for the framing of a file. Resolves to "" for showing the bytes, and to undefined on cancel. */
export async function askFraming(workspace: string, file: File): Promise<string | undefined> {
  const head = new Uint8Array(await file.slice(0, sample).arrayBuffer());
  const hex = hexOf(head);
  const now = signal<Framing>({ kind: "prefixed", before: "0", size: "2", order: "le", counts: "self", keep: true, fixed: "64", delimiter: "00", ends: hex.includes("0d0a") ? "0d0a" : "0a", dir: "" });
  const answer = signal<Partial<FramingReport>>({});
  const fits = signal(false);
  let result: string | undefined;
  let asked = 0;
  let soon: ReturnType<typeof setTimeout> | undefined;

  const d = dialog(`${file.name}: split into messages`, (d) => {
    const f = now.value;
    const set = (more: Partial<Framing>): void => {
      now.value = { ...now.value, ...more };
      clearTimeout(soon);
      soon = setTimeout(() => void show(), 80);
    };
    const pick = <K extends keyof Framing>(key: K, label: string, options: readonly (readonly [string, string])[], more: object = {}) => (
      <Field label={label}><Select name={key} options={options} value={String(f[key])} change={(to) => set({ [key]: key === "keep" ? to === "true" : to })} {...more} /></Field>
    );
    const number = (key: "before" | "fixed", label: string, min: number, max: number) => (
      <Field label={label}><input type="number" name={key} min={min} max={max} inputMode="numeric" value={f[key]} onInput={(event) => set({ [key]: event.currentTarget.value })} /></Field>
    );
    const kept = pick("keep", "In the message", [["true", "kept"], ["false", "removed"]]);
    const answerWith = (value: string): void => {
      result = value;
      d.close();
    };
    return (
      <>
        <div class="row">
          {pick("kind", "Messages", [
            ["prefixed", "A length precedes each message"], ["fixed", "All messages have one size"], ["delimited", "A delimiter follows each message"],
            ["lines", "Each line is a message"], ["whole", "The whole file is one message"],
            ["envelope", "As the protocol of the project says"],
          ], { "data-focus": "" })}
          {pick("dir", "Direction", [["", "unknown"], ["c2s", "C→S, to the server"], ["s2c", "S→C, to the client"]])}
        </div>
        {f.kind === "prefixed" ? (
          <>
            <div class="row">
              {number("before", "Bytes before the length", 0, 4096)}
              {pick("size", "Length", [["1", "1 byte"], ["2", "2 bytes"], ["3", "3 bytes"], ["4", "4 bytes"], ["8", "8 bytes"], ["varint", "7 bits a byte (varint)"]])}
              {pick("order", "Order", [["le", "little-endian"], ["be", "big-endian"]], { disabled: !ordered(f.size) })}
            </div>
            <div class="row">{pick("counts", "Length of", [["rest", "the bytes after it"], ["self", "itself and the bytes after it"], ["all", "the whole message"]])}{kept}</div>
          </>
        ) : f.kind === "fixed" ? <div class="row">{number("fixed", "Bytes of a message", 1, 16 << 20)}</div>
          : f.kind === "delimited" ? (
            <div class="row">
              <Field label="Delimiter, in hex"><input type="text" name="delimiter" spellcheck={false} autocomplete="off" placeholder="0d 0a" value={f.delimiter} onInput={(event) => set({ delimiter: event.currentTarget.value })} /></Field>
              {kept}
            </div>
          ) : f.kind === "lines" ? <div class="row">{pick("ends", "A line ends with", [["0a", "line feed (0a)"], ["0d0a", "carriage return, line feed (0d 0a)"]])}</div> : null}
        <Preview answer={answer.value} />
        <Says d={d} />
        <div class="row">
          <Button text="Keep as a capture" title="Store the file; its framing can be changed later" primary disabled={!fits.value} run={() => answerWith(framingText(now.value))} />
          <Button text="Show the bytes" title="Decode the file as one message without storing it" run={() => answerWith("")} />
          <Button text="Cancel" run={d.close} />
        </div>
      </>
    );
  }, { kind: "framing" });

  const show = async (): Promise<void> => {
    const n = ++asked;
    const reply = await request("POST framing", { project: workspace }, { body: { framing: framingText(now.value), hex, cut: file.size > head.length } });
    if (n !== asked) {
      return;
    }
    fits.value = reply.ok;
    answer.value = reply.ok ? reply.answer : {};
    d.say(reply.ok ? summary(reply.answer) : reply.why, !reply.ok || reply.answer.frames.some((frame) => frame.problem !== undefined));
  };
  void show();
  await d.closed;
  clearTimeout(soon);
  asked++;
  return result;
}
