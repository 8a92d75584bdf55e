// Package capture reads what people have at hand into frames: captures, logs and exports of other programs, texts that hold messages, archives
// of such files, and raw bytes that are cut by a framing. What is in a file decides how it is read, never its name.
//
// The readers are packages of their own: pcap for captures, paste for texts, logs for logs. This one chooses among them. It does no I/O and has
// no clock: a caller hands it a reader and gets frames.
//
// # Packets in texts, and archives
//
// What Wireshark and tshark export with bytes (package pcap) is read by Reader as a capture file is; a dump, an array or a column whose messages
// are whole packets of TCP or UDP, by ReadAny. Rows with the payload and the addresses (tshark without -x) are connections of their
// own, as pieces of TCP or UDP. A zip or a tar (archive_read.go) is one capture of many files; texts may be UTF-16.
package capture
