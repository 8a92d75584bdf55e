package proxy

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
)

func TestSocksHeader(t *testing.T) {
	six := netip.MustParseAddr("2001:db8::7").AsSlice()
	mapped := netip.MustParseAddr("::ffff:10.0.0.1").AsSlice()
	join := func(parts ...any) (b []byte) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				b = append(b, p...)
			case []byte:
				b = append(b, p...)
			}
		}
		return b
	}
	long := strings.Repeat("a.", 126) + "a"
	for _, test := range []struct {
		name     string
		in       []byte
		to, data string // to is "" for an invalid header
		fragment byte
	}{
		{"IPv4", join("\x00\x00\x00\x01\x0a\x00\x00\x01\x1f\x40hello"), "10.0.0.1:8000", "hello", 0},
		{"IPv6", join("\x00\x00\x00\x04", six, "\x1f\x40hello"), "[2001:db8::7]:8000", "hello", 0},
		{"IPv4 in IPv6", join("\x00\x00\x00\x04", mapped, "\x1f\x40hello"), "10.0.0.1:8000", "hello", 0},
		{"a name", join("\x00\x00\x00\x03\x0cgame.example\x1f\x40hello"), "game.example:8000", "hello", 0},
		{"a name in capitals with a stop", join("\x00\x00\x00\x03\x0dGAME.example.\x00\x01x"), "game.example:1", "x", 0},
		{"a long name", join("\x00\x00\x00\x03\xfd", long, "\x00\x01x"), long + ":1", "x", 0},
		{"an address as a name", join("\x00\x00\x00\x03\x0810.0.0.1\x1f\x40hello"), "10.0.0.1:8000", "hello", 0},
		{"an IPv6 address as a name", join("\x00\x00\x00\x03\x03::1\x1f\x40hello"), "[::1]:8000", "hello", 0},
		{"no data", join("\x00\x00\x00\x01\x0a\x00\x00\x01\x1f\x40"), "10.0.0.1:8000", "", 0},
		{"no port", join("\x00\x00\x00\x01\x0a\x00\x00\x01\x00\x00x"), "10.0.0.1:0", "x", 0},
		{"a fragment", join("\x00\x00\x81\x01\x0a\x00\x00\x01\x1f\x40x"), "10.0.0.1:8000", "x", 0x81},
		{"empty", nil, "", "", 0},
		{"short", join("\x00\x00\x00"), "", "", 0},
		{"without an address", join("\x00\x00\x00\x01"), "", "", 0},
		{"a short IPv4 address", join("\x00\x00\x00\x01\x0a\x00\x00\x01\x1f"), "", "", 0},
		{"a short IPv6 address", join("\x00\x00\x00\x04", six, "\x1f"), "", "", 0},
		{"a short name", join("\x00\x00\x00\x03\x0cgame.example\x1f"), "", "", 0},
		{"a name without its length", join("\x00\x00\x00\x03"), "", "", 0},
		{"an empty name", join("\x00\x00\x00\x03\x00\x1f\x40x"), "", "", 0},
		{"no name", join("\x00\x00\x00\x03\x02/.\x1f\x40x"), "", "", 0},
		{"an unknown type", join("\x00\x00\x00\x02\x0a\x00\x00\x01\x1f\x40x"), "", "", 0},
		{"a datagram of a game", join("\x00\x01\x99\x99\x99\x99\x01\x00\x00\x00"), "", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, data, ok := parseSocksHeader(test.in)
			if ok != (test.to != "") || ok && (h.String() != test.to || string(data) != test.data || h.fragment != test.fragment) {
				t.Errorf("%v %s %d %q", ok, h, h.fragment, data)
			}
		})
	}
	for _, from := range []string{"10.0.0.1:8000", "[2001:db8::7]:8000", "[fe80::1%eth0]:1"} {
		at := netip.MustParseAddrPort(from)
		h, data, ok := parseSocksHeader(append(appendSocksHeader(nil, at), "x"...))
		if !ok || h.addr != at.Addr().WithZone("") || h.port != at.Port() || string(data) != "x" {
			t.Errorf("%s: %v %s %q", from, ok, h, data)
		}
	}
}

// A valid header is read within its datagram, and one with the same meaning is read the same.
func FuzzSocksHeader(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x0a\x00\x00\x01\x1f\x40hello"))
	f.Add([]byte("\x00\x00\x00\x03\x0cgame.example\x1f\x40hello"))
	f.Add(append([]byte("\x00\x00\x01\x04"), make([]byte, 20)...))
	f.Add([]byte("\x00\x000\x03\b0.0.0.0.00"))
	f.Add([]byte("\x00\x00\x00\x03\x05127.1\x1f\x40"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, data, ok := parseSocksHeader(b)
		if !ok {
			return
		}
		if !bytes.HasSuffix(b, data) || h.addr.IsValid() == (h.name != "") || h.addr.Is4In6() {
			t.Fatalf("%+v %q", h, data)
		}
		again := append([]byte{0, 0, h.fragment, socksName, byte(len(h.name))}, h.name...)
		again = append(again, byte(h.port>>8), byte(h.port))
		if h.addr.IsValid() {
			if h.addr.Zone() != "" { // only a text has one, and the list refuses it
				return
			}
			again = appendSocksHeader(nil, netip.AddrPortFrom(h.addr, h.port))
			again[2] = h.fragment
		}
		if x, rest, ok := parseSocksHeader(append(again, data...)); !ok || x != h || !bytes.Equal(rest, data) {
			t.Fatalf("%+v, then %+v %v", h, x, ok)
		}
	})
}
