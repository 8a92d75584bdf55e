//go:build unix

package benchtest

import (
	"syscall"
	"time"
)

// CPU is the time that the program has had of the processor so far, all threads together.
func CPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
