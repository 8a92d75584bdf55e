// Package access authenticates requests and authorizes operations.
//
// [Require] admits the requests that carry one of the server's tokens, and gives each its [Principal]. What a principal may do is in one
// table: [Needs] returns the minimum role of each route, page action and socket channel. Operations that are not in the table are refused
// for every role, so that a new operation is closed until its row is written. [Permit] checks the table before a request is handled.
//
// Clients that send many wrong tokens have to wait; see guesses.
package access
