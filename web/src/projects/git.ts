// The git repository of the project in the top bar: the branch, and how many files are not committed. The dialog is in dialogs/git.tsx.
//
//   #git[data-missing] > #git-branch, #git-count    absent where the definitions are in no repository

import type { GitStatus } from "../api/api";
import { onChanged } from "../kit/changes";
import { make } from "../kit/dom";
import { request } from "../kit/http";

const rest = 300; // milliseconds until it is asked: several files may change at once

/** Keeps the control up to date. */
export function startGit(): void {
  const button = document.getElementById("git");
  const workspace = document.getElementById("main")?.dataset["workspace"];
  if (button === null || workspace === undefined || button.dataset["missing"] !== undefined) {
    return;
  }
  const look = async (): Promise<void> => {
    const reply = await request("GET git", { project: workspace });
    if (reply.ok && reply.answer.none !== true && reply.answer.missing !== true) {
      show(button, reply.answer);
    } else if (!reply.ok && !reply.away) {
      button.title = reply.why;
    }
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  onChanged("git", () => { // also once the page is connected
    clearTimeout(timer);
    timer = setTimeout(() => void look(), rest);
  });
}

function show(button: HTMLElement, { branch, changes }: GitStatus): void {
  const name = branch === "" ? "no branch" : branch;
  const n = changes.length;
  document.getElementById("git-branch")?.replaceChildren(name);
  document.getElementById("git-count")?.replaceChildren(...(n === 0 ? [] : [String(n), make("span", "sr-only", " not committed")]));
  button.title = `${name}: ${n === 0 ? "everything is committed" : `${n} ${n === 1 ? "file is" : "files are"} not committed`}. A click shows what has changed, commits and pulls.`;
}
