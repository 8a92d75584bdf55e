// The dialog of the events of a listener: connections, rules, decisions of people, problems. It follows while it is open.

import type { ProxyEvent } from "../../api/api";
import { dialog, Field, Select } from "../../kit/dialog";
import { Fragment, h, type ReadonlySignal, signal } from "../../kit/ui";

const kinds: readonly (readonly [id: string, title: string])[] = [["all", "all events"], ["problems", "problems"], ["people", "what people did"], ["rest", "connections and the rest"]];

function isOf(kind: string, e: ProxyEvent): boolean {
  switch (kind) {
    case "problems":
      return e.severity !== "info";
    case "people":
      return (e.who ?? "") !== "";
    case "rest":
      return e.severity === "info" && (e.who ?? "") === "";
    default:
      return true;
  }
}

/** Shows events, the latest first. */
export async function eventsDialog(name: string, events: ReadonlySignal<readonly ProxyEvent[]>): Promise<void> {
  const kind = signal("all");
  const text = signal("");
  const d = dialog(`Events of ${name}`, () => {
    const words = text.value.toLowerCase();
    const shown = [...events.value].reverse().filter((e) => isOf(kind.value, e) && e.text.toLowerCase().includes(words));
    return (
      <>
        <div class="row">
          <Field label="Show"><Select options={kinds} value={kind.value} change={(to) => (kind.value = to)} /></Field>
          <Field label="That contain"><input data-focus="" type="search" maxLength={200} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} /></Field>
        </div>
        <div class="scroll event-list" tabIndex={0} role="region" aria-label="List of events">
          <table class="data" aria-label="Events">
            <thead><tr><th scope="col">Time</th><th scope="col">Event</th><th scope="col" class="num">Times</th><th scope="col">By</th></tr></thead>
            <tbody>
              {shown.map((e) => (
                <tr key={e.n}>
                  <td><time dateTime={e.last} title={new Date(e.last).toLocaleString()}>{new Date(e.last).toLocaleTimeString()}</time></td>
                  <td class={e.severity === "error" ? "err" : e.severity === "warning" ? "warn" : ""}>{e.severity === "info" ? "" : `${e.severity}: `}{e.text}</td>
                  <td class="num">{e.count > 1 ? e.count : ""}</td>
                  <td>{e.who ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {shown.length === 0 ? <p class="empty">No such events.</p> : null}
        </div>
      </>
    );
  });
  await d.closed;
}
