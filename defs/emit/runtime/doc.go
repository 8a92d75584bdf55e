// Package runtime is what the Go code of package emit needs besides the standard library. Its files are copied into the emitted package, those
// other than values.go and runtime.go only if something calls them. The messages are methods that pass their values, in wire order, to a
// coder: one method both reads and writes. Runs of fixed size are set by statements for each direction.
//
// The files runtime.ts and pack.ts are the same for TypeScript, where functions throw, and the names of what is called are those of Go.
//
// A failed coder does nothing more, so that callers check for errors only where they would otherwise loop or recurse. Reading is bounded by
// the size of the message: see coder.spend.
package runtime
