package proxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// ListenProblem says in short why something cannot be listened to; other errors stay as they are. The system says the address again, and
// which of its calls has failed.
func ListenProblem(err error) error {
	var op *net.OpError
	var call *os.SyscallError
	if !errors.As(err, &op) || op.Op != "listen" || op.Addr == nil || !errors.As(op.Err, &call) {
		return err
	}
	hint := ""
	switch {
	case errors.Is(call.Err, syscall.EADDRINUSE):
		hint = "; another listener has it, here or in another program"
	case errors.Is(call.Err, syscall.EADDRNOTAVAIL):
		hint = "; this machine has no such address"
	}
	return fmt.Errorf("listen to %s: %w%s", op.Addr, call.Err, hint)
}
