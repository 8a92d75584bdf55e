//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"os"
	"syscall"
)

// errLocked is returned by lock for a file that is locked already.
var errLocked = syscall.EWOULDBLOCK

// lock locks a file until it is closed or the process ends. Containers that share a volume share its locks.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
