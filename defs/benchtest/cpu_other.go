//go:build !unix

package benchtest

import "time"

var start = time.Now()

// CPU is the time since the program began, where nobody says how much of it was the program's.
func CPU() time.Duration { return time.Since(start) }
