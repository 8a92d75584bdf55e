// The list of the frames of a capture, as used by the page.

export { Frames, type FilterSlot, type FramesEvents, type FramesOptions } from "./panel";
export type { Draft, FrameRow, State, View } from "../api/frames";
export type { Range } from "./ranges";
