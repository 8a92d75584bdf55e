import { equal, test } from "../../kit/testing";
import { FilterBox, type FilterBoxOptions } from ".";
import type { FilterInfo } from "../../api/api";
import type { Question } from "./question";

/** An empty response. */
function answer(more: Partial<FilterInfo> = {}): FilterInfo {
  return { ok: true, mistakes: [], rewritten: "", translated: "", explain: "", widened: [], completions: { start: 0, end: 0, path: "", items: [] }, ...more };
}

/** A server whose response each test sets, after a delay. */
async function reply(q: Question): Promise<FilterInfo> {
  await Promise.resolve();
  const { text } = q;
  if (text === "party") {
    return answer({ rewritten: 'lower(name) contains "party" || lower(info) contains "party"', explain: "text alone" });
  }
  if (text === "~q") {
    return answer({ rewritten: "dir == c2s", translated: "dir == c2s" });
  }
  const bad = text.indexOf("bad");
  if (bad >= 0) {
    return answer({ ok: false, mistakes: [{ start: bad, end: bad + 3, message: 'unknown "bad"', help: "" }] });
  }
  if (q.caret !== undefined && text.endsWith("C_")) {
    const item = (name: string) => ({ text: name, label: name, kind: "message" as const, doc: "" });
    return answer({ completions: { start: text.length - 2, end: text.length, path: "", items: [item("C_CHAT"), item("C_PONG")] } });
  }
  if (q.caret !== undefined && text.endsWith("== ")) {
    return answer({ ok: false, mistakes: [{ start: text.length, end: text.length, message: "ends", help: "" }], completions: { start: text.length, end: text.length, path: ".message", items: [] } });
  }
  return answer();
}

interface Bench {
  box: FilterBox;
  input: HTMLElement;
  root: HTMLElement;
  applied: string[];
  asked: Question[];
  key(key: string, more?: KeyboardEventInit): boolean;
  type(text: string): Promise<void>;
  settle(): Promise<void>;
  end(): void;
}

function storage(): Storage {
  const content = new Map<string, string>();
  return {
    getItem: (k: string) => content.get(k) ?? null,
    setItem: (k: string, v: string) => void content.set(k, v),
    removeItem: (k: string) => void content.delete(k),
    clear: () => content.clear(),
    key: () => null,
    length: 0,
  };
}

async function bench(more: Partial<FilterBoxOptions> = {}): Promise<Bench> {
  const host = document.createElement("div");
  document.body.append(host);
  const applied: string[] = [];
  const asked: Question[] = [];
  const box = new FilterBox(host, {
    workspace: "test",
    draft: () => undefined,
    apply: (text) => applied.push(text),
    ask: (q) => (asked.push(q), reply(q)),
    place: storage(),
    ...more,
  });
  box.focus(); // the editor replaces the input
  let input: HTMLElement | null = null;
  while ((input = host.querySelector<HTMLElement>("[role=textbox]")) === null) {
    await new Promise((done) => setTimeout(done, 5));
  }
  const root = host.querySelector<HTMLElement>(".filterbox");
  if (root === null) {
    throw new Error("no box");
  }
  input.focus();
  const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 80));
  return {
    box, input, root, applied, asked, settle,
    key: (key, init = {}) => !input.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...init })),
    async type(text) {
      box.focus();
      document.execCommand("insertText", false, text);
      await new Promise((done) => setTimeout(done, 200));
    },
    end() {
      box.close();
      host.remove();
    },
  };
}

function options(): string[] {
  return Array.from(document.querySelectorAll(".cm-completionLabel"), (e) => e.textContent ?? "");
}

test("a filter is checked while typing and applied by Enter", async () => {
  const b = await bench();
  equal(b.root.dataset["state"], "empty");
  await b.type("len > 3");
  equal([b.root.dataset["state"], b.applied], ["ok", []]);
  equal(b.key("Enter"), true);
  await b.settle();
  equal([b.applied, b.box.applied], [["len > 3"], "len > 3"]);
  b.end();
});

