// Package capture turns what people have at hand into messages and segments: captures and pasted text.
//
// It does no I/O and has no clock: a caller hands it text or bytes and gets values back. Every input is taken as hostile, so
// all readers are linear in the size of the text and bounded in what they produce (MaxPasteText, MaxPasteBytes,
// MaxPasteMessages).
//
// # Pasted text
//
// Recognise tells the form of a text (xxd, hexdump, a C array, base64, Follow TCP Stream of Wireshark, a proxy log and many
// more), Forms lists them, RecogniseAs is the user's override. A Paste says in Why what decided, so that nothing is guessed
// silently, and in Notes what was odd.
//
// Decisions that no tool's manual makes for us:
//
//   - Several lines of plain hex are one message, since hex is wrapped by nearly every tool that prints it. A blank line starts
//     another message. Lines of different lengths get a note that names the form "hex-lines", where each line is a message. In a file that
//     is read as a capture they are messages, as it is several that a capture has, unless they look wrapped: all but the last one
//     of one length.
//   - In a dump an offset of 0 starts a new message. Any other jump is an error with its place, except in dumps that start at an
//     address (debuggers), where it starts a new message and is noted.
//   - The text column is never read for bytes. Where it looks like hex, the next offset, the width of the other lines and the
//     printable bytes it must agree with tell where the hex ends.
//   - Hex wins over base64 where a text is both, and over a table of comma-separated values where all cells are equally wide.
//   - Words without a colon after the offset are little-endian (hexdump, od, WinDbg, gdb print them so); groups after a colon
//     stand in memory order (xxd) unless the text column says that they are reversed (xxd -e).
//   - In Follow dumps peer 0 (not indented) is the client. A line of less than 16 bytes ends a packet; packets of whole lines run
//     together with what follows in their direction, as nothing in the text parts them.
//
// # Logs
//
// ReadAny also reads what programs for players of a game write: Logs lists the forms, SniffLog tells one by the first bytes of a file, and
// what is in the file decides, never its name. They are logs of whole messages, so frames come as they are and no transport is
// asked (but for the TCP and UDP of mitmproxy); what is not told by a format and was decided here stands at the top of the file of its reader.
//
//		kloct                Kloct packet-logger (.bin)
//		tera-connection-log  TeraConnectionLog (Shinra, CasualMeter, DamageMeter)
//		alkahest             Alkahest (.pkt)
//		teraatlas            TeraAtlas (packets_<ms>.log); the log of tera-mods/debug is pasted text, as Follow Stream is
//		mapleshark           MapleShark (.msb), all versions
//		wow-pkt              World of Warcraft (.pkt), versions 2.1, 2.2, 3.0 and 3.1
//		mitmproxy            flows of mitmproxy: TCP, UDP, websockets
//		har                  HAR of a browser: websockets
//		wirebench-jsonl      JSON Lines of frames --json and of an export
//		wirebench-table      CSV and TSV of an export
//
//	  - A frame has the header that its definition expects, even where the log leaves it away (Frame.Offset is Unknown then). Only those of
//	    MapleShark and World of Warcraft have none: the code is in the key alone.
//	  - Frame.Name is what the log calls a message, if it does. It is of no weight where the code is known.
//	  - A message that the proxy made has the note "sent by the proxy", and Frame.Marks has Fake.
//	  - A record without bytes, or with bytes that cannot be right, is a Problem. Where a log cannot be read on, Summary.Torn says why.
//
// # Exports that come back
//
// What Wirebench writes into a pcapng for itself stands behind words for people, in one form (pcapng_told.go): name and text of the capture,
// marks, notes and markers (ReadTold). A section can say that its packets are made up: each is a frame, or a part of one, whose
// comment tells what its bytes do not, and no transport is asked (pcapng_made.go).
//
// # Packets in texts, and archives
//
// What Wireshark and tshark export with bytes (exported.go) is read by Reader as a capture file is; a dump, an array or a column whose messages
// are whole packets of TCP or UDP, by ReadAny. Rows with the payload and the addresses (tshark without -x) are connections of their
// own, as pieces of TCP or UDP. A zip or a tar (archive_read.go) is one capture of many files; texts may be UTF-16.
package capture
