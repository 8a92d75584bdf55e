//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package objects

import (
	"errors"
	"os"
	"syscall"
)

// ErrLocked is returned by Lock for a file that is locked already.
var ErrLocked = syscall.EWOULDBLOCK

// Lock locks a file until it is closed or the process ends. Containers that share a volume share its locks.
func Lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
