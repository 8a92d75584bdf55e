//go:build race

package benchtest

// Raced says that the race detector is on. Time and allocations measured then mean nothing: the detector slows code down, and makes
// a sync.Pool drop what it is given.
const Raced = true
