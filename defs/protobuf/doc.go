// Package protobuf compiles definitions of Protocol Buffers, files named *.proto, of the syntaxes proto2 and proto3 and of editions.
//
//	syntax = "proto3";
//	package harbor;
//
//	// a ship that calls
//	message Ship {
//	  string name = 1;
//	  repeated Crate crates = 2;
//	  map<string, int32> stores = 3;
//	}
//
// Source: the language guides and the page "Encoding" of protobuf.dev.
//
// # Messages
//
// Each message of a file is a message, also one inside another, which is named Outer_Inner. A name that messages of other packages have in the
// project has its package in front: harbor_Ship. Nothing in the bytes says which message they are: a map of codes gives messages codes, which an
// envelope sends; without one the message is chosen by its name.
//
// The body of a message is one schema.Tagged item: a list for each field, by tag, in the order of the numbers of the fields, and the list
// "unknown" of all other tags. So fields are read in any order. A field that is not repeated is a list whose only element stands for it
// (schema.List.Once): it is missing if it is not sent. If it is sent several times, all values are shown, and a warning says so: programs
// take the last one, or join messages. Repeated fields of numbers have a second list for the other of the ways to send them, NAME_packed or
// NAME_unpacked: the value says which one was used.
//
//	int32, int64, uint32, uint64   numbers of variable size; a negative int32 has ten bytes
//	sint32, sint64                 likewise, with the sign in the lowest bit
//	bool, enum                     likewise; values of an enum are shown by name
//	fixed32 to sfixed64, float, double  4 or 8 bytes, little-endian
//	string, bytes                  a size and text in UTF-8, or bytes
//	message                        a size and the message; a group without one, between two tags
//	map<K, V>                      a repeated message with the fields key and value
//
// An element of "unknown" has its tag, the number of its field, and a value by its wire type: a number, bytes, or the fields of a group.
//
// # Decisions
//
//   - Encoding writes fields in the order of their numbers, packed as they are declared, and the unknown ones last. Over a message that the values
//     come from, fields keep their places, and what is unchanged its bytes.
//   - What is not sent is missing, also where programs show a default; a value of zero that is given is sent. Required fields may be missing.
//   - Imports are files of the project, by their path, the end of it, or the name of the file alone; those of google/protobuf are built in. A
//     missing one is a warning. A type that is not found is an error, and its field is shown as bytes.
//   - Types are found by the rules of the language in the file, and in all files of the project if it does not import the right one.
//   - Extensions are not fields: they are shown among the unknown ones, and a warning says so unless they extend options. Services and options
//     other than packed, deprecated and the features of editions mean nothing for bytes.
//   - Format only removes white space at the ends of lines.
package protobuf
