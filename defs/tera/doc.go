// Package tera parses TERA packet definitions: files NAME.VERSION.def of lines "type name".
//
// # Sources
//
// The README and the definitions of tera-toolbox/tera-data (dialect T), those of tera-proxy/tera-data (dialect P), the parsers
// tera-data-parser-js of tera-toolbox and of meishuu, the protojs parser of tera-proxy, alkahest, and the protocol page of
// novadrop. Where they differ, see "Decisions".
//
// # Lines
//
//	# a comment, also after a field          the first comment lines are the doc of the message
//	- - type name                            a field, two levels deep; its comment is its doc,
//	                                         # and so are indented comments below it
//	type name=default ^from-to               dialect P: a default, and the patches that have the field
//	ref name                                 position of the pointer of the field "name"
//	@include FILE                            dialect P: replaced by the lines of FILE
//
// White space is as in JavaScript's \s, including the byte order mark. Lines end with "\n" or "\r\n". A type is
//
//	bool byte int16 uint16 int32 uint32 int64 uint64 float double
//	angle vec3 vec3fa skillid skillid32 customize      fixed size, of one or several numbers
//	string bytes array array<T>                        variable size: a pointer, and separate contents
//	object                                             a name for the fields below it, no bytes of its own
//	type[N]                                            dialect P: N values in place; string[N] and bytes[N]: N pointers
//	array[interleaved]                                 a flag: elements of adjacent arrays are interleaved
//
// The fields of an array or object follow on the lines below, with one dash more.
//
// # Wire
//
// All integers are little-endian, there is no padding, and offsets are relative to the first byte of the message. A message is its length
// (16 bits), its opcode (16), with the option integrity for client messages a sequence number and a checksum (32 each), then the scope of
// its body. A scope is
//
//  1. the pointers of all its variable fields in order of declaration, including those inside objects; or, if there is a ref line
//     anywhere in the definition, only the pointers of ref lines, which may be between fixed fields;
//  2. the fixed fields in order of declaration, including those inside objects;
//  3. the contents of the variable fields in order of declaration.
//
// Every element of an array is a scope that begins with the offsets of the element and of the next element (0 in the last). Pointers are
// string offset; bytes offset, count; array count, offset, each of 16 bits. An element of array<string> has a string offset. This order
// decodes both public collections exactly: dialect T declares its variable fields last in a scope, dialect P declares them first.
//
// # Decisions
//
//   - Both dialects are one language: the features of both are available in all definitions.
//   - Order. The parsers of dialect T write contents at the position of their declaration, and cannot read back a fixed field after them;
//     protojs, alkahest, novadrop and the game write them after all fixed fields. So does this package.
//   - type[N] is N values without pointer, as in protojs. In dialect T "byte[5] x" is one byte, which cannot be intended. It is a list,
//     not a blob, so that its values are shown separately. The last number is the outermost: int32[2][3] is 3 times 2 values.
//   - "^from-to" means from <= patch < to. Without a patch the newest is assumed, which is later than every number. The fields inside a
//     field that does not exist do not exist either. The toolbox parser drops such lines.
//   - skillid has 64 bits; 32 with the option skillid, or if the patch is below 74 (tera-proxy; the toolbox is for later patches and always
//     reads 64). Its form with a hunting zone requires npc and type 1, as in the toolbox; protojs requires npc only. All reserved bits are
//     preserved; the one of 32 bits is shown as 2147483647, as in the toolbox.
//   - The level rises by one at most; more dashes are a warning. The toolbox does so, protojs refuses.
//   - A repeated object continues the first one, with the bytes at the position of the second (toolbox, protojs; meishuu loses the
//     first half).
//   - Fields of fixed size may have one name, with a warning, and so may one variable field with them, as in the parsers: the value is that
//     of the last one read. Two variable fields of one name are an error, as in the toolbox, and so is an object with the name of another
//     field. "a.b" and "a_b" do not conflict, though the toolbox confuses them. Names are case-sensitive.
//   - Names have letters, digits and "_" and do not start with a digit, so that they are valid in paths. The toolbox fails on others.
//   - A malformed line is an error, and only that line is ignored. The toolbox skips it silently, protojs rejects the file.
//   - With explicit pointers a field without a ref is an error; its pointer is then at the position of the field. The toolbox takes the
//     field for its own pointer and never reads it. A ref inside an object is an error: it belongs outside, "ref o.s".
//   - "offset x" is an old spelling of "ref x"; "count x" has no effect beside it. Without a field x each is two bytes that are not shown.
//   - [interleaved] arrays of one container are consecutive. Arrays of strings cannot be interleaved: the toolbox fails on them.
//   - An element can be any fixed type, a string, bytes (dialect P), or array<T> (dialect P). array<object> and plain array<array> are
//     errors: there is a clearer notation.
//   - @include finds files of the set by their base name, first in the same folder. At most 32 are included.
//   - Platform files (NAME.VERSION.PLATFORM.def) take precedence over the plain file on their platform; otherwise they are only checked.
//   - Files *.js are code and not read.
//   - Maps: "A= 1" and "A =1" are equivalent to "A = 1"; the public parsers fail on them. "12abc" is not a number.
//   - deprecated.json with both bounds: see options.deprecation.
package tera
