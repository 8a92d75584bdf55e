// Package cluster lets several workbenches share one data folder: each has a copy of it, and one of them, which leads, serves. All changes of the folder go,
// before they are made, to a log in NATS JetStream; the others make them in their copies, forward what they are asked to the node that leads, and take over
// when it is gone.
//
// The log is a stream with one subject. A message has changes, or a part of them, and is accepted only if it follows the message that its writer has seen
// last: a node that leads begins with a message of its own, so that nothing of an earlier one is accepted any more, whatever that believes. The lease, a key
// with a limited life, only says who should try.
//
// The log is cut when it has grown: a copy of the folder as of a message is put into an object store, and the messages up to it are removed. A new node
// begins with that copy.
package cluster
