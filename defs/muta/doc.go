// Package muta parses packet definitions of the MUTA packetwriter.
//
// # Sources
//
// The article "Network message serialization in MUTA" of the tool's author (6 October 2019), and for the form of records and comments the
// devlog of 12 May 2018 on jeesdev.fi. The tool itself is not public. Details that neither source specifies are decisions of this package;
// additions to the tool's language are called extensions, here and in Language.
//
// # Lines
//
//	# a comment                               always on a separate line; above a record or a field it is its doc
//	kind: name                                a record; its lines follow, indented
//	   key = value                            the value extends to the end of the line, and may be empty
//
// Kinds of records and their contents:
//
//	group: g                                  packets with a separate range of ids
//	   __first  = 1                           extension: the id of its first packet
//	   __id     = uint8                       the type of its ids: uint8 or uint16
//	   __endian = little                      extension: little or big
//	   __pack   = bytes                       extension: bytes or bits, for its packets and their structs
//	packet: p                                 a message
//	   __group = g                            required; a group of the same file
//	   __pack  = bits                         extension: for this packet, with the structs in it
//	   name    = FIELD
//	struct: s                                 a type of several fields, for this file
//	   __pack = bits                          extension: for this struct
//	   name   = FIELD
//	enum: e                                   extension: a type, a number whose values have names
//	   __type = uint8                         its type on the wire
//	   NAME   = 3                             without a value: one more than the previous value, or 0
//	constants: any_name                       extension: values of names in this file
//	   NAME = 16                              a number, or a C expression
//	include: file.h                           preserved and not read
//
// Other kinds and other keys that start with "__" are a warning; Format preserves them, and they have no effect. A FIELD is
//
//	type [lo, hi] <length type> {min, max}
//
// where only the type is required, and only max after "{". The types are
//
//	char uint8 uint16 uint32 uint64 int8 int16 int32 int64 float double
//
// and the structs and enums of the file, which may be defined after their use. Braces make an array of min to max elements; the default
// of min is 0; the length type is uint8, uint16 or uint32. lo and hi are the legal range, inclusive, of the number or of each element;
// this is an extension, as the article has ranges but does not show their syntax. In place of a range, text may name its encoding, for
// example char [utf-8] {16}: an extension, too. Every bound is a number, decimal or hexadecimal with 0x,
// or the name of a constant.
//
// # Wire
//
// A packet is its id, then its record; a struct is a record. A record is
//
//  1. the lengths of its arrays in order of declaration: numbers of elements, not of bytes;
//  2. its single values in order of declaration, including structs with all their contents;
//  3. the elements of its arrays in order of declaration.
//
// There is no padding and no terminator, and every array has a length, even {4, 4}. The default length type is the smallest that fits max.
// The id of a packet is __first plus the number of preceding packets of its group.
//
// The size of a message is known from its contents (schema.Message.Measured), and sizes are checked before contents: a message below the
// minimum size is incomplete, regardless of its contents; then each length is checked; ranges are checked when all bytes are present.
//
// With __pack = bits, a single integer with a range has only the bits that its bounds require: those of the larger one, plus one for the
// sign of a signed type. Consecutive ones share bytes, the first in the lowest bits, and may cross byte boundaries. Any other value starts
// at the next byte; unused bits are zero. Lengths, ids and elements of arrays are not packed, structs in arrays are. A number whose bounds
// are unresolved constants is not packed until they have values, and cannot be decoded before.
//
// # Decisions
//
//   - Ids start at 1: in the article the third packet has id 3, though its enum in C would give 2. For that, use __first = 0.
//   - A packet with errors keeps its id, so that the ids of later packets are right.
//   - Numbers are little-endian, float and double are IEEE 754, characters are bytes, by default shown as Latin-1:
//     the option "encoding", or the field, says otherwise. Numbers of characters remain numbers of bytes.
//   - A struct is contiguous and includes its lengths. The lengths of structs in arrays could not precede the array.
//   - A named max requires a length type, even if its value is known: the encoding must not change with a constant that the tool cannot see.
//   - NaN is outside every range. Bounds of a float are rounded to float precision; otherwise [0, 0.1] would refuse 0.1.
//   - A field of an enum without an explicit range has the range from the least to the greatest of its values. Numbers between them without
//     a name are legal.
//   - Packets, structs and enums of a file have different names, as they share a namespace in C.
//   - Structs, enums and constants are local to a file. Groups of all files have different names, as they identify messages of frames.
//   - Options.Constants take precedence over the constants of the file. A constant without a value is an error that does not make messages
//     broken: its limits are symbolic (schema.Limit.Const), layouts show the name, and errors of decoding and encoding mention it.
//   - Constants are integers of up to 128 bits that do not overflow, or floats. C literals that start with 0 are refused: they are octal.
//   - A comment after a value is an error, as it would be part of the value in other files of the tool.
//   - A malformed line is an error, and only that line is ignored. A line that is not indented is a warning if it has a "=".
package muta
