package objects

import (
	"os"

	"golang.org/x/sys/windows"
)

// ErrLocked is returned by Lock for a file that is locked already.
var ErrLocked = windows.ERROR_LOCK_VIOLATION

// Lock locks a file until it is closed or the process ends. The locked byte is far behind the text, so that other processes can read the
// text.
func Lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{OffsetHigh: 1})
}
