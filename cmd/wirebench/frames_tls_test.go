package main

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// A key log is accepted where keys are, and what TLS carried is framed as any stream.
func TestFramesOverTLS(t *testing.T) {
	text, err := os.ReadFile("../../codec/tls/testdata/key_update.txt")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, _ := pcap.NewWriter(&file, "test")
	iface, _ := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	s := pcap.NewSynthetic(w, iface, transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:7801")})
	if err := s.Open(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	log := ""
	for line := range strings.Lines(string(text)) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if what == "key" {
			log += rest + "\n"
			continue
		}
		data, err := hex.DecodeString(rest)
		if err != nil {
			t.Fatal(err)
		}
		dir := schema.ToServer
		if what == "s2c" {
			dir = schema.ToClient
		}
		if err := s.Data(dir, time.Unix(2, 0), data, ""); err != nil {
			t.Fatal(err)
		}
	}
	path := aFile(t, "tls.pcapng", file.Bytes())
	frames := func(keys string) string {
		out, errs, status := cli(t, "", "frames", "--protocol", "muta", "--framing", "delimited:0a", "--columns", "dir,kind,hex,note", "--keys", aFile(t, "keys.log", []byte(keys)), path)
		if status != 0 {
			t.Fatal(errs)
		}
		return out
	}
	if got := frames(log); !strings.Contains(got, "c2s\tmessage\t"+hex.EncodeToString([]byte("the third message"))) || strings.Count(got, "message") != 8 {
		t.Error(got)
	}
	if got := frames("# none\n"); strings.Contains(got, "message") || !strings.Contains(got, "TLS, no keys for this connection: client random ce9172764403ecc1") {
		t.Error(got)
	}
}
