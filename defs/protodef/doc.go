// Package protodef compiles ProtoDef definitions, a language of JSON files that is used for the protocols of games.
//
// A file is an object. Its member types has named types; other members are namespaces with types of their own, such as the states of a
// protocol and its directions: {"types": {...}, "play": {"toClient": {"types": {...}}, "toServer": {...}}}. A type sees the types of its
// own namespace and of those around it. Comments and trailing commas are accepted.
//
// A type is a name, or an array of a name and arguments: "varint", ["array", {"countType": "varint", "type": "string"}]. The types of the
// language are those of the npm package protodef: its numbers, container, switch, option, array, count, mapper, bitfield, bitflags,
// pstring, cstring, buffer and void. Types that files call native are implemented in the code of programs; those of the npm packages
// minecraft-protocol, bedrock-protocol and prismarine-nbt are known here: see natives.
//
// # Messages
//
// The messages of a namespace are those of a container with two fields: a mapper from codes to names, and a switch that compares with it.
// In published files it has the name packet, or mcpe_packet. A message has the name of the mapper and the fields of its case. Its key is
// the code, with the namespaces toClient and toServer (also clientbound and serverbound) as the direction, and the others as the group.
// A file without such a container has a message without a code for each container of its types.
//
// # Paths
//
// compareTo and count name an earlier field of the same container; ../name is one of the enclosing container, a/b or a.b is inside another
// container, a bitfield or bitflags. A leading / starts at the message. compareTo may also be an expression of paths, integers, and the
// operators ! && || == != < <= > >= + - *, as in the npm package, where it is code. $name is an argument of the type.
//
// # Differences
//
// Values have the form that the compiler of the npm package gives them, with these exceptions: integers of 64 bits are one number; tag
// trees (NBT) have arrays of tags with names in place of objects; a switch without a value is null, with a warning if it has neither a case
// for the value that it compares with nor a default; varint128 reads 64 bits; lpVec3 is shown as it is encoded.
package protodef
