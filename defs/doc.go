// Package defs turns the text of definitions into messages, whatever language they are written in.
//
// The languages are rows of the table Dialects; each is a package of its own with the same shape. Detect tells the language of a file,
// Load reads a set of files at once. Below stand source (text and places in it), diag (what is wrong and where), schema (what definitions
// mean), text (lines, words and names, and diagnostics about them) and build (files to messages, again at the cost of what changed).
//
// # To add a dialect
//
// Make a package beside tera, muta and subspace with a build.Rules: Parse reads one file into a tree, Lower makes its messages and asks
// for what it needs of other files. Add a row to Dialects. What else the dialect has are fields of the row: options, of which the flags,
// the settings and their controls on the page are made; code maps; constants; the alternative header of some messages; an example.
// Put samples into defs/library/NAME, and testdata into the package.
//
// # To add a transport
//
// Make a package in codec/transport with a transport.Transport, which cuts a connection into frames, a transport.Rewriter, which
// stands between two ends, and a transport.Endpoint, which is one of them. (StreamRewriter is a Rewriter for protocols over TCP.) Add a
// file NAME.go with its Protocol to codec/transport/protocols, and the Protocol to Protocols: the ports of a server, how keys are written,
// and layers for filters belong to it. Captures, proxies, replays and the demo game use the row. The demo says examples of the messages;
// a game with a plot is a row of games in cmd/wirebench/demo.
//
// TestMadeUpProtocol of cmd/wirebench does both for a protocol of its own, in some 150 lines. TestWordsOfDialectsStandInTheirRows finds
// names of a dialect, its options, header and layers outside their rows.
//
// # To add a field type
//
// A type that is one of schema's kinds under another name is a line in the types of its dialect. A new kind is a struct in schema that
// implements Type. Until wire.Compile has a case for it, definitions that use it are refused with a diagnostic. The other switches that
// need a case are those with a case for *schema.Bitfield: in schema the text of types; in codec the form of an item; in codec/value JSON
// both ways and examples; in codec/filter and codec/corpus what can be compared; and a case in each target of emit.
package defs
