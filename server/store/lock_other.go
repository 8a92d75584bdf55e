//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package store

import (
	"errors"
	"os"
)

// errLocked is returned by lock for a file that is locked already.
var errLocked = errors.New("locked")

func lock(*os.File) error { return errors.ErrUnsupported }
