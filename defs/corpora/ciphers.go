package corpora

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// sha0 is the hash of FIPS 180, before its correction: SHA-1 without the rotation in the schedule.
func sha0(data []byte) (h [5]uint32) {
	h = [5]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
	padded := append(append([]byte{}, data...), 0x80)
	for len(padded)%64 != 56 {
		padded = append(padded, 0)
	}
	padded = binary.BigEndian.AppendUint64(padded, uint64(len(data))*8)
	for ; len(padded) > 0; padded = padded[64:] {
		var w [80]uint32
		for i := range w {
			if i < 16 {
				w[i] = binary.BigEndian.Uint32(padded[4*i:])
			} else {
				w[i] = w[i-3] ^ w[i-8] ^ w[i-14] ^ w[i-16]
			}
		}
		a, b, c, d, e := h[0], h[1], h[2], h[3], h[4]
		for i, x := range w {
			var f, k uint32
			switch i / 20 {
			case 0:
				f, k = b&c|^b&d, 0x5a827999
			case 1:
				f, k = b^c^d, 0x6ed9eba1
			case 2:
				f, k = b&c|b&d|c&d, 0x8f1bbcdc
			default:
				f, k = b^c^d, 0xca62c1d6
			}
			a, b, c, d, e = bits.RotateLeft32(a, 5)+f+e+k+x, a, bits.RotateLeft32(b, 30), c, d
		}
		h[0], h[1], h[2], h[3], h[4] = h[0]+a, h[1]+b, h[2]+c, h[3]+d, h[4]+e
	}
	return h
}

// pike is the cipher of TERA as its description has it: three lagged generators that add, one of which may wait.
type pike struct {
	table    [3][]uint32
	at       [3]int
	last     [3]uint32
	carry    [3]bool
	word     []byte // the rest of the last word
	expanded []byte
}

func newPike(key []byte) *pike {
	const size = 4 * (55 + 57 + 58)
	c := &pike{}
	for len(c.expanded) < size {
		c.expanded = append(c.expanded, key...)
	}
	c.expanded = c.expanded[:size]
	c.expanded[0] = 128
	for at := 0; at < size; at += 20 {
		for i, w := range sha0(c.expanded) {
			binary.LittleEndian.PutUint32(c.expanded[at+4*i:], w)
		}
	}
	rest := c.expanded
	for g, n := range []int{55, 57, 58} {
		for range n {
			c.table[g] = append(c.table[g], binary.LittleEndian.Uint32(rest))
			rest = rest[4:]
		}
	}
	return c
}

// xor encrypts or decrypts in place.
func (c *pike) xor(data []byte) {
	for i := range data {
		if len(c.word) == 0 {
			votes := 0
			for _, x := range c.carry {
				if x {
					votes++
				}
			}
			for g, lag := range []int{31, 50, 39} {
				if c.carry[g] == (votes >= 2) {
					n := len(c.table[g])
					sum := uint64(c.table[g][c.at[g]]) + uint64(c.table[g][(c.at[g]+lag)%n])
					c.last[g], c.carry[g], c.at[g] = uint32(sum), sum>>32 != 0, (c.at[g]+1)%n
				}
			}
			c.word = binary.LittleEndian.AppendUint32(nil, c.last[0]^c.last[1]^c.last[2])
		}
		data[i] ^= c.word[0]
		c.word = c.word[1:]
	}
}

// teraKeys are the keys that client and server exchange.
type teraKeys struct{ c1, s1, c2, s2 []byte }

func randomKeys(rng *rand.Rand) teraKeys {
	return teraKeys{randomBytes(rng, 128), randomBytes(rng, 128), randomBytes(rng, 128), randomBytes(rng, 128)}
}

// session returns the keys of both directions.
func (k teraKeys) session() (toServer, toClient []byte) {
	rotated := func(b []byte, left int) []byte { return append(append([]byte{}, b[left:]...), b[:left]...) }
	toServer = make([]byte, 128)
	s1, c2 := rotated(k.s1, 128-67), rotated(k.c2, 29)
	for i := range toServer {
		toServer[i] = k.c1[i] ^ s1[i] ^ c2[i]
	}
	toClient = rotated(k.s2, 128-41)
	newPike(toServer).xor(toClient)
	return toServer, toClient
}

