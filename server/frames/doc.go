// Package frames is the frame engine: it lists the frames of a capture or of running traffic, and answers questions about them.
//
// A [Source] provides the frames in a [live.Log], which stores bytes and no decoded values. A [View] is the subset that matches a filter;
// it is computed in steps, as the log may grow and a million frames take a while. An [Order] is a view sorted by a column. A [List] is a
// view in an order, with columns, colors and a highlight, as a page shows it. It provides rows, single frames, the next matching frame,
// counts of types, a timeline, an overview, the table of the fields of a type, and the differences of two frames. An [Export] writes frames
// in a file format.
//
// All answers are decoded from the bytes by the definitions of a snapshot, so that an edited definition takes effect at once. The package
// uses neither HTTP nor sockets, and starts goroutines only for the duration of a call, except for StartSort.
package frames
