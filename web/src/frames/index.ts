// The list of the frames of a capture, as the page uses it.

export { Frames, type FilterSlot, type FramesEvents, type FramesOptions } from "./panel";
export type { Draft, FrameRow, State, View } from "./protocol";
export type { Range } from "./ranges";
