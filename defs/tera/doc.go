// Package tera reads TERA packet definitions: files NAME.VERSION.def of lines "type name".
//
// # Sources
//
// The README and the definitions of tera-toolbox/tera-data (dialect T), those of tera-proxy/tera-data (dialect P), the parsers
// tera-data-parser-js of tera-toolbox and of meishuu, the protojs parser of tera-proxy, alkahest, and the protocol page of
// novadrop. Where they differ, what is done here stands under "Decisions".
//
// # Lines
//
//	# a comment, also after a field          the first comment lines are the doc of the message
//	- - type name                            a field, two levels deep; its comment is its doc,
//	                                         # and so are indented comments below it
//	type name=default ^from-to               dialect P: a default, and the patches that have the field
//	ref name                                 the pointer of the field "name" stands here
//	@include FILE                            dialect P: the lines of FILE stand here
//
// White space is what JavaScript's \s is, the byte order mark among it. Lines end with "\n" or "\r\n". A type is
//
//	bool byte int16 uint16 int32 uint32 int64 uint64 float double
//	angle vec3 vec3fa skillid skillid32 customize      fixed size, of one or several numbers
//	string bytes array array<T>                        variable size: a pointer, and contents elsewhere
//	object                                             a name for the fields below it, no bytes of its own
//	type[N]                                            dialect P: N values in place
//	array[interleaved]                                 a flag: elements of neighbouring arrays take turns
//
// The fields of an array or object follow on the lines below, with one dash more.
//
// # Wire
//
// All integers are little-endian, nothing is padded, offsets count from the first byte of the message. A message is its length
// (16 bits), its opcode (16), with the option integrity for client messages a running number and a checksum (32 each), then the
// scope of its body. A scope is
//
//  1. the pointers of all its variable fields, in order of declaration, those inside objects too; or, if there is a ref line
//     anywhere in the definition, pointers only where ref lines stand, also between fixed fields;
//  2. the fixed fields in order, those inside objects where they are declared;
//  3. the contents of the variable fields in order of declaration.
//
// Every element of an array is a scope that begins with its own offset and that of the next element (0 in the last). Pointers
// are: string offset; bytes offset, count; array count, offset, each of 16 bits. An element of array<string> has an offset of
// its own. This one order reads both public collections exactly: dialect T declares its variable fields last in a scope,
// dialect P declares them first.
//
// # Decisions
//
//   - Both dialects are one language: whatever either has is understood everywhere.
//   - Order. The parsers of dialect T write contents where they are declared, and cannot read back a fixed field after them;
//     protojs, alkahest, novadrop and the game put them after all fixed fields. So does this package.
//   - type[N] is N values without pointer, as in protojs. In dialect T "byte[5] x" is one byte, which nobody can have meant. It
//     is a list, not a blob: its values show one by one. The last number is the outermost: int32[2][3] is 3 times 2 values.
//   - "^from-to" holds for from <= patch < to. Without a patch the newest is meant, later than every number. What is inside a
//     field that does not exist is not there either. The toolbox parser drops such lines.
//   - skillid has 64 bits; 32 where the option skillid says so, or where the patch is below 74 and the definition has another
//     mark of dialect P (^, @include, type[N], nested <>, =default). Its hunting zone form needs npc and type 1, as in
//     the toolbox; protojs takes npc alone. All reserved bits are kept.
//   - A level rises by one, however many dashes; more is a warning. The toolbox does so, protojs refuses.
//   - An object that comes again goes on, with the bytes at the second place (toolbox, protojs; meishuu loses the first half).
//   - Numbers of one name are one value that travels twice, with a warning; so are fixed values of one and the same type.
//     Anything else of one name is an error, as the toolbox has it for variable fields. "a.b" beside "a_b" is no clash here,
//     though the toolbox mixes them up. Names differ by case.
//   - Names have letters, digits and "_" and start with no digit, so that they can stand in paths. The toolbox fails on others.
//   - A line that cannot be read is an error and costs that line. The toolbox skips it silently, protojs rejects the file.
//   - With explicit pointers a field without a ref is an error; its pointer then stands where the field is. The toolbox takes
//     the field for its own pointer and never reads it. A ref inside an object is an error: it stands outside, "ref o.s".
//   - "offset x" is an old spelling of "ref x"; "count x" means nothing beside it.
//   - [interleaved] arrays of one container stand together. Arrays of strings cannot be interleaved: the toolbox fails on them.
//   - An element can be every fixed type, a string, or array<T> (dialect P). array<bytes>, array<object> and plain array<array>
//     are errors: what they mean has a clearer spelling.
//   - @include finds files of the set by their name without folders, first in the same folder. At most 32 are followed.
//   - Platform files (NAME.VERSION.PLATFORM.def) win over the plain file on their platform; elsewhere they are only checked.
//   - Files *.js are code and never read.
//   - Maps: "A= 1" and "A =1" are read like "A = 1", where the public parsers stumble. "12abc" is no number.
//   - deprecated.json with both bounds: see Deprecated.Status.
package tera
