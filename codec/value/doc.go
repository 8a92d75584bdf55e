// Package value converts the values of records to and from JSON.
//
// A program's plan, created on first use, lists for each body the parts to write in the order of the definition: names, braces and commas
// between numbers of one block are constant text, so a message without texts and lists takes a few copies and the digits of its numbers.
// The parser uses the same plan in reverse. Examples generates messages for tests of other readers.
package value
