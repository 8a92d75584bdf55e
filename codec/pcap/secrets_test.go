package pcap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
)

// Secrets are read as they were written, and known once the packet after them has been read. A block with a wrong length is skipped.
func TestSecrets(t *testing.T) {
	var file bytes.Buffer
	w, err := pcap.NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	all := []pcap.Secrets{{Kind: pcap.KeyLog, Data: []byte("CLIENT_RANDOM 00 00\n")}, {Kind: 0x57474b4c, Data: []byte("x")}, {Kind: pcap.KeyLog, Data: []byte{}}}
	for _, s := range all {
		if err := w.Secrets(s); err != nil {
			t.Fatal(err)
		}
		if err := w.Packet(&packet.Packet{Interface: iface, At: time.Unix(1, 0), Data: []byte{1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Secrets(pcap.Secrets{Data: make([]byte, pcap.MaxPacket)}); err == nil {
		t.Error("secrets that cannot be read back are written")
	}
	file.Write(binary.LittleEndian.AppendUint32([]byte("\x0a\x00\x00\x00\x14\x00\x00\x00KSLT\xff\xff\xff\xff"), 20))
	r, err := pcap.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range all {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all[:n+1], r.Secrets()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) || len(r.Secrets()) != len(all) {
		t.Error(err, r.Secrets())
	}
}
