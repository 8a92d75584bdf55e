// Types of the messages between page and server about an open list of frames, from the Go structs in api.ts.
//
// Times are microseconds since 1970, durations microseconds. "pos" is the index of a row in the filtered list, from 0; "n" is the number of a
// frame in the capture, from 1.

import type { Asked, FramesConns, FramesDiff, FramesFollow, FramesFound, FramesFrame, FramesGraph, FramesPacket, FramesProblems, FramesReplies, FramesSortSpec, FramesTable, FramesTimeline, FramesTypes, ListMessage, ListState, ListView, MapAnswer, RowsAnswer } from "./api";

export type {
  FramesColor as ColorRule, FramesConns as ConnsAnswer, FramesConnRow as ConnRow, FramesEndRow as EndRow, FramesLengthRow as LengthRow, FramesReplies as RepliesAnswer, FramesReplyRow as ReplyRow, FramesReplyType as ReplyType, FramesFollow as FollowAnswer, FramesFollowPart as FollowPart, FramesGraph as GraphAnswer, FramesProblems as ProblemsAnswer, FramesDiff as DiffAnswer, FramesDiffRow as DiffRow, FramesFound as Found, FramesFrame as FrameAnswer,
  FramesFrameOffer as FrameOffer, FramesPacket as PacketAnswer, FramesRow as FrameRow, FramesSortSpec as Sort, FramesTable as TableAnswer,
  FramesTableColumn as TableColumn, FramesTableRow as TableRow, FramesTimeline as TimelineAnswer, FramesTypeRow as TypeRow,
  FramesTypes as TypesAnswer, FramesViewMistake as Mistake, ListConn as Connection, MapAnswer, RowsAnswer, StoreMarker as Marker, StoreNoted as Noted,
} from "./api";

/** Names of the row hues, from hue 1. */
export const hueNames = ["Blue", "Green", "Amber", "Violet", "Cyan", "Rose", "Olive", "Gray"] as const;

export const mostColors = 50; // rules

export type Direction = "c2s" | "s2c" | "";

/** A view; the socket adds its number. */
export type View = Omit<ListView, "seq">;

/** An unsaved definition for decoding the frames. */
export type Draft = NonNullable<View["draft"]>;

/** The state of the list, with all keys, as merged by the socket. */
export interface State extends Required<Omit<ListState, "conn_changes" | "sorted">> {
  sorted: FramesSortSpec | undefined;
  marked: number[]; // frame numbers of noted
  notes: Record<string, string>; // of noted, by frame number
}

/** The identity of a frame, PACKET:OFFSET:NTH, or its number if the identity is unknown. */
export type FrameName = string | number;

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
  problems: FramesProblems;
  conns: FramesConns;
  replies: FramesReplies;
  graph: FramesGraph;
  follow: FramesFollow;
}

export type RequestKind = keyof Answers;

/** The requests by kind, with their responses. */
export type Requests = { [K in RequestKind]: { ask: Omit<NonNullable<ListMessage[K]>, keyof Asked>; answer: Answers[K] } };
