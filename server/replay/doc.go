// Package replay plays one side of a conversation against a live program: a client to a server, or a server to a client.
//
// A Script lists the messages to send and to expect. FromFrames makes one from a recorded connection; it is JSON and meant to be edited by
// hand. Run plays it with a Peer, one end of a connection that sends and receives whole messages, and reports for each step the received
// message, the time it took, and the fields that differ from the recording.
//
//	script.go   the script: its form, its bounds
//	record.go   a script from a recorded connection; keepalive.go and lift.go find keepalives and session values in it
//	prepare.go  resolves the definitions of a script
//	run.go      executes the steps; inbox.go holds received messages that no step has consumed
//	compare.go  compares expected and received messages
//	vars.go     values lifted from received messages and set in sent ones
//	peer.go     a Peer made of a socket and a transport.Endpoint
//
// # Decisions
//
// A message that no step expects yet is kept until a step does, so the order of independent messages does not matter. Messages left at the
// end are reported as unexpected. Ignored messages and keepalives are never kept.
//
// A lifted value is never a difference; where a later expected message has the recorded value, the live value is expected instead.
//
// Scripts are untrusted: their size, depth, steps, sends and time are checked before anything is sent.
package replay
