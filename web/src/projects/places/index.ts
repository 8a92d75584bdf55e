// The places of a project in the top bar: definitions, captures, live traffic.
//
//   #captures-count, #live-count          numbers beside the links to the places
//   #open-capture                         the name of the open capture
//   #place[data-place=captures|live]      what a place lists
//   #first-steps                          the cards on the first page of a new server
//   main[data-relays][data-demo]          what the server has

import { pathOf } from "../../kit/address";
import { register } from "../../kit/commands";
import { pushes } from "../../kit/changes";
import { Connection, socketOf } from "../../kit/connection";
import { button } from "../../kit/dom";
import { closeFirstSteps } from "../firststeps";
import { load } from "../../kit/load";
import { addProvider } from "../../kit/entries";
import { openRelays } from "../../kit/relays";
import { lookOnly } from "../../kit/role";
import { chooseCapture, chooseFiles } from "../../kit/upload";
import type { OpenBox } from "./across";
import { CaptureList, moreTitle, pageOf } from "./list";

/** Writes the name of the open capture in the top bar, also after it was deleted, with a button for its menu. */
function drawOpen(place: HTMLElement, workspace: string, id: string, list: CaptureList): void {
  const x = list.captures?.find((c) => c.id === id);
  const name = place.querySelector<HTMLElement>(".name");
  if (name !== null && x !== undefined) {
    name.textContent = name.title = x.name;
  }
  const more = place.querySelector<HTMLButtonElement>("button") ?? button("⋯", () => {
    const now = list.captures?.find((c) => c.id === id);
    if (now !== undefined) {
      void load(() => import("./menu")).then((m) => m?.openCaptureMenu(more, workspace, now, true));
    }
  }, moreTitle);
  more.dataset["captureMenu"] = id;
  more.ariaLabel = `More about ${x?.name ?? ""}`;
  if (x === undefined) {
    more.remove();
  } else if (!more.isConnected) {
    place.append(more);
  }
}

/** Starts the lists of captures and listeners, and what shows them. */
export function startPlaces(filterBox: OpenBox): void {
  const main = document.getElementById("main");
  const { workspace, capture, demo: hasDemo } = main?.dataset ?? {};
  if (workspace === undefined || document.getElementById("captures-count") === null) {
    return;
  }
  const demo = hasDemo !== undefined;
  const place = document.getElementById("place");
  if (place !== null) { // the page has no socket of its own
    pushes(new Connection(socketOf(workspace)));
  }
  const relays = openRelays();
  const list = new CaptureList(workspace, capture);

  const count = (id: string, n: number): void => {
    const element = document.getElementById(id);
    if (element !== null) {
      element.textContent = n === 0 ? "" : String(n);
    }
  };
  list.watch(({ captures = [] }) => count("captures-count", captures.length));
  relays?.watch((sessions) => count("live-count", sessions.length));

  const open = document.getElementById("open-capture");
  if (open !== null && capture !== undefined) {
    closeFirstSteps();
    list.watch(() => drawOpen(open, workspace, capture, list));
  }
  document.querySelector("#first-steps > button")?.addEventListener("click", () => {
    closeFirstSteps();
    document.getElementById("main")?.focus();
  });
  if (place !== null || document.getElementById("first-steps-cards") !== null) {
    void load(() => import("./views")).then((views) => views?.drawPlaces({ workspace, demo, list, relays, filterBox }));
  }

  const go = (...to: string[]): void => location.assign(pathOf(workspace, ...to));
  register(
    { id: "place.definitions", title: "Definitions", group: "Go to", run: () => go("definitions") },
    { id: "place.captures", title: "Captures", group: "Go to", run: () => go("captures") },
    { id: "place.live", title: "Live traffic", group: "Go to", run: () => go("live") },
    { id: "captures.open", title: "Open a capture file …", group: "Captures", enabled: () => !lookOnly(), run: chooseCapture },
    { id: "files.add", title: "Add files of definitions …", group: "Definition", enabled: () => !lookOnly(), run: chooseFiles },
    { id: "live.demo", title: "Watch the demo game", group: "Live", enabled: () => demo && !lookOnly("operator"), run: () => void relays?.startDemo() },
    { id: "live.start", title: "Start a listener …", group: "Live", enabled: () => !lookOnly("operator"), run: () => location.assign(`${pathOf(workspace, "live")}#live-listen`) },
  );
  addProvider({
    group: "Captures",
    entries: () => (list.captures ?? []).filter(({ id }) => id !== capture).slice(0, 200).map((x) => ({ title: x.name, hint: new Date(x.added).toLocaleString(), run: () => location.assign(pageOf(workspace, x.id)) })),
  });
}
