package tera

import "crypto/subtle"

// Keys holds the keys that client and server exchange in clear.
type Keys struct {
	Client1, Server1, Client2, Server2 [KeySize]byte // in the order in which they are sent
}

// Constants selects how the keys are mixed.
type Constants uint8

// The sets of constants.
const (
	AnyConstants     Constants = iota // determined from the first messages
	CurrentConstants                  // from patch 45 on
	OldConstants                      // before, and classic servers
)

// ConstantsOf returns the constants of a patch, given its major number.
func ConstantsOf(major int) Constants {
	if major < 45 {
		return OldConstants
	}
	return CurrentConstants
}

// String returns the name of the set.
func (c Constants) String() string { return [...]string{"any", "current", "old"}[c] }

// turns returns the numbers of bytes by which Server1, Client2 and Server2 are rotated.
func (c Constants) turns() (server1, client2, server2 int) {
	if c == OldConstants {
		return 31, 17, 79
	}
	return 67, 29, 41
}

// Session holds the ciphers of one leg, between one client and one server. A proxy that drops, adds or changes messages needs one for each
// of its two legs, since their streams no longer have the same lengths; both are created from the same keys. Data received on one leg is
// deciphered with that leg's cipher of its direction, and encrypted with the other leg's.
type Session struct {
	ToServer, ToClient Cipher
}

// NewSession returns both ciphers in their state after the key exchange. AnyConstants means CurrentConstants.
func NewSession(k *Keys, c Constants) *Session {
	s := new(Session)
	server1, client2, server2 := c.turns()
	var key, turned [KeySize]byte
	turn(&key, &k.Server1, KeySize-server1)
	subtle.XORBytes(key[:], key[:], k.Client1[:])
	turn(&turned, &k.Client2, client2)
	subtle.XORBytes(key[:], key[:], turned[:])
	s.ToServer.init(&key)

	turn(&turned, &k.Server2, KeySize-server2)
	s.ToServer.XORKeyStream(key[:], turned[:]) // mixing uses the first 128 bytes of that keystream
	s.ToClient.init(&key)
	return s
}

// turn rotates: dst[i] = src[(i+n) % KeySize].
func turn(dst, src *[KeySize]byte, n int) {
	copy(dst[:], src[n:])
	copy(dst[KeySize-n:], src[:n])
}
