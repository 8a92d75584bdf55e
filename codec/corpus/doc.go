// Package corpus answers questions about many frames of one message: what values a field takes, how they move, which bytes never
// change, and how two messages differ.
//
//	Table     figures of each field of a definition
//	Bytes     figures of each byte of messages that have no definition, and a few guesses
//	Cells     short texts of chosen fields of a message
//	Diff      two messages of one definition, field by field; DiffBytes of any two byte strings
//
// Messages are fed one by one and none of them is kept. Memory is bounded whatever they hold, and what is therefore not exact says so.
//
// The package does no I/O, keeps no time and starts no goroutine. A value of it belongs to one goroutine at a time.
package corpus
