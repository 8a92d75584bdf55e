//go:build !race

package benchtest

// Raced says that the race detector is on.
const Raced = false
