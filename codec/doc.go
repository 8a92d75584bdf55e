// Package codec turns bytes into records and back, by a program compiled from a schema.
//
// Package wire says what stands where in a schema.Message; Compile makes a flat list of ops of it. A run of items of fixed size is one op, a block: its fields lie at offsets
// known at compile time and are read from the data when somebody asks, so decoding it is one bounds check. Contents of variable
// size (text, bytes, lists) are one op each; a list op is followed by the ops of its element. Everything else is a walk of
// that list:
//
//	Decode      makes a Record: nodes in the order of the ops, one for each block, text, list and element
//	Encode      lays a Record out anew; its nodes are those that Decode would make
//	Site        finds the values of one field, a Cursor goes through them
//	Layout      says where things stand, without data
//
// Three packages walk the ops too, and read Program.Ops, Program.Blocks and Program.Contents, which are exported for them: package
// value writes and reads values as JSON, package columns reads the values of many messages by field, and package view shows a record to
// people and other programs.
//
// Decode never fails and never panics: a Record holds what could be read, and Problems that say where and why reading stopped.
// It refuses to do more work than a fixed multiple of the message's size, whatever the counts in it claim.
//
// The package does no I/O, keeps no time, starts no goroutine and knows no dialect.
package codec
