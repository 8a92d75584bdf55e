// Viewers may look, but change nothing on the server: controls that would be refused are hidden or disabled, with the reason.

export const lookOnlyWhy = "View only: this needs the operator’s token";

export function lookOnly(): boolean {
  return "lookOnly" in document.documentElement.dataset;
}

/** Disables a control for viewers, with the reason. */
export function forOperators<T extends HTMLButtonElement>(control: T): T {
  if (lookOnly()) {
    control.disabled = true;
    control.title = lookOnlyWhy;
  }
  return control;
}

/** The additional properties of a menu item that is disabled for viewers. */
export function operatorsItem(): { disabled?: true; why?: string } {
  return lookOnly() ? { disabled: true, why: lookOnlyWhy } : {};
}
