// Package access decides who may do what.
//
// A request is made by a [Principal], which the tokens of the server name: [Require] finds it, and keeps out everybody else. What a
// principal may do is in one table, [Needs]: the role that each route, page action and socket channel needs. What is not in the table is
// refused to everybody, so that a new operation is closed until its row is written. [Permit] asks the table before a request is
// handled.
//
// Somebody who guesses tokens has to wait; see guesses.
package access
