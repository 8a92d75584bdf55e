// Package pcap reads and writes capture files: pcap, pcapng with blocks of our own, and the texts in which Wireshark and tshark export packets
// with their bytes. Read makes frames of a file. Writer and Synthetic write.
//
// It does no I/O: its input is an io.Reader. Memory is bounded by MaxPacket and by the interfaces of a section.
//
// A truncated file yields the packets before the truncation; Torn holds its position. A truncated packet is dropped.
//
// # Exports that can be read back
//
// Wirebench stores its own data in comments of a pcapng, after text for people, in one form (told.go): name and text of the capture, marks,
// notes and markers (SectionsTold). A section can declare that its packets are made up: each is a frame, or a part of one, whose comment
// holds what its bytes do not, and no transport is used (made.go).
package pcap
