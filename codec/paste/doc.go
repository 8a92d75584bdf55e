// Package paste turns pasted text into messages: hex, dumps, arrays of source code, base64, logs and tables.
//
// It does no I/O and has no clock. Text is untrusted: readers are linear in its size and bounded in what they produce (MaxText,
// MaxBytes, MaxMessages).
//
// Recognise detects the form of a text (xxd, hexdump, a list or string of source code, base64, Follow TCP Stream of Wireshark, a log and
// many more), Forms lists them, RecogniseAs is the user's override, and a Pattern is a form of the user's own. Paste.Why gives the reason
// for the form, so that nothing is guessed silently.
//
// Each reading of the whole text is a candidate (builder): the messages that it finds, and the parts of the text that it explains or leaves
// (cover, leave). choose takes the one with the best score, bytes found against text left. What it leaves is named in Paste.Notes by
// tellLeft, the one place for it; times, directions and words around bytes are of their message (readAround).
//
// Decisions where the tools' manuals leave a choice:
//
//   - Several lines of plain hex are one message if they look wrapped, since nearly every tool that prints hex wraps it: all but the last one
//     have the same length, at which text is usually wrapped. Otherwise each line is a message; so it is in a file read as a capture if the
//     lengths differ. A blank line starts another message. The form "hex" or "hex-lines" decides it.
//   - The shape of a dump is what its lines show: how offsets are marked, the unit, the spaces between units, the text column and its
//     borders. The base of the offsets is that in which they count the bytes.
//   - In a dump an offset of 0 starts a new message. Any other jump is an error, except in dumps that start at an
//     address (debuggers), where it starts a new message with a note.
//   - The text column is never read for bytes. If it looks like hex, the end of the hex follows from the next offset, the width of the other
//     lines and the printable bytes.
//   - Hex wins over base64 if a text is both, and over comma-separated values if all cells have the same width.
//   - Words without a colon after the offset are little-endian (hexdump, od, WinDbg, gdb print them in this order); groups after a colon
//     are in memory order (xxd) unless the text column shows that they are reversed (xxd -e).
//   - Strings of source code are joined where a language joins them: adjacent ones, or with an operator. Hex in strings on lines of their
//     own is a message each. Words of 16 and 32 bits after a directive of an assembler are little-endian, with a note.
//   - A line of a log has bytes if its run of hex is long and ends the line, or if lines of the same shape have such runs. UUIDs and MAC
//     addresses have no bytes.
//   - In Follow dumps peer 0 (not indented) is the client. A line of less than 16 bytes ends a packet; packets of full lines
//     are joined with the next packet of their direction, as the text does not separate them.
//
// # How to add a form
//
// A form is a row of the table in forms.go, and a reader.
//
//  1. Add its id to the constants, and a row at its position in menus: FormInfo, the reader, its detection, its traits.
//  2. Write the reader in a file of its own. It reads the lines of the text (pasted.each), calls builder.begin where a message starts and
//     appends its bytes to builder.out; it calls builder.leave for each part of the text that it does not read, or builder.addLabel for
//     lines that may tell about the next message; or it sets builder.strict and calls builder.cover for what it reads. builder.whole ends
//     it. A mistake is an Error with its position (errAt, errFound). A dump with offsets needs no reader: its units are a row of units.
//  3. To have it recognised, write a function or a pattern that finds the form's signature (bySign), or a try function, which returns nil, nil for
//     other texts, and give it a turn before the forms with weaker signatures: of candidates with equal scores the first is taken.
//  4. Add texts to TestRecognise; the fuzz targets and the menu take the form from the table.
//
// TestAddForm is an example.
package paste
