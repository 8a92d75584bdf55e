//go:build !linux || 386 || s390x

package proxy

import "syscall"

// dropped returns known = false: this system does not report drops per socket.
func dropped(syscall.Conn) (n, room uint32, known bool, err error) { return 0, 0, false, nil }
