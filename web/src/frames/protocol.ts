// What the page and the server say to each other about an open list of frames; see server/frames_socket.go.
//
// Times are microseconds since 1970, lengths of time microseconds. "pos" is a row's index in the list as it is filtered now, from 0; "n"
// is a frame's number in the capture, from 1. Keys that are missing are empty, 0 or false.

/** A mistake in a text that the person wrote. Positions are in characters of that text. */
export interface Mistake {
  in: "filter" | "chip" | "highlight" | "color" | "column" | "draft" | "find" | "sort";
  index?: number;
  start: number;
  end: number;
  message: string;
  help?: string;
}

/** A rule that colours rows; hue is 1 to 8. */
export interface ColorRule {
  filter: string;
  hue: number;
}

/** Names of the hues of rows, by their number less one. */
export const hueNames = ["Blue", "Green", "Amber", "Violet", "Cyan", "Rose", "Olive", "Grey"] as const;

export const mostColors = 50; // rules

/** An unsaved definition that frames are decoded by. */
export interface Draft {
  name: string;
  text: string;
}

/** The order of the list. */
export interface Sort {
  by: string; // the id of a column
  desc: boolean;
  again?: number; // another number is another order, of the frames that are there then
}

/** What is shown. */
export interface View {
  filter: string;
  chips: string[];
  draft?: Draft;
  columns: string[];
  colors: ColorRule[];
  highlight: string;
  sort?: Sort; // missing: as the frames came
}

/** A connection of the capture. */
export interface Connection {
  name: string;
  session: number;
  proto: string;
  frames: number;
}

/** A moment that a person has marked. */
export interface Marker {
  n: number; // the first frame after it; it may not be there yet
  at: string; // when it was set
  text: string;
  value?: string; // what was to be seen then
}

/** How far the server is, all keys together as the socket keeps them. */
export interface State {
  seq: number;
  name: string; // of the capture; "" = nobody has said it yet
  total: number;
  scanned: number;
  fit: number;
  done: boolean;
  reading: boolean;
  read: number;
  size: number;
  note: string;
  start: number;
  end: number;
  conns: Connection[];
  mistakes: Mistake[];
  rewritten: string;
  marked: number[];
  notes: Record<string, string>;
  markers: Marker[]; // by their frames
  live: boolean;
  cut: string; // which numbers frames have: lists with the same one have the same; "" = nobody knows yet
  epoch: number; // counts up when frames may read otherwise than before
  order: number; // counts up when the rows are in another order than before
  sorted: Sort | undefined; // what order that is
  sorting: number; // share of another order that is done; 0: none is made
  fresh: number; // frames that came after the list was sorted: they are not in it
}

export type Direction = "c2s" | "s2c" | "";

/** A row of the list. */
export interface FrameRow {
  n: number;
  t: number;
  d?: number; // since the row before in the list
  dir?: Direction;
  kind?: "message" | "control" | "opaque" | "problem";
  conn?: number;
  code?: number;
  name?: string;
  ver?: number;
  len?: number;
  status?: "ok" | "incomplete" | "illegal" | "unknown" | "";
  info?: string;
  via?: string[];
  from?: number[];
  type?: string; // a filter that selects frames of this type
  note?: string; // of the transport
  flags?: string;
  hue?: number;
  hit?: boolean;
  cells?: string[];
}

/** One frame, whole. */
export interface FrameAnswer {
  n: number;
  hex: string;
  dir: Direction;
  group: string;
  name: string; // of its definition, as the library has it; "" if it has none
  conn: string;
  sources: { packet: number; off: number; len: number }[]; // runs of the payload of captured packets
  row: FrameRow;
  offer?: FrameOffer | null; // of a frame that nothing defines
  about?: { what: string; facts: [label: string, text: string][] }; // of a frame that is no message, as its transport says
  alternate?: boolean; // it has the alternative header of the dialect
  stream?: boolean; // it is a part of a byte stream, and no datagram
  ciphered?: boolean; // its packets may have to be deciphered to see it in them
}

/** How a definition of a message that has none could begin. */
export interface FrameOffer {
  name: string; // without a version
  first?: string; // what the name of its first definition ends with
  code: number;
  map?: string; // the code map that does not name the code yet
  known?: boolean;
}

