package tera

import "crypto/subtle"

// Keys are what client and server send each other in clear before they encipher.
type Keys struct {
	Client1, Server1, Client2, Server2 [KeySize]byte // in the order in which they are sent
}

// Constants say how the keys are mixed.
type Constants uint8

// The sets of constants.
const (
	AnyConstants     Constants = iota // as the first messages show
	CurrentConstants                  // from patch 45 on
	OldConstants                      // before, and classic servers
)

// ConstantsOf says which set a patch uses by its major number.
func ConstantsOf(major int) Constants {
	if major < 45 {
		return OldConstants
	}
	return CurrentConstants
}

// String is the set as people name it.
func (c Constants) String() string { return [...]string{"any", "current", "old"}[c] }

// turns are the bytes by which Server1, Client2 and Server2 are turned.
func (c Constants) turns() (server1, client2, server2 int) {
	if c == OldConstants {
		return 31, 17, 79
	}
	return 67, 29, 41
}

// Session are the ciphers of one leg: of a connection between one client and one server. A proxy that drops, adds or changes messages
// needs one for each of its two legs, since their streams no longer have the same lengths; both are made of the same keys. What comes
// from one leg is deciphered with that one's cipher of its direction, and enciphered with the other one's.
type Session struct {
	ToServer, ToClient Cipher
}

// NewSession makes both ciphers as they stand behind the key exchange. AnyConstants counts as CurrentConstants.
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
	s.ToServer.XORKeyStream(key[:], turned[:]) // the first 128 bytes of that keystream are used for this
	s.ToClient.init(&key)
	return s
}

// turn makes dst[i] = src[i+n], around the end.
func turn(dst, src *[KeySize]byte, n int) {
	copy(dst[:], src[n:])
	copy(dst[KeySize-n:], src[:n])
}
