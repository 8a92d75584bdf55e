package proxy

import "net/netip"

// Refused returns the reason why no upstream may have an address, whatever the list of upstreams: link-local, metadata, multicast,
// broadcast, reserved and unspecified addresses, including IPv6 addresses that embed such an IPv4 address. It returns "" for other
// addresses.
func Refused(addr netip.Addr) string {
	if why := refusal(addr); why != "" {
		return why
	}
	if isBroadcast(addr.Unmap(), localNetworks()) {
		return "broadcast"
	}
	return ""
}
