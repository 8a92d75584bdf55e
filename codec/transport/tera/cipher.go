package tera

import (
	"crypto/subtle"
	"encoding/binary"
	"math"
	"slices"
)

// KeySize is the size of every key in bytes.
const KeySize = 128

// The three generators of the keystream: sizes of their tables in words, and the distance of the two words that a step adds.
const (
	size1, lag1 = 55, 31
	size2, lag2 = 57, 50
	size3, lag3 = 58, 39

	tableWords   = size1 + size2 + size3
	expandedSize = 4 * tableWords // bytes
)

// places is the number of states of a cipher once every generator has moved, and so an upper bound of the keystream's period in words.
const places = size1 * size2 * size3

// Cipher is the stream cipher of one direction, known as PIKE. Encrypting and deciphering are the same operation: XOR with the keystream,
// which continues across messages. The zero value is not usable. A copy continues independently.
//
// The tables never change, so the sum of each step of a generator is precomputed. An entry holds the sum in its low 32 bits, its carry in
// bit 32, and the index of the next entry from bit 40 on. A generator's state is its last entry.
type Cipher struct {
	now   [3]uint64 // last entries
	word  uint32    // of the keystream, the next byte lowest
	left  int       // unused bytes of word
	steps uint64    // words so far: the index into the jumps, relative to jumps.first
	sums1 [64]uint64
	sums2 [64]uint64
	sums3 [64]uint64
	jumps *jumps // nil until a long Skip
}

const (
	carryBit  = 32
	nextShift = 40
)

// NewCipher returns the cipher for a key.
func NewCipher(key *[KeySize]byte) *Cipher {
	c := new(Cipher)
	c.init(key)
	return c
}

func (c *Cipher) init(key *[KeySize]byte) {
	table := expand(key)
	var words [tableWords]uint32
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(table[4*i:])
	}
	*c = Cipher{}
	fill(&c.sums1, words[:size1], lag1)
	fill(&c.sums2, words[size1:size1+size2], lag2)
	fill(&c.sums3, words[size1+size2:], lag3)
}

func fill(sums *[64]uint64, words []uint32, lag int) {
	for i, w := range words {
		sums[i] = uint64(w) + uint64(words[(i+lag)%len(words)]) | uint64((i+1)%len(words))<<nextShift
	}
}

// expand derives the bytes of the tables from a key: a byte with the key's size, followed by the key repeatedly; each run of 20 bytes is
// then replaced by the little-endian words of the hash of the entire buffer as it stands.
func expand(key *[KeySize]byte) [expandedSize]byte {
	var data [expandedSize]byte
	for i := range data {
		data[i] = key[i%KeySize]
	}
	data[0] = KeySize
	done, front := 0, shaStart // the hash of the blocks before done, which no longer change
	for at := 0; at < expandedSize; at += 20 {
		for done+shaBlock <= at {
			front.block(data[done:])
			done += shaBlock
		}
		h := front
		h.finish(data[done:], expandedSize)
		for i, w := range h {
			binary.LittleEndian.PutUint32(data[at+4*i:], w)
		}
	}
	return data
}

// step moves two or three generators: those whose carry equals the majority's.
func (c *Cipher) step(a, b, d uint64) (uint64, uint64, uint64) {
	na, nb, nd := c.sums1[a>>nextShift&63], c.sums2[b>>nextShift&63], c.sums3[d>>nextShift&63]
	most := (a&b | a&d | b&d) >> carryBit & 1
	if a>>carryBit&1 == most {
		a = na
	}
	if b>>carryBit&1 == most {
		b = nb
	}
	if d>>carryBit&1 == most {
		d = nd
	}
	return a, b, d
}

