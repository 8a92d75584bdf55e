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

// Config configures a session: its listeners, upstreams and observers. Zero values select the defaults.
type Config struct {
	Name    string // for display
	Owner   string // owner of the session; see Proxy.Events
	Network string // "tcp" or "udp"
	Pairs   []Pair // at least one, at most MaxPairs
	Limits  Limits

	Password   string    // of clients of Socks5; needed where other machines reach the listener
	RelayPorts [2]uint16 // first and last UDP port to which clients of Socks5 send datagrams; zero leaves the choice to the system

	Transport func(transport.Conn) transport.Transport // returns the transport of a connection; if it is or returns nil, traffic is recorded but not decoded
	Log       *live.Log                                // of the frames; closed with the session. nil selects a new one
	Record    *Record                                  // nil disables recording

	// Rewriter returns the rewriter through which a connection is relayed from its start. With it the session can be operated, and
	// Transport is not used. If it returns nil, the connection passes unchanged and is not decoded. Without Rewriter the session only
	// observes.
	Rewriter func(transport.Conn) transport.Rewriter

	// Identify sets Key, HasKey, Name and Via of a message that was made by a user, for the log. Without it a changed message has those of the
	// message that it replaces, and an injected one has none. Identify may also set protocol fields in Bytes, which it must copy first.
	Identify func(transport.Conn, *transport.Frame)

	Audit func(Event) // called for each action of a user, with Who set; it must not block
}

// Pair is a listening address and its upstream.
type Pair struct {
	Listen   string // IP:port, localhost:port or :port; port 0 selects a free one
	Upstream string // IP:port or name:port, after TLS if the connection to it is encrypted; Socks5 or Redirect if each client chooses
}

// MaxPairs is the maximum number of pairs of a session.
const MaxPairs = 16

// MostConns is the largest number of concurrent connections.
const MostConns = 1 << 16

// Limits are the limits of a session. Zero selects the default.
type Limits struct {
	Conns     int           // concurrent connections, or client addresses for UDP: 1024
	PerSource int           // the same per IPv4 address or /64 IPv6 network: 64
	Idle      time.Duration // maximum time without a byte in either direction: TCP 2 h, UDP 3 min
	Spare     time.Duration // idle time after which a connection ends when all places are in use and another client comes: 5 min
	Unproved  time.Duration // the same for UDP, until the client answers a datagram of the server: a made-up address is forgotten soon: 15 s
	Dial      time.Duration // time limit for connecting to an upstream: 10 s

	// Limits of the UDP associations of SOCKS5 clients. Their control connections and destinations are among Conns, too.
	Associations int           // concurrent associations: 128
	Destinations int           // concurrent destinations of an association: 64
	Associated   time.Duration // maximum time of an association without destinations and datagrams: 2 h

	// Limits of the queue to the observer.
	QueueBytes int // memory of queued bytes: 64 MiB
	QueueItems int // queued pieces: 65,536

	// Limits of held messages, in all connections; above them messages pass.
	HeldMessages int           // 1,000
	HeldBytes    int           // 16 MiB
	Hold         time.Duration // maximum time until a message passes; 0 means no limit

	ProveLoopback bool // also require proof of receiving from clients on loopback
}

func (l Limits) withDefaults(network string) Limits {
	idle := 2 * time.Hour
	if network == "udp" {
		idle = 3 * time.Minute
	}
	l.Conns = cmp.Or(l.Conns, 1024)
	l.PerSource = cmp.Or(l.PerSource, 64)
	l.Idle = cmp.Or(l.Idle, idle)
	l.Spare = cmp.Or(l.Spare, 5*time.Minute)
	l.Unproved = cmp.Or(l.Unproved, 15*time.Second)
	l.Dial = cmp.Or(l.Dial, 10*time.Second)
	l.Associations = cmp.Or(l.Associations, 128)
	l.Destinations = cmp.Or(l.Destinations, 64)
	l.Associated = cmp.Or(l.Associated, 2*time.Hour)
	l.QueueBytes = cmp.Or(l.QueueBytes, 64<<20)
	l.QueueItems = cmp.Or(l.QueueItems, 1<<16)
	l.HeldMessages = cmp.Or(l.HeldMessages, 1000)
	l.HeldBytes = cmp.Or(l.HeldBytes, 16<<20)
	return l
}

func (l Limits) check() error {
	if l.Conns < 0 || l.Conns > MostConns || l.PerSource < 0 || l.Idle < 0 || l.Spare < 0 || l.Unproved < 0 || l.Dial < 0 || l.QueueBytes < 0 || l.QueueItems < 0 ||
		l.Associations < 0 || l.Destinations < 0 || l.Associated < 0 || l.HeldMessages < 0 || l.HeldBytes < 0 || l.Hold < 0 {
		return fmt.Errorf("a limit is negative, or more than %d connections", MostConns)
	}
	return nil
}

// Consecutive returns n pairs with consecutive ports, for games with an additional port beside that of the game.
func Consecutive(listen, upstream string, n int) ([]Pair, error) {
	from, port, err := splitPort(listen)
	if err != nil {
		return nil, err
	}
	if IsChosen(upstream) {
		return []Pair{{listen, upstream}}, nil
	}
	plain, encrypted := strings.CutPrefix(upstream, TLS)
	to, upPort, err := splitPort(plain)
	if err != nil {
		return nil, err
	}
	before := ""
	if encrypted {
		before = TLS
	}
	switch {
	case n < 1 || n > MaxPairs:
		return nil, fmt.Errorf("%d pairs of ports: 1 to %d are possible", n, MaxPairs)
	case n > 1 && (port == 0 || upPort == 0):
		return nil, errors.New("consecutive ports need a fixed first port")
	case int(port)+n-1 > 65535 || int(upPort)+n-1 > 65535:
		return nil, errors.New("the last port is above 65535")
	}
	pairs := make([]Pair, n)
	for i := range pairs {
		pairs[i] = Pair{net.JoinHostPort(from, strconv.Itoa(int(port)+i)), before + net.JoinHostPort(to, strconv.Itoa(int(upPort)+i))}
	}
	return pairs, nil
}

func splitPort(text string) (host string, port uint16, err error) {
	host, digits, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not an address with a port", text)
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q: the port must be a number from 0 to 65535", text)
	}
	return host, uint16(n), nil
}

// listenAddr parses Pair.Listen. An empty host selects all addresses of both families.
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
