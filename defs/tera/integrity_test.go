package tera

import (
	"encoding/hex"
	"testing"

	"wirebench/defs/corpora"
)

// TestChecksum compares with a test vector of the public implementation.
func TestChecksum(t *testing.T) {
	frame, _ := hex.DecodeString("0c00341201000000ffffffff")
	for key, want := range map[uint32]uint32{0: 4529, 1: 23491, 1<<31 - 1: 9556, 1<<32 - 1: 4524} {
		if got := Checksum(frame, key); got != want {
			t.Errorf("key %d: %d, want %d", key, got, want)
		}
	}
	for n := range 12 {
		if got := Checksum(frame[:n], 1); got != 0 {
			t.Errorf("%d bytes have the checksum %d", n, got)
		}
	}
}

func TestCorporaChecksumVectors(t *testing.T) { corpora.Run(t, testChecksumVectors) }

func testChecksumVectors(t *testing.T, c *corpora.Corpus) {
	var file struct {
		Vectors []struct {
			IV       uint32
			Packet   string
			Checksum uint32
		}
	}
	if c.JSON(t, "tera/integrity.json", &file); len(file.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range file.Vectors {
		frame, err := hex.DecodeString(v.Packet)
		if err != nil {
			t.Fatal(err)
		}
		if got := Checksum(frame, v.IV); got != v.Checksum {
			t.Errorf("iv %d, %s: %d, want %d", v.IV, v.Packet, got, v.Checksum)
		}
	}
}
