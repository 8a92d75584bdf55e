package server

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// TestCaptureOfManyConnections checks that connections above the limit are reported.
func TestCaptureOfManyConnections(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	var file bytes.Buffer
	w, err := pcap.NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	for i := range packet.MaxConns + 2 {
		client := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 16), byte(i >> 8)}), uint16(1024+i&0xff))
		c := transport.Conn{Proto: transport.TCP, Client: client, Server: netip.MustParseAddrPort("10.9.0.1:5000")}
		if err := pcap.NewSynthetic(w, 0, c).Data(schema.ToServer, time.Unix(1700000000, 0), []byte("\x01\x02\x00hi"), ""); err != nil {
			t.Fatal(err)
		}
	}
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	var x store.Capture
	servertest.Request(t, s, "POST", "/api/one/captures?name=many.pcapng", file.Bytes(), &x)
	var f servertest.Frames
	for !f.Done {
		servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames?count=1", nil, &f)
	}
	if want := fmt.Sprintf("only the first %d connections are read; 2 packets of the others", packet.MaxConns); f.Total < packet.MaxConns || !strings.HasPrefix(f.Note, want) {
		t.Errorf("%d frames, note %q, want %q", f.Total, f.Note, want)
	}
}
