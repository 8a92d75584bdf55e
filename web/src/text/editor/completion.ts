// Completion: types at the positions of types, known names at the positions of names.

import {
  acceptCompletion,
  autocompletion,
  closeCompletion,
  completionStatus,
  moveCompletionSelection,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { type EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, keymap, type Command } from "@codemirror/view";

import { isYAML, namedFields, namedTypes, treeOffer } from "./json";
import { explained } from "./lines";
import { isType, type Language, type Name, type Word, type Words } from "./language";
import { codeOf, otherNames, wordBefore } from "./words";

/** The kind of word at a position. */
interface Offer {
  from: number; // start of the word in the line
  kind: "start" | "type" | "mark" | "name";
}

/** The offer at the end of a line's text before the caret; undefined in comments and at unknown positions. */
function offer(before: string, language: Language, words: Words): Offer | undefined {
  if (codeOf(before, language) !== before) {
    return undefined;
  }
  const word = /@?[\p{L}\d_]*$/u.exec(before)?.[0] ?? "";
  const from = before.length - word.length;
  const rest = before.slice(0, from);
  if (/^[-\s]*$/.test(rest)) {
    return { from, kind: "start" };
  }
  if (rest.endsWith("<")) {
    return { from, kind: "type" };
  }
  if (/\[([^\]]*,\s*)?$/.test(rest)) {
    return { from, kind: "mark" };
  }
  if (/^\s*(\d+|\?)\s+(\d+|\?)\s+$/.test(rest)) {
    return { from, kind: "type" }; // after offset and size
  }
  const first = /^[-\s]*(@?[\p{L}_][\p{L}\d_]*)/u.exec(rest)?.[1] ?? "";
  if (isType(words.get(first))) {
    return /^[-\s]*\S+\s+([\p{L}\d_]+\.)*$/u.test(rest) ? { from, kind: "name" } : undefined;
  }
  return !words.has(first) && /[:=]\s*$/.test(rest) ? { from, kind: "type" } : undefined;
}

/** The names of the fields of a document, except those of one line. */
function names(state: EditorState, language: Language, except: number): string[] {
  const found = new Set<string>();
  for (let n = 1; n <= state.doc.lines; n++) {
    const code = codeOf(state.doc.line(n).text, language);
    const name = /^[-\s]*\S+\s+([\p{L}_][\p{L}\d_]*)/u.exec(code)?.[1];
    if (name !== undefined && n !== except) {
      found.add(name);
    }
  }
  return [...found];
}

function wordOption(word: Word, kind: Offer["kind"]): Completion {
  const text = word.insert ?? word.name;
  return {
    label: word.name,
    type: "type",
    ...(word.size === undefined ? {} : { detail: word.size.replace(/[:,].*/, "") }),
    info: () => explained(word),
    apply(view, _completion, from, to) {
      // At the start of a line a name follows: the caret goes to its start.
      const next = view.state.sliceDoc(to, to + 1);
      const space = kind === "start" && !/\s$/.test(text) && !/[ \t<[]/.test(next);
      const insert = space ? `${text} ` : text;
      const caret = from + insert.length + (kind === "start" && next === " " ? 1 : 0);
      view.dispatch({ changes: { from, to, insert }, selection: { anchor: caret }, userEvent: "input.complete", scrollIntoView: true });
    },
  };
}

/** The options at a position of a language whose words may stand anywhere; undefined in comments. */
function freeOptions(context: CompletionContext, language: Language): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const typed = wordBefore(before, language);
  if (/(^|\s)#/.test(before) || (!context.explicit && typed === "")) {
    return null;
  }
  const rest = before.slice(0, before.length - typed.length);
  const first = /^\s*("?)([\p{L}\d_.-]+)\1/u.exec(rest)?.[2] ?? "";
  const last = /(\S+)\s+$/.exec(rest)?.[1] ?? "";
  const wanted = rest.trim() === "" ? "message" : last === "->" || last === "group" || last === "state" ? "group" : /^(when|from|key|iv)$/.test(last) ? "field" : last === "of" || last === "bundle" || last === "none" ? "message" : "";
  const states = last === "->" ? Array.from({ length: context.state.doc.lines }, (_, n) => /^\s*state\s+(\S+)/.exec(context.state.doc.line(n + 1).text)?.[1] ?? "").filter((name) => name !== "") : [];
  const fits = ({ kind, of }: Name): boolean => kind === wanted && (kind !== "field" || of === first || / of $/.test(rest));
  const names = new Map<string, Completion>();
  for (const name of states) {
    names.set(name, { label: name, type: "property", detail: "state", boost: 20 });
  }
  for (const name of (language.names ?? []).filter(fits)) {
    if (!names.has(name.name)) {
      names.set(name.name, { label: name.name, type: "property", ...(name.kind === "message" ? { detail: name.of ?? "" } : {}), boost: wanted === "message" ? 0 : 10 });
    }
  }
  const words = language.words.filter(({ kind }) => kind !== "old").map((word): Completion => ({
    label: word.name, type: "type", boost: rest.trim() === "" ? 5 : 0, ...(word.size === undefined ? {} : { detail: word.size }), info: () => explained(word),
  }));
  return { from: context.pos - typed.length, options: [...names.values(), ...(last === "->" ? [] : words)], validFor: /^[\p{L}\d_-]*$/u };
}

/** The source of completions in JSON and YAML. */
function treeSource(language: Language): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const { doc } = context.state;
    const line = doc.lineAt(context.pos);
    const yaml = isYAML(doc);
    const at = treeOffer(line.text.slice(0, context.pos - line.from), yaml);
    if (at === undefined || (!context.explicit && line.from + at.from === context.pos)) {
      return null;
    }
    const typed = context.state.sliceDoc(line.from + at.from, context.pos);
    const text = doc.toString();
    const written = (name: string): string => (at.quoted || yaml || at.kind === "field" ? name : JSON.stringify(name));
    const option = (label: string, type: string): Completion => ({ label, type, apply: written(label) });
    const ofLanguage = (wanted: (word: Word) => boolean): Completion[] => language.words.filter(wanted).map((word) => ({
      ...option(word.name, "type"),
      ...(word.size === undefined ? {} : { detail: word.size.replace(/[:,].*/, "") }),
      info: () => explained(word),
    }));
    const known = new Set(language.words.map(({ name }) => name));
    const options = {
      key: () => ofLanguage((word) => !isType(word)),
      field: () => namedFields(text, yaml).map((name) => option(name, "property")),
      type: () => [...ofLanguage(isType), ...namedTypes(text, yaml).filter((name) => !known.has(name)).map((name) => option(name, "type"))],
    }[at.kind]();
    return { from: line.from + at.from, options: options.filter(({ label }) => label !== typed), validFor: /^[\p{L}\d_]*$/u };
  };
}

