// Package capture reads files of users into frames: captures, logs and exports of other programs, texts that hold messages, archives of
// such files, and raw bytes split by a framing. The contents of a file decide how it is read, never its name.
//
// The readers are packages of their own: pcap for captures, paste for texts, logs for logs. This one chooses among them. It does no I/O and
// has no clock: its input is an io.Reader.
//
// # Packets in texts, and archives
//
// Exports of Wireshark and tshark with bytes (package pcap) are read like capture files; a dump, an array or a column whose messages are
// complete TCP or UDP packets, by ReadAny. Rows with payload and addresses (tshark without -x) are segments of their own TCP or UDP
// connections. A zip or a tar (archive_read.go) is one capture of many files; texts may be UTF-16.
package capture