// XORKeyStream sets dst to src XOR the keystream. dst must be at least as long as src; they must be identical or not overlap. It implements
// crypto/cipher.Stream.
func (c *Cipher) XORKeyStream(dst, src []byte) {
	dst = dst[:len(src)]
	for c.left > 0 && len(src) > 0 {
		dst[0] = src[0] ^ byte(c.word)
		c.word >>= 8
		c.left--
		dst, src = dst[1:], src[1:]
	}
	a, b, d := c.now[0], c.now[1], c.now[2]
	words := 0
	for len(src) >= 8 && len(dst) >= 8 {
		a, b, d = c.step(a, b, d)
		low := uint32(a ^ b ^ d)
		a, b, d = c.step(a, b, d)
		key := uint64(uint32(a^b^d))<<32 | uint64(low)
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src)^key)
		dst, src = dst[8:], src[8:]
		words += 2
	}
	for len(src) > 0 {
		a, b, d = c.step(a, b, d)
		words++
		c.word, c.left = uint32(a^b^d), 4
		var key [4]byte
		binary.LittleEndian.PutUint32(key[:], c.word)
		n := subtle.XORBytes(dst, src, key[:])
		c.word >>= 8 * uint(n)
		c.left -= n
		dst, src = dst[n:], src[n:]
	}
	c.now = [3]uint64{a, b, d}
	c.steps += uint64(words)
}

// skipByStep is the number of words up to which steps are faster than jumps.
const skipByStep = 4096

// Skip advances the keystream by n bytes, or by none if n is negative. It takes a few ms at most for any n, and much less on later calls.
func (c *Cipher) Skip(n int64) {
	if n <= 0 {
		return
	}
	if n <= int64(c.left) {
		c.word >>= 8 * uint(n)
		c.left -= int(n)
		return
	}
	n -= int64(c.left)
	c.left = 0
	words, rest := uint64(n)/4, uint(n)%4
	if words > skipByStep {
		c.advance(1) // every generator has moved from here on
		c.jump(words - 1)
	} else {
		c.advance(int(words))
	}
	if rest > 0 {
		c.advance(1)
		c.word, c.left = uint32(c.now[0]^c.now[1]^c.now[2])>>(8*rest), 4-int(rest)
	}
}

func (c *Cipher) advance(words int) {
	a, b, d := c.now[0], c.now[1], c.now[2]
	for range words {
		a, b, d = c.step(a, b, d)
	}
	c.now = [3]uint64{a, b, d}
	c.steps += uint64(words)
}

// jumps holds every jumpWords-th state of a cipher up to the end of its first period. It never changes once created.
type jumps struct {
	first  uint64      // steps of the cipher at states[0]
	loop   uint64      // words from states[0] to the first repeated state
	period uint64      // length of the period in words
	states [][3]uint64 // at 0, jumpWords, 2*jumpWords ... words from the first
}

const jumpWords = 512

// jump skips words of the keystream. Every generator must have moved.
func (c *Cipher) jump(words uint64) {
	if c.jumps == nil {
		c.jumps = c.findJumps()
	}
	j := c.jumps
	at := c.steps - j.first + words // cannot overflow: n of Skip is below 1<<63
	if at >= j.loop {
		at = j.loop + (at-j.loop)%j.period
	}
	c.now = j.states[at/jumpWords]
	c.steps = j.first + at/jumpWords*jumpWords
	c.advance(int(at % jumpWords))
}

// findJumps runs the generator until a state repeats, which happens after at most places words.
func (c *Cipher) findJumps() *jumps {
	const never = math.MaxUint32
	seen := slices.Repeat([]uint32{never}, places)
	j := &jumps{first: c.steps}
	a, b, d := c.now[0], c.now[1], c.now[2]
	for at := uint32(0); ; at++ {
		place := int(a>>nextShift) + size1*(int(b>>nextShift)+size2*int(d>>nextShift))
		if seen[place] != never {
			j.loop, j.period = uint64(seen[place]), uint64(at-seen[place])
			return j
		}
		seen[place] = at
		if at%jumpWords == 0 {
			j.states = append(j.states, [3]uint64{a, b, d})
		}
		a, b, d = c.step(a, b, d)
	}
}