function source(language: Language, words: Words): (context: CompletionContext) => CompletionResult | null {
  if (language.syntax === "json") {
    return treeSource(language);
  }
  if (language.syntax === "words") {
    return (context) => freeOptions(context, language);
  }
  return (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const at = offer(line.text.slice(0, context.pos - line.from), language, words);
    if (at === undefined || (!context.explicit && line.from + at.from === context.pos)) {
      return null;
    }
    const typed = context.state.sliceDoc(line.from + at.from, context.pos);
    const result = (options: Completion[]): CompletionResult => ({ from: line.from + at.from, options, validFor: /^@?[\p{L}\d_]*$/u });
    if (at.kind === "name") {
      const here = new Set(names(context.state, language, line.number));
      const elsewhere = context.state.facet(otherNames).filter((name) => !here.has(name));
      return result([
        ...Array.from(here, (label): Completion => ({ label, type: "property", boost: 10 })),
        ...elsewhere.map((label): Completion => ({ label, type: "property" })),
      ].filter(({ label }) => label !== typed));
    }
    const fits = (word: Word): boolean => {
      if (word.kind === "old") {
        return false;
      }
      const mark = !isType(word);
      return at.kind === "mark" ? mark && !word.name.startsWith("@") : !mark || (at.kind === "start" && word.name.startsWith("@"));
    };
    return result(language.words.filter(fits).map((word) => wordOption(word, at.kind)));
  };
}

/** The extension that completes words. */
export function completion(language: Language, words: Words): Extension {
  let chosen = false; // with the arrow keys, or opened with Ctrl+Space
  const choose =
    (command: Command): Command =>
    (view) => {
      const done = command(view);
      chosen ||= done;
      return done;
    };
  // After a name Enter ends the line: names are offered automatically, and the typed one may be new. So it does where words may stand anywhere.
  const enter: Command = (view) => {
    const { head } = view.state.selection.main;
    const line = view.state.doc.lineAt(head);
    const at = language.syntax === "words" ? undefined : offer(line.text.slice(0, head - line.from), language, words);
    if ((at?.kind === "name" || language.syntax === "words") && !chosen) {
      closeCompletion(view);
      return false;
    }
    return acceptCompletion(view);
  };
  return [
    autocompletion({ override: [source(language, words)], defaultKeymap: false, icons: false, interactionDelay: 30 }),
    EditorView.updateListener.of((update) => {
      if (completionStatus(update.state) === null) {
        chosen = false;
      }
    }),
    Prec.highest(
      keymap.of([
        { key: "Ctrl-Space", run: choose(startCompletion) },
        { key: "Escape", run: closeCompletion },
        { key: "ArrowDown", run: choose(moveCompletionSelection(true)) },
        { key: "ArrowUp", run: choose(moveCompletionSelection(false)) },
        { key: "PageDown", run: choose(moveCompletionSelection(true, "page")) },
        { key: "PageUp", run: choose(moveCompletionSelection(false, "page")) },
        { key: "Enter", run: enter },
        { key: "Tab", run: acceptCompletion },
      ]),
    ),
  ];
}
