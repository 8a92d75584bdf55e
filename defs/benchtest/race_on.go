//go:build race

package benchtest

// Raced reports whether the race detector is on. Times and allocations are then meaningless: the detector slows code down and makes
// sync.Pool drop items.
const Raced = true