// ciphers makes vectors of the hash, the ciphers and the checksums.
func (m *maker) ciphers() {
	rng := rand.New(rand.NewPCG(3, 29))
	var hashes []row
	for _, b := range [][]byte{nil, []byte("abc"), []byte(strings.Repeat("0123456789", 12)), randomBytes(rng, 55), randomBytes(rng, 56), randomBytes(rng, 680)} {
		var digest string
		for _, w := range sha0(b) {
			digest += fmt.Sprintf("%08x", w)
		}
		hashes = append(hashes, row{"message_hex": hex.EncodeToString(b), "digest": digest})
	}
	var sessions []row
	for _, long := range []int{1 << 20, 4096, 4096} { // longer than the period, which has less than 55·57·58 words
		k := randomKeys(rng)
		toServer, toClient := k.session()
		s, c := newPike(toServer), newPike(toClient)
		expanded := hex.EncodeToString(s.expanded)
		s.xor(make([]byte, 128)) // mixing the keys uses as much
		sessions = append(sessions, row{
			"client_keys": []string{hex.EncodeToString(k.c1), hex.EncodeToString(k.c2)}, "server_keys": []string{hex.EncodeToString(k.s1), hex.EncodeToString(k.s2)},
			"client_to_server_key": hex.EncodeToString(toServer), "client_to_server_expanded": expanded,
			"server_to_client_key": hex.EncodeToString(toClient), "server_to_client_expanded": hex.EncodeToString(c.expanded),
			"streams": row{"client_to_server": streamVectors(rng, s, long), "server_to_client": streamVectors(rng, c, long)},
		})
	}
	m.json("tera/cipher.json", row{"sha0": hashes, "sessions": sessions})

	var sums []row
	for _, iv := range []uint32{0, 1, 77777, 1<<31 - 1, 1<<32 - 1} {
		for _, size := range []int{12, 13, 40, 300} {
			code, count := uint16(rng.Uint32()), uint32(1+rng.IntN(9))
			packet := randomBytes(rng, size)
			binary.LittleEndian.PutUint16(packet, uint16(size))
			binary.LittleEndian.PutUint16(packet[2:], code)
			binary.LittleEndian.PutUint32(packet[4:], count)
			sum := checksum(iv, packet)
			binary.LittleEndian.PutUint32(packet[8:], sum)
			sums = append(sums, row{"iv": iv, "opcode": code, "count": count, "checksum": sum, "packet": hex.EncodeToString(packet)})
		}
	}
	m.json("tera/integrity.json", row{"vectors": sums})
}

func streamVectors(rng *rand.Rand, c *pike, long int) row {
	var chunks []row
	at := 0
	for _, n := range []int{1, 2, 3, 4, 5, 31, 200} {
		plain := randomBytes(rng, n)
		out := append([]byte{}, plain...)
		c.xor(out)
		chunks = append(chunks, row{"plain": hex.EncodeToString(plain), "cipher": hex.EncodeToString(out)})
		at += n
	}
	zeros := make([]byte, long)
	c.xor(zeros)
	sum := sha256.Sum256(zeros)
	return row{"chunks": chunks, "then_zero_bytes": row{
		"from_offset": at, "length": len(zeros), "sha256_of_cipher": hex.EncodeToString(sum[:]), "last16": hex.EncodeToString(zeros[len(zeros)-16:]),
	}}
}

// checksum is that of client messages, term by term.
func checksum(iv uint32, packet []byte) (sum uint32) {
	code, count := uint32(binary.LittleEndian.Uint16(packet[2:])), binary.LittleEndian.Uint32(packet[4:])
	total := uint64(iv)
	for at := range packet {
		if at >= 8 && at < 12 {
			continue
		}
		i, b := uint32(at), uint32(packet[at])
		total += uint64(at)
		switch total % 5 {
		case 0:
			sum += (code + count - iv + i) ^ b<<(i%3)
		case 1:
			sum += (code + count + iv + i) & (b << (i % 4))
		case 2:
			sum += (code + count - 2*iv + i) | b<<(i%2)
		case 3:
			sum += (count - code + 2*iv + i) ^ b<<(i%3)
		default:
			sum += (code + count + iv) ^ b<<(i%3)
		}
	}
	return sum
}

// vie encrypts a datagram in place, with the cipher of SubSpace.
func vie(key uint32, data []byte) {
	n := min(1, len(data))
	if n > 0 && data[0] == 0 {
		n = min(2, len(data))
	}
	stream := vieStream(key)
	last := binary.LittleEndian.AppendUint32(nil, key)
	for i := n; i < len(data) && i-n < len(stream); i++ {
		data[i] ^= stream[i-n] ^ last[(i-n)%4]
		last[(i-n)%4] = data[i]
	}
}

// vieStream is the generator of Park and Miller with an addend, as asss has it.
func vieStream(key uint32) (stream []byte) {
	k := int64(int32(key))
	for range 260 {
		quotient := k * 0x834e0b5f >> 48
		if quotient < 0 {
			quotient-- // two shifts
		}
		k = int64(int32(k%127773*16807 - quotient*2836 + 123))
		if k <= 0 {
			k = int64(int32(k + 0x7fffffff))
		}
		stream = append(stream, byte(k), byte(k>>8))
	}
	return stream
}
