package capture

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/transport"
)

// In a file, the rows of each connection pass through a transport of their own, even if others are between them.
func TestRowsOfSeveralConnections(t *testing.T) {
	text := "ip.src,tcp.srcport,ip.dst,tcp.dstport,tcp.payload\n" +
		"10.0.0.2,4000,10.0.0.1,80,01\n10.0.0.3,4000,10.0.0.1,80,0202\n10.0.0.1,80,10.0.0.2,4000,0303\n10.0.0.3,4000,10.0.0.1,80,04\n"
	var got []string
	made := 0
	_, _, err := ReadAny(strings.NewReader(text), Options{Options: packet.Options{New: func(transport.Conn) transport.Transport { made++; return &packettest.Sink{} }}, Proto: transport.TCP}, func(f *transport.Frame) {
		got = append(got, fmt.Sprintf("%d %s %s %x", f.Conn.ID, f.Conn.Name(), f.Dir, f.Bytes))
	})
	want := []string{
		"0 10.0.0.2:4000-10.0.0.1:80 c2s 01", "1 10.0.0.3:4000-10.0.0.1:80 c2s 0202", "0 10.0.0.2:4000-10.0.0.1:80 s2c 0303", "1 10.0.0.3:4000-10.0.0.1:80 c2s 04",
	}
	if err != nil || made != 2 || !slices.Equal(got, want) {
		t.Errorf("%q, %d transports, %v", got, made, err)
	}
	// A known server port decides.
	swapped := ""
	_, _, err = ReadAny(strings.NewReader(text), Options{Options: packet.Options{Ports: []uint16{4000}}, Proto: transport.TCP}, func(f *transport.Frame) { swapped += f.Dir.String() + " " })
	if swapped != "s2c s2c c2s s2c " || err != nil {
		t.Errorf("%s %v", swapped, err)
	}
}

func TestFormatTitle(t *testing.T) {
	for format, want := range map[string]string{
		"pcap": "", "pcapng.gz": "", "tshark-json": "packets of tshark (JSON)", "pdml.gz": "packets of Wireshark (PDML), packed", "har": "HAR of a browser, with websocket messages",
		"pcapng in a zip": "pcapng in a zip", "wow-pkt in a tar.gz": "World of Warcraft packets (.pkt) in a tar.gz", "": "",
	} {
		if got := FormatTitle(format); got != want {
			t.Errorf("%s: %q", format, got)
		}
	}
	for _, id := range []string{"tshark-json", "tshark-ek", "pdml", "wireshark-text"} {
		if FormatTitle(id) == "" {
			t.Errorf("%s has no title", id)
		}
	}
}
