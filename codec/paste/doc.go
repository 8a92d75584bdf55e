// Package paste turns pasted text into messages: hex, dumps, arrays of source code, base64, logs and tables.
//
// It does no I/O and has no clock. Text is untrusted: readers are linear in its size and bounded in what they produce (MaxText,
// MaxBytes, MaxMessages).
//
// Recognise tells the form of a text (xxd, hexdump, a C array, base64, Follow TCP Stream of Wireshark, a proxy log and many
// more), Forms lists them, RecogniseAs is the user's override. A Paste says in Why what decided, so that nothing is guessed
// silently, and in Notes what was odd.
//
// Decisions that the tools' manuals leave open:
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
// # How to add a form
//
// A form is a row of the table in forms.go, and a reader.
//
//  1. Give it an id among the constants, and a row where a menu shows it: FormInfo, the reader, how it is recognised, its traits.
//  2. Write the reader in a file of its own. It goes over the lines (or characters) of the text, appends bytes to builder.out, and calls
//     builder.add for each message with the place where it stands. What is wrong is an Error at its place (errAt, errFound).
//  3. To have it recognised, write a try function, which declines with nil, nil unless the text has the form's marks, and give it a turn
//     before the forms with weaker marks.
//  4. Add texts to TestRecognise; the fuzz targets and the menu take the form from the table.
//
// TestAddForm does this, and nothing else.
package paste
