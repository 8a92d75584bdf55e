// Package packet makes frames of captured packets: it finds the IP packet behind the link layer, puts fragments and TCP streams together, tells
// connections apart, and feeds their transports.
//
// It does no I/O and has no clock. All input is untrusted: the memory of an Assembler is bounded.
//
// Readers and TCP reassembly are our own, not gopacket's, because a frame must name the packets that its bytes came from and their place in each
// payload (transport.Source), through retransmissions, overlaps and IP fragments, as well as the gap before it and the time it became complete.
// gopacket's assemblers deliver joined bytes, with at most the capture information of the segment that a byte came in.
//
// # What the protocols leave open
//
//   - Checksums are not looked at, as a machine that captures what it sends has none yet.
//   - Of stream bytes that come twice the first count, of fragments too.
//   - Bytes of a stream are lost when the other side has acknowledged them and the connection goes on for 32 packets without them, when
//     too much waits for them, or when nothing more comes. A file need not be in the order of the wire.
//   - A segment that waited has the time of the packet that ended the waiting, and the number of its own. A loss, and what follows it,
//     has the time and number of the segment behind it.
//   - A stream whose start was not captured starts with the lowest segment of its first 8 packets, without Segment.Start.
//   - Of a datagram that is cut by the capture the transport is told how much is missing. In a stream such bytes are lost, unless they come
//     again.
//   - A SYN with another number is another session of the same addresses, and so is any SYN behind an end or a reset. UDP has one session
//     for two addresses, unless the transport says that another one begins (Frame.Begins).
//   - A frame whose packets came in IP fragments names all of these. Offsets in a fragment count from where the payload of its IP packet
//     begins, in the first one from where that of TCP or UDP does.
package packet
