// Package defs turns the text of definitions into messages, in any of the supported languages.
//
// The languages are rows of the table Dialects; each has a package, and all these packages have the same structure. Detect determines
// the language of a file, Load reads a set of files. The packages below are source (text and spans), diag (diagnostics), schema (the
// meaning of definitions), text (lines, words and names, and diagnostics about them) and build (incremental compilation of files to
// messages).
//
// # To add a dialect
//
// Make a package beside tera, muta and subspace with a build.Rules: Parse reads one file into a tree, Lower makes its messages and
// requests other files that they depend on. Add a row to Dialects. The fields of the row describe the dialect's other features: options,
// from which the flags, the settings and their controls on the page are made; code maps; constants; the alternative header of some
// messages; an example. Put samples into defs/library/NAME, and testdata into the package.
//
// # To add a transport
//
// Make a package in codec/transport with a transport.Transport, which splits a connection into frames, a transport.Rewriter, for proxies
// between client and server, and a transport.Endpoint, which is a client or server. (Protocols over TCP have
// those of package stream, and a Link for what is special.) Add a file NAME.go with its Protocol to codec/transport/protocols, and the Protocol to Protocols: the ports of a server, the
// syntax of keys, and layers for filters belong to it. Captures, proxies, replays and the demo game use the row. The demo sends example
// messages; a game with a plot is a row of games in cmd/wirebench/demo.
//
// TestMadeUpProtocol of cmd/wirebench does both for a fictitious protocol, in some 150 lines. TestWordsOfDialectsStandInTheirRows reports
// uses of the names of a dialect, its options, header and layers outside their rows.
//
// # To add a field type
//
// A new name for an existing type of schema is a line in the types of its dialect. A new kind of type is a struct in schema that
// implements Type. Until wire.Compile has a case for it, definitions that use it are refused with a diagnostic. The other switches that
// need a case are those with a case for *schema.Bitfield: in schema the text of types; in codec the form of an item; in codec/value
// encoding and decoding of JSON, and examples; in codec/filter and codec/corpus comparable values; and a case in each target of emit.
//
// A new encoding of an existing kind (a size, a number, a part of package wire) is a constant in wire.Feature, found by
// wire.Message.Features. A target of emit omits messages with features that are not in its set in emit/features.go, and names them; Markdown
// supports all of them.
package defs
