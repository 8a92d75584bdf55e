// Package view presents the codec's data to people and other programs: decoded messages, and message layouts as rows, tables and diagrams.
//
// The output about a layout is bounded by a small multiple of its definition, however often that uses a struct and however many parts of
// variable size it has.
package view
