// Package corpus computes statistics of many frames of one message: the values of its fields, their trends, constant bytes, and the
// differences between two messages of one definition.
//
//	Table     statistics of each field of a definition
//	Bytes     statistics of each byte of messages without a definition, and a few guesses
//	Cells     short texts of selected fields of a message
//	Diff      differences between two messages of one definition, by field; package bytediff compares bytes
//
// Messages are added one by one and are not retained. Memory is bounded for any input; results that are therefore inexact are marked.
//
// The package does no I/O, uses no clock and starts no goroutine. Its values serve one goroutine at a time.
package corpus
