package packet

import (
	"bytes"
	"testing"
)

// An IP packet is found behind PPP and behind MPLS labels.
func TestLinksBeforeIP(t *testing.T) {
	ip := append([]byte{0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}, 0, 1, 0, 2, 0, 8, 0, 0)
	behind := func(b ...byte) []byte { return append(b, ip...) }
	ether := func(kind ...byte) []byte { return append(make([]byte, 12), kind...) }
	for _, c := range []struct {
		link LinkType
		data []byte
		is   bool
	}{
		{LinkPPP, behind(0xff, 3, 0, 0x21), true},
		{LinkPPP, behind(0, 0x21), true},
		{LinkPPP, behind(0x21), true},
		{linkPPPHDLC, behind(0xff, 3, 0x21), true},
		{LinkPPP, behind(0xff, 3, 0xc0, 0x21), false}, // PPP's own protocols
		{LinkPPP, []byte{0xff, 3}, false},
		{LinkPPP, nil, false},
		{LinkEthernet, behind(ether(0x88, 0x47, 0, 1, 1, 64)...), true},
		{LinkEthernet, behind(ether(0x88, 0x48, 0, 1, 0, 64, 0, 2, 1, 64)...), true},
		{LinkEthernet, behind(ether(0x81, 0, 0, 1, 0x88, 0x47, 0, 1, 1, 64)...), true},
		{LinkEthernet, behind(ether(0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0)...), false}, // not IP
		{LinkEthernet, ether(0x88, 0x47, 0, 1, 0, 64), false},
		{LinkEthernet, append(ether(0x88, 0x47), bytes.Repeat([]byte{0, 1, 0, 64}, 1000)...), false}, // labels without end
	} {
		got, _ := Network(c.link, c.data)
		if c.is != bytes.Equal(got, ip) {
			t.Errorf("%d % x: % x", c.link, c.data[:min(len(c.data), 24)], got)
		}
		if c.is {
			p := Packet{Link: c.link, Data: c.data}
			if off, size, ok := p.Payload(); !ok || off != len(c.data) || size != 0 {
				t.Errorf("%d % x: payload %d %d %t", c.link, c.data, off, size, ok)
			}
		}
	}
}
