//go:build !unix

package benchtest

import "time"

var start = time.Now()

// CPU returns the time since the start of the program, as the system does not report CPU time.
func CPU() time.Duration { return time.Since(start) }
