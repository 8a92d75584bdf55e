// Package frames is the frame engine: it lists the frames of a capture or of running traffic, and answers questions about them.
//
// A [Source] has the frames, in a [live.Log], which stores bytes and never what they mean. A [View] is the part of them that fits a filter;
// it is found step by step, as the log may grow and a million frames take a while. An [Order] is a view sorted by a column. A [List] is a view
// in an order, with columns, colours and a highlight: what a person looks at. It answers with rows, single frames, the next frame that fits,
// counts of types, a timeline, an overview, the table of the fields of a type, and the differences of two frames. An [Export]
// writes frames in the format of a file.
//
// All questions read the bytes anew by the definitions of a snapshot, so that an edited definition shows at once. The package does no HTTP and
// knows no sockets, and starts goroutines only for the time of one call, but for StartSort.
package frames
