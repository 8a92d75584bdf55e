package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
)

// aFile writes an input file.
func aFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Messages of a raw file are matched to definitions by their codes.
func TestFramesOfRawFile(t *testing.T) {
	one, err := hex.DecodeString("12002b4e080039304c0061006e006e000000")
	if err != nil {
		t.Fatal(err)
	}
	file := aFile(t, "messages.bin", append(append(bytes.Clone(one), one...), 1, 0))
	out, errs, status := cli(t, "", "frames", "--protocol", "tera", "--framing", "prefixed:2le+self+keep+c2s", "--json", "--value", file)
	if got := lines(out); status != 0 || len(got) != 3 || !strings.Contains(got[1], `"message":"C_JOIN_PRIVATE_CHANNEL"`) || !strings.Contains(got[1], `"dir":"c2s"`) || !strings.Contains(got[2], `"kind":"problem"`) {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	file = aFile(t, "core.bin", []byte{6, 0, 4, 10, 0, 0, 0}) // type 4 of the core protocol, then an incomplete message
	out, errs, status = cli(t, "", "frames", "--protocol", "subspace", "--framing", "prefixed:1", "--json", file)
	if got := lines(out); status != 0 || len(got) != 1 || !strings.Contains(got[0], `"message":"ack"`) {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	if _, errs, status := cli(t, "", "frames", "--protocol", "tera", "--framing", "prefixed:2", file); status != 2 || !strings.Contains(errs, "prefixed:2le or prefixed:2be") {
		t.Errorf("status %d\n%s", status, errs)
	}
}

// A connection captured without its key exchange is read with keys from a file.
func TestFramesWithKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var keys tera.Keys
	var text []byte
	for _, k := range []*[tera.KeySize]byte{&keys.Client1, &keys.Server1, &keys.Client2, &keys.Server2} {
		for i := range k {
			k[i] = byte(rng.Uint32())
		}
		text = append(text, k[:]...)
	}
	conn := transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:7801")}
	var file bytes.Buffer
	w, err := pcap.NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, _ := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	s := pcap.NewSynthetic(w, iface, conn)
	if err := s.Open(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	session := tera.NewSession(&keys, tera.CurrentConstants)
	message, _ := hex.DecodeString("12002b4e080039304c0061006e006e000000")
	for range 5 {
		data := bytes.Clone(message)
		session.ToServer.XORKeyStream(data, data)
		if err := s.Data(schema.ToServer, time.Unix(2, 0), data, ""); err != nil {
			t.Fatal(err)
		}
	}
	path := aFile(t, "late.pcapng", file.Bytes())
	if out, _, _ := cli(t, "", "frames", "--protocol", "tera", path); strings.Contains(out, "C_JOIN_PRIVATE_CHANNEL") {
		t.Fatalf("without keys:\n%s", out)
	}
	for name, fits := range map[string]bool{conn.Name(): true, conn.Name() + "#0": true, "*": true, conn.Name() + "#1": false, "10.0.0.2:4001-10.0.0.1:7801": false} {
		keys := fmt.Sprintf("# keys\n%s tera %x\n", name, text)
		out, errs, status := cli(t, "", "frames", "--protocol", "tera", "--keys", aFile(t, "keys.txt", []byte(keys)), path)
		if piped, errs, status := cli(t, keys, "frames", "--protocol", "tera", "--keys", "-", path); piped != out || status != 0 {
			t.Errorf("keys of standard input: %d %s", status, errs)
		}
		if want := map[bool]int{true: 5}[fits]; status != 0 || strings.Count(out, "C_JOIN_PRIVATE_CHANNEL") != want {
			t.Errorf("%s: status %d\n%s%s", name, status, out, errs)
		}
	}
	for _, args := range [][]string{{"frames", "--protocol", "tera", "--keys", "-"}, {"replay", "--protocol", "tera", "--keys", "-", "--to", "127.0.0.1:1"}} {
		if _, errs, status := cli(t, "", append(args, "-")...); status != 2 || !strings.Contains(errs, "cannot both be standard input") {
			t.Errorf("%s: %d %s", args[0], status, errs)
		}
	}
	if _, errs, status := cli(t, "", "frames", "--protocol", "tera", "--keys", aFile(t, "keys.txt", []byte("\n* tera 12")), path); status != 2 || !strings.Contains(errs, "line 2: the key must be 1024 hex digits") {
		t.Errorf("status %d\n%s", status, errs)
	}
}
