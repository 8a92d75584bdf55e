// Package subspace implements the core protocol of SubSpace and Continuum over UDP. Datagrams carry game packets: alone, in clusters, in
// numbered packets that are retransmitted until acknowledged, in chunks, and in streams. The package does no I/O: see package transport.
//
// A datagram passes through these steps, each in a file of its own:
//
//	recognise.go   which traffic it is: core protocol, info port, announcements; plain or encrypted
//	session.go     the handshake, the cipher it chooses, and where sessions begin and end
//	cipher.go      the VIE cipher; recover.go finds a key that the capture lacks
//	core.go        core packets, and packets inside packets
//	reliable.go    the order of numbered packets: early and repeated ones
//	gaps.go        numbers that an observer never receives, and when it gives them up
//	assembly.go    chunks and streams
//	sync.go        sync packets, and how many datagrams were lost
//	datagrams.go   datagrams outside the core protocol: info port, announcements, packets between zones
//
// A Transport only observes. A Rewriter lets a Transport read, and is called by it where it has to act: to accept a number, to deliver a
// numbered packet, and to send a core packet on. What it sends passes through these steps:
//
//	rewrite.go        when the rewriter takes a session over, and the calls of a proxy
//	lane.go           what it knows about one direction
//	rewrite_read.go   what becomes of each packet, and the decisions about messages
//	queue.go          messages that wait for a decision, and those behind them
//	rewrite_send.go   the form in which a message is sent: alone, in chunks, as a stream
//	sender.go         numbers, acknowledgements and retransmission
//	packer.go         clusters, datagrams and the cipher
//	endpoint.go       a client or a server: half a rewriter
//
// # Frames
//
// Game packets become frames of kind Message in the group "game", or in "directory" or "biller" if the first packet of the session shows
// one of these. Core packets with content of their own become Control frames: handshake, acks, syncs, disconnects, cancels. Core packets
// that only carry others (reliable, cluster, chunk, stream) are listed in Via of the frames inside them. A repeated reliable packet is a
// Control frame with a Note, not a message. Traffic of the info port and announcements are Control frames with the Name of their definition.
// Datagrams that cannot be deciphered are Opaque; missing or malformed data is a Problem.
//
// # Decisions
//
// The package observes, and servers differ. It therefore accepts more than any one of them and describes irregularities in Note. A packet
// may be up to 1023 numbers early (a server accepts 31); a datagram may have any size (servers: 512 or 520); types of 0x40 and above are
// messages; acks and syncs of a wrong size are shown. A zero length ends a cluster, as in asss. The first body of a number counts; a
// later one that differs is a Problem.
//
// A missing number holds up the packets after it until the other end acknowledges it, so that it cannot arrive any more; until a minute
// has passed, during which senders retransmit; or until Flush. It is then reported as a Problem. If the packet arrives later, it is
// still a message, with a Note, but not part of a chunk or stream.
//
// A chunked message is a Problem if a part may be missing: a number is missing between its parts or just before the first one, since
// senders number the parts consecutively. A stream states its size, so a stream with all its bytes in parts of equal size and a shorter
// last part is a message. Chunks and streams that the capture cuts off are Problems with the bytes received.
//
// Another session of the same two ends begins (Frame.Begins) with a client's init in these cases: after a disconnect; after half a minute
// without traffic from the client, since servers have forgotten it by then; with another key, if only a handshake has passed; inside
// Continuum's cipher, after any other packet; and inside a session, if the server answers it. In the last case the init is stored until the
// answer, or until 5 seconds, 64 datagrams or a disconnect show that there is none; it then belongs to the old session. A repeated init
// does not begin a session, nor does one that the server has refused.
//
// In a capture that begins inside a session, up to 192 datagrams are stored until they show whether they are encrypted. The key is
// recovered from a cluster of acks, or from a sync request and a number. The first number seen begins the order.
//
// Core packets may be nested 16 deep. A chunked message may have 512 KiB, a stream 16 MiB, and packets that wait for their turn 1 MiB in
// each direction.
package subspace
