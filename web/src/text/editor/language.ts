// The description of a definition language.

/** A word of the language. */
export interface Word {
  name: string;
  kind: string; // "type"; "group": a type whose fields follow with one dash more; "old": not offered; else a mark
  doc?: string;
  size?: string;
  insert?: string; // text to insert, if other than the name
}

/** A name of the project that a text may have. */
export interface Name {
  name: string;
  kind: string; // "message", "group" or "field"
  of?: string; // the message of a field; the group and the direction of a message
}

/** The description of a definition language for the editor. */
export interface Language {
  comment: string; // what starts a comment
  words: Word[];
  syntax?: string; // "json": JSON with comments, or YAML; "words": words may stand anywhere in a line; else a line for each field
  names?: Name[];
}

/** The words of a language by name. */
export type Words = ReadonlyMap<string, Word>;

/** The role of a piece of text, as the name of its highlighting. */
export type Role = "dash" | "typeName" | "mark" | "number" | "name" | "comment";

/** The words of a language by name. */
export function wordsOf(language: Language): Words {
  return new Map(language.words.map((word) => [word.name, word]));
}

/** Whether a word is a type. */
export function isType(word: Word | undefined): boolean {
  return word !== undefined && (word.kind === "type" || word.kind === "group" || word.kind === "old");
}
