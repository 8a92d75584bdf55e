// Whoever came with the token of a viewer may look, and change nothing on the server: what would be refused is not offered, or says why.

export const lookOnlyWhy = "View only: this needs the operator’s token";

export function lookOnly(): boolean {
  return "lookOnly" in document.documentElement.dataset;
}

/** Turns a control off for a viewer, and says why. */
export function forOperators<T extends HTMLButtonElement>(control: T): T {
  if (lookOnly()) {
    control.disabled = true;
    control.title = lookOnlyWhy;
  }
  return control;
}

/** What an item of a menu is beside its title when viewers may not choose it. */
export function operatorsItem(): { disabled?: true; why?: string } {
  return lookOnly() ? { disabled: true, why: lookOnlyWhy } : {};
}
