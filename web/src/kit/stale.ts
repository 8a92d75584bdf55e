// What the server has said, while it cannot be reached: marks with the time until which it was right.
//
//   html.offline         not connected, for longer than a moment
//   html.behind          and what is shown is about earlier texts or bytes, see socket.ts
//   [data-unchecked]     a mark, and what stands before its time

const moment = 1000; // milliseconds

let timer: ReturnType<typeof setTimeout> | undefined; // while there is no connection

/** The present time, for people. */
export function clock(): string {
  return new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

/** The connection is lost, or there. */
export function markStale(isLost: boolean): void {
  if (!isLost) {
    clearTimeout(timer);
    timer = undefined;
    document.documentElement.classList.remove("offline");
  } else if (timer === undefined) {
    for (const mark of document.querySelectorAll<HTMLElement>("[data-unchecked]")) {
      mark.textContent = `not connected: ${mark.dataset["unchecked"] ?? ""} ${clock()}`;
    }
    timer = setTimeout(() => document.documentElement.classList.add("offline"), moment);
  }
}
