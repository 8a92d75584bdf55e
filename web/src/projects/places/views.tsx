// What the places list, and the cards of the first steps.

import type { Relays } from "../../kit/relays";
import { h, render } from "../../kit/ui";
import type { OpenBox } from "./across";
import { Cards } from "./cards";
import { CapturesPlace } from "./captures";
import type { CaptureList } from "./list";
import { LivePlace } from "./listeners";
import { away, captures, counts, kept, lake, quota, sessions } from "./state";

/** Draws what the page has of it. */
export function drawPlaces({ workspace, demo, list, relays, filterBox }: { workspace: string; demo: boolean; list: CaptureList; relays: Relays | undefined; filterBox: OpenBox }): void {
  list.watch((now) => {
    [kept.value, lake.value] = [now.kept, now.lake];
    quota.value = now.quota; // before the list: the line of the quota is above it
    counts.value = now.counts;
    captures.value = now.captures;
  });
  relays?.watch((all) => {
    away.value = false;
    sessions.value = all;
  });
  relays?.watchAway(() => {
    away.value = true;
  });
  const place = document.getElementById("place");
  if (place?.dataset["place"] === "captures") {
    render(<CapturesPlace workspace={workspace} demo={demo} filterBox={filterBox} />, place);
  } else if (place !== null && relays !== undefined) {
    render(<LivePlace workspace={workspace} relays={relays} demo={demo} />, place);
    if (location.hash === "#live-listen") {
      document.getElementById("live-listen")?.focus();
    }
  }
  const first = document.getElementById("first-steps-cards");
  if (first !== null) {
    render(<Cards workspace={workspace} demo={demo} />, first);
  }
}
