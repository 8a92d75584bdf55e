// The roles of numbers that the codec computes: a small word beside the name of what they are about, explained on hover.

import { make } from "../kit/dom";

const help: Readonly<Record<string, string>> = {
  count: "The number of its elements. Encoding computes it.",
  bytes: "The size of its contents in bytes. Encoding computes it.",
  packed: "Compressed bytes, whose contents follow.",
  length: "The size of its contents, or of the message. Encoding computes it.",
  offset: "Where its contents start, from the start of the message. Encoding computes it.",
  here: "Where this element starts: its own offset. Encoding computes it.",
  next: "Where the next element starts, 0 in the last one. Encoding computes it.",
  code: "The number that identifies the message.",
  const: "The same in every message.",
  pad: "Unused bytes.",
  counter: "Counts the messages of its direction.",
  check: "A checksum. Encoding computes it.",
  present: "Which of the parts that follow are there. Encoding computes it.",
  more: "Whether another element follows. Encoding computes it.",
  end: "The byte after the last element.",
  tag: "The number of its field, and the kind of its value.",
};

/** The role as the end of a name in texts, "" for values, and for what is named after its role. */
export function roleWord(role: string, name: string): string {
  return help[role] === undefined || name === role ? "" : ` ${role}`;
}

/** The role beside a name. */
export function roleSign(role: string, name: string): (Node | string)[] {
  const word = roleWord(role, name);
  if (word === "") {
    return [];
  }
  const sign = make("small", "role", role);
  sign.title = help[role] ?? "";
  return [" ", sign];
}
