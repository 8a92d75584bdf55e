package proxy

import "net/netip"

// Refused says why nothing connects to an address, whoever asks for it: link-local, metadata, multicast, broadcast, reserved and unspecified
// ones, also where an address of IPv6 stands for one of IPv4. "" if it is none of these.
func Refused(addr netip.Addr) string {
	if why := refusal(addr); why != "" {
		return why
	}
	if isBroadcast(addr.Unmap(), localNetworks()) {
		return "broadcast"
	}
	return ""
}
