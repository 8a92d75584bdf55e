package store

import (
	"os"

	"golang.org/x/sys/windows"
)

// errLocked is the error of lock for a file that is locked already.
var errLocked = windows.ERROR_LOCK_VIOLATION

// lock locks a file until it is closed, or the process ends in whatever way. The byte that is locked is far behind the text, which others
// may read.
func lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{OffsetHigh: 1})
}
