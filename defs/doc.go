// Package defs turns the text of definitions into messages, whatever language they are written in.
//
// The languages are rows of the table Dialects; each is a package of its own with the same shape. Detect tells the language of a file,
// Load reads a set of files at once. Below stand source (text and places in it), diag (what is wrong and where), schema (what definitions
// mean), text (lines, words and names, and diagnostics about them) and build (files to messages, again at the cost of what changed).
//
// # To add a dialect
//
// Make a package beside tera, muta and subspace with a build.Rules: Parse reads one file into a tree, Lower makes its messages and asks
// for what it needs of other files. Add a row to Dialects, with the options that definitions depend on: command line flags and the
// checks of settings are made of them. Put samples into defs/library/NAME, and testdata into the package.
//
// # To add a transport
//
// Make a package in codec/transport with a transport.Transport, which cuts a connection into frames, a transport.Rewriter, which
// stands between two ends, and a transport.Endpoint, which is one of them. Add a file with its Protocol to codec/transport/protocols:
// ports, keys, and layers for filters belong to it. A game for a first look is a row of cmd/wirebench/demo.
//
// TestMadeUpProtocol of cmd/wirebench does both for a protocol of its own, in some 100 lines.
//
// # To add a field type
//
// A type that is one of schema's kinds in another dress is a line in the types of its dialect. A new kind is a struct that implements
// schema.Type; the compiler of Go then finds nothing, but the switches of defs/wire, codec and defs/emit refuse what they do not know.
package defs
