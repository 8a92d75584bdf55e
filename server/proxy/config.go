package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/live"
)

// Config says what a session listens to, where it connects to, and who looks on. What is zero has its default.
type Config struct {
	Name    string // for people
	Owner   string // whose it is: Proxy.Events tells each what is theirs
	Network string // "tcp" or "udp"
	Pairs   []Pair // at least one, at most MaxPairs
	Limits  Limits

	Transport func(transport.Conn) transport.Transport // makes the transport of a connection; nil, or from it: recorded, not read
	Log       *live.Log                                // of the frames; it is closed with the session. nil: a new one
	Record    *Record                                  // nil: nothing is recorded

	// Rewriter makes what a connection is relayed through from its start; then the session can be operated, and Transport is not used. From
	// it nil: the connection passes as it is, and is not read. Without it the session only observes.
	Rewriter func(transport.Conn) transport.Rewriter

	// Identify sets Key, HasKey and Name of a message that did not come but is sent; for the log. Without it a changed message has those
	// of what it replaces, and an injected one has none. It may also set in Bytes, which it must copy, what the protocol sets.
	Identify func(transport.Conn, *transport.Frame)

	Audit func(Event) // is told each decision of a person, with Who; it must not block
}

// Pair is an address to listen to and the upstream of those who connect to it.
type Pair struct {
	Listen   string // IP:port, localhost:port or :port; port 0 is any
	Upstream string // IP:port or name:port
}

// MaxPairs is the maximum number of pairs of a session.
const MaxPairs = 16

// Limits bound what a session takes on. Zero is the default.
type Limits struct {
	Conns     int           // connections, or client addresses of UDP, at once: 1024
	PerSource int           // of them from one IPv4 address or one IPv6 network of 64 bits: 64
	Idle      time.Duration // without a byte in either direction until the end: TCP 2 h, UDP 3 min
	Dial      time.Duration // for connecting to an upstream: 10 s

	// What may wait for the observer.
	QueueBytes int // memory of observed bytes: 64 MiB
	QueueItems int // pieces: 65,536

	// What waits for a decision, in all connections; above it messages pass.
	HeldMessages int           // 1,000
	HeldBytes    int           // 16 MiB
	Hold         time.Duration // after which a message passes; 0: it waits until somebody decides

	ProveLoopback bool // clients on loopback have to prove that they receive, too
}

func (l Limits) withDefaults(network string) Limits {
	idle := 2 * time.Hour
	if network == "udp" {
		idle = 3 * time.Minute
	}
	l.Conns = cmp.Or(l.Conns, 1024)
	l.PerSource = cmp.Or(l.PerSource, 64)
	l.Idle = cmp.Or(l.Idle, idle)
	l.Dial = cmp.Or(l.Dial, 10*time.Second)
	l.QueueBytes = cmp.Or(l.QueueBytes, 64<<20)
	l.QueueItems = cmp.Or(l.QueueItems, 1<<16)
	l.HeldMessages = cmp.Or(l.HeldMessages, 1000)
	l.HeldBytes = cmp.Or(l.HeldBytes, 16<<20)
	return l
}

func (l Limits) check() error {
	if l.Conns < 0 || l.Conns > 1<<16 || l.PerSource < 0 || l.Idle < 0 || l.Dial < 0 || l.QueueBytes < 0 || l.QueueItems < 0 ||
		l.HeldMessages < 0 || l.HeldBytes < 0 || l.Hold < 0 {
		return errors.New("a limit is negative, or more than 65536 connections")
	}
	return nil
}

// Consecutive are n pairs of ports that follow one another: for games with a port beside that of the game.
func Consecutive(listen, upstream string, n int) ([]Pair, error) {
	from, port, err := splitPort(listen)
	if err != nil {
		return nil, err
	}
	to, upPort, err := splitPort(upstream)
	if err != nil {
		return nil, err
	}
	switch {
	case n < 1 || n > MaxPairs:
		return nil, fmt.Errorf("%d pairs of ports: 1 to %d are possible", n, MaxPairs)
	case n > 1 && (port == 0 || upPort == 0):
		return nil, errors.New("ports that follow one another need a first one")
	case int(port)+n-1 > 65535 || int(upPort)+n-1 > 65535:
		return nil, errors.New("the last port is above 65535")
	}
	pairs := make([]Pair, n)
	for i := range pairs {
		pairs[i] = Pair{net.JoinHostPort(from, strconv.Itoa(int(port)+i)), net.JoinHostPort(to, strconv.Itoa(int(upPort)+i))}
	}
	return pairs, nil
}

func splitPort(text string) (host string, port uint16, err error) {
	host, digits, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, fmt.Errorf("%q is no address with a port", text)
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q: the port is a number from 0 to 65535", text)
	}
	return host, uint16(n), nil
}

// listenAddr reads Pair.Listen. An empty host is all addresses of both families.
func listenAddr(text string) (netip.AddrPort, error) {
	host, port, err := splitPort(text)
	if err != nil {
		return netip.AddrPort{}, err
	}
	addr := netip.IPv6Unspecified()
	switch {
	case strings.EqualFold(host, "localhost"):
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case host != "":
		if addr, err = netip.ParseAddr(host); err != nil {
			return netip.AddrPort{}, fmt.Errorf("%q: a listener needs an IP address", text)
		}
	}
	return netip.AddrPortFrom(addr.Unmap(), port), nil
}
