// The filter of the message list: input[data-filter] hides the messages whose name lacks a typed word. Enter opens the first visible message,
// arrow keys move through them.

import { firstShown, focusNext, narrow, wordsOf } from "./messages";

function onFilterKey(event: KeyboardEvent, box: HTMLInputElement): void {
  if (event.key === "Enter" || event.key === "ArrowDown") {
    const first = firstShown();
    if (first === undefined) {
      return; // Enter sends the form: the server searches all names
    }
    event.preventDefault();
    if (event.key === "Enter") {
      first.click();
    } else {
      first.focus();
    }
  } else if (event.key === "Escape") {
    box.value = "";
    narrow([]);
    box.blur();
  }
}

function onListKey(event: KeyboardEvent, link: HTMLElement): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) {
    return;
  }
  event.preventDefault();
  if (!focusNext(link, step) && step < 0) {
    document.querySelector<HTMLElement>("input[data-filter]")?.focus();
  }
}

export function startFilter(): void {
  document.addEventListener("input", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.dataset["filter"] !== undefined) {
      narrow(wordsOf(event.target.value));
    }
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (target instanceof HTMLInputElement && target.dataset["filter"] !== undefined) {
      onFilterKey(event, target);
      return;
    }
    const link = target instanceof Element ? target.closest<HTMLElement>("#rail-list .item > a") : null;
    if (link !== null) {
      onListKey(event, link);
    }
  });
}
