package subspace

import "encoding/binary"

// Schedule is a method of generating the keystream from a VIE key. Keys below 2^31 give the same stream under both, and only these occur
// with real clients: they set the top bit of their key, and the server answers with the negation.
type Schedule uint8

// The schedules.
const (
	Either   Schedule = iota // determined from the packets; signed if undetermined
	Signed                   // as asss and SubspaceServer do
	Unsigned                 // as TWCore and the C++ clients do
)

// The generator of the keystream: Park and Miller's, with an addend, computed by Schrage's method.
// Source: spec of the core protocol, VIE cipher; asss enc_vie; the test vectors made with it.
const (
	streamSize = 520 // bytes: 260 outputs, 2 bytes of each
	modulus    = 0x7FFFFFFF
	multiplier = 16807
	quotient   = 127773 // modulus / multiplier
	remainder  = 2836   // modulus % multiplier
	addend     = 123
	reciprocal = 0x834E0B5F // 2^48 / quotient
)

// Cipher is the VIE cipher with a key. It has no state between datagrams and is immutable.
type Cipher struct {
	key    uint32
	stream [streamSize]byte
}

// NewCipher returns the cipher for the key in a server's answer.
func NewCipher(key uint32, schedule Schedule) *Cipher {
	c := &Cipher{key: key}
	k := key
	for i := 0; i < streamSize; i += 2 {
		k = step(k, schedule)
		binary.LittleEndian.PutUint16(c.stream[i:], uint16(k))
	}
	return c
}

// Key returns the key as in the server's answer.
func (c *Cipher) Key() uint32 { return c.key }

// step returns the generator's next state. The schedules differ for states of 2^31 and more, which occur only as the key.
func step(k uint32, schedule Schedule) uint32 {
	if schedule == Unsigned {
		k = k%quotient*multiplier - uint32(uint64(k)*reciprocal>>48)*remainder + addend
		if k > modulus {
			k += modulus
		}
		return k
	}
	s := int32(k)
	t := int32(int64(s) * reciprocal >> 48)
	t += t >> 31
	s = s%quotient*multiplier - t*remainder + addend
	if s <= 0 {
		s += modulus
	}
	return uint32(s)
}

// typeSize returns the number of plain bytes at the start of a datagram: its type.
func typeSize(data []byte) int {
	if len(data) > 0 && data[0] == 0 {
		return min(2, len(data))
	}
	return min(1, len(data))
}

// Decrypt writes the plain bytes of a datagram to dst, which must be as long as data and may be the same slice. Bytes beyond the keystream,
// more than 520 bytes after the type, are copied unchanged: no server sends that many.
func (c *Cipher) Decrypt(dst, data []byte) {
	n := typeSize(data)
	copy(dst, data[:n])
	dst, data = dst[n:], data[n:]
	size := min(len(data), streamSize)
	last := c.key
	i := 0
	for ; i+4 <= size; i += 4 {
		word := binary.LittleEndian.Uint32(data[i:])
		binary.LittleEndian.PutUint32(dst[i:], word^binary.LittleEndian.Uint32(c.stream[i:])^last)
		last = word
	}
	for shift := 0; i < size; i++ {
		dst[i] = data[i] ^ c.stream[i] ^ byte(last>>shift)
		shift += 8
	}
	copy(dst[i:], data[i:])
}

// Encrypt is the reverse of Decrypt.
func (c *Cipher) Encrypt(dst, data []byte) {
	n := typeSize(data)
	copy(dst, data[:n])
	dst, data = dst[n:], data[n:]
	size := min(len(data), streamSize)
	last := c.key
	i := 0
	for ; i+4 <= size; i += 4 {
		last ^= binary.LittleEndian.Uint32(data[i:]) ^ binary.LittleEndian.Uint32(c.stream[i:])
		binary.LittleEndian.PutUint32(dst[i:], last)
	}
	for shift := 0; i < size; i++ {
		dst[i] = data[i] ^ c.stream[i] ^ byte(last>>shift)
		shift += 8
	}
	copy(dst[i:], data[i:])
}
