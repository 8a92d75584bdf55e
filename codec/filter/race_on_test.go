//go:build race

package filter_test

// raced says that the race detector is on.
const raced = true
