// Package kaitai compiles formats of Kaitai Struct, files named *.ksy.
//
// A file is YAML: meta, seq, types, instances, enums and params, as the user guide of Kaitai Struct describes them. It has one message, with the
// name of meta/id and without a code: what the compiler of Kaitai Struct calls the root. A file with params, or with types alone, has none; it is
// for imports. Imports are files of the project: a path relative to the file, or, with a slash in front, relative to a folder with all formats.
//
// # How formats are compiled
//
// Each use of a type is compiled by itself: so _parent, _root and params are fields that are known when the format is compiled. A type that contains
// itself is compiled once, as a schema.Group that is Own, and must not depend on the objects around it.
//
// Kaitai Struct reads instances when they are asked for. Here an instance is read before the first field that depends on it, others at the end of
// the fields of their type, in the order of the text. So an instance cannot depend on what is read after that. An instance with a position is a
// group at that byte; one without is read where the fields of its type end. A value that is an object, an array or a stream is another name of what
// is shown elsewhere, and not shown again; params are shown that are numbers, text or bytes.
//
//	size, size-eos of a type       a group with a size, whose bytes are _io inside
//	terminator, pad-right of it    a group whose size is that of the bytes up to there
//	if                             a choice without a name
//	switch-on                      a choice; without a case bytes, if there is a size, otherwise nothing
//	repeat expr, eos, until        a list
//	contents                       constant bytes, which are not shown
//	b1 to b64                      numbers of bits; padding up to a whole byte follows the last one
//	value                          a number, text or bytes that are computed
//	endian: switch-on              a choice of the type in both byte orders
//	valid                          the legal range of a number; otherwise a computed number NAME_valid that must be 1
//	process: zlib, xor, rol, ror   packed contents
//
// # Losses
//
// What a format says and a schema cannot is a warning that names it. If bytes cannot be read because of it, the fields before are read, also what
// follows the end of a group with a size, and the message is broken. A field of a known size is then shown as bytes. What is lost today: process of
// other programs, types that contain themselves and depend
// on the objects around them, instances that depend on what is read later, bits inside a byte in a list or under a
// condition, positions in processed bytes and in the stream of an element, types that code in other languages implements.
//
// Integers of expressions have 64 bits, and wrap around. A field that is not there is 0, or empty, in an expression.
package kaitai
