//go:build unix

package access

import (
	"fmt"
	"os"
	"syscall"
)

// openDescriptor returns the file of a descriptor that the program was started with. A write to a pipe that nobody reads ends after a while, but for
// the standard streams, which others may use, too.
func openDescriptor(n int, name string) (*os.File, error) {
	var info syscall.Stat_t
	if err := syscall.Fstat(n, &info); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch info.Mode & syscall.S_IFMT {
	case syscall.S_IFIFO, syscall.S_IFSOCK, syscall.S_IFREG, syscall.S_IFCHR:
	default: // such as those that the runtime has for itself
		return nil, fmt.Errorf("%s: neither a pipe nor a socket nor a file", name)
	}
	if n <= 2 { // one of its own: a write to a standard stream that nobody reads any more would end the program
		own, err := syscall.Dup(n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		syscall.CloseOnExec(own)
		return os.NewFile(uintptr(own), name), nil
	}
	syscall.CloseOnExec(n)
	if err := syscall.SetNonblock(n, true); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return os.NewFile(uintptr(n), name), nil
}
