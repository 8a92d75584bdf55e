// Package replay plays one side of a conversation against a live program: a client to a server, or a server to a client.
//
// A Script says what is sent and what is waited for. FromFrames makes one of a recorded connection; it is JSON and meant to be edited by
// hand. Run plays it with a Peer, which is one end of a connection that sends and receives whole messages, and reports step by step
// what came, how long it took, and in which fields it differs from what was recorded.
//
//	script.go   the script: its form, its bounds
//	record.go   a script from a recorded connection; keepalive.go and lift.go find in it what is no part of the conversation's course
//	prepare.go  a script and the definitions that it names
//	run.go      the steps in their order; inbox.go what came and was not waited for yet
//	compare.go  what was expected against what came
//	vars.go     values that are lifted from what came and set in what is sent
//	peer.go     a Peer made of a socket and a transport.Endpoint
//
// # Decisions
//
// A message that no step waits for yet is kept until one does, so that the order of messages that do not depend on each other does not
// matter. What is left at the end is reported as unexpected. Messages that are ignored, and keepalives, never get in the way.
//
// A lifted value is never a difference; and where the recorded value stands in a later expected message, the live one is expected there.
//
// Scripts come from anywhere: their size, depth, steps, sends and time are bounded before anything is sent.
package replay
