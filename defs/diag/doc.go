// Package diag has the diagnostics of definitions: errors and warnings with their positions and suggested edits.
//
// # Style of messages
//
//   - Lower case, no final period; the offending text in double quotes: unknown type "in32".
//   - The smallest span that contains the error; one message for each cause.
//   - Help is the replacement, as a question if it is a guess: did you mean "int32"?
//   - The word "illegal" is reserved for messages on the wire.
//   - An error makes the definition unusable or ambiguous; a warning is about a definition that works but is probably not intended.
//
// The messages of each dialect are in its messages.go, so that their style can be compared.
package diag
