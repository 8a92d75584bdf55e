// Package scores judges the definitions of a project by the messages that it owns: those of all its captures and of recorded running traffic.
//
// A [Board] holds the messages of a project by their type, as bytes alone, while somebody wants to know. A [Run] judges one definition by
// them, also the edited text of an open page: in steps, so that the first figures are there at once, and further messages continue it.
// [Board.Scores] are those of all definitions.
//
// The package starts one goroutine for each board, which reads captures.
package scores
