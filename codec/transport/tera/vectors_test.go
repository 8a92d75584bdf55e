package tera

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"wirebench/codec/packettest"
	"wirebench/defs/corpora"
)

func digest(s shaState) string {
	var b []byte
	for _, w := range s {
		b = append(b, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	return hex.EncodeToString(b)
}

type streamVectors struct {
	Chunks []struct{ Plain, Cipher string }
	Zeros  struct {
		From   int `json:"from_offset"`
		Length int
		SHA256 string `json:"sha256_of_cipher"`
		Last16 string
	} `json:"then_zero_bytes"`
}

func TestCorporaCipherVectors(t *testing.T) { corpora.Run(t, testCipherVectors) }

func testCipherVectors(t *testing.T, corpus *corpora.Corpus) {
	var v struct {
		SHA0 []struct {
			Hex    string `json:"message_hex"`
			Digest string
		}
		Sessions []struct {
			Old              bool     `json:"patch_below_45_constants"`
			Client           []string `json:"client_keys"`
			Server           []string `json:"server_keys"`
			ToServerExpanded string   `json:"client_to_server_expanded"`
			ToServerKey      string   `json:"client_to_server_key"`
			ToClientKey      string   `json:"server_to_client_key"`
			ToClientExpanded string   `json:"server_to_client_expanded"`
			Streams          struct {
				ToServer streamVectors `json:"client_to_server"`
				ToClient streamVectors `json:"server_to_client"`
			}
		}
	}
	corpus.JSON(t, "tera/cipher.json", &v)
	if len(v.SHA0) == 0 || len(v.Sessions) == 0 {
		t.Fatal("no vectors")
	}
	for _, h := range v.SHA0 {
		if got := digest(sha0(packettest.Unhex(t, h.Hex))); got != h.Digest {
			t.Errorf("SHA-0 of %s: %s, not %s", h.Hex, got, h.Digest)
		}
	}
	for i, s := range v.Sessions { // all use the current constants; TestSessionKeys covers the old ones
		for _, e := range [][2]string{{s.ToServerKey, s.ToServerExpanded}, {s.ToClientKey, s.ToClientExpanded}} {
			got := expand((*[KeySize]byte)(packettest.Unhex(t, e[0])))
			if want := packettest.Unhex(t, e[1]); !bytes.Equal(got[:], want) {
				t.Errorf("session %d: expanded differently", i)
			}
		}
		c := ConstantsOf(45)
		if s.Old {
			c = ConstantsOf(44)
		}
		session := NewSession(&Keys{
			[KeySize]byte(packettest.Unhex(t, s.Client[0])), [KeySize]byte(packettest.Unhex(t, s.Server[0])),
			[KeySize]byte(packettest.Unhex(t, s.Client[1])), [KeySize]byte(packettest.Unhex(t, s.Server[1])),
		}, c)
		checkStream(t, &session.ToServer, s.Streams.ToServer)
		checkStream(t, &session.ToClient, s.Streams.ToClient)
	}
}

func checkStream(t *testing.T, c *Cipher, v streamVectors) {
	t.Helper()
	at := 0
	for i, k := range v.Chunks {
		data := packettest.Unhex(t, k.Plain)
		c.XORKeyStream(data, data)
		if !bytes.Equal(data, packettest.Unhex(t, k.Cipher)) {
			t.Errorf("chunk %d differs", i)
		}
		at += len(data)
	}
	if at != v.Zeros.From {
		t.Fatalf("chunks end at %d, not %d", at, v.Zeros.From)
	}
	skipped := *c
	zeros := make([]byte, v.Zeros.Length)
	c.XORKeyStream(zeros, zeros)
	if sum := sha256.Sum256(zeros); hex.EncodeToString(sum[:]) != v.Zeros.SHA256 {
		t.Error("the long keystream differs")
	}
	// The keystream has repeated by now, so this wraps around the end of the jumps.
	skipped.Skip(int64(v.Zeros.Length - 16))
	last := make([]byte, 16)
	skipped.XORKeyStream(last, last)
	if hex.EncodeToString(last) != v.Zeros.Last16 {
		t.Errorf("after Skip: %x, not %s", last, v.Zeros.Last16)
	}
}

func TestCorporaIntegrityVectors(t *testing.T) { corpora.Run(t, testIntegrityVectors) }

func testIntegrityVectors(t *testing.T, corpus *corpora.Corpus) {
	var v struct {
		Vectors []struct {
			IV, Count, Checksum uint32
			Opcode              uint16
			Packet              string
		}
	}
	corpus.JSON(t, "tera/integrity.json", &v)
	if len(v.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	for i, k := range v.Vectors {
		packet := packettest.Unhex(t, k.Packet)
		if got := Checksum(k.IV, packet); got != k.Checksum {
			t.Errorf("vector %d: checksum %d, not %d", i, got, k.Checksum)
		}
		sealed := bytes.Clone(packet)
		clear(sealed[4:12])
		Seal(k.IV, k.Count, sealed)
		if !bytes.Equal(sealed, packet) {
			t.Errorf("vector %d: sealed as %x, not %x", i, sealed[:12], packet[:12])
		}
		n := integrity{iv: k.IV, hasIV: true}
		for range k.Count - 1 {
			if k.Count > 1000 {
				n.missed = true
				break
			}
			n.seen.Next(k.Opcode)
		}
		if !n.check(k.Opcode, packet) {
			t.Errorf("vector %d is not recognised", i)
		}
		packet[len(packet)-1] ^= 0x40 // may be in the excluded bytes, 8 to 11
		if Checksum(k.IV, packet) != k.Checksum && (&integrity{iv: k.IV, hasIV: true, missed: true}).check(k.Opcode, packet) {
			t.Errorf("vector %d is recognised with another byte", i)
		}
	}
}
