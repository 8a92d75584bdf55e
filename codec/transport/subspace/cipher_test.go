package subspace_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"wirebench/codec/packettest"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/corpora"
)

// stream returns the keystream of a cipher: encrypted zeros, without the carry from the previous 4 bytes.
func stream(c *subspace.Cipher) []byte {
	const size = 520
	zeros := make([]byte, 1+size)
	zeros[0] = 1
	c.Encrypt(zeros, zeros)
	out := make([]byte, size)
	last := []byte{byte(c.Key()), byte(c.Key() >> 8), byte(c.Key() >> 16), byte(c.Key() >> 24)}
	for i := range out {
		out[i] = zeros[1+i] ^ last[i%4]
		last[i%4] = zeros[1+i]
	}
	return out
}

func TestCorporaCipherAgreesWithAServer(t *testing.T) { corpora.Run(t, testCipherAgreesWithAServer) }

func testCipherAgreesWithAServer(t *testing.T, c *corpora.Corpus) {
	var file struct {
		Keystreams []struct {
			Key, Keystream string
			SignedOnly     bool `json:"signed_only"`
		}
		Vectors []struct {
			Key, Name, Plain, Cipher string
			SignedOnly               bool `json:"signed_only"`
		}
	}
	if err := json.Unmarshal(c.Read(t, "subspace/vie-vectors.json"), &file); err != nil {
		t.Fatal(err)
	}
	cipher := func(key string, schedule subspace.Schedule) *subspace.Cipher {
		k, err := strconv.ParseUint(key, 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		return subspace.NewCipher(uint32(k), schedule)
	}
	if len(file.Keystreams) == 0 || len(file.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, schedule := range []subspace.Schedule{subspace.Signed, subspace.Unsigned} {
		for _, v := range file.Keystreams {
			same := hex.EncodeToString(stream(cipher(v.Key, schedule))) == v.Keystream
			if same == (v.SignedOnly && schedule == subspace.Unsigned) {
				t.Errorf("keystream of %s, schedule %d: equal %v", v.Key, schedule, same)
			}
		}
		for _, v := range file.Vectors {
			if v.SignedOnly && schedule == subspace.Unsigned {
				continue
			}
			c, plain, encrypted := cipher(v.Key, schedule), packettest.Unhex(t, v.Plain), packettest.Unhex(t, v.Cipher)
			got := make([]byte, len(plain))
			c.Encrypt(got, plain)
			if !bytes.Equal(got, encrypted) {
				t.Errorf("%s, key %s: encrypted %x, want %x", v.Name, v.Key, got, encrypted)
			}
			c.Decrypt(got, encrypted)
			if !bytes.Equal(got, plain) {
				t.Errorf("%s, key %s: deciphered %x, want %x", v.Name, v.Key, got, plain)
			}
		}
	}
}

// TestKeystreamIsThatOfTheGenerator compares the schedules with the specification in arithmetic without overflow.
func TestKeystreamIsThatOfTheGenerator(t *testing.T) {
	const modulus = 1<<31 - 1
	bits := func(n *big.Int, unsigned bool) *big.Int { // n in 32 bits
		n = new(big.Int).And(n, big.NewInt(1<<32-1))
		if !unsigned && n.Bit(31) == 1 {
			n.Sub(n, big.NewInt(1<<32))
		}
		return n
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		key := random.Uint32()
		for _, unsigned := range []bool{false, true} {
			schedule := subspace.Signed
			if unsigned {
				schedule = subspace.Unsigned
			}
			k := bits(big.NewInt(int64(key)), unsigned)
			keystream := stream(subspace.NewCipher(key, schedule))
			for i := 0; i < len(keystream); i += 2 {
				quotient := new(big.Int).Rsh(new(big.Int).Mul(k, big.NewInt(0x834E0B5F)), 48)
				if quotient.Sign() < 0 {
					quotient.Sub(quotient, big.NewInt(1))
				}
				next := new(big.Int).Rem(k, big.NewInt(127773))
				next.Mul(next, big.NewInt(16807)).Sub(next, quotient.Mul(quotient, big.NewInt(2836))).Add(next, big.NewInt(123))
				next = bits(next, unsigned)
				if next.Sign() <= 0 && !unsigned || next.Cmp(big.NewInt(modulus)) > 0 {
					next = bits(next.Add(next, big.NewInt(modulus)), unsigned)
				}
				k = next
				low := k.Int64()
				if keystream[i] != byte(low) || keystream[i+1] != byte(low>>8) {
					t.Fatalf("key %08x, unsigned %v: output %d differs", key, unsigned, i/2)
				}
			}
		}
	}
}

func TestCipherIsReversible(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for size := range 700 {
		plain := make([]byte, size)
		for i := range plain {
			plain[i] = byte(random.Uint32())
		}
		if size > 0 && size%3 == 0 {
			plain[0] = 0
		}
		c := subspace.NewCipher(random.Uint32(), subspace.Schedule(1+size%2))
		encrypted, got := make([]byte, size), make([]byte, size)
		c.Encrypt(encrypted, plain)
		c.Decrypt(got, encrypted)
		if !bytes.Equal(got, plain) {
			t.Fatalf("%d bytes are not what they were", size)
		}
		c.Decrypt(encrypted, encrypted)
		if !bytes.Equal(encrypted, plain) {
			t.Fatalf("%d bytes deciphered in place are not what they were", size)
		}
	}
}

// acks returns a cluster of acks.
func acks(numbers ...uint32) []byte {
	data := []byte{0, 0x0E}
	for _, n := range numbers {
		data = append(data, 6, 0, 4, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return data
}

func TestRecoverFindsEveryKey(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	keys := []uint32{1, 2, 127773, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF}
	for range 60 {
		keys = append(keys, random.Uint32())
	}
	for _, key := range keys {
		for schedule := subspace.Signed; schedule <= subspace.Unsigned; schedule++ {
			c := subspace.NewCipher(key, schedule)
			plain := acks(random.Uint32N(1<<16), random.Uint32N(1<<16), random.Uint32N(1<<16))
			if key%2 == 0 {
				plain = plain[:2+2*7]
			}
			encrypted := make([]byte, len(plain))
			c.Encrypt(encrypted, plain)
			got, found := subspace.Recover(encrypted)
			if !found {
				t.Errorf("key %08x, schedule %d: not found", key, schedule)
				continue
			}
			if got.Key() != key || !bytes.Equal(stream(got), stream(c)) {
				t.Errorf("key %08x, schedule %d: found %08x", key, schedule, got.Key())
			}
		}
	}
}

func TestRecoverFindsNothingWhereNothingIs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		data := make([]byte, 2+7*(2+random.IntN(3)))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		data[0], data[1] = 0, 0x0E
		if c, found := subspace.Recover(data); found {
			t.Errorf("found %08x in %x", c.Key(), data)
		}
	}
	for _, data := range [][]byte{nil, {0}, {0, 0x0E}, acks(1), make([]byte, 600)} {
		if _, found := subspace.Recover(data); found {
			t.Errorf("found a key in %x", data)
		}
	}
}

// TestCorporaVIEWithoutItsHandshake: a capture that begins anywhere in a session yields the messages after that point.
func TestCorporaVIEWithoutItsHandshake(t *testing.T) { corpora.Run(t, testVIEWithoutItsHandshake) }

func testVIEWithoutItsHandshake(t *testing.T, c *corpora.Corpus) {
	names, of := sessions(t, c, "vie-session")
	for _, session := range names {
		segments := of[session]
		if len(segments) < 50 {
			continue
		}
		whole := play(subspace.Options{}, segments)
		for _, cut := range []int{2, 3, 10, 25, len(segments) / 2, len(segments) - 30} {
			first := segments[cut].Packet
			want, got := map[string]int{}, map[string]int{}
			for _, f := range whole {
				// Messages that began in the capture and are complete in it.
				inside := f.Kind == transport.Message
				for _, s := range f.From {
					inside = inside && s.Packet >= first
				}
				if inside {
					want[dirName(f.Dir)+hex.EncodeToString(f.Bytes)]++
				}
			}
			opaque, broken := 0, 0
			for _, f := range play(subspace.Options{}, segments[cut:]) {
				switch f.Kind {
				case transport.Message:
					got[dirName(f.Dir)+hex.EncodeToString(f.Bytes)]++
				case transport.Opaque:
					opaque++
				case transport.Problem:
					broken++
					if len(f.Via) > 0 && f.Via[len(f.Via)-1] == "chunk" { // its first part may have been before the capture
						got[dirName(f.Dir)+hex.EncodeToString(f.Bytes)]++
					}
				}
			}
			if opaque > 0 {
				t.Errorf("%s from %d: %d datagrams are opaque", session, first, opaque)
			}
			lost := 0
			for m, n := range want {
				if got[m] < n {
					lost++
				}
			}
			if lost > 0 {
				t.Errorf("%s from %d: %d of %d messages are not there", session, first, lost, len(want))
			}
		}
	}
}
