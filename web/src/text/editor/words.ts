// The words of a definition language, and the highlighting of its text.
//
//   - type[marks] name ... # comment        a word is a type at the start of its line, inside "<>", and after ":" or "="

import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting, type StringStream } from "@codemirror/language";
import { EditorState, Facet } from "@codemirror/state";
import { tags } from "@lezer/highlight";

import { isYAML, treeStart, treeToken, type TreePlace } from "./json";
import { isType, type Language, type Role, type Words, wordsOf } from "./language";

/** Names in other definitions, offered besides those of the document. */
export const otherNames = Facet.define<readonly string[], readonly string[]>({ combine: (given) => given.flat() });

/** A line without its comment. */
export function codeOf(line: string, language: Language): string {
  const at = language.comment === "" ? -1 : line.indexOf(language.comment);
  return at < 0 ? line : line.slice(0, at);
}

/** The characters of a word before the caret. */
export function wordBefore(before: string, language: Language): string {
  return (language.syntax === "words" ? /[\p{L}\d_-]*$/u : /@?[\p{L}\d_]*$/u).exec(before)?.[0] ?? "";
}

/** A piece of a language whose words may stand anywhere. */
function freeToken(stream: StringStream, language: Language, words: Words): Role | null {
  if (stream.eatSpace()) {
    return null;
  }
  const before = stream.pos === 0 || /\s/.test(stream.string.charAt(stream.pos - 1));
  if (before && language.comment !== "" && stream.match(language.comment)) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("->")) {
    return "mark";
  }
  if (stream.match(/^"(\\.|[^"\\])*"?/)) {
    const word = words.get(/^"([\p{L}\d_]*)/u.exec(stream.current())?.[1] ?? "");
    return word !== undefined && isType(word) ? "typeName" : "name";
  }
  if (stream.match(/^-?(0x[\da-f]+|\d+)(?![\p{L}\d_])/iu)) {
    return "number";
  }
  if (stream.match(/^[\p{L}\d_][\p{L}\d_.-]*/u)) {
    const word = words.get(stream.current());
    return word === undefined ? "name" : isType(word) ? "typeName" : "mark";
  }
  stream.next();
  return null;
}

/** The state of the tokenizer in a line. */
interface Place {
  started: boolean; // the first word has begun
  named: boolean; // the first word is complete: names follow
  depth: number; // of "<"
  bracket: boolean; // inside "[]"
}

const lineStart = (): Place => ({ started: false, named: false, depth: 0, bracket: false });

function token(stream: StringStream, place: Place, language: Language, words: Words): Role | null {
  if (language.syntax === "words") {
    return freeToken(stream, language, words);
  }
  if (stream.sol()) {
    Object.assign(place, lineStart());
    if (stream.match(/^\s*-[-\s]*/)) {
      return "dash";
    }
  }
  if (stream.eatSpace()) {
    place.named ||= place.started && place.depth === 0 && !place.bracket;
    return null;
  }
  if (language.comment !== "" && stream.match(language.comment)) {
    stream.skipToEnd();
    return "comment";
  }
  if (!place.started && stream.match(/^(0x[\da-f]+|\d+(\.\d+)?|\?)(?=\s)/i)) {
    return "number"; // an offset or a size, before the type
  }
  if (!place.started && stream.match(/^[\p{L}_][\p{L}\d_]*(?=\s*=)/u)) {
    const word = words.get(stream.current().trim());
    return word === undefined ? "name" : "mark"; // NAME = TYPE
  }
  place.started = true;
  if (stream.match(/^\^[\d.]*(-[\d.]*)?/)) {
    return "mark";
  }
  if (stream.match(/^(0x[\da-f]+|\d[\d.]*)\b/i)) {
    return "number";
  }
  const found = stream.match(/^@?[\p{L}_][\p{L}\d_]*/u);
  if (typeof found === "object" && found !== null) {
    const word = words.get(found[0]);
    if (place.bracket) {
      return word !== undefined && !isType(word) ? "mark" : null;
    }
    if (place.named && place.depth === 0) {
      return "name";
    }
    return word === undefined ? null : isType(word) ? "typeName" : "mark";
  }
  const sign = stream.next();
  place.depth = Math.max(0, place.depth + (sign === "<" ? 1 : sign === ">" ? -1 : 0));
  place.bracket = sign === "[" || (place.bracket && sign !== "]");
  if (sign === ":" || sign === "=") {
    place.started = place.named = false;
  }
  return null;
}

const tokenTable = {
  dash: tags.punctuation,
  typeName: tags.typeName,
  mark: tags.keyword,
  number: tags.number,
  name: tags.propertyName,
  comment: tags.comment,
};

// Classes of app.css, which colors a definition the same way without scripts.
const colors = HighlightStyle.define([
  { tag: tags.punctuation, class: "dash" },
  { tag: tags.typeName, class: "ty" },
  { tag: tags.keyword, class: "cm-mark" },
  { tag: tags.number, class: "cm-number" },
  { tag: tags.propertyName, class: "nm" },
  { tag: tags.comment, class: "cm" },
]);

/** The extension that highlights a language and knows its comments. */
export function coloring(language: Language): LanguageSupport {
  const words = wordsOf(language);
  if (language.syntax === "json") {
    const tree = StreamLanguage.define<TreePlace>({
      name: "definition",
      startState: treeStart,
      token: (source, place) => treeToken(source, place, words),
      tokenTable,
    });
    const comments = EditorState.languageData.of((state) => [{ commentTokens: { line: isYAML(state.doc) ? "#" : language.comment } }]);
    return new LanguageSupport(tree, [comments, syntaxHighlighting(colors)]);
  }
  const stream = StreamLanguage.define<Place>({
    name: "definition",
    startState: lineStart,
    copyState: (place) => ({ ...place }),
    token: (source, place) => token(source, place, language, words),
    languageData: language.comment === "" ? {} : { commentTokens: { line: language.comment } },
    tokenTable,
  });
  return new LanguageSupport(stream, syntaxHighlighting(colors));
}
