// Package view writes for people and other programs what the codec knows: the layout of a message as rows, as a table and as a diagram.
//
// What is written about a message stays a small multiple of its definition, however often that uses a struct and however many parts
// of variable size it has.
package view
