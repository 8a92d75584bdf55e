// What the page and the server say to each other about an open list of frames; the messages themselves are Go structs, see api.ts.
//
// Times are microseconds since 1970, lengths of time microseconds. "pos" is a row's index in the list as it is filtered now, from 0; "n"
// is a frame's number in the capture, from 1.

import type { Asked, FramesDiff, FramesFound, FramesFrame, FramesPacket, FramesSortSpec, FramesTable, FramesTimeline, FramesTypes, ListMessage, ListState, ListView, MapAnswer, RowsAnswer } from "../api";

export type {
  FramesColor as ColorRule, FramesDiff as DiffAnswer, FramesDiffRow as DiffRow, FramesFound as Found, FramesFrame as FrameAnswer,
  FramesFrameOffer as FrameOffer, FramesPacket as PacketAnswer, FramesRow as FrameRow, FramesSortSpec as Sort, FramesTable as TableAnswer,
  FramesTableColumn as TableColumn, FramesTableRow as TableRow, FramesTimeline as TimelineAnswer, FramesTypeRow as TypeRow,
  FramesTypes as TypesAnswer, FramesViewMistake as Mistake, ListConn as Connection, MapAnswer, RowsAnswer, StoreMarker as Marker, StoreNoted as Noted,
} from "../api";

/** Names of the hues of rows, by their number less one. */
export const hueNames = ["Blue", "Green", "Amber", "Violet", "Cyan", "Rose", "Olive", "Grey"] as const;

export const mostColors = 50; // rules

export type Direction = "c2s" | "s2c" | "";

/** What is shown; the socket numbers it. */
export type View = Omit<ListView, "seq">;

/** An unsaved definition that frames are decoded by. */
export type Draft = NonNullable<View["draft"]>;

/** How far the server is, all keys together as the socket keeps them. */
export interface State extends Required<Omit<ListState, "conn_changes" | "sorted">> {
  sorted: FramesSortSpec | undefined;
  marked: number[]; // numbers, as noted has them
  notes: Record<string, string>; // by number, as noted has them
}

/** The identity of a frame, PACKET:OFFSET:NTH, or its number where nothing else is known. */
export type FrameName = string | number;

export type FindAs = "filter" | "text" | "regex" | "hex" | "value";
export type StepBy = "type" | "conn" | "mark" | "note" | "problem";

interface Answers {
  rows: RowsAnswer;
  frame: FramesFrame;
  packet: FramesPacket;
  find: FramesFound;
  where: FramesFound;
  step: FramesFound;
  types: FramesTypes;
  map: MapAnswer;
  timeline: FramesTimeline;
  table: FramesTable;
  diff: FramesDiff;
}

export type RequestKind = keyof Answers;

/** What can be asked for, by its kind: what goes up, and what comes down. */
export type Requests = { [K in RequestKind]: { ask: Omit<NonNullable<ListMessage[K]>, keyof Asked>; answer: Answers[K] } };
