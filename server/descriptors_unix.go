//go:build unix

package server

import (
	"math"
	"syscall"
)

// descriptors returns the number of descriptors that the process may have, or 0 if it is not bounded.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
