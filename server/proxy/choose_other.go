//go:build !linux

package proxy

import (
	"errors"
	"net"
	"net/netip"
)

const canRedirect = false

func originalDestination(net.Conn) (netip.AddrPort, error) {
	return netip.AddrPort{}, errors.New("redirected connections need Linux")
}
