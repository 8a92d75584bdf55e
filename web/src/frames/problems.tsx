// The drawer of problems: by message and reason, how many frames and the first one.

import { Fragment, h, render } from "../kit/ui";
import { AskedDrawer } from "./asked";
import type { DrawerHost } from "./drawer";
import { count, counted } from "../kit/frametext";

export class ProblemsDrawer extends AskedDrawer<"problems"> {
  constructor(host: DrawerHost) {
    super(host, "problems", "frames-problems");
    render(<Problems drawer={this} />, this.element);
  }

  protected question(): object {
    return {};
  }
}

function Problems({ drawer }: { drawer: ProblemsDrawer }) {
  const a = drawer.answer.value;
  const { host } = drawer;
  return (
    <>
      <div class="frames-bar">
        <span class="note" role="status">{a === undefined ? "Reading the frames …" : a.frames === 0 ? "No problems: every frame is as its definition says." : `${counted(a.frames, "frame")} with ${counted(a.rows.length + (a.more ?? 0), "kind", "kinds")} of problems`}</span>
      </div>
      {a === undefined || a.rows.length === 0 ? null : (
        <div class="frames-box">
          <table class="data" aria-label="Problems">
            <thead><tr><th scope="col">Message</th><th scope="col">Problem</th><th scope="col">Field</th><th scope="col" class="num">Frames</th><th scope="col" class="num">First</th><th scope="col">Example</th></tr></thead>
            <tbody>
              {a.rows.map((r) => (
                <tr key={`${r.name} ${r.code} ${r.path ?? ""} ${r.message}`}>
                  <td>{r.name}</td>
                  <td class={r.code === "transport" ? "err" : ""}>{r.code}</td>
                  <td class="dim">{r.path ?? ""}</td>
                  <td class="num"><button type="button" class="link" title={`Filter: ${r.filter}`} onClick={() => host.filter(r.filter)}>{count(r.frames)}</button></td>
                  <td class="num"><button type="button" class="link" title={`Go to frame ${r.first}`} aria-label={`Frame ${r.first}`} onClick={() => host.goTo(r.first)}>{count(r.first)}</button></td>
                  <td class="dim wrap">{r.message}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
