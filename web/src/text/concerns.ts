// What is open for the person of the page: suggestions of others, and comments that mention them, counted in the top bar.
//
//   #concerns    hidden while there are none

import { pathOf } from "../kit/address";
import { onChanged } from "../kit/changes";
import { register } from "../kit/commands";
import { dialogs } from "../kit/dialogs";
import { make } from "../kit/dom";
import { request } from "../kit/http";
import { openPage } from "../kit/opened";
import { personName } from "../kit/person";

/** Keeps the count up to date. */
export function startConcerns(): void {
  const button = document.getElementById("concerns");
  const workspace = document.getElementById("main")?.dataset["workspace"];
  if (button === null || workspace === undefined) {
    return;
  }
  let asked: string | undefined; // the name that was asked for
  const look = async (): Promise<void> => {
    asked = personName();
    const reply = await request("GET threads", { project: workspace, mine: true, name: asked });
    if (reply.ok) {
      const n = reply.answer.threads.length;
      button.hidden = n === 0;
      button.replaceChildren(String(n), make("span", "words", " open"));
    }
  };
  onChanged("threads", () => void look());
  onChanged("people", () => {
    if (personName() !== asked) {
      void look();
    }
  });
  const go = (message: string): void => location.assign(pathOf(workspace, "definitions", message));
  register({
    id: "threads.mine", title: "Comments and suggestions for you …", group: "Definition", enabled: () => !button.hidden,
    run: () => {
      const page = openPage();
      if (page !== undefined) {
        page.openThreads();
      } else {
        void dialogs().then((d) => d?.threadsDialog({ workspace, id: "", mine: true, file: "", go, edit: go }));
      }
    },
  });
}
