//go:build !race

package benchtest

// Raced reports whether the race detector is on.
const Raced = false
