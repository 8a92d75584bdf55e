package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"

	"wirebench/codec/pcap"
	"wirebench/defs/schema"
	"wirebench/server/api"
	"wirebench/server/servertest"
)

// tapped is the end of a client; both directions of its connection are recorded.
type tapped struct {
	net.Conn
	record func(dir schema.Dir, data []byte)
}

func (c tapped) Write(p []byte) (int, error) {
	c.record(schema.ToServer, p)
	return c.Conn.Write(p)
}

func (c tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.record(schema.ToClient, p[:n])
	return n, err
}

// tlsSession returns a capture of a client that sends messages over TLS 1.3, without keys, and its key log.
func tlsSession(t *testing.T, messages ...string) (file []byte, log string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	var out, keys bytes.Buffer
	conn, at := servertest.Conversation(t, &out)
	a, b := net.Pipe()
	c := tls.Client(tapped{a, func(dir schema.Dir, data []byte) {
		if err := conn.Data(dir, at, data, ""); err != nil && len(data) > 0 {
			t.Error(err)
		}
	}}, &tls.Config{InsecureSkipVerify: true, KeyLogWriter: &keys})
	s := tls.Server(b, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, SessionTicketsDisabled: true})
	done := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, s)
		done <- err
	}()
	for _, m := range messages {
		if _, err := c.Write([]byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	c.CloseWrite()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), keys.String()
}

// withSecrets returns a pcapng with a key log after the header of its section.
func withSecrets(t *testing.T, file []byte, log string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pcap.NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Secrets(pcap.Secrets{Kind: pcap.KeyLog, Data: []byte(log)}); err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), file[binary.LittleEndian.Uint32(file[4:]):]...)
}

// hexOf returns the messages of a capture in hex, one a line.
func hexOf(t *testing.T, s *Server, id string) string {
	t.Helper()
	text, _ := exported(t, s, id, "format=hex&filter=kind%3D%3Dmessage")
	return text
}

// A capture with TLS is read by the key log in the file, or by the one that a user gives. Only an export of the whole file takes the first
// along; nothing takes the second.
func TestCaptureOverTLS(t *testing.T) {
	for _, hides := range []bool{false, true} {
		def := servertest.SayAndPing
		if hides {
			def = strings.Replace(def, "char {1, 300}", "char {1, 300} # @secret", 1)
			if def == servertest.SayAndPing {
				t.Fatal(def)
			}
		}
		s := captureServer(t, "muta", map[string]string{"game.def": def})
		file, log := tlsSession(t, "\x01\x02\x00hi", "\x02", "\x01\x05\x00hello")
		const want = "0102006869\n02\n01050068656c6c6f\n"
		secrets := func(text string) bool {
			r, err := pcap.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = r.Next()
			}
			return len(r.Secrets()) > 0 || strings.Contains(text, strings.Fields(log)[2])
		}

		x := servertest.Keep(t, s, "keyed.pcapng", withSecrets(t, file, log))
		whole, _ := exported(t, s, x.ID, "format=pcapng")
		if secrets(whole) == hides {
			t.Errorf("hides %v: an export of the file has secrets: %v", hides, !hides)
		}
		if some, _ := exported(t, s, x.ID, "format=pcapng&frames=1-2"); secrets(some) {
			t.Error("an export of some frames has secrets")
		}
		if hides {
			continue
		}
		if got := hexOf(t, s, x.ID); got != want {
			t.Errorf("with the keys of the file: %q", got)
		}
		if got := hexOf(t, s, servertest.Keep(t, s, "again.pcapng", []byte(whole)).ID); got != want {
			t.Errorf("an export read back: %q", got)
		}

		y := servertest.Keep(t, s, "unkeyed.pcapng", file)
		if got := hexOf(t, s, y.ID); got != "" {
			t.Errorf("without keys: %q", got)
		}
		if got := proposed(t, s, y.ID); !strings.Contains(got, "keys: give the TLS key log, as no keys for TLS: ") {
			t.Error(got)
		}
		body, err := json.Marshal(map[string]string{"keys": log})
		if err != nil {
			t.Fatal(err)
		}
		if code, text := servertest.Patch(t, s, y.ID, string(body)); code != 200 || strings.Contains(text, strings.Fields(log)[2]) {
			t.Fatal(code, text)
		}
		if got := hexOf(t, s, y.ID); got != want {
			t.Errorf("with given keys: %q", got)
		}
		if whole, _ := exported(t, s, y.ID, "format=pcapng"); secrets(whole) || !strings.Contains(whole, "the keys given for it are not included") {
			t.Error("an export has the keys that were given")
		}
		var packets struct{ Packets []api.PacketInfo }
		if code := servertest.Request(t, s, "GET", "/api/one/captures/"+y.ID+"/packets?clear=true&n=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20", nil, &packets); code != 200 {
			t.Fatal(code)
		}
		clear := ""
		for _, p := range packets.Packets {
			clear += p.Clear + " "
		}
		if !strings.Contains(clear, hex.EncodeToString([]byte("\x01\x05\x00hello"))) {
			t.Errorf("cleared packets: %s", clear)
		}
	}
}
