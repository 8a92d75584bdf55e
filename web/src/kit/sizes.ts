// The stored sizes of panes, and the style sheet that applies them. It is in early.js, which runs before the page is drawn; panes.ts changes
// the sizes.

const storageKey = "wirebench.panes";
export const wide = "(min-width: 900px)"; // panes.css has the same
const narrow = "not all and (min-width: 900px)";

/** A pane of a split: its name, its share, its minimum in pixels. */
export type Share = readonly [name: string, size: number, min: number];

export interface Split {
  row: boolean;
  shares: readonly Share[];
}

export const splits = new Map<string, Split>(); // by id; only changed ones
export const mins = new Map<string, Split>(); // by id; minimums from the page, sizes without meaning
export const tabs = new Map<string, string>(); // id of a pane, by id of its tabbed element
export const folds = new Map<string, boolean>(); // whether a folding pane is open, by name; only changed ones

/** The panes that fold away in wide windows, by their data-fold: whether they are open at first. */
const foldDefaults: Readonly<Record<string, () => boolean>> = {
  "messages": () => true,
  "capture-messages": () => false,
  "capture-definition": () => false,
};

/** Whether a folding pane is open. */
export function isOpen(fold: string): boolean {
  return folds.get(fold) ?? foldDefaults[fold]?.() ?? true;
}

const sheet = new CSSStyleSheet();

function isShare(value: unknown): value is Share {
  return Array.isArray(value) && typeof value[0] === "string" && Number.isFinite(value[1]) && value[1] > 0 && Number.isFinite(value[2]);
}

function load(): void {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "null");
    if (typeof value !== "object" || value === null) {
      return;
    }
    if ("splits" in value && typeof value.splits === "object") {
      for (const [id, split] of Object.entries(value.splits ?? {})) {
        if (typeof split === "object" && split !== null && Array.isArray(split.shares)) {
          splits.set(id, { row: split.row === true, shares: split.shares.filter(isShare) });
        }
      }
    }
    if ("tabs" in value && typeof value.tabs === "object") {
      for (const [id, pane] of Object.entries(value.tabs ?? {})) {
        tabs.set(id, String(pane));
      }
    }
    if ("folds" in value && typeof value.folds === "object") {
      for (const [name, open] of Object.entries(value.folds ?? {})) {
        folds.set(name, open === true);
      }
    }
  } catch {
    // No storage, or invalid: defaults apply.
  }
}

export function save(): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify({ splits: Object.fromEntries(splits), tabs: Object.fromEntries(tabs), folds: Object.fromEntries(folds) }));
  } catch {
    // The sizes then last as long as the page.
  }
}

/** The selector of a pane by its name: "=NAME" for data-pane, "#ID", or its number among the panes. */
function selector(id: string, name: string): string {
  const rest = CSS.escape(name.slice(1));
  const pane = name.startsWith("=") ? `[data-pane="${rest}"]` : name.startsWith("#") ? `#${rest}` : `:nth-child(${parseInt(name)} of [data-pane])`;
  return `#${CSS.escape(id)} > ${pane}`;
}

/** Writes the style sheet from the stored sizes and the minimums; those of the page take precedence. */
export function draw(): void {
  const rules: string[] = [];
  const rule = (id: string, name: string, text: string): void => {
    rules.push(`@media ${wide} { ${selector(id, name)} { ${text} } }`);
  };
  for (const [id, { shares }] of splits) {
    const here = mins.get(id)?.shares;
    if (here !== undefined && !here.some(([name]) => shares.some((share) => share[0] === name))) {
      continue; // the sizes are those of another page
    }
    const total = shares.reduce((sum, [, size]) => sum + size, 0);
    const sizes = new Map(shares.map(([name, size]) => [name, size / total] as const));
    for (const [name] of here ?? []) {
      sizes.set(name, sizes.get(name) ?? 1 / shares.length); // a new pane without a stored size
    }
    for (const [name, size] of sizes) {
      rule(id, name, `--size: ${(1000 * size).toFixed(3)}; --basis: 0px`);
    }
  }
  for (const [id, { row, shares }] of new Map([...splits, ...mins])) {
    const sum = shares.reduce((all, [, , min]) => all + min, 0);
    for (const [name, , min] of shares) {
      if (min > 0) {
        // Without space for all minimums the panes shrink proportionally.
        rule(id, name, `min-${row ? "width" : "height"}: min(${min}px, ${((100 * min) / sum).toFixed(3)}% - 1px)`);
      }
    }
  }
  for (const name of Object.keys(foldDefaults)) {
    if (!isOpen(name)) {
      const pane = `[data-fold="${name}"]`;
      // A splitter belongs to the pane before it, and to the pane after it if that is not the first.
      rules.push(`@media ${wide} { ${pane}, [data-pane] ~ [data-splitter]:has(+ ${pane}), ${pane}:not([data-pane] ~ *) + [data-splitter] { display: none !important; } }`);
    }
  }
  rules.push(`@media ${narrow} { [data-tabs-for] { display: flex; } }`);
  for (const [id, pane] of tabs) {
    const one = `#${CSS.escape(pane)}`;
    rules.push(`@media ${narrow} { #${CSS.escape(id)}:has(${one}) [data-pane]:not(${one}, :has(${one}), ${one} *) { display: none !important; } }`);
  }
  sheet.replaceSync(rules.join("\n"));
}

let loaded = false;

/** Applies stored sizes. Call it from a script in <head>, so that the first paint has them. */
export function applyEarly(): void {
  if (!loaded) {
    loaded = true;
    load();
    draw();
    document.adoptedStyleSheets.push(sheet);
  }
}
