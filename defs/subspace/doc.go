// Package subspace reads definitions of the SubSpace protocol: tables of offset, size and comment, as the wiki of the ASSS server
// prints them, so that a pasted page of documentation is a working definition.
//
// # Sources
//
// The page "Core Protocol" of the ASSS wiki is the model of the tables: its text is read as it stands. Rows with a type, groups,
// directions and all sentences but the two of its cluster table are extensions of this package. Other pages about the protocol write
// "Field Length Description" and "Type Byte", which is read too.
//
// # Lines
//
//	0x03 reliable header (see below)         a title starts a packet: its type, its name, a remark that is its doc
//	ping request                             so does any line right above the words "offset size comment", without a type
//	offset size comment                      starts the rows; it may be left out below a type, as may the whole table
//	0      1    type 0x00                    a constant; also "type: 0x00", "0x00 type", "0x00"
//	2      4    packet id (ie: ACK_ID)       a row without a type: its comment is name and doc
//	2      4    i32 ack id                   a row with a type
//	6      ?    payload                      goes on to the end
//	keep appending until ...                 a line right below a table is the doc of the packet, or a sentence about its rows
//	direction s2c                            for all tables below; "s2c" alone is enough. A title may say it too: (s2c)
//	group biller                             for all tables below: types of their own
//	# a comment, also after a row            right below a table it is the doc of the packet, after a row that of its field
//
// What stands apart from a table, behind an empty line, is the text of the page and means nothing, apart from the sentences below.
// White space is that of Unicode, byte order marks and spaces of no width too, since pasted text has them.
//
// # Rows
//
// An offset counts bytes from the start of the packet: 20, or 20.5 for bit 5 of that byte, the least significant being bit 0. "?"
// is where the row above ends; below a part of variable size it is the only way. A size is in bytes (4), in bits (5b), or "?" for
// what goes on to the end, has its length elsewhere or ends with a zero. What follows is a comment or a type and a name:
//
//	u8 u16 u32 u64 i8 i16 i32 i64 f32 f64    numbers, little-endian, of any width from 1 to 64 bits: u5; u16be is big-endian
//	bool                                     a truth value, of whole bytes or of bits
//	text                                     Latin-1: of a fixed size, which a zero may end before; or to the end
//	cstr                                     Latin-1 with a zero at its end
//	bytes nested                             bytes; nested: they are themselves a packet
//	u16[4] u16[] u16[n]                      values side by side: 4, to the end, or as many as the row n above says
//	pad                                      bits without meaning
//	const 0x1234                             bytes that must be these: a little-endian number of the size of the row
//
// A name is all words up to a parenthesis or comment, joined by "_": "ack id" is ack_id. A dot makes a group: rows "weapon.type"
// and "weapon.level" are the group weapon. In parentheses stands what is known of the value:
//
//	1      1    u8 kind (arena = 0, macro = 1)      names of values
//	2      4    i32 sequence (0..)                  its legal range; (1..5) and (..5) too
//	6      ?    payload (514 bytes max)             else: documentation
//
// Ranges and names are part of the type and not repeated as documentation.
//
// A row without a type has numbers of 1, 2, 4 or 8 bytes, unsigned, and bytes of all other sizes; "?" and "??" are bytes of any size.
// A word and a hexadecimal number are a constant: "type 0x0E". A comment that starts with the name of a type is a row with a type:
// in a pasted page "4 bytes received" is four bytes, named received.
//
// # Sentences
//
// They stand in a line of their own, below the rows that they are about. Case does not matter.
//
//	packet repeats from offset 2 until end          the rows from there on are an element of the list "packets" (also: "to the end");
//	                                                what follows a comma is documentation
//	ships repeat from offset 4, 8 times             the list "ships": the verb tells whether an "s" is to be added
//	users repeat from offset 2, count times         as many as the row "count" says, which stands before the list
//	choices repeat from value until end             the row is named where offsets are not known
//	packet may end at offset 21                     the rows from there on may be missing, the last ones first; what follows a comma
//	                                                is documentation here too
//	in packets of 21 bytes:                         the rows below are only in packets of this size; also "22 bytes or more",
//	                                                "16 to 20 bytes". Of several such parts the first that fits is there
//	if kind is 2:                                   the rows below are only there if a number above has this value, or its name
//	all integers are big endian                     in all tables below; until then they are little-endian
//
// and in a comment "with length as above" (also size, count): the row above that is named so, or else the one right above, has the
// length of this one.
//
// # Keys
//
// A packet that starts with 00 is of the group "core", and the second byte is its type. All others are of the group "game", or the
// one that a group line names, and the first byte is their type. A row "type byte" without a number has that of the title. The rows
// of the type may be left out: a packet whose first row is at offset 1 (2 in the group "core") starts with the type of its title. What
// has no type at all is found by its name only.
//
// Messages come in the order of the files' names, and in files as they stand. Of two with the same name and key the first counts.
//
// # Decisions
//
//   - Sizes in remarks ("expect 472 max") are documentation, no limits: real servers send chunks of 480 bytes.
//   - A hole between rows is padding, and a warning: "pad" says that it is meant. A row that begins before the one above ends is
//     an error and left out.
//   - A row named payload is a packet itself, unless a sentence of its table speaks of appending. That is what the page means:
//     reliable and cluster hold packets, chunks and streams hold parts.
//   - Title remarks "(s2c)?" are taken by their word. A title without any is meant for both directions, if no line above says one.
//   - Names keep the case in which they are written. A row without one is named after its offset: unknown_2.
//   - A sentence of a table with the words "repeat", "offset" or "optional" that is not understood is a warning: what it asks for does
//     not happen. All others are documentation.
//   - "may end" allows every row from there on to be the last one, since servers differ in what they leave out.
//   - The fixed parts of a packet have at most 65536 bytes, its elements counted: no server takes more in one piece, and a typing
//     mistake does not ask for a gigabyte.
//   - One mistake gives one diagnostic: below a row that cannot be placed neither holes nor ends are reported.
//   - An element with a single row is still an object with one field: rows may be added later.
//   - Bytes of constants that differ are found on decoding. The type of a packet is what finds its definition and is not looked at
//     again. A title that differs from its rows is an error here.
package subspace
