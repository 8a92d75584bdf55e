// What the user may do here: controls that would be refused are hidden or disabled, with the reason. The server checks it again.

const ranks = ["nobody", "viewer", "commenter", "author", "operator", "admin"] as const;

/** A role in the project of the page. A higher one includes all lower ones. */
export type Role = (typeof ranks)[number];

function own(): Role | undefined {
  const { role } = document.documentElement.dataset;
  return ranks.find((r) => r === role);
}

/** Whether the user lacks a role: by default the one that changes definitions, captures and settings. */
export function lookOnly(needs: Role = "author"): boolean {
  const have = own();
  return have !== undefined && ranks.indexOf(have) < ranks.indexOf(needs);
}

/** Why something is disabled. */
export function lookOnlyWhy(needs: Role = "author"): string {
  return `View only: this needs the role ${needs}, and yours here is ${own() ?? "none"}`;
}

/** Disables a control for those who lack a role, with the reason. */
export function forRole<T extends HTMLButtonElement>(control: T, needs: Role = "author"): T {
  if (lookOnly(needs)) {
    control.disabled = true;
    control.title = lookOnlyWhy(needs);
  }
  return control;
}

/** The additional properties of a menu item that is disabled for those who lack a role. */
export function roleItem(needs: Role = "author"): { disabled?: true; why?: string } {
  return lookOnly(needs) ? { disabled: true, why: lookOnlyWhy(needs) } : {};
}
