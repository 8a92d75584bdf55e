//go:build unix

package benchtest

import (
	"syscall"
	"time"
)

// CPU returns the CPU time of the program so far, of all threads.
func CPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
