// Links between panes: what the pointer or the keyboard focus is on lights up everywhere it is shown.
//
// Panes meet only through attributes, so none of them knows another:
//   data-range="off:len"   a place in the message, both in bits
//   data-line="..."        the line of the definition that explains it; any text that names one line
//   data-record            on an ancestor: ranges inside it are of one message. What is in no record belongs to all.
// Bytes of a hex grid (.hx, .asc) carry their own eight bits; they stand for the smallest field around them.

interface Place {
  element: Element;
  start: number; // first bit, or -1 for a place without a range
  end: number; // bit after the last
  line: string; // "" for none
  byte: boolean; // one byte of a hex grid
  record: Element | null;
}

const selector = "[data-range],[data-line]";

let places: Map<Element, Place> | undefined; // forgotten when the page changes
let lit: Element[] = [];

function place(element: Element): Place {
  const [start, length] = (element.getAttribute("data-range") ?? "").split(":").map(Number);
  const known = start !== undefined && length !== undefined && start >= 0 && length >= 0;
  return {
    element,
    start: known ? start : -1,
    end: known ? start + length : -1,
    line: element.getAttribute("data-line") ?? "",
    byte: element.matches(".hx,.asc"),
    record: element.closest("[data-record]"),
  };
}

function sameMessage(a: Place, b: Place): boolean {
  return a.record === b.record || a.record === null || b.record === null;
}

/** The places that the one pointed at stands for: a byte for its field, a line of the definition for all that it explains. */
function subjects(at: Place, all: readonly Place[]): Place[] {
  if (at.byte) {
    let field = at;
    for (const p of all) {
      const covers = !p.byte && p.start >= 0 && p.start <= at.start && p.end >= at.end && sameMessage(p, at);
      if (covers && (field === at || p.end - p.start < field.end - field.start)) {
        field = p;
      }
    }
    return [field];
  }
  if (at.start < 0) {
    return [at, ...all.filter((p) => !p.byte && p.start >= 0 && p.line === at.line && sameMessage(p, at))];
  }
  return [at];
}

/** Ranges of one message, to ask many places against: a list of 10,000 elements has as many. */
class Ranges {
  private readonly exact = new Set<string>();
  private readonly starts: number[] = []; // ascending; ranges that touch are one
  private readonly ends: number[] = [];

  constructor(subjects: readonly Place[]) {
    for (const p of subjects.filter((s) => s.start >= 0).sort((a, b) => a.start - b.start)) {
      this.exact.add(`${p.start}:${p.end}`);
      const last = this.ends.length - 1;
      const lastEnd = this.ends[last];
      if (lastEnd !== undefined && p.start <= lastEnd) {
        this.ends[last] = Math.max(lastEnd, p.end);
      } else {
        this.starts.push(p.start);
        this.ends.push(p.end);
      }
    }
  }

  /** A byte belongs to every range it overlaps, anything else to its own. */
  has(p: Place): boolean {
    return p.byte ? this.overlaps(p) : this.exact.has(`${p.start}:${p.end}`);
  }

  private overlaps(p: Place): boolean {
    let low = 0;
    let high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.ends[middle] ?? 0) > p.start) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const start = this.starts[low];
    return start !== undefined && start < p.end;
  }
}

/** All places that show what is pointed at. */
function shown(at: Place, all: readonly Place[]): Place[] {
  const wanted = subjects(at, all);
  const lines = new Set(wanted.map((p) => p.line).filter((line) => line !== ""));
  const everywhere = new Ranges(wanted);
  const noRecord = new Ranges(wanted.filter((p) => p.record === null));
  const records = new Map<Element, Ranges>();
  const inRecord = (record: Element): Ranges => {
    const known = records.get(record) ?? new Ranges(wanted.filter((p) => p.record === record));
    records.set(record, known);
    return known;
  };
  return all.filter((p) => {
    if (p.start < 0) {
      return p.element === at.element || lines.has(p.line);
    }
    return p.record === null ? everywhere.has(p) : noRecord.has(p) || inRecord(p.record).has(p);
  });
}

let listener: ((lit: readonly Element[]) => void) | undefined;

/** Calls back whenever other things are lit. */
export function onLight(callback: (lit: readonly Element[]) => void): void {
  listener = callback;
}

/** Lights what belongs to the element, or nothing; returns what is lit. */
export function light(element: Element | null): readonly Element[] {
  let next: Element[] = [];
  if (element !== null) {
    places ??= new Map(Array.from(document.querySelectorAll(selector), (e) => [e, place(e)]));
    const at = places.get(element) ?? place(element);
    next = shown(at, [...places.values()]).map((p) => p.element);
  }
  const keep = new Set(next);
  for (const old of lit) {
    if (!keep.has(old)) {
      old.classList.remove("lit");
    }
  }
  for (const now of next) {
    now.classList.add("lit");
  }
  const changed = lit.length !== next.length || lit.some((element, i) => element !== next[i]);
  lit = next;
  if (changed) {
    listener?.(lit);
  }
  return lit;
}

function linked(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest(selector) : null;
}

/** Brings the first lit place of every other pane into view, by scrolling the pane and never the page. */
function reveal(from: Element): void {
  const done = new Set<Element | null>([from.closest(".pane-body"), null]);
  for (const element of lit) {
    const pane = element.closest(".pane-body");
    if (pane === null || done.has(pane)) {
      continue;
    }
    done.add(pane);
    const inner = element.getBoundingClientRect();
    const outer = pane.getBoundingClientRect();
    if (inner.top < outer.top || inner.bottom > outer.bottom) {
      pane.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
    }
  }
}

export function startLinks(): void {
  const focused = (): Element | null => linked(document.activeElement);
  document.addEventListener("pointerover", (event) => light(linked(event.target) ?? focused()));
  document.documentElement.addEventListener("pointerleave", () => light(focused()));
  document.addEventListener("focusin", (event) => {
    const element = linked(event.target);
    light(element);
    if (element !== null) {
      reveal(element);
    }
  });
  document.addEventListener("focusout", () => light(null));
  new MutationObserver(() => {
    places = undefined;
  }).observe(document.documentElement, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ["data-range", "data-line", "data-record"],
  });
}
