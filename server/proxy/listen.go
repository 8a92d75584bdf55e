package proxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// ListenProblem shortens an error of listening, which otherwise repeats the address and names the failed system call; other errors are
// returned unchanged.
func ListenProblem(err error) error {
	var op *net.OpError
	var call *os.SyscallError
	if !errors.As(err, &op) || op.Op != "listen" || op.Addr == nil || !errors.As(op.Err, &call) {
		return err
	}
	hint := ""
	switch {
	case errors.Is(call.Err, syscall.EADDRINUSE):
		hint = "; another listener or program has this port"
	case errors.Is(call.Err, syscall.EADDRNOTAVAIL):
		hint = "; this machine has no such address"
	}
	return fmt.Errorf("listen to %s: %w%s", op.Addr, call.Err, hint)
}