test("an invalid filter is not applied, and its mistake is shown", async () => {
  const b = await bench();
  await b.type("x == bad");
  equal([b.root.dataset["state"], b.input.getAttribute("aria-invalid")], ["wrong", "true"]);
  equal(b.root.querySelector(".filterbox-says")?.textContent, 'at 6 unknown "bad"');
  equal(b.root.querySelector(".cm-lintRange-error")?.textContent, "bad");
  b.key("Enter");
  await b.settle();
  equal(b.applied, []);
  b.key("Escape");
  equal([b.box.text, b.root.dataset["state"]], ["x == bad", "wrong"]);
  b.end();
});

test("Esc leaves the box and keeps the text", async () => {
  let left = 0;
  const b = await bench({ leave: () => left++ });
  equal(await b.box.set("a == 1", true), true);
  b.input.focus();
  await b.type("a == 12");
  b.key("Escape"); // closes the list, if open
  b.key("Escape");
  equal([b.box.text, b.box.applied, left > 0], ["a == 12", "a == 1", true]);
  b.end();
});

test("short forms show their meaning", async () => {
  const b = await bench();
  await b.type("party");
  equal(b.root.querySelector(".filterbox-says")?.textContent, 'means lower(name) contains "party" || lower(info) contains "party" – text alone');
  b.key("Enter");
  await b.settle();
  equal([b.box.text, b.applied], ["party", ["party"]]);
  await b.box.set("~q", true);
  equal([b.box.text, b.box.applied], ["dir == c2s", "dir == c2s"]);
  b.end();
});

test("completion: Enter applies unless a line is selected, Tab accepts the offer, Esc closes", async () => {
  const b = await bench();
  await b.type("C_");
  equal(options(), ["C_CHAT", "C_PONG"]);
  b.key("Escape");
  equal([options(), b.box.text], [[], "C_"]);
  b.key(" ", { ctrlKey: true });
  await b.settle();
  equal(options(), ["C_CHAT", "C_PONG"]);
  b.key("ArrowDown");
  b.key("Enter");
  equal([options(), b.box.text, b.applied], [[], "C_PONG", []]);
  await b.type("len > 3 && C_");
  b.key("Tab");
  equal(b.box.text, "len > 3 && C_CHAT");
  await b.type("C_");
  b.key("Enter");
  await b.settle();
  equal(b.applied, ["C_"]);
  b.end();
});

test("seen values are offered", async () => {
  const paths: string[] = [];
  const b = await bench({ values: async (path) => (paths.push(path), ['"lfg"', '"hello"']) });
  await b.type(".message == ");
  equal([paths, options()], [[".message"], ['"lfg"', '"hello"']]);
  b.key("Tab");
  equal(b.box.text, '.message == "lfg"');
  b.end();
});

test("late responses are dropped", async () => {
  const waiting: (() => void)[] = [];
  const b = await bench({ ask: (q) => new Promise((done) => waiting.push(() => void reply(q).then(done))) });
  await b.type("bad");
  await b.type("len > 3");
  waiting[1]?.();
  await b.settle();
  waiting[0]?.();
  await b.settle();
  equal([waiting.length, b.root.dataset["state"]], [2, "ok"]);
  b.end();
});

test("a missing response is reported", async () => {
  const b = await bench({ ask: () => Promise.reject(new Error("gone")) });
  await b.type("len > 3");
  equal([b.root.dataset["state"], b.root.querySelector(".filterbox-says")?.textContent], ["unknown", "not checked: gone"]);
  b.key("Enter");
  await b.settle();
  equal(b.applied, []);
  b.end();
});

test("history is offered in an empty box", async () => {
  const b = await bench();
  b.key("ArrowDown");
  await b.settle();
  equal([options(), b.root.querySelector(".filterbox-says")?.textContent], [[], "no recent filters"]);
  await b.box.set("a == 1", true);
  await b.box.set("b == 2", true);
  await b.box.set("", true);
  equal(b.box.applied, "");
  b.input.focus();
  b.key("ArrowUp");
  await b.settle();
  equal(options(), ["b == 2", "a == 1"]);
  b.key("ArrowDown");
  b.key("Enter");
  equal(b.box.text, "a == 1");
  b.end();
});

