// Package diag says what is wrong with a definition, where, and what to write instead.
//
// # How a message reads
//
//   - Lower case, no final stop; the thing itself in double quotes: unknown type "in32".
//   - The smallest span that holds the mistake; one message per mistake, never two for one cause.
//   - Help says what to write instead, as a question when it is a guess: did you mean "int32"?
//   - The word "illegal" is kept for messages on the wire.
//   - An error is what makes the definition unusable or ambiguous; a warning is what works but is likely not meant.
//
// Each dialect keeps all its messages together in its messages.go, so that its voice can be read on one page.
package diag
