package frames

import (
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/server/live"
)

// A frame that is not a message is described by the properties from its transport.
func TestAbout(t *testing.T) {
	conn := live.Conn{Name: "10.0.0.2:4000-10.0.0.1:7801", Session: 1}
	many := make([]transport.Source, 0, 100)
	for i := range 50 {
		many = append(many, transport.Source{Packet: uint32(i + 1), Len: 1}, transport.Source{Packet: uint32(i + 1), Off: 1, Len: 1})
	}
	for _, c := range []struct {
		name, what string
		frame      transport.Frame
		has        []string
	}{
		{"key", "Key exchange", transport.Frame{Kind: transport.Control, Via: []string{"handshake"}, Note: "first key of the client", Bytes: make([]byte, 128)}, []string{"Note: first key of the client", "Inside: handshake", "bytes 0 to 127", "Connection: 10.0.0.2:4000-10.0.0.1:7801, session 1"}},
		{"ack", "Control", transport.Frame{Kind: transport.Control, Offset: transport.Unknown, From: []transport.Source{{Packet: 7}}}, []string{"From: packet 7"}},
		{"opaque", "Encrypted bytes", transport.Frame{Kind: transport.Opaque, From: many}, []string{"the key is unknown", "11, 12 and 38 more"}},
		{"gap", "Gap", transport.Frame{Kind: transport.Problem, Length: 1, Note: "bytes are missing", Offset: 12}, []string{"Reason: bytes are missing", "Missing: 1 byte", "bytes 12"}},
		{"unknown gap", "Gap", transport.Frame{Kind: transport.Problem, Length: transport.Unknown}, []string{"an unknown number"}},
		{"problem", "Problem", transport.Frame{Kind: transport.Problem, Note: "no"}, []string{"Reason: no"}},
	} {
		a := about(&c.frame, conn)
		var all strings.Builder
		for _, f := range a.Facts {
			all.WriteString(f[0] + ": " + f[1] + "\n")
		}
		if a.What != c.what {
			t.Errorf("%s is %q", c.name, a.What)
		}
		for _, h := range c.has {
			if !strings.Contains(all.String(), h) {
				t.Errorf("%s lacks %q: %s", c.name, h, all.String())
			}
		}
	}
	if about(&transport.Frame{}, conn) != nil {
		t.Error("a message is described")
	}
	for name, port := range map[string]uint16{conn.Name: 7801, "[::1]:5-[::2]:6": 6, "": 0, "a-b": 0} {
		if got := serverPort(name); got != port {
			t.Errorf("port of %q: %d", name, got)
		}
	}
}