test("a condition is prepared, not applied", async () => {
  const b = await bench();
  await b.box.set("a == 1 || b == 2", false);
  await b.box.prepare("c == 3", "and");
  equal([b.box.text, b.applied], ["(a == 1 || b == 2) && c == 3", []]);
  await b.box.set("party", false);
  await b.box.prepare("c == 3", "and not");
  equal(b.box.text, '(lower(name) contains "party" || lower(info) contains "party") && !(c == 3)');
  await b.box.set("d == 4", true);
  await b.box.set("bad", false);
  await b.box.prepare("c == 3", "or"); // a mistake in the text stays
  equal(b.box.text, "d == 4 || c == 3");
  await b.box.prepare("e == 5", "replace");
  equal(b.box.text, "e == 5");
  b.end();
});

test("a preset is saved, used and deleted", async () => {
  const b = await bench();
  const press = (label: string): void => b.root.querySelector<HTMLElement>(label)?.click();
  await b.box.set("party", true);
  press('[title="Save as a preset"]');
  await b.settle();
  const name = b.root.querySelector<HTMLInputElement>(".filterbox-save input");
  const save = async (text: string): Promise<void> => {
    if (name !== null) {
      name.value = text;
    }
    name?.form?.requestSubmit();
    await b.settle();
  };
  await save("9");
  equal(b.root.querySelector(".filterbox-save .err")?.textContent?.startsWith("a name has"), true);
  await save("@party");
  equal([b.root.querySelector(".filterbox-save"), b.root.querySelector(".filterbox-presets .btn")?.textContent], [null, "@party"]);
  await b.box.set("@party && len > 3", true);
  equal(b.box.applied, '(lower(name) contains "party" || lower(info) contains "party") && len > 3');
  equal(b.box.text, "@party && len > 3");
  await b.type("@p");
  equal(options(), ["@party"]);
  b.key("Tab");
  equal(b.box.text, "@party");
  press(".filterbox-preset .btn");
  await b.settle();
  equal([b.box.text, b.root.querySelector(".filterbox-preset .btn")?.getAttribute("aria-pressed")], ["@party", "true"]);
  press(".filterbox-preset .btn + .btn");
  await b.settle(); // its menu is loaded
  const items = [...document.querySelectorAll<HTMLElement>('[role="menuitem"]')];
  items.find((i) => i.textContent?.includes("Delete"))?.click();
  await b.settle();
  equal(b.root.querySelector(".filterbox-preset"), null);
  b.end();
});

test("the draft is part of each request, and the box cleans up", async () => {
  const b = await bench({ draft: () => ({ name: "C_NEW", text: "byte b" }) });
  await b.type("C_NEW.b == 1");
  equal(b.asked[0], { text: "C_NEW.b == 1", caret: 12, draft: { name: "C_NEW", text: "byte b" } });
  await b.type("C_");
  b.end();
  equal([options(), document.querySelector(".filterbox")], [[], null]);
});

test("Enter is not lost while completions are asked for", async () => {
  const slow = (q: Question, signal: AbortSignal): Promise<FilterInfo> => new Promise((done, fail) => {
    signal.addEventListener("abort", () => fail(new Error("aborted")));
    setTimeout(() => void reply(q).then(done), 30);
  });
  const b = await bench({ ask: slow });
  await b.type("C_CHAT");
  b.key("Enter");
  b.key(" ", { ctrlKey: true });
  b.key("Enter");
  for (let n = 0; n < 100 && b.applied.length < 1; n++) {
    await new Promise((done) => setTimeout(done, 10));
  }
  await new Promise((done) => setTimeout(done, 100));
  equal([...new Set(b.applied)], ["C_CHAT"]);
  b.end();
});
