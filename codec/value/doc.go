// Package value writes the values of a record as JSON and makes records of JSON.
//
// A program's plan, made when it is first needed, lists for each body what is to be written in the order of the definition: names,
// braces and commas between numbers that stand in one block are fixed text, so a message without texts and lists is a few copies
// and the digits of its numbers. The parser goes the other way by the same plan. Examples makes messages for tests of other readers.
package value
