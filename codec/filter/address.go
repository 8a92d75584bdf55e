package filter

import (
	"net/netip"
	"strconv"
	"strings"
)

// Addresses of the ends of a connection: srcip, dstip and ip.

// addressRange is a range of addresses of one family.
type addressRange struct{ lo, hi netip.Addr }

func (r *addressRange) has(a netip.Addr) bool {
	return a.BitLen() == r.lo.BitLen() && r.lo.Compare(a) <= 0 && a.Compare(r.hi) <= 0
}

// addressesOf returns the addresses of a literal: one, or those of a network.
func addressesOf(text string) (r addressRange, ok bool) {
	if a, err := netip.ParseAddr(text); err == nil {
		return addressRange{a, a}, a.Zone() == ""
	}
	net, err := netip.ParsePrefix(text)
	if err != nil {
		return r, false
	}
	net = net.Masked()
	last := net.Addr().AsSlice()
	for i := range last {
		last[i] |= byte(0xff) >> min(max(net.Bits()-8*i, 0), 8)
	}
	hi, _ := netip.AddrFromSlice(last)
	return addressRange{net.Addr(), hi}, true
}

// parseAddress reads the address of a frame. Those of IPv4 need no memory.
func parseAddress(b []byte) (netip.Addr, bool) {
	var four [4]byte
	part, n, digits := 0, 0, 0
	for i := 0; i <= len(b); i++ {
		switch {
		case i < len(b) && isDigit(b[i]) && digits < 3:
			n, digits = 10*n+int(b[i]-'0'), digits+1
		case (i == len(b) && part == 3 || i < len(b) && b[i] == '.' && part < 3) && digits > 0 && n < 256:
			four[part] = byte(n)
			part, n, digits = part+1, 0, 0
		default:
			a, err := netip.ParseAddr(string(b))
			return a, err == nil
		}
	}
	return netip.AddrFrom4(four), true
}

// addressItem adds an address, a network, or a range of addresses, to a set.
func (c *compiler) addressItem(n *node, t ty, s *set) outcome {
	if n.kind == nRange {
		lo, out := c.addressLiteral(n.kids[0], t)
		if out != fine {
			return out
		}
		hi, out := c.addressLiteral(n.kids[1], t)
		switch {
		case out != fine:
			return out
		case lo.lo.Is4() != hi.lo.Is4():
			return c.mistake(n, "a range of addresses of two kinds", "write both as IPv4 or as IPv6")
		case hi.hi.Less(lo.lo):
			return c.mistake(n, "the end of the range is before its start", "")
		}
		s.addresses = append(s.addresses, addressRange{lo.lo, hi.hi})
		return fine
	}
	r, out := c.addressLiteral(n, t)
	if out == fine {
		s.addresses = append(s.addresses, r)
	}
	return out
}

func (c *compiler) addressLiteral(n *node, t ty) (addressRange, outcome) {
	text, ok := n.text, n.kind == nText
	if s, given := c.given(n); given {
		text, ok = strings.TrimSpace(s), true
	}
	if n.kind == nValue && !ok {
		return addressRange{}, c.noValue(n)
	}
	r, is := addressesOf(text)
	if ok && is {
		return r, fine
	}
	const help = "write 10.0.0.1, fe80::1, 10.8.0.0/13 or, in a set, 10.0.0.1..10.0.0.9"
	if !ok {
		if n.kind == nPath && c.classify(n).kind == pathWord {
			return r, absent
		}
		return r, c.mistake(n, t.label+" is an address", help)
	}
	return r, c.mistake(n, clip(quote(text))+" is not an address", help)
}

// beside is the set of the addresses before or after one, or a network.
func (c *compiler) beside(n *node, t ty, op cmpOp, s *set) outcome {
	r, out := c.addressLiteral(n, t)
	if out != fine {
		return out
	}
	first, last := netip.IPv4Unspecified(), netip.AddrFrom4([4]byte{255, 255, 255, 255})
	if !r.lo.Is4() {
		b := [16]byte{}
		for i := range b {
			b[i] = 0xff
		}
		first, last = netip.IPv6Unspecified(), netip.AddrFrom16(b)
	}
	switch op {
	case opGt:
		first = r.hi.Next()
	case opGe:
		first = r.lo
	case opLt:
		last = r.lo.Prev()
	case opLe:
		last = r.hi
	}
	if first.IsValid() && last.IsValid() {
		s.addresses = append(s.addresses, addressRange{first, last})
	}
	return fine
}

// family returns the version of the Internet protocol of an address.
func family(b string) (int64, bool) {
	switch a, err := netip.ParseAddr(b); {
	case err != nil:
		return 0, false
	case a.Is4():
		return 4, true
	}
	return 6, true
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	if err != nil {
		_, err = netip.ParsePrefix(s)
	}
	return err == nil
}

// address reads an IP address, or a network, with the port of the address: 10.0.0.1, 10.0.0.1:7801, 10.0.0.0/8, fe80::1.
func (s *scanner) address(t *token) bool {
	n := 0
	for isHex(s.peekByte(n)) || s.peekByte(n) == '.' && s.peekByte(n+1) != '.' || s.peekByte(n) == ':' {
		n++
	}
	run := s.text[s.at : s.at+n]
	if _, err := netip.ParseAddrPort(run); err != nil && !isAddress(run) {
		return false
	}
	if !strings.Contains(run, "::") && strings.Count(run, ".") != 3 && strings.Count(run, ":") != 7 {
		return false // 0a:1b:2c are bytes
	}
	if s.peekByte(n) == '/' {
		end := n + 1
		for isDigit(s.peekByte(end)) {
			end++
		}
		if !isAddress(s.text[s.at : s.at+end]) {
			return false
		}
		n = end
	}
	if isNameByte(s.peekByte(n)) {
		return false
	}
	t.kind, t.text = tText, s.text[s.at:s.at+n]
	s.at += n
	return true
}

// hostOf returns the address of "address:port", and portOf the port. The brackets of IPv6 are left out.
func hostOf(end string) string {
	i := strings.LastIndexByte(end, ':')
	if i < 0 {
		return end
	}
	return strings.TrimSuffix(strings.TrimPrefix(end[:i], "["), "]")
}

func portOf(end string) (int64, bool) {
	n, err := strconv.ParseUint(end[strings.LastIndexByte(end, ':')+1:], 10, 16)
	return int64(n), err == nil
}
