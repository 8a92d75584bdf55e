// The places of a project in the top bar: definitions, captures, live traffic.
//
//   #captures-count, #live-count          numbers beside the links to the places
//   #open-capture                         the name of the open capture
//   #place[data-place=captures|live]      what a place lists
//   #first-steps                          the cards on the first page of a new server
//   main[data-relays][data-demo]          what the server has

import { pathOf } from "../address";
import { register } from "../commands";
import { pushes } from "../changes";
import { Connection, socketOf } from "../connection";
import { closeFirstSteps } from "../firststeps";
import { addProvider } from "../palette";
import { changed as panesChanged } from "../panes";
import { openRelays } from "../relays";
import { lookOnly } from "../role";
import { effect, h, render } from "../ui";
import { chooseCapture, chooseFiles } from "../upload";
import { Cards, watchDemo } from "./cards";
import { CaptureList, CapturesPlace, OpenCapture, pageOf } from "./captures";
import { LivePlace } from "./listeners";
import { away, captures, sessions } from "./state";

/** Starts the lists of captures and listeners, and what shows them. */
export function startPlaces(): void {
  const main = document.getElementById("main");
  const { workspace, capture, captureName = "", demo: hasDemo } = main?.dataset ?? {};
  if (workspace === undefined || document.getElementById("captures-count") === null) {
    return;
  }
  const demo = hasDemo !== undefined;
  const place = document.getElementById("place");
  if (place !== null) { // the page has no socket of its own
    pushes(new Connection(socketOf(workspace)));
  }
  const relays = openRelays();
  relays?.watch((all) => {
    away.value = false;
    sessions.value = all;
  });
  relays?.watchAway(() => {
    away.value = true;
  });
  new CaptureList(workspace, capture);

  const count = (id: string, n: () => number): void => {
    const element = document.getElementById(id);
    effect(() => {
      if (element !== null) {
        element.textContent = n() === 0 ? "" : String(n());
      }
    });
  };
  count("captures-count", () => captures.value?.length ?? 0);
  count("live-count", () => sessions.value.length);

  const open = document.getElementById("open-capture");
  if (open !== null && capture !== undefined) {
    closeFirstSteps();
    render(<OpenCapture workspace={workspace} shown={capture} name={captureName} />, open);
  }
  if (place?.dataset["place"] === "captures") {
    render(<CapturesPlace workspace={workspace} demo={demo} />, place);
  } else if (place !== null && relays !== undefined) {
    render(<LivePlace workspace={workspace} relays={relays} demo={demo} />, place);
    if (location.hash === "#live-listen") {
      document.getElementById("live-listen")?.focus();
    }
  }
  const first = document.getElementById("first-steps-cards");
  if (first !== null) {
    render(<Cards workspace={workspace} demo={demo} />, first);
    document.querySelector("#first-steps > button")?.addEventListener("click", () => {
      closeFirstSteps();
      panesChanged();
      document.getElementById("main")?.focus();
    });
  }

  const go = (...to: string[]): void => location.assign(pathOf(workspace, ...to));
  register(
    { id: "place.definitions", title: "Definitions", group: "Go to", run: () => go("definitions") },
    { id: "place.captures", title: "Captures", group: "Go to", run: () => go("captures") },
    { id: "place.live", title: "Live traffic", group: "Go to", run: () => go("live") },
    { id: "captures.open", title: "Open a capture file …", group: "Captures", enabled: () => !lookOnly(), run: chooseCapture },
    { id: "files.add", title: "Add files of definitions …", group: "Definition", enabled: () => !lookOnly(), run: chooseFiles },
    { id: "live.demo", title: "Watch the demo game", group: "Live", enabled: () => demo && !lookOnly("operator"), run: watchDemo },
    { id: "live.start", title: "Start a listener …", group: "Live", enabled: () => !lookOnly("operator"), run: () => location.assign(`${pathOf(workspace, "live")}#live-listen`) },
  );
  addProvider({
    group: "Captures",
    entries: () => (captures.value ?? []).filter(({ id }) => id !== capture).slice(0, 200).map((x) => ({ title: x.name, hint: new Date(x.added).toLocaleString(), run: () => location.assign(pageOf(workspace, x.id)) })),
  });
}
