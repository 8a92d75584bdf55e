// Package packet makes frames of captured packets: it finds the IP packet behind the link layer, reassembles fragments and TCP streams,
// separates connections, decrypts those that are TLS (package tls), and feeds their transports.
//
// It does no I/O and has no clock. All input is untrusted: the memory of an Assembler is bounded.
//
// Readers and TCP reassembly are our own, not gopacket's, because a frame must name its source packets and its offset in the payload of
// each (transport.Source), through retransmissions, overlaps and IP fragments, as well as the gap before it and the time it became
// complete. gopacket's assemblers deliver joined bytes, with at most the capture information of one segment.
//
// # Choices that the protocols leave open
//
//   - Checksums are not verified: a machine that captures its own packets sees them before the checksum is filled in.
//
// - Where segments or fragments overlap, the bytes captured first count.
//   - Bytes of a stream are lost when the peer has acknowledged them and the connection goes on for 32 packets without them, when
//     too many bytes wait for them, or at the end of the capture. Packets of a file need not be in wire order.
//   - A segment more than 16 MiB from the expected sequence number belongs to another stream, unless the peer acknowledges it or two more
//     follow it. Packets with bytes of no stream are counted (Summary.Stray): such segments, those before the first and after the last
//     byte of the stream, and the diagnostic messages of resets.
//   - A delayed segment has the time of the packet that released it, and its own packet number. A loss, and the data after it,
//     have the time and number of the segment behind it.
//   - Frames are emitted in the order of the packets that completed them. Where a decision about bytes comes later than they do, as at the
//     start of a stream that was not captured, their frames have the times of the bytes, and those of other connections wait: up to 65,536
//     frames or 16 MiB. After these the frames of the decision come late.
//   - A stream whose start was not captured starts with the lowest segment of its first 8 packets, without Segment.Start.
//   - For a datagram truncated by the capture, the transport gets the number of missing bytes. In a stream such bytes are lost unless they are
//     retransmitted.
//   - A SYN with another sequence number opens another session of the same addresses, and so does any SYN after a FIN or a reset. UDP has one session
//     for two addresses, unless the transport reports the start of another (Frame.Begins).
//   - A frame whose packets were fragmented by IP names all fragments. Offsets in a fragment are relative to the payload of its IP packet,
//     in the first fragment to that of TCP or UDP.
package packet