/** The frames that came in a packet, of those near one. */
export interface PacketAnswer {
  n: number;
  frames: { n: number; name?: string; code?: number; kind?: string }[] | null;
  more?: boolean;
}

export interface RowsAnswer {
  id: number;
  seq: number;
  order?: number;
  from: number;
  rows: FrameRow[] | null;
}

/** What the rows are in each part of the list: how many of them are so. */
export interface MapAnswer {
  seq: number;
  order: number;
  total: number; // rows
  known: number; // of them; of the others only marks and notes are known yet
  done: boolean;
  bad: number[];
  unknown: number[]; // that nothing defines
  hit: number[]; // that fit the highlight
  marked: number[];
  noted: number[];
  hue: number[]; // that most coloured rows have, 0 where none is coloured
  hued: number[];
}

/** A place in the list; pos is -1 if there is none. */
export interface Found {
  pos: number;
  n: number;
  meant?: number; // of where: the number that the frame has in this list, which may hide it
  at?: [start: number, end: number]; // of find: which bytes of the frame
  mistakes?: Mistake[];
}

export interface TypeRow {
  type: string;
  name: string;
  ver?: number;
  code: number;
  dir?: Direction;
  kind?: string;
  count: number;
  bytes?: number;
  min?: number;
  max?: number;
  first?: number;
  last?: number;
  bad?: number;
  defined?: boolean;
}

export interface TypesAnswer {
  total: number;
  rows: TypeRow[] | null;
}

/** Frames in each bucket of `step` microseconds from `from` on. */
export interface TimelineAnswer {
  from: number;
  step: number;
  c2s: number[] | null;
  s2c: number[] | null;
  bad: number[] | null;
}

export interface TableColumn {
  path: string;
  type?: string;
  distinct?: number;
  min?: string;
  max?: string;
  constant?: boolean;
  rising?: boolean;
  trend?: string; // "rising", "strictly rising", ...
  more?: boolean; // there are more values than `distinct`
  guess?: string; // what a byte looks like the beginning of: "u32 length? it is the size of the frame"; several are separated by "; "
  entropy?: number;
  top?: [text: string, n: number, literal: string][] | null; // literal: as a filter writes it, "" if it cannot
  filter?: string; // how a filter names it: ".gold", "len(.members)"
  present?: number;
}

export interface TableRow {
  n: number;
  t: number;
  cells: string[];
}

export interface TableAnswer {
  type: string;
  total: number;
  done: boolean;
  bad?: number; // frames that are not decoded to their end
  note?: string; // what the table leaves out
  columns: TableColumn[] | null;
  rows: TableRow[] | null;
}

export interface DiffRow {
  path: string;
  type?: string;
  a?: string;
  b?: string;
  same?: boolean;
}

export interface DiffAnswer {
  a: number;
  b: number;
  type?: string;
  rows: DiffRow[] | null;
  note?: string;
}

export type FindAs = "filter" | "text" | "regex" | "hex" | "value";
export type StepBy = "type" | "conn" | "mark" | "note" | "problem";

/** What was asked for, by its kind: what goes up, and what comes down. */
export interface Requests {
  rows: { ask: { from: number; count: number }; answer: RowsAnswer };
  frame: { ask: { n: number }; answer: FrameAnswer };
  packet: { ask: { n: number; near: number }; answer: PacketAnswer };
  find: { ask: { text: string; as: FindAs; from: number; back: boolean; fold?: boolean }; answer: Found }; // fold: a text in capitals or not
  where: { ask: { n: number; cut?: string }; answer: Found }; // cut: of the list that told the number
  step: { ask: { n: number; by: StepBy; back: boolean }; answer: Found };
  types: { ask: object; answer: TypesAnswer };
  map: { ask: { buckets: number }; answer: MapAnswer };
  timeline: { ask: { buckets: number }; answer: TimelineAnswer };
  table: { ask: { type: string; from: number; count: number; sort: string; desc: boolean }; answer: TableAnswer };
  diff: { ask: { a: number; b: number }; answer: DiffAnswer };
}

export type RequestKind = keyof Requests;
