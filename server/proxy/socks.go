package proxy

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// Numbers of SOCKS5.
const (
	socksVersion  = 5
	socksNoAuth   = 0
	socksPassword = 2
	socksNone     = 0xff // no acceptable method

	socksConnect   = 1
	socksAssociate = 3

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4

	socksFailed      = 1
	socksForbidden   = 2
	socksUnreachable = 4
	socksRefused     = 5
	socksCommand     = 7
	socksAddress     = 8
)

// socksCommands are the names of commands.
var socksCommands = [...]string{socksConnect: "CONNECT", 2: "BIND", socksAssociate: "UDP ASSOCIATE"}

func socksCommandName(command byte) string {
	if int(command) < len(socksCommands) && socksCommands[command] != "" {
		return socksCommands[command]
	}
	return "command " + strconv.Itoa(int(command))
}

// socksRequest reads the greeting and the request of a client, and returns the address of the request. Other commands are refused.
func socksRequest(c net.Conn, password string, command byte) (to string, err error) {
	var b [512]byte
	read := func(n int) ([]byte, error) {
		_, err := io.ReadFull(c, b[:n])
		if err != nil {
			return nil, fmt.Errorf("a SOCKS5 client has left before its request: %w", err)
		}
		return b[:n], nil
	}
	head, err := read(2)
	if err != nil {
		return "", err
	}
	if head[0] != socksVersion {
		return "", fmt.Errorf("a client does not speak SOCKS5: its first byte is %d", head[0])
	}
	methods, err := read(int(head[1]))
	if err != nil {
		return "", err
	}
	method := byte(socksNoAuth)
	if password != "" {
		method = socksPassword
	}
	offered := false
	for _, m := range methods {
		offered = offered || m == method
	}
	if !offered {
		_, _ = c.Write([]byte{socksVersion, socksNone})
		return "", errors.New("a SOCKS5 client does not offer the way to sign in that is needed")
	}
	if _, err := c.Write([]byte{socksVersion, method}); err != nil {
		return "", err
	}
	if method == socksPassword {
		if err := socksSignIn(c, read, password); err != nil {
			return "", err
		}
	}
	request, err := read(4)
	if err != nil {
		return "", err
	}
	if request[0] != socksVersion || request[1] != command {
		_ = socksAnswer(c, socksCommand, netip.AddrPort{})
		return "", fmt.Errorf("a SOCKS5 client asks for %s; this listener supports %s alone", socksCommandName(request[1]), socksCommandName(command))
	}
	var host string
	switch request[3] {
	case socksIPv4, socksIPv6:
		n := 4
		if request[3] == socksIPv6 {
			n = 16
		}
		raw, err := read(n)
		if err != nil {
			return "", err
		}
		addr, _ := netip.AddrFromSlice(raw)
		host = addr.Unmap().String()
	case socksName:
		n, err := read(1)
		if err != nil {
			return "", err
		}
		name, err := read(int(n[0]))
		if err != nil {
			return "", err
		}
		host = string(name)
		if _, _, ok := parseHost(host); !ok {
			_ = socksAnswer(c, socksAddress, netip.AddrPort{})
			return "", fmt.Errorf("invalid host name in SOCKS5 request: %q", host)
		}
	default:
		_ = socksAnswer(c, socksAddress, netip.AddrPort{})
		return "", fmt.Errorf("a SOCKS5 client asks for an address of type %d", request[3])
	}
	port, err := read(2)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(port)))), nil
}

// socksSignIn reads the name and the password (RFC 1929). The name does not matter.
func socksSignIn(c net.Conn, read func(int) ([]byte, error), password string) error {
	head, err := read(2)
	if err != nil {
		return err
	}
	if head[0] != 1 {
		return fmt.Errorf("a SOCKS5 client signs in by version %d", head[0])
	}
	if _, err := read(int(head[1])); err != nil {
		return err
	}
	size, err := read(1)
	if err != nil {
		return err
	}
	given, err := read(int(size[0]))
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(given, []byte(password)) != 1 {
		_, _ = c.Write([]byte{1, 1})
		return errors.New("a SOCKS5 client has given a wrong password")
	}
	_, err = c.Write([]byte{1, 0})
	return err
}

// socksReply answers a request after connecting.
func socksReply(c, up net.Conn, err error) error {
	var failed *net.OpError
	switch {
	case err == nil:
		return socksAnswer(c, 0, addrOf(up.LocalAddr()))
	case errors.Is(err, ErrRefused), errors.Is(err, ErrMoved):
		return socksAnswer(c, socksForbidden, netip.AddrPort{})
	case errors.Is(err, syscall.ECONNREFUSED):
		return socksAnswer(c, socksRefused, netip.AddrPort{})
	case errors.As(err, &failed), errors.Is(err, context.DeadlineExceeded):
		return socksAnswer(c, socksUnreachable, netip.AddrPort{})
	}
	return socksAnswer(c, socksFailed, netip.AddrPort{})
}

func socksAnswer(c net.Conn, code byte, bound netip.AddrPort) error {
	_, err := c.Write(appendSocksAddress([]byte{socksVersion, code, 0}, bound))
	return err
}

// appendSocksAddress appends the type, the address and the port. An invalid address is 0.0.0.0.
func appendSocksAddress(out []byte, at netip.AddrPort) []byte {
	switch addr := at.Addr(); {
	case addr.Is6():
		out = append(append(out, socksIPv6), addr.AsSlice()...)
	case addr.Is4():
		out = append(append(out, socksIPv4), addr.AsSlice()...)
	default:
		out = append(out, socksIPv4, 0, 0, 0, 0)
	}
	return binary.BigEndian.AppendUint16(out, at.Port())
}

// socksHeader is the header of a datagram between a SOCKS5 client and the proxy: RSV, FRAG, ATYP, DST.ADDR, DST.PORT (RFC 1928, section 7).
type socksHeader struct {
	fragment byte       // 0 for a whole datagram
	addr     netip.Addr // not an IPv6 address that embeds an IPv4 one; invalid if there is a name
	name     string     // lower case, without the final dot
	port     uint16
}

// parseSocksHeader returns the header of a datagram and the data after it, which is not copied. ok is false if there is no valid header.
func parseSocksHeader(b []byte) (h socksHeader, data []byte, ok bool) {
	if len(b) < 4 || b[0] != 0 || b[1] != 0 {
		return h, nil, false
	}
	h.fragment = b[2]
	kind, rest := b[3], b[4:]
	size := 0
	switch kind {
	case socksIPv4:
		size = 4
	case socksIPv6:
		size = 16
	case socksName:
		if len(rest) == 0 {
			return h, nil, false
		}
		size, rest = int(rest[0]), rest[1:]
	}
	if size == 0 || len(rest) < size+2 {
		return h, nil, false
	}
	if kind == socksName {
		if h.addr, h.name, ok = parseHost(string(rest[:size])); !ok {
			return h, nil, false
		}
	} else {
		addr, _ := netip.AddrFromSlice(rest[:size])
		h.addr = addr.Unmap()
	}
	h.port = binary.BigEndian.Uint16(rest[size:])
	return h, rest[size+2:], true
}

// appendSocksHeader appends the header of a datagram that came from an address.
func appendSocksHeader(out []byte, from netip.AddrPort) []byte {
	return appendSocksAddress(append(out, 0, 0, 0), from)
}

// String returns the destination as the list of upstreams has it.
func (h socksHeader) String() string {
	host := h.name
	if h.addr.IsValid() {
		host = h.addr.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(h.port)))
}
