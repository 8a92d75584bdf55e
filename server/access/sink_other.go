//go:build !unix

package access

import (
	"fmt"
	"os"
)

// openDescriptor returns the file of a standard stream. Other descriptors are not passed to programs on this system.
func openDescriptor(n int, name string) (*os.File, error) {
	switch n {
	case 1:
		return os.Stdout, nil
	case 2:
		return os.Stderr, nil
	}
	return nil, fmt.Errorf("%s: only fd:1 and fd:2 are possible on this system", name)
}
