//go:build !unix

package server

// descriptors returns the number of descriptors that the process may have, or 0 if it is not bounded.
func descriptors() int { return 0 }
