// Package pcap reads and writes capture files: pcap, pcapng with blocks of our own, and the texts in which Wireshark and tshark export packets
// with their bytes. Read makes frames of a file. Writer and Synthetic write.
//
// It does no I/O: a caller hands it a reader. Memory is bounded by MaxPacket and by what the interfaces of a section take.
//
// A file that breaks off gives the packets before the break; Torn says where that is. A packet that is cut by the break is not given.
//
// # Exports that come back
//
// What Wirebench writes into a pcapng for itself stands behind words for people, in one form (told.go): name and text of the capture,
// marks, notes and markers (SectionsTold). A section can say that its packets are made up: each is a frame, or a part of one, whose
// comment tells what its bytes do not, and no transport is asked (made.go).
package pcap
