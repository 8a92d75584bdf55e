//go:build race

package server

// raced says that the race detector is on: what is measured then says nothing.
const raced = true
