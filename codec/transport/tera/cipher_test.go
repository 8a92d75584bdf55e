package tera

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Source: the digests of FIPS 180 (1993), which distinguish SHA-0 from SHA-1.
func TestSHA0(t *testing.T) {
	for message, want := range map[string]string{
		"":    "f96cea198ad1dd5617ac084a3d92c6107708c0ef",
		"abc": "0164b8a914cd2a5e74c4f7ff082c4d97f1edf880",
		"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": "d2516ee1acfa5baf33dfc1c471e438449ef134c8",
	} {
		if got := digest(sha0([]byte(message))); got != want {
			t.Errorf("%q: %s, not %s", message, got, want)
		}
	}
}

// slowCipher is the generator as specified: tables, two positions in each, sums and carries.
type slowCipher struct {
	t          [3][]uint32
	p          [3]int
	sum, carry [3]uint32
	rest       []byte
}

func newSlowCipher(key *[KeySize]byte) *slowCipher {
	data := make([]byte, 680)
	for i := range data {
		data[i] = key[i%KeySize]
	}
	data[0] = KeySize
	for i := 0; i < 680; i += 20 {
		for j, w := range sha0(data) {
			binary.LittleEndian.PutUint32(data[i+4*j:], w)
		}
	}
	c := &slowCipher{}
	for i, n := range []int{55, 57, 58} {
		for range n {
			c.t[i] = append(c.t[i], binary.LittleEndian.Uint32(data))
			data = data[4:]
		}
	}
	return c
}

func (c *slowCipher) next() byte {
	if len(c.rest) == 0 {
		most := uint32(0)
		if c.carry[0]+c.carry[1]+c.carry[2] >= 2 {
			most = 1
		}
		for i, lag := range []int{31, 50, 39} {
			if c.carry[i] == most {
				n := len(c.t[i])
				s := uint64(c.t[i][c.p[i]]) + uint64(c.t[i][(c.p[i]+lag)%n])
				c.sum[i], c.carry[i] = uint32(s), uint32(s>>32)
				c.p[i] = (c.p[i] + 1) % n
			}
		}
		c.rest = binary.LittleEndian.AppendUint32(nil, c.sum[0]^c.sum[1]^c.sum[2])
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func randomKey(rng *rand.Rand) (k [KeySize]byte) {
	for i := range k {
		k[i] = byte(rng.Uint32())
	}
	return k
}

// However the bytes are split, and whichever are skipped, the keystream matches the specification.
func TestCipherIsAsDescribed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 4 {
		key := randomKey(rng)
		slow := newSlowCipher(&key)
		stream := make([]byte, 2_000_000)
		for i := range stream {
			stream[i] = slow.next()
		}
		c := NewCipher(&key)
		for at := 0; at < len(stream); {
			n := rng.IntN(40)
			if rng.IntN(20) == 0 {
				n = rng.IntN(200_000)
			}
			n = min(n, len(stream)-at)
			switch {
			case rng.IntN(2) == 0:
				c.Skip(int64(n))
			default:
				got := make([]byte, n+3)
				c.XORKeyStream(got, make([]byte, n))
				if !bytes.Equal(got[:n], stream[at:at+n]) || !bytes.Equal(got[n:], make([]byte, 3)) {
					t.Fatalf("round %d: %d bytes at %d differ", round, n, at)
				}
			}
			at += n
		}
	}
}

func TestSkipOfAnySizeReturns(t *testing.T) {
	key := randomKey(rand.New(rand.NewPCG(3, 4)))
	for _, n := range []int64{-1 << 63, -1, 0, 1, 3, 4, 5, 4 * skipByStep, 4*skipByStep + 4, 1<<62 + 1, 1<<63 - 1} {
		a, b := NewCipher(&key), NewCipher(&key)
		a.Skip(n)
		a.Skip(1<<63 - 1)
		b.Skip(1<<63 - 1)
		b.Skip(n)
		one, two := make([]byte, 30), make([]byte, 30)
		a.XORKeyStream(one, one)
		b.XORKeyStream(two, two)
		if !bytes.Equal(one, two) {
			t.Errorf("Skip of %d does not add up", n)
		}
	}
}

// Source: the formula of the proxies, with rotl(b, n)[i] = b[(i+n) mod 128] and rotr the other direction.
func TestSessionKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, c := range []struct {
		constants       Constants
		server1, c2, s2 int
	}{{CurrentConstants, 67, 29, 41}, {AnyConstants, 67, 29, 41}, {OldConstants, 31, 17, 79}} {
		k := &Keys{randomKey(rng), randomKey(rng), randomKey(rng), randomKey(rng)}
		var key [KeySize]byte
		for i := range key {
			key[i] = k.Server1[(i+KeySize-c.server1)%KeySize] ^ k.Client1[i] ^ k.Client2[(i+c.c2)%KeySize]
		}
		toServer := newSlowCipher(&key)
		for i := range key {
			key[i] = k.Server2[(i+KeySize-c.s2)%KeySize] ^ toServer.next()
		}
		toClient := newSlowCipher(&key)
		session := NewSession(k, c.constants)
		for _, way := range []struct {
			fast *Cipher
			slow *slowCipher
		}{{&session.ToServer, toServer}, {&session.ToClient, toClient}} {
			got := make([]byte, 1000)
			way.fast.XORKeyStream(got, got)
			for i, b := range got {
				if b != way.slow.next() {
					t.Fatalf("%s constants: byte %d of the keystream differs", c.constants, i)
				}
			}
		}
	}
}

func TestACopyRunsOnByItself(t *testing.T) {
	key := randomKey(rand.New(rand.NewPCG(5, 6)))
	a := NewCipher(&key)
	a.Skip(1 << 20)
	b := *a
	one, two := make([]byte, 100), make([]byte, 100)
	a.XORKeyStream(one, one)
	a.Skip(1 << 20)
	b.XORKeyStream(two, two)
	if !bytes.Equal(one, two) {
		t.Error("the copy differs")
	}
}

func BenchmarkCipher(b *testing.B) {
	key := randomKey(rand.New(rand.NewPCG(7, 8)))
	for _, n := range []int{32, 1460, 65536} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, data := NewCipher(&key), make([]byte, n)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				c.XORKeyStream(data, data)
			}
		})
	}
}

func BenchmarkNewSession(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 10))
	k := &Keys{randomKey(rng), randomKey(rng), randomKey(rng), randomKey(rng)}
	for b.Loop() {
		NewSession(k, CurrentConstants)
	}
}

func BenchmarkSkip(b *testing.B) {
	key := randomKey(rand.New(rand.NewPCG(11, 12)))
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			c := NewCipher(&key)
			c.Skip(1 << 30)
		}
	})
	b.Run("again", func(b *testing.B) {
		c := NewCipher(&key)
		for b.Loop() {
			c.Skip(16 << 20)
		}
	})
}
