package subspace

import "encoding/binary"

// The size of an ack in a cluster: its length, then the ack.
const clusteredAck = 1 + ackSize

// isAckCluster reports whether an encrypted datagram may be a cluster that consists of acks. Servers and clients send such clusters all
// the time, and no other cluster content is as regular.
func isAckCluster(data []byte) bool {
	return len(data) >= clusterHeader+2*clusteredAck && len(data) <= clusterHeader+streamSize &&
		(len(data)-clusterHeader)%clusteredAck == 0 && data[0] == 0 && data[1] == coreCluster
}

// isAcks reports whether a deciphered datagram is a cluster of acks with plausible numbers.
func isAcks(plain []byte) bool {
	for at := clusterHeader; at < len(plain); at += clusteredAck {
		if plain[at] != ackSize || plain[at+1] != 0 || plain[at+2] != coreAck ||
			binary.LittleEndian.Uint32(plain[at+3:]) >= plausibleSequence {
			return false
		}
	}
	return true
}

// Recover recovers the key of a session from one encrypted datagram, and reports whether it succeeded. The datagram has to be a cluster of
// two or more acks with numbers below 2^20; the handshake is not needed.
//
// The two low bytes of each output of the generator form the keystream. An ack has constant bytes at the 3rd, 4th and 5th output (at the
// 3rd only in its upper byte), so trying all upper halves of the 4th takes 2^15 attempts. From it the generator runs back to the key.
// Source: spec of the core protocol, "Decrypting without the handshake".
func Recover(data []byte) (*Cipher, bool) {
	if !isAckCluster(data) {
		return nil, false
	}
	body := data[clusterHeader:]
	// Plain bytes of two acks: 06 00 04 n n n 00 | 06 00 04. Each byte is ciphered with the keystream and the byte 4 positions before it.
	word := func(i int, low, high byte) uint32 {
		return uint32(low^body[i]^body[i-4]) | uint32(high^body[i+1]^body[i-3])<<8
	}
	fourth, fifth := word(6, 0, ackSize), word(8, 0, coreAck)
	var plain [clusterHeader + streamSize]byte
	next := (uint64(fourth)*multiplier + addend) % modulus // after the candidate state
	for high := uint32(0); high < 1<<15; high++ {
		state, after := high<<16|fourth, uint32(next)
		if next += multiplier << 16 % modulus; next >= modulus {
			next -= modulus
		}
		if after == 0 {
			after = modulus
		}
		if after&0xFFFF != fifth || state == 0 {
			continue
		}
		first := back(back(back(state)))
		for _, c := range ciphersFrom(first, body) {
			c.Decrypt(plain[:], data)
			if isAcks(plain[:len(data)]) {
				return c, true
			}
		}
	}
	return nil, false
}

// back returns the generator's state before the given one.
func back(k uint32) uint32 {
	const inverse = 1407677000 // of the multiplier, modulo the modulus
	k = uint32((uint64(k) + modulus - addend) % modulus * inverse % modulus)
	if k == 0 {
		k = modulus
	}
	return k
}

// ciphersFrom returns the ciphers whose keystream begins with the output first and that decipher the start of a cluster of acks.
func ciphersFrom(first uint32, body []byte) []*Cipher {
	// The first 3 bytes of an ack in a cluster give 3 bytes of the key.
	second := step(first, Signed)
	low := uint32(body[0]^ackSize^byte(first)) | uint32(body[1]^byte(first>>8))<<8 | uint32(body[2]^coreAck^byte(second))<<16
	if key := back(first); key&0xFFFFFF == low {
		return []*Cipher{NewCipher(key, Signed)}
	}
	// A key with the top bit set is not the preceding state, because it lies outside the generator's cycle. Its 4th byte is tried.
	var found []*Cipher
	for high := uint32(0x80); high < 0x100; high++ {
		for schedule := Signed; schedule <= Unsigned; schedule++ {
			if key := high<<24 | low; step(key, schedule) == first {
				found = append(found, NewCipher(key, schedule))
			}
		}
	}
	return found
}

// clues holds the evidence on a key that no single datagram suffices for: a sync request, and the number of a reliable packet or an ack.
// Clients send the first every 5 s, and the others all the time.
type clues struct {
	sync     [syncSize]byte
	upper    uint16 // upper half of a number, encrypted; the same for all numbers below 65536
	hasSync  bool
	hasUpper bool
}

// plausibleCount bounds the counts in a sync request from which a key is recovered: hours of play.
const plausibleCount = 1 << 18

// take records a datagram's clues, and reports whether recovery is worth a new attempt.
func (c *clues) take(data []byte) bool {
	switch {
	case len(data) < ackSize || data[0] != 0:
	case data[1] == coreReliable || data[1] == coreAck && len(data) == ackSize:
		if upper := binary.LittleEndian.Uint16(data[sequenceAt+2:]); !c.hasUpper || upper != c.upper {
			c.upper, c.hasUpper = upper, true
			return c.hasSync
		}
	case data[1] == coreSync && len(data) == syncSize:
		if binary.LittleEndian.Uint32(data[sentAt:]) < plausibleCount && binary.LittleEndian.Uint32(data[receivedAt:]) < plausibleCount {
			return false // not encrypted
		}
		copy(c.sync[:], data)
		c.hasSync = true
		return c.hasUpper
	}
	return false
}

// recover recovers the key from the clues, and reports whether it succeeded.
//
// The counts in a sync request are small, so their upper halves reveal the low bytes of the 4th and the 6th output except for two bits
// each: all upper halves of the 4th are tried, and the 6th rejects wrong ones. The upper half of a small number is 0 and reveals the upper
// half of the key once the 2nd output is known; this selects one of the remaining keys.
func (c *clues) recover() (*Cipher, bool) {
	body := c.sync[coreHeader:]
	word := func(i int) uint32 {
		return uint32(body[i]^body[i-4]) | uint32(body[i+1]^body[i-3])<<8
	}
	fourth, sixth := word(6), word(10)
	for low := range uint32(plausibleCount >> 16) {
		next := (uint64(fourth^low)*multiplier + addend) % modulus // after the candidate state
		for high := range uint32(1 << 15) {
			state, after := high<<16|fourth^low, uint32(next)
			if next += multiplier << 16 % modulus; next >= modulus {
				next -= modulus
			}
			if after == 0 {
				after = modulus
			}
			if state == 0 || (step(after, Signed)^sixth)&0xFFFF >= plausibleCount>>16 {
				continue
			}
			if found := c.cipherFrom(back(back(back(state)))); found != nil {
				return found, true
			}
		}
	}
	return nil, false
}

// cipherFrom returns the cipher whose keystream begins with the output first and whose key has the upper half given by the clues, or nil.
func (c *clues) cipherFrom(first uint32) *Cipher {
	upper := uint32(uint16(step(first, Signed)) ^ c.upper)
	if key := back(first); key>>16 == upper {
		return NewCipher(key, Signed)
	}
	if upper < 0x8000 {
		return nil
	}
	// A key with the top bit set is not the preceding state: there a schedule's quotient is up to 2 too low or 1 too high, and its output
	// differs by as many remainders.
	for off := range uint64(4) {
		state := back(uint32((uint64(first)+modulus+remainder-off*remainder-1)%modulus) + 1)
		for _, key := range [...]uint32{state - modulus, state - 2*modulus, state + modulus, state + 2*modulus} {
			for schedule := Signed; schedule <= Unsigned; schedule++ {
				if key>>16 == upper && step(key, schedule) == first {
					return NewCipher(key, schedule)
				}
			}
		}
	}
	return nil
}
