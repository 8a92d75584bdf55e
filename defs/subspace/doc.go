// Package subspace parses definitions of the SubSpace protocol: tables of offset, size and comment, as in the wiki of the ASSS server, so
// that a pasted page of documentation is a working definition.
//
// # Sources
//
// The page "Core Protocol" of the ASSS wiki is the model of the tables: its text is valid without changes. Rows with a type, groups,
// directions and all sentences except the two of its cluster table are extensions of this package. Other pages about the protocol have
// "Field Length Description" and "Type Byte", which are supported too.
//
// # Lines
//
//	0x03 reliable header (see below)         a title starts a packet: its type, its name, and a remark that is its doc
//	ping request                             so does any line directly above "offset size comment", without a type
//	offset size comment                      starts the rows; it is optional below a type, as is the whole table
//	0      1    type 0x00                    a constant; also "type: 0x00", "0x00 type", "0x00"
//	2      4    packet id (ie: ACK_ID)       a row without a type: its comment is name and doc
//	2      4    i32 ack id                   a row with a type
//	6      ?    payload                      extends to the end of the packet
//	keep appending until ...                 a line directly below a table is the doc of the packet, or a sentence about its rows
//	direction s2c                            for all tables below; "s2c" alone is sufficient. A title may have it too: (s2c)
//	group biller                             for all tables below: a separate range of types
//	# a comment, also after a row            directly below a table it is the doc of the packet, after a row the doc of its field
//
// Text after an empty line is part of the page and ignored, except for the sentences below. White space is as in Unicode, plus byte order
// marks and zero-width spaces, which occur in pasted text.
//
// # Rows
//
// An offset is in bytes from the start of the packet: 20, or 20.5 for bit 5 of that byte, the least significant being bit 0. "?" is the end
// of the row above; it is required below a part of variable size. A size is in bytes (4), in bits (5b), or "?" for a row that extends to
// the end, has its length elsewhere or is zero-terminated. The rest of the row is a comment, or a type and a name:
//
//	u8 u16 u32 u64 i8 i16 i32 i64 f32 f64    numbers, little-endian, of any width from 1 to 64 bits: u5; u16be is big-endian
//	bool                                     a boolean, of whole bytes or of bits
//	text                                     of a fixed size, where a zero ends it; or to the end
//	cstr                                     zero-terminated text
//	bytes nested                             bytes; nested: the bytes are a packet
//	u16[4] u16[] u16[n]                      consecutive values: 4, to the end, or as many as the value of the row n above
//	pad                                      padding
//	const 0x1234                             constant bytes: a little-endian number of the size of the row
//
// A name is all words up to a parenthesis or comment, joined by "_": "ack id" is ack_id. A dot makes a group: rows "weapon.type" and
// "weapon.level" are the group weapon. Parentheses contain properties of the value:
//
//	1      1    u8 kind (arena = 0, macro = 1)      names of values
//	2      4    i32 sequence (0..)                  legal range; also (1..5) and (..5)
//	6      ?    payload (514 bytes max)             otherwise: documentation
//
// Ranges and names are part of the type and not repeated as documentation.
//
// A row without a type is an unsigned number if it has 1, 2, 4 or 8 bytes, and bytes if it has another size; "?" and "??" are bytes of any
// size. A word and a hexadecimal number are a constant: "type 0x0E". A comment that starts with the name of a type makes a row with a type:
// in a pasted page "4 bytes received" is four bytes, named received.
//
// # Sentences
//
// A sentence is on a separate line, below the rows that it is about. Case is ignored.
//
//	packet repeats from offset 2 until end          the rows from this offset are an element of the list "packets" (also: "to the end");
//	                                                text after a comma, or a comment, is the doc of the list
//	ships repeat from offset 4, 8 times             the list "ships": the verb determines whether an "s" is added
//	users repeat from offset 2, count times         as many as the value of the row "count", which precedes the list
//	choices repeat from value until end             the row is named if offsets are unknown
//	packet may end at offset 21                     the rows from this offset may be missing, the last ones first; text after a comma
//	                                                is a remark about that
//	in packets of 21 bytes:                         the rows below are only in packets of this size; also "22 bytes or more",
//	                                                "16 to 20 bytes". Of several such parts the first one that applies is present
//	if kind is 2:                                   the rows below are only present if a number above has this value, or its name
//	all integers are big endian                     in all tables below; the default is little-endian
//
// and in a comment "with length as above" (also size, count): the row of that name above, or otherwise the previous row, has the length of
// this one.
//
// # Keys
//
// A packet that starts with 00 is in the group "core", and the second byte is its type. All others are in the group "game", or in that of a
// group line, and the first byte is their type. A row "type byte" without a number has the type of the title. The rows of the type are
// optional: a packet whose first row is at offset 1 (2 in the group "core") starts with the type of its title. A packet without a type is
// found by its name only.
//
// Messages are in the order of file names, and within a file in the order of the text. Of two with the same name and key the first applies.
//
// # Decisions
//
//   - Sizes in remarks ("expect 472 max") are documentation, not limits: actual servers send chunks of 480 bytes.
//   - A gap between rows is padding, with a warning: "pad" makes it explicit. A row that overlaps the previous one is an error and ignored.
//   - A row named payload is a packet, unless a sentence of its table mentions appending. This is the meaning of the page: reliable and
//     cluster contain packets, chunks and streams contain parts.
//   - A question mark after the direction in a title, "(s2c)?", is ignored. A title without a direction, and without one above, is for both.
//   - The case of names is preserved. A row without a name is named after its offset: unknown_2.
//   - A sentence of a table with the words "repeat", "offset" or "optional" that is not understood is a warning, as it has no effect. All
//     others are documentation.
//   - After "may end", any row from the offset may be the last one, since servers differ in the rows that they omit.
//   - The fixed parts of a packet, including all elements of lists, have at most 65536 bytes: no server accepts more in one piece, and a
//     typing error should not cause a size of a gigabyte.
//   - Each error has one diagnostic: below a row that cannot be placed neither gaps nor ends are reported.
//   - An element with a single row is an object with one field, as rows may be added later.
//   - Constants are compared during decoding. The type of a packet selects its definition and is not compared again. A title that differs
//     from its rows is an error.
package subspace
