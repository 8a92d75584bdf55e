// The three ways to see frames, as cards: the demo game, a capture file, a listener.

import { pathOf } from "../../kit/address";
import { openRelays } from "../../kit/relays";
import { lookOnly } from "../../kit/role";
import { h } from "../../kit/ui";
import { chooseCapture } from "../../kit/upload";

/** Plays the demo game on its page. */
export function watchDemo(): void {
  void openRelays()?.startDemo();
}

/** The cards; `place` has a control of its own for one of them. */
export function Cards({ workspace, demo, place = "" }: { workspace: string; demo: boolean; place?: "live" | "" }) {
  if (lookOnly(place === "live" ? "operator" : "author") || (place === "live" && !demo)) {
    return null;
  }
  return (
    <ul class="cards" aria-label="Ways to see frames">
      {demo && !lookOnly("operator") ? <li><button type="button" class="card" onClick={watchDemo}><strong>Watch the demo game</strong><span>A small client and server on this machine, live.</span></button></li> : null}
      {place === "live" ? null : <li><button type="button" class="card" onClick={chooseCapture}><strong>Open a capture</strong><span>pcap, pcapng, or the log of another tool.</span></button></li>}
      {place === "live" || lookOnly("operator") ? null : <li><a class="card" href={`${pathOf(workspace, "live")}#live-listen`}><strong>Start a listener</strong><span>Relay your own client to its server, and watch.</span></a></li>}
    </ul>
  );
}
