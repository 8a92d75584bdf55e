//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package objects

import (
	"errors"
	"os"
)

// ErrLocked is returned by Lock for a file that is locked already.
var ErrLocked = errors.New("locked")

// Lock is not possible on this system.
func Lock(*os.File) error { return errors.ErrUnsupported }
