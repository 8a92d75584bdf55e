// Package muta reads packet definitions of the MUTA packetwriter.
//
// # Sources
//
// The article "Network message serialization in MUTA" of the tool's author (6 October 2019), and for the form of records and
// comments the devlog of 12 May 2018 on jeesdev.fi. The tool itself is not public. What neither shows is a decision of this
// package; what goes beyond the tool is called an extension, here and in Language.
//
// # Lines
//
//	# a comment                               always a line of its own; above a record or a field it is the doc of that
//	kind: name                                a record; its lines follow, indented
//	   key = value                            the value goes to the end of the line, and may be empty
//
// Kinds of records, and what stands in them:
//
//	group: g                                  packets whose ids count on their own
//	   __first  = 1                           extension: the id of its first packet
//	   __id     = uint8                       the type of its ids: uint8 or uint16
//	   __endian = little                      extension: little or big
//	   __pack   = bytes                       extension: bytes or bits, for all that is in its packets
//	packet: p                                 a message
//	   __group = g                            required; a group of the same file
//	   __pack  = bits                         extension: for this packet, with the structs in it
//	   name    = FIELD
//	struct: s                                 a type of several fields, for this file
//	   __pack = bits                          extension: for this struct
//	   name   = FIELD
//	enum: e                                   extension: a type, a number whose values have names
//	   __type = uint8                         the type that it travels as
//	   NAME   = 3                             without a value: one more than the line above it, or 0
//	constants: any_name                       extension: values of names in this file
//	   NAME = 16                              a number, or an expression of C
//	include: file.h                           kept and not read
//
// Other kinds and other keys that start with "__" are a warning, kept by Format, and mean nothing. A FIELD is
//
//	type [lo, hi] <length type> {min, max}
//
// where only the type is needed, and after "{" only max. The types are
//
//	char uint8 uint16 uint32 uint64 int8 int16 int32 int64 float double
//
// and the structs and enums of the file, which may stand below their use. Braces make an array of min to max elements, min is 0
// if it is left out; the length type is uint8, uint16 or uint32. lo and hi are the legal range, bounds included, of the number or of each
// element; an extension, as the article has ranges but does not show how they are written. Every bound is a number, perhaps with 0x
// before it, or the name of a constant.
//
// # Wire
//
// A packet is its id, then its record; a struct is a record. A record is
//
//  1. the lengths of its arrays in order of declaration: numbers of elements, not of bytes;
//  2. its single values in order of declaration, structs among them, with all they hold;
//  3. the elements of its arrays in order of declaration.
//
// Nothing is padded, nothing ends with a zero, and every array has a length, also {4, 4}. The length type that is not written is
// the smallest that max fits. The id of a packet is __first and the number of packets of its group above it.
//
// A message tells its own size (schema.Message.Measured), and sizes are judged before contents: as long as a message is shorter
// than it can be it is incomplete, whatever it holds; then each length is looked at; ranges come when all bytes are there.
//
// With __pack = bits, a single whole number with a range takes only the bits that its bounds need: those of the larger one, and
// one for the sign if the type has one. Neighbours share bytes, the first in the lowest bits, across bytes too. What is no such
// number begins at the next byte; the bits left over are zero. Lengths, ids and elements of arrays are not packed, structs in arrays are. A
// number whose bounds are unresolved constants is not packed until they have values, and cannot be decoded until then anyway.
//
// # Decisions
//
//   - Ids count from 1: the article says that the third packet has id 3, though its enum in C would give 2. __first = 0 is that.
//   - A packet with mistakes keeps its id, so that those below it have the right ones.
//   - Numbers are little-endian, float and double are IEEE 754, characters are bytes and shown as Latin-1.
//   - A struct lies where it is used and has its own lengths in it. Lengths of structs in arrays could not stand at the front.
//   - A max with a name needs a length type, even if its value is known: the bytes must not change with a constant that the tool cannot see.
//   - NaN is in no range. Bounds of a float are rounded to what a float can be, or [0, 0.1] would refuse 0.1.
//   - A field of an enum has the range from the least to the greatest of its values, if it has no range of its own. Numbers between them
//     without a name are legal.
//   - Packets, structs and enums of a file have different names: in C they would be one.
//   - Structs, enums and constants are those of the file. Groups of all files have different names: they are how a frame finds its message.
//   - Of constants, Options.Constants win, then records of the file. One without a value is an error that breaks no message: its limits
//     are symbolic (schema.Limit.Const), layouts show the name, decoding and encoding name it.
//   - Constants are whole numbers of up to 128 bits that never wrap, or floats. Numbers of C that start with 0 are refused: they are octal.
//   - A comment behind a value is an error, as it would be part of the value in the tool's other files.
//   - A line that cannot be read is an error and costs that line. A line that is not indented is a warning if it has a "=".
package muta
