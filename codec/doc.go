// Package codec turns bytes into records and back, by a program compiled from a schema.
//
// Package wire defines the layout of a schema.Message; Compile turns it into a flat list of ops. A run of items of fixed size is one op, a
// block: its fields have offsets known at compile time and are read from the data on demand, so decoding a block is one bounds check.
// Contents of variable size (text, bytes, lists) are one op each; a list op is followed by the ops of its element. Everything else walks
// that list:
//
//	Decode      produces a Record: nodes in the order of the ops, one for each block, text, list and element
//	Encode      lays a Record out anew; its nodes equal those that Decode would produce
//	Site        locates the values of one field, a Cursor iterates over them
//	Layout      describes the positions of all parts, without data
//
// Compressed contents are decompressed behind the message: Record.Data then holds both, and Record.Packs says what is where. So all walks read
// them as they read other bytes; Record.Sent gives the bytes of the message that hold a range.
//
// Three packages also walk the ops, for which Program.Ops, Program.Blocks and Program.Contents are exported: package value converts values
// to and from JSON, package columns reads the values of many messages by field, and package view presents a record to people and other
// programs.
//
// Decode never fails and never panics: a Record holds everything that could be read, and Problems that state where and why decoding
// stopped. Its work is at most a fixed multiple of the message's size, whatever the counts in the message claim.
//
// The package does no I/O, uses no clock, starts no goroutine and knows no dialect.
package codec
