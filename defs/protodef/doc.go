// Package protodef compiles ProtoDef definitions, a language of JSON files that is used for the protocols of games.
//
// A file is an object. Its member types has named types; other members are namespaces with types of their own, such as the states of a
// protocol and its directions: {"types": {...}, "play": {"toClient": {"types": {...}}, "toServer": {...}}}. A type sees the types of its
// own namespace and of those around it. Comments and trailing commas are accepted.
//
// Types may also be members of the namespace itself, without types: a file may be a map of types alone, which addTypes of the npm package takes.
// Of these members texts and arrays are types, and objects with a type and its typeArgs; other objects are namespaces. A text that is not the name
// of a type, such as a version or a title, is ignored with a warning, and so are numbers.
//
// A type is a name, or an array of a name and arguments: "varint", ["array", {"countType": "varint", "type": "string"}]. The types of the
// language are those of the npm package protodef: its numbers, container, switch, option, array, count, mapper, bitfield, bitflags,
// pstring, cstring, buffer and void. Types that files call native are implemented in the code of programs; those of the npm packages
// minecraft-protocol, bedrock-protocol and prismarine-nbt are known here: see natives.
//
// # YAML
//
// Files named *.yml and *.yaml are in the form of the npm package protodef-yaml, with a line for each field: "name: type". A name that ends
// in "?" is that of an option; "_" stands for a field without a name. The fields of a container are indented below it. Other types are
// "type[]countType", or "[]countType" with fields below it ("[]$count" for a number or a field); "type =>" with names by number, a list of
// names, or the name of such a mapping; "field ?" with "if VALUE or VALUE: type" and "default: type"; and types as in JSON.
//
// "^path.types:" or "^path:" starts a namespace. "!import: FILE" stands for the contents of another file of the project, which then has no messages of
// its own. Other lines that start with "!" are ignored, except for "!id", the code of a packet: if the imported packet_map.yml does not
// exist, which programs generate from these codes, messages have them.
//
// # Messages
//
// The messages of a namespace are those of a container with a mapper from codes to names, and a switch that compares with it. In published
// files it has the name packet, or mcpe_packet. A message has the name of the mapper and the fields of its case; other fields of the container
// are in its field header, or tail if they follow the switch. Its key is the code, with the namespaces toClient and toServer (also clientbound
// and serverbound) as the direction, and the others as the group. A file without such a container has a message without a code for each
// container of its types; beside other messages, a direction without one has.
//
// # Paths
//
// compareTo and count name an earlier field of the same container; ../name is one of the enclosing container, a/b or a.b is inside another
// container, a bitfield or bitflags. A leading / starts at the message. compareTo may also be an expression of paths, integers, and the
// operators ! && || == != < <= > >= + - *, as in the npm package, where it is code. $name is an argument of the type.
//
// # Extensions
//
// Types of this program, for definitions that do not have to be read by others:
//
//	["const", {"hex": "cafe"}]        these bytes
//	["align", 4]                      padding up to a multiple of 4 bytes from the start of the message
//	["bitfieldLE", [...]]             as bitfield, from the least significant bit of the first byte on
//	["pstring", {..., "pad": 32}]     with a count that is a number: filled up with this byte
//	["cstring", {"terminator": 10}]   text up to this byte
//	["compressed", {"method": "zlib", "lengthType": "varint", "type": ...}]
//	                                  a value that is compressed, after its size in bytes; without lengthType up to the end of the message, or
//	                                  of the value around it. The methods are those of envelopes: zlib, deflate, gzip, zstd, lz4, lz4-block,
//	                                  snappy, snappy-frame
//	["array", {"rest": true, ...}]    elements up to the end of the message, or of the encapsulated value around it; also of buffer and pstring
//	["array", {"until": "last == 1", ...}]  elements up to and including one that meets the condition, so at least one
//	["computed", {"value": "w * h"}]  a number that is not sent; "type" is its type, or a mapper of one
//	["at", {"position": "offset", "type": ...}]  contents that begin at this byte of the message
//	sleb32, sleb64                    signed integers in groups of seven bits, sign-extended from the last one
//	varintbe, varintbe64              integers in groups of seven bits, the most significant first
//	f16, i24, u40, ...                also the sizes that the npm package does not have; the names with l in front are little-endian
//
// The condition until is an expression as in compareTo, over the fields of the element and earlier ones; "_" is an element that is a single
// value: "_ == 0". Values of which an element before the last meets the condition, or the last does not, are not encoded.
//
// The value of computed is an expression, too. It is shown among the other values, and can be compared with and count elements, but has no
// bytes: a message that is encoded has what the expression gives, whatever the value says. Its type is an integer, of which it has the low
// bits, or bool; by default i32, or bool if the expression compares.
//
// The position of at is an expression in bytes from the start of the message, also inside an encapsulated value. The contents have no bytes
// where the field is: the next field follows the one before. They may be anywhere in a message that is decoded. A message that is encoded
// has such contents where the expression says, also in bytes of others if these are the same; bytes between that belong to nothing are 0, or
// those of the message that the values come from. Contents without bytes may be at any position.
//
// const and align need no name: {"anon": true, "type": ["align", 4]}. The encoding of pstring and cstring is any name of package
// schema.CharsetNamed, such as utf-16le, windows-1251, shift_jis or gb18030.
//
// # Differences
//
// Values have the form that the compiler of the npm package gives them, with these exceptions: integers of 64 bits are one number; tag
// trees (NBT) have arrays of tags with names in place of objects, and a missing one has the type end; an option that is present, but whose value
// is null or void, is {"": null} or {}; a switch without a value is null, with
// a warning if it has neither a case for the value that it compares with nor a default; a varlong has 64 bits, of which the package reads 32;
// varint128 is a text in decimal, as other integers of more than 32 bits; lpVec3 is shown as it is encoded; enum_size_based_on_values_len, which is not sent, is not shown. Of several numbers that a mapper gives
// one name, the last one has the name, and others are numbers. The package's own form of tag trees and of integers of 64 bits, which is an array
// of two halves, is encoded, too.
package protodef
