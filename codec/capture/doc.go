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
//     another message. Lines of different lengths get a note that names the form "hex-lines", where each line is a message.
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
// asked; what is not told by a format and was decided here stands at the top of the file of its reader.
//
//		kloct                Kloct packet-logger (.bin)
//		tera-connection-log  TeraConnectionLog (Shinra, CasualMeter, DamageMeter)
//		alkahest             Alkahest (.pkt)
//		teraatlas            TeraAtlas (packets_<ms>.log); the log of tera-mods/debug is pasted text, as Follow Stream is
//		mapleshark           MapleShark (.msb), all versions
//
//	  - A frame has the header that its definition expects, even where the log leaves it away (Frame.Offset is Unknown then). Only those of
//	    MapleShark have none: the code is in the key alone.
//	  - Frame.Name is what the log calls a message, if it does. It is of no weight where the code is known.
//	  - A message that the proxy made has the note "sent by the proxy".
//	  - A record without bytes, or with bytes that cannot be right, is a Problem. Where a log cannot be read on, Summary.Torn says why.
package capture
