package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"unsafe"
)

const canRedirect = true

// soOriginalDst is SO_ORIGINAL_DST of linux/netfilter_ipv4.h, and IP6T_SO_ORIGINAL_DST of linux/netfilter_ipv6/ip6_tables.h.
const soOriginalDst = 80

// originalDestination returns the address that a client connected to, before netfilter redirected the connection.
func originalDestination(c net.Conn) (addr netip.AddrPort, err error) {
	tcp, ok := c.(syscall.Conn)
	if !ok {
		return addr, errors.New("not a connection of the system")
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return addr, err
	}
	v6 := !addrOf(c.LocalAddr()).Addr().Is4()
	err2 := raw.Control(func(fd uintptr) {
		var buf [syscall.SizeofSockaddrInet6]byte // family, port, then the address: of IPv4 at 4, of IPv6 after the flow at 8
		size, level := uint32(syscall.SizeofSockaddrInet4), uintptr(syscall.IPPROTO_IP)
		if v6 {
			size, level = syscall.SizeofSockaddrInet6, syscall.IPPROTO_IPV6
		}
		_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, level, soOriginalDst, uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size)), 0)
		if errno != 0 {
			err = fmt.Errorf("%w: the connection was not redirected (%w)", ErrRefused, errno)
			return
		}
		ip, _ := netip.AddrFromSlice(buf[4:8])
		if v6 {
			ip, _ = netip.AddrFromSlice(buf[8:24])
		}
		addr = netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(buf[2:]))
	})
	return addr, errors.Join(err, err2)
}
