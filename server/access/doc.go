// Package access authenticates requests and authorizes operations.
//
// [Door] admits the requests that carry one of the server's tokens, and gives each its [Principal]. What a principal may do is in two
// tables: operations of the API have the role in their rows, which are given to [Guard], and [Needs] returns the minimum role of every other
// route, page action and socket channel. What is in neither is refused for every role, so that something new is closed until its row is
// written. [Guard.Permit] checks both before a request is handled.
//
// Clients that send many wrong tokens have to wait; see guesses.
package access
