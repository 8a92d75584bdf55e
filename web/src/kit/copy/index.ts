// Text to the clipboard.

/** Copies text and returns whether that succeeded. Must be called from a click or a key. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // no clipboard without HTTPS, or no permission
  }
}

/** Copies with execCommand, which also works without HTTPS. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.className = "copy-out";
  area.setAttribute("aria-hidden", "true");
  area.readOnly = true; // no on-screen keyboard
  area.value = text;
  (document.querySelector("dialog:modal") ?? document.body).append(area);
  // Not area.value: a textarea normalizes line breaks.
  const put = (event: ClipboardEvent): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData("text/plain", text);
  };
  // The focus only seems to leave its element: a field must not close, and a menu neither.
  const hide = (event: Event): void => event.stopImmediatePropagation();
  const moves = ["blur", "focus", "focusout", "focusin"] as const;
  moves.forEach((type) => addEventListener(type, hide, { capture: true }));
  document.addEventListener("copy", put, { capture: true });
  area.focus({ preventScroll: true });
  area.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    // Copying is not allowed at all.
  }
  document.removeEventListener("copy", put, { capture: true });
  area.remove();
  if (focused instanceof HTMLElement) {
    focused.focus({ preventScroll: true });
  }
  moves.forEach((type) => removeEventListener(type, hide, { capture: true }));
  return done;
}
