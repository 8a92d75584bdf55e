// Package collect takes the traffic of listeners on other hosts to a workbench, by NATS JetStream.
//
//	collector                                   NATS                        workbench
//	client ── relay ── upstream                 stream wirebench-traffic
//	           └─► recorder ─► Spool ─► publish ─► wirebench.traffic.… ─► Receiver ─► captures
//
// A collector runs the listeners of package relay; only the recordings are kept elsewhere: each of their files is a part in a [Spool], a
// folder that survives the process. A part is published in batches, one message after the other: a batch is sent when the one before it was
// acknowledged, so a stream has the batches of a part in their order. A message has the id of the capture that the part is to become, and
// the offset of its first byte in it. Segments of a part are deleted when their bytes are acknowledged.
//
// The stream is a work queue that refuses what has no room, so nothing that was acknowledged is ever discarded: when the workbench is away
// for long, the stream fills, then the spools, and then the recorder drops packets, counts them, says so in its events, and begins its
// next file with a comment about them, as it does on a full disk.
//
// The [Receiver] appends to the capture that a message names, and acknowledges when the bytes are on disk. The size of the capture decides:
// what it has already is not appended again. It makes a new consumer whenever the order of messages is in doubt, since the stream then
// delivers all that is left, in order; so an offset after the end of a capture means that bytes were lost in the stream. The capture then
// ends there, and another one continues, which says how much is missing.
//
// What comes by NATS is checked as what comes by HTTP: a message that makes no sense is removed from the stream and logged.
package collect
