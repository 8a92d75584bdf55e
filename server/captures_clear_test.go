package server

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
	"wirebench/server/api"
	"wirebench/server/store"
)

// ciphered is a capture of an enciphered session, with the deciphered payloads by packet number.
type ciphered struct {
	file  []byte
	clear map[uint32]string
}

func (c *ciphered) record(t *testing.T, tcp bool, add func(send func(toServer bool, payload, clear []byte))) {
	t.Helper()
	var out bytes.Buffer
	w, err := pcap.NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	about := transport.Conn{Proto: transport.UDP, Client: netip.MustParseAddrPort("10.0.0.2:40000"), Server: netip.MustParseAddrPort("10.0.0.1:5000")}
	if tcp {
		about.Proto, about.Server = transport.TCP, netip.MustParseAddrPort("10.0.0.1:7801")
	}
	conn := pcap.NewSynthetic(w, iface, about)
	if err := conn.Open(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	c.clear = map[uint32]string{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	type sent struct{ payload, clear []byte }
	var all []sent
	add(func(toServer bool, payload, clear []byte) {
		at = at.Add(50 * time.Millisecond)
		dir := schema.ToClient
		if toServer {
			dir = schema.ToServer
		}
		if err := conn.Data(dir, at, payload, ""); err != nil {
			t.Fatal(err)
		}
		all = append(all, sent{payload, clear})
	})
	c.file = out.Bytes()
	in, err := pcap.NewReader(bytes.NewReader(c.file))
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := in.Next()
		if err != nil {
			break
		}
		if off, size, ok := p.Payload(); ok && size > 0 {
			if got := p.Data[off : off+size]; len(all) > 0 && bytes.Equal(got, all[0].payload) {
				c.clear[p.N] = hex.EncodeToString(all[0].clear)
				all = all[1:]
			}
		}
	}
	if len(all) > 0 {
		t.Fatalf("%d payloads are not in the file", len(all))
	}
}

// subspaceSession returns a session with the VIE cipher: a handshake, then reliable packets.
func subspaceSession(t *testing.T) *ciphered {
	const client, server = 0x10203040, 0xefdfcfc0 // the negation selects the cipher
	ours, theirs := subspace.NewCipher(server, subspace.Signed), subspace.NewCipher(server, subspace.Signed)
	out := &ciphered{}
	out.record(t, false, func(send func(bool, []byte, []byte)) {
		send(true, []byte{0, 1, 0x40, 0x30, 0x20, 0x10, 1, 0}, nil)
		send(false, []byte{0, 2, 0xc0, 0xcf, 0xdf, 0xef}, nil)
		for i := range byte(8) {
			plain := []byte{0, 3, i, 0, 0, 0, 0x7a, 'h', 'e', 'l', 'l', 'o', i, 0}
			sealed := make([]byte, len(plain))
			ours.Encrypt(sealed, plain)
			send(true, sealed, plain)
			ack := []byte{0, 4, i, 0, 0, 0}
			sealed = make([]byte, len(ack))
			theirs.Encrypt(sealed, ack)
			send(false, sealed, ack)
		}
	})
	return out
}

// teraSession returns a session in which each message came in two packets.
func teraSession(t *testing.T) *ciphered {
	var k tera.Keys
	for i := range tera.KeySize {
		k.Client1[i], k.Client2[i], k.Server1[i], k.Server2[i] = byte(i), byte(3*i), byte(5*i+1), byte(7*i+2)
	}
	s := tera.NewSession(&k, tera.CurrentConstants)
	out := &ciphered{}
	out.record(t, true, func(send func(bool, []byte, []byte)) {
		send(false, []byte{1, 0, 0, 0}, nil)
		send(true, k.Client1[:], nil)
		send(false, k.Server1[:], nil)
		send(true, k.Client2[:], nil)
		send(false, k.Server2[:], nil)
		for i := range byte(10) {
			plain := []byte{12, 0, 1, 0x10, 6, 0, 'a' + i, 0, 'b', 0, 0, 0}
			sealed := make([]byte, len(plain))
			s.ToServer.XORKeyStream(sealed, plain)
			send(true, sealed[:5], plain[:5])
			send(true, sealed[5:], plain[5:])
			answer := []byte{6, 0, 1, 0x20, i, 0}
			sealed = make([]byte, len(answer))
			s.ToClient.XORKeyStream(sealed, answer)
			send(false, sealed, answer)
		}
	})
	return out
}

// Packets of enciphered sessions are deciphered on demand.
func TestClearPackets(t *testing.T) {
	for dialect, session := range map[string]*ciphered{"subspace": subspaceSession(t), "tera": teraSession(t)} {
		t.Run(dialect, func(t *testing.T) {
			files := map[string]map[string]string{"subspace": {"x.def": "0x7a hello (c2s)\noffset size comment\n1 ? text words\n"}, "tera": chatFiles}[dialect]
			s := captureServer(t, dialect, files)
			var x store.Capture
			if code := request(t, s, "POST", "/api/one/captures?name=a.pcapng", session.file, &x); code != 201 {
				t.Fatal(code)
			}
			get := func(query string) map[uint32]api.PacketInfo {
				t.Helper()
				var out struct{ Packets []api.PacketInfo }
				if code := request(t, s, "GET", "/api/one/captures/"+x.ID+"/packets?"+query, nil, &out); code != 200 {
					t.Fatalf("%s: %d", query, code)
				}
				all := map[uint32]api.PacketInfo{}
				for _, p := range out.Packets {
					all[p.N] = p
				}
				return all
			}
			var query []string
			for n := range session.clear {
				query = append(query, strconv.Itoa(int(n)))
			}
			all := get("n=" + strings.Join(query, ",") + "&clear=true")
			if len(all) != len(session.clear) {
				t.Errorf("%d packets of %d", len(all), len(session.clear))
			}
			for n, p := range all {
				if want := session.clear[n]; p.Clear != want {
					t.Errorf("packet %d is %q, not %q", n, p.Clear, want)
				}
			}
			for n := range session.clear {
				if p := get("n=" + strconv.Itoa(int(n)))[n]; p.Clear != "" {
					t.Errorf("packet %d was deciphered though nobody asked: %s", n, p.Clear)
				}
				if p := get("clear=true&conn=elsewhere&n=" + strconv.Itoa(int(n)))[n]; p.Clear != "" {
					t.Errorf("packet %d is of another connection: %s", n, p.Clear)
				}
				if p := get("clear=true&conn=" + map[string]string{"subspace": "10.0.0.2:40000-10.0.0.1:5000", "tera": "10.0.0.2:40000-10.0.0.1:7801"}[dialect] + "&n=" + strconv.Itoa(int(n)))[n]; p.Clear != session.clear[n] {
					t.Errorf("packet %d alone is %q, not %q", n, p.Clear, session.clear[n])
				}
			}
		})
	}
}
