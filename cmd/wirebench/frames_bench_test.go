package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// smallMessages writes a library and a capture of n messages of 32 bytes: an id, a position, a number.
func smallMessages(t testing.TB, n int) (library, file string) {
	t.Helper()
	library = t.TempDir()
	for name, text := range map[string]string{"S_MOVE.1.def": "uint64 gameId\nvec3 loc\nint32 hp\nuint32 speed\n", "protocol.1.map": "S_MOVE 20001\n"} {
		if err := os.WriteFile(filepath.Join(library, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	w, err := pcap.NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s := pcap.NewSynthetic(w, iface, transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:7801")})
	if err := s.Open(at); err != nil {
		t.Fatal(err)
	}
	var segment []byte
	for i := range n {
		msg := make([]byte, 32)
		binary.LittleEndian.PutUint16(msg, 32)
		binary.LittleEndian.PutUint16(msg[2:], 20001)
		binary.LittleEndian.PutUint64(msg[4:], uint64(1000+i%500))
		binary.LittleEndian.PutUint32(msg[12:], 0x43800000+uint32(i))
		binary.LittleEndian.PutUint32(msg[16:], 0x43c00000+uint32(i))
		binary.LittleEndian.PutUint32(msg[20:], 0x40000000)
		binary.LittleEndian.PutUint32(msg[24:], uint32(i%10000))
		binary.LittleEndian.PutUint32(msg[28:], uint32(i%97))
		if segment = append(segment, msg...); i%4 == 3 || i == n-1 {
			if err := s.Data(schema.ToClient, at.Add(time.Duration(i)*time.Millisecond), segment, ""); err != nil {
				t.Fatal(err)
			}
			segment = segment[:0]
		}
	}
	file = filepath.Join(t.TempDir(), "small.pcapng")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return library, file
}

// BenchmarkFrames lists small messages with the frames command, from the bytes of a capture to JSON Lines or text.
func BenchmarkFrames(b *testing.B) {
	const n = 200_000
	library, file := smallMessages(b, n)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"json with values", []string{"--json", "--value"}},
		{"json", []string{"--json"}},
		{"text", nil},
		{"filter", []string{"--json", "--filter", ".hp > 9990"}},
		{"nothing", []string{"--json", "--filter", "len == 1"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				var errs bytes.Buffer
				if status := run(context.Background(), append([]string{"frames", "--library", library, file}, c.args...), nil, io.Discard, &errs); status != exitOK {
					b.Fatal(errs.String())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/frame")
		})
	}
}
