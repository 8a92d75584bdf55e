// Package subspace reads the core protocol of SubSpace and Continuum: datagrams that hold game packets, alone, in clusters, in numbered
// packets that are sent until acknowledged, in chunks and in streams. It is sans I/O: see package transport.
//
// A datagram passes through these steps, each in a file of its own:
//
//	recognise.go   what runs between the two ends: the core protocol, the info port, announcements; plain or enciphered
//	session.go     the handshake, what it says of the cipher, and where sessions begin and end
//	cipher.go      the VIE cipher; recover.go finds a key that the capture lacks
//	core.go        the core packets, and packets inside packets
//	reliable.go    the order of numbered packets: those that come early, twice, or never
//	assembly.go    chunks and streams
//	figures.go     sync packets, and how many datagrams were lost
//	datagrams.go   datagrams outside the core protocol: info port, announcements, packets between zones
//
// # What becomes of what
//
// Game packets are frames of kind Message, with the group "game", or "directory" or "biller" where the first packet of a session shows
// one. Core packets that say something themselves are Control: handshake, acks, syncs, disconnects, cancels. Those that only carry others
// (reliable, cluster, chunk, stream) make no frame: they stand in Via of what was in them. A reliable packet that comes again is a Control
// frame with a Note, and no message. What the info port and announcements carry is Control with the Name of its definition.
// Datagrams that cannot be read are Opaque; Problem is what is missing or cannot be right.
//
// # Decisions
//
// The package looks on, and servers differ; so it accepts more than any of them and says what is odd in Note. A packet may be up to
// 1023 numbers early (a server takes 31); a datagram may have any size (512 or 520); types of 0x40 and above are messages; acks and
// syncs of a wrong size are shown. A zero length ends a cluster, as in asss. The first body of a number counts, and another one later is
// a Problem.
//
// A number that never comes holds up those behind it until the other end acknowledges it, so that it cannot come any more, or a minute
// has passed, in which senders send it again and again, or Flush. Then it is a Problem with the note that it is missing. If it comes after all, it is still a message,
// with a Note, but no part of a chunk or stream.
//
// A message in chunks is a Problem where a part of it may be missing: a number is missing between its parts, or just before the first
// one, as senders give its parts numbers one behind the other. A stream says its size, so one that has all its bytes in parts of one
// size and a shorter last one is a message. What the capture does not hold to its end is a Problem too, with the bytes that there are.
//
// Another session of the same two ends begins (Frame.Begins) with a client's init behind a disconnect; after half a minute in which the
// client said nothing, as servers have forgotten it then; with another key where only a handshake has come; inside Continuum's cipher
// behind anything else; and inside a session if the server answers it. In the last case the init is kept until the answer, or until 5
// seconds, 64 datagrams, or a disconnect show that none comes: then it is of the old session. The same init again is no session, nor is
// one that the server has refused.
//
// In a capture that begins inside a session, datagrams are kept until they show whether they are enciphered, 192 of them at most, and read
// then. Their key is found from a cluster of acks, or from a sync request and a number. The first number that is seen begins the order.
//
// Clusters, reliable packets and so on may stand in each other 16 deep. A chunked message may have 512 KiB, a stream 16 MiB, packets
// that wait for their turn 1 MiB in each direction.
package subspace
