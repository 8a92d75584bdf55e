// The colors of generated code: ranges of its text, which CSS colors without elements (::highlight).

/** Kinds of colored parts: the names of the highlights are code-KIND. */
const kinds = ["comment", "string", "number", "keyword"] as const;
type Kind = (typeof kinds)[number];

const number = String.raw`\b(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?)[uUlLn]*\b`;
const quoted = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const template = "`[^`]*`";

function pattern(comment: string, string: string, keywords: string): RegExp {
  return new RegExp(`(?<comment>${comment})|(?<string>${string})|(?<keyword>${keywords})|(?<number>${number})`, "gm");
}

function words(text: string): string {
  return String.raw`\b(?:${text.split(" ").join("|")})\b`;
}

/** By the name of the target; targets that are not here have no colors. */
const patterns: Record<string, RegExp> = {
  c: pattern(String.raw`//.*|/\*[^]*?\*/`, quoted, String.raw`^[ \t]*#[a-z]+|` + words("bool break case char const continue default do double else enum extern false float for goto if inline int long NULL return short signed sizeof size_t static struct switch true typedef union unsigned void while u?int(?:8|16|32|64)_t")),
  go: pattern(String.raw`//.*|/\*[^]*?\*/`, `${quoted}|${template}`, words("any append bool break byte case const continue default else error false float32 float64 for func goto if import int int8 int16 int32 int64 interface len make map nil package range return string struct switch true type uint uint8 uint16 uint32 uint64 var")),
  ts: pattern(String.raw`//.*|/\*[^]*?\*/`, `${quoted}|${template}`, words("as bigint boolean break case class const continue default else export extends false for from function if import in instanceof interface let new null number of private readonly return static string switch this throw true type typeof undefined Uint8Array DataView void while")),
  lua: pattern(String.raw`--.*`, quoted, words("and break do else elseif end false for function goto if in local nil not or repeat return then true until while")),
  ksy: pattern(String.raw`(?<![\w"'])#.*`, quoted, String.raw`^[ \t]*(?:- )?[\w-]+(?=:(?:\s|$))`),
  md: pattern(String.raw`^>.*`, "`[^`\n]+`", String.raw`^#{1,6} .*`),
};

/** The colored parts of code, in order. */
export function coloredParts(text: string, target: string): { kind: Kind; from: number; to: number }[] {
  const found = patterns[target] === undefined ? [] : [...text.matchAll(patterns[target])];
  return found.flatMap(({ index, groups, 0: { length } }) => {
    const kind = kinds.find((name) => groups?.[name] !== undefined);
    return kind === undefined ? [] : [{ kind, from: index, to: index + length }];
  });
}

/** Colors the text of an element. Browsers without highlights show it plain. */
export function colorCode(element: HTMLElement, target: string): void {
  const node = element.firstChild;
  if (!("highlights" in CSS) || !(node instanceof Text)) {
    return;
  }
  const parts = coloredParts(node.data, target);
  for (const kind of kinds) {
    const ranges = parts.filter((part) => part.kind === kind).map(({ from, to }) => new StaticRange({ startContainer: node, startOffset: from, endContainer: node, endOffset: to }));
    CSS.highlights.set(`code-${kind}`, new Highlight(...ranges));
  }
}
