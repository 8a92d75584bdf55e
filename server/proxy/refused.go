package proxy

import (
	"net"
	"net/netip"
)

// never lists networks that no upstream may be in, whatever the list of upstreams: addresses that are no single host, and addresses from
// which hosts in a cloud obtain their credentials. Source: IANA special-purpose address registries; documentation of the cloud providers
// for metadata addresses.
var never = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("255.255.255.255/32"), "broadcast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("100.100.100.200/32"), "a metadata address"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a metadata address"},
	{netip.MustParsePrefix("192.0.0.192/32"), "a metadata address"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
	{netip.MustParsePrefix("fd00:ec2::/32"), "a metadata address"},
	{netip.MustParsePrefix("fd20:ce::254/128"), "a metadata address"},
}

// embedding lists IPv6 networks whose addresses embed an IPv4 address, and its position.
var embedding = []struct {
	prefix netip.Prefix
	at     int
	flip   byte // XORed with every byte
}{
	{netip.MustParsePrefix("::/96"), 12, 0},           // RFC 4291, 2.5.5.1
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12, 0}, // RFC 2765, 2.1
	{netip.MustParsePrefix("64:ff9b::/96"), 12, 0},    // RFC 6052
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12, 0},  // RFC 8215, common use
	{netip.MustParsePrefix("2002::/16"), 2, 0},        // RFC 3056
	{netip.MustParsePrefix("2001::/32"), 12, 0xff},    // RFC 4380, the client's
	{netip.MustParsePrefix("2001::/32"), 4, 0},        // and the server's
}

// refusal returns the reason why an address is refused whatever the list of upstreams; "" if it is not.
func refusal(addr netip.Addr) string {
	if addr.Zone() != "" {
		return "an address with a zone"
	}
	addr = addr.Unmap()
	for _, n := range never {
		if n.prefix.Contains(addr) {
			return n.what
		}
	}
	if addr.Is6() && addr != netip.IPv6Loopback() {
		for _, e := range embedding {
			if !e.prefix.Contains(addr) {
				continue
			}
			all := addr.As16()
			four := [4]byte(all[e.at : e.at+4])
			for i := range four {
				four[i] ^= e.flip
			}
			inner := netip.AddrFrom4(four)
			if inner.IsLoopback() {
				return "an embedded loopback address"
			}
			if why := refusal(inner); why != "" {
				return why + ", as " + inner.String()
			}
		}
	}
	return ""
}

// network is an address of this machine with its network.
type network = netip.Prefix

// localNetworks returns the addresses of this machine.
func localNetworks() []network {
	var all []network
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(n.IP); ok {
				addr = addr.Unmap()
				ones, bits := n.Mask.Size()
				if bits == 128 && addr.Is4() {
					ones -= 96
				}
				if p := netip.PrefixFrom(addr, ones); p.IsValid() {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// isLocal reports whether this machine has an address.
func isLocal(addr netip.Addr, local []network) bool {
	if addr.IsLoopback() {
		return true
	}
	for _, n := range local {
		if n.Addr() == addr {
			return true
		}
	}
	return false
}

// isBroadcast reports whether an address is the broadcast address of a network of this machine.
func isBroadcast(addr netip.Addr, local []network) bool {
	for _, n := range local {
		if !addr.Is4() || !n.Addr().Is4() || n.Bits() >= 31 || n.Addr().IsLoopback() || !n.Contains(addr) {
			continue
		}
		b := addr.As4()
		host := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		if mask := uint32(1)<<(32-n.Bits()) - 1; host&mask == mask || host&mask == 0 {
			return true
		}
	}
	return false
}
