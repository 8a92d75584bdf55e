//go:build linux && !386 && !s390x

package proxy

import (
	"syscall"
	"unsafe"
)

// dropped returns the number of datagrams that the system has dropped since a socket was created because its receive buffer was full, and
// the size of this buffer in bytes. known is false if the system does not report them; the error is that of a closed socket. Source:
// linux/sock_diag.h, SO_MEMINFO with SK_MEMINFO_DROPS and SK_MEMINFO_RCVBUF; Linux 4.12 and later.
func dropped(c syscall.Conn) (n, room uint32, known bool, err error) {
	const soMemInfo, roomAt, dropsAt, values = 55, 1, 8, 9
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, false, err
	}
	err = raw.Control(func(fd uintptr) {
		var info [values]uint32
		size := uint32(unsafe.Sizeof(info))
		_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.SOL_SOCKET, soMemInfo,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
		n, room, known = info[dropsAt], info[roomAt], errno == 0 && size == uint32(unsafe.Sizeof(info))
	})
	return n, room, known, err
}
