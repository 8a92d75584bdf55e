// The scoreboard: how each definition of the project explains the messages of its code in all captures. Numbers are links to their frames.

import type { Scores, ScoresDefinitionScore as Row } from "../../api/api";
import { ask } from "../../kit/http";
import { Button, dialog, Says } from "../../kit/dialog";
import { pathOf } from "../../kit/address";
import { frameAddress } from "../score";
import { Fragment, h, signal } from "../../kit/ui";

const mostShown = 2000;
const again = 700; // milliseconds between two questions while messages are being judged
const kinds = ["leftover", "over", "differ", "doubtful"] as const;
const heads = { leftover: "Left over", over: "Past the end", differ: "Differ", doubtful: "Doubtful" } as const;
const abouts = {
  leftover: "bytes belong to no field", over: "fields extend past the end of the message",
  differ: "values are other than the definition permits, or are encoded as other bytes", doubtful: "fields share bytes, or another warning",
} as const;
const few = 3;

const count = (n: number): string => n.toLocaleString("en");

/** What is counted. */
function summary({ state, definitions, noData, unknown, done }: Scores): string {
  const clean = definitions.filter((d) => d.frames === d.clean).length;
  const parts = [
    `${count(state.frames)} messages of ${count(state.captures)} ${state.captures === 1 ? "capture" : "captures"}`,
    `${count(clean)} of ${count(definitions.length)} definitions clean`, `${count(noData)} without data`,
  ];
  if (unknown > 0) {
    parts.push(`${count(unknown)} messages without a definition`);
  }
  if ((state.failed ?? 0) > 0) {
    parts.push(`${count(state.failed ?? 0)} captures cannot be read`);
  }
  if (state.full === true) {
    parts.push("not all messages are counted: there are too many");
  }
  return parts.join("; ") + (done ? "" : " …");
}

/** Opens the dialog. */
export async function scoresDialog(workspace: string): Promise<void> {
  const all = signal<Scores | undefined>(undefined);
  const filter = signal("");
  const defective = signal(false);
  const open = signal<ReadonlySet<string>>(new Set());
  let ended = false;
  await dialog("Definitions and messages", (d) => {
    const load = async (): Promise<void> => {
      for (let wait = 0; !ended; wait = 1) {
        const answer = await ask("GET scores", { project: workspace, wait });
        if (answer === undefined) {
          return;
        }
        all.value = answer;
        d.say(answer.state.captures === 0 && answer.done ? "There are no captures in this project yet: open one, or record traffic." : summary(answer), false);
        if (answer.done) {
          return;
        }
        await new Promise((done) => setTimeout(done, again));
      }
    };
    if (all.value === undefined && d.says.value.text === "") {
      d.say("Reading the captures …", false);
      void load();
    }
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const rows = (all.value?.definitions ?? [])
      .filter((row) => words.every((word) => row.message.toLowerCase().includes(word)) && (!defective.value || row.frames > row.clean))
      .toSorted((a, b) => Number(b.used) - Number(a.used) || (b.frames - b.clean) / b.frames - (a.frames - a.clean) / a.frames || b.frames - a.frames);
    const toggle = (row: Row): void => {
      const now = new Set(open.value);
      if (!now.delete(row.message)) {
        now.add(row.message);
      }
      open.value = now;
    };
    const bad = (row: { leftover: number; over: number; differ: number; doubtful: number }) => kinds.map((kind) => <td key={kind} class={row[kind] > 0 ? "num err" : "num dim"}>{row[kind] > 0 ? count(row[kind]) : ""}</td>);
    return (
      <>
        <div class="row">
          <input type="search" placeholder="Filter by name" aria-label="Filter by name" data-focus="" value={filter.value} onInput={(event) => { filter.value = event.currentTarget.value; }} />
          <label><input type="checkbox" checked={defective.value} onChange={(event) => { defective.value = event.currentTarget.checked; }} /> not clean only</label>
          <Says d={d} />
        </div>
        <div class="scores-box" tabIndex={0} role="region" aria-label="Scores">
          <table class="data scores">
            <thead>
              <tr>
                <th scope="col">Definition</th><th scope="col" class="num">Messages</th><th scope="col" class="num">Clean</th>
                {kinds.map((kind) => <th key={kind} scope="col" class="num" title={abouts[kind]}>{heads[kind]}</th>)}
                <th scope="col">First that is not clean</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, mostShown).map((row) => (
                <Fragment key={row.message}>
                  <tr>
                    <td>
                      <button type="button" class="link twist" aria-expanded={open.value.has(row.message)} aria-label={`Captures of ${row.message}`} onClick={() => toggle(row)}>{open.value.has(row.message) ? "▾" : "▸"}</button>
                      <a href={pathOf(workspace, "definitions", row.message)}>{row.message}</a>
                      {row.used ? null : <span class="dim" title="Another version decodes these messages"> not used</span>}
                    </td>
                    <td class="num">{count(row.frames)}</td>
                    <td class="num"><Share row={row} /></td>
                    {bad(row)}
                    <td class="wrap dim">{row.first === undefined ? (row.frames < few ? "too few to tell" : "") : <><a href={frameAddress(workspace, row.first.capture, row.first.frame)} title={row.first.name}>frame {row.first.frame}</a> {row.first.reason}</>}</td>
                  </tr>
                  {open.value.has(row.message) ? row.captures.map((c) => (
                    <tr key={c.capture} class="scores-capture">
                      <td><a href={frameAddress(workspace, c.capture, 0, c.filter)} title={`Its frames: ${c.filter}`}>{c.name}</a></td>
                      <td class="num">{count(c.frames)}</td>
                      <td class="num"><Share row={c} /></td>
                      {bad(c)}
                      <td class="wrap">{c.frames === c.clean ? null : <a href={frameAddress(workspace, c.capture, 0, `${c.filter} && state != clean`)}>those that are not clean</a>}</td>
                    </tr>
                  )) : null}
                </Fragment>
              ))}
            </tbody>
          </table>
          {all.value !== undefined && rows.length === 0 ? <p class="dim">{all.value.definitions.length === 0 ? "No message in the captures has a definition." : "None of that name."}</p> : null}
          {rows.length > mostShown ? <p class="dim">{count(rows.length - mostShown)} more: filter them</p> : null}
        </div>
        <div class="row"><Button text="Close" run={d.close} /></div>
      </>
    );
  }, { kind: "compare scores-dialog" }).closed;
  ended = true;
}

/** How many are clean, as a number and a bar. */
function Share({ row }: { row: { frames: number; clean: number } }) {
  const share = row.frames === 0 ? 0 : row.clean / row.frames;
  const text = row.clean === row.frames ? "all" : row.clean === 0 ? "none" : `${(Math.min(share, 0.999) * 100).toFixed(1)} %`;
  return <span class="share" title={`${count(row.clean)} of ${count(row.frames)}`}><meter min={0} max={1} value={share} low={0.99} high={1} optimum={1} aria-label="Clean" />{text}</span>;
}
