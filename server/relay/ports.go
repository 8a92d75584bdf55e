package relay

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"wirebench/server/proxy"
)

// Ports is the range of ports on which users may listen, such as those that a container publishes. The zero value allows the ports from 1024
// on. UDP datagrams of SOCKS5 clients go to ports of the range, too, or to any.
type Ports struct{ First, Last uint16 }

// ParsePorts parses 17800-17809 or 17800.
func ParsePorts(text string) (p Ports, err error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	a, err := strconv.ParseUint(from, 10, 16)
	b, err2 := strconv.ParseUint(to, 10, 16)
	if err != nil || err2 != nil || a == 0 || b < a {
		return p, fmt.Errorf("%q: must be a range of ports such as 17800-17809", text)
	}
	return Ports{uint16(a), uint16(b)}, nil
}

func (p Ports) String() string {
	switch {
	case p == Ports{}:
		return ""
	case p.First == p.Last:
		return strconv.Itoa(int(p.First))
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

// leastPort is the first port that needs no permission of the operator: programs of the system use those before it.
const leastPort = 1024

// check refuses addresses of users outside the range. A loopback address with port 0 is for programs on this machine.
func (p Ports) check(pairs []proxy.Pair) error {
	for _, x := range pairs {
		port, err := strconv.ParseUint(x.Listen[strings.LastIndexByte(x.Listen, ':')+1:], 10, 16)
		if err != nil {
			return nil // reported by listening
		}
		at, _ := netip.ParseAddrPort(x.Listen)
		switch {
		case port == 0 && (p == Ports{} || at.Addr().IsLoopback()):
		case p != Ports{} && (port < uint64(p.First) || port > uint64(p.Last)):
			return fmt.Errorf("listeners have the ports %s here, and %d is none of them (--listener-ports)", p, port)
		case p == Ports{} && port < leastPort:
			return fmt.Errorf("port %d is for programs of the system: choose one from %d on, or allow it with --listener-ports", port, leastPort)
		}
	}
	return nil
}
