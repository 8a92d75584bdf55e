package stream

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rc4"
	"fmt"

	"golang.org/x/crypto/chacha20"

	"wirebench/defs/envelope"
)

// Cipher is a cipher of one direction. It continues across messages.
type Cipher interface {
	// Apply encrypts or decrypts b in place.
	Apply(b []byte)

	// Clone returns a cipher of the same position that encrypts.
	Clone() Cipher

	// Skip advances past bytes that are missing. It returns false if that is impossible.
	Skip(n int64) bool
}

// maxSkip is the number of bytes up to which keystreams are advanced past a gap.
const maxSkip = 16 << 20

// newStream returns the cipher that deciphers a direction, or encrypts it.
func newStream(kind envelope.CipherKind, key, iv []byte, encrypt bool) (Cipher, error) {
	if !envelope.GoodKey(kind, len(key)) {
		return nil, fmt.Errorf("a key of %d bytes is not valid for the cipher", len(key))
	}
	if !envelope.GoodIV(kind, len(iv)) {
		return nil, fmt.Errorf("an iv of %d bytes is not valid for the cipher", len(iv))
	}
	switch kind {
	case envelope.XOR:
		return &xorStream{key: append([]byte(nil), key...)}, nil
	case envelope.RC4:
		c, err := rc4.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return &rc4Stream{*c}, nil
	case envelope.AESCFB8, envelope.AESCTR:
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if kind == envelope.AESCFB8 {
			c := &cfb8{block: block, encrypt: encrypt}
			copy(c.window[:], iv)
			return c, nil
		}
		first := append([]byte(nil), iv...)
		return &counted{seek: func(at int64) (cipher.Stream, bool) {
			counter := append([]byte(nil), first...)
			carry := uint64(at / aes.BlockSize)
			for i := len(counter) - 1; i >= 0 && carry > 0; i-- {
				carry += uint64(counter[i])
				counter[i] = byte(carry)
				carry >>= 8
			}
			c := cipher.NewCTR(block, counter)
			var rest [aes.BlockSize]byte
			c.XORKeyStream(rest[:at%aes.BlockSize], rest[:at%aes.BlockSize])
			return c, true
		}}, nil
	case envelope.ChaCha20:
		key, nonce := append([]byte(nil), key...), append([]byte(nil), iv...)
		return &counted{seek: func(at int64) (cipher.Stream, bool) {
			const block = 64
			c, err := chacha20.NewUnauthenticatedCipher(key, nonce)
			if err != nil || at/block >= 1<<32-1 {
				return nil, false
			}
			c.SetCounter(uint32(at / block))
			var rest [block]byte
			c.XORKeyStream(rest[:at%block], rest[:at%block])
			return c, true
		}}, nil
	}
	return nil, fmt.Errorf("unknown cipher %d", kind)
}

// xorStream combines the bytes with a key that repeats.
type xorStream struct {
	key []byte
	at  int
}

func (x *xorStream) Apply(b []byte) {
	at := x.at
	for i := range b {
		b[i] ^= x.key[at]
		if at++; at == len(x.key) {
			at = 0
		}
	}
	x.at = at
}

func (x *xorStream) Clone() Cipher { c := *x; return &c }

func (x *xorStream) Skip(n int64) bool {
	x.at = int((int64(x.at) + n) % int64(len(x.key)))
	return true
}

// rc4Stream is RC4. Its state can be copied.
type rc4Stream struct{ c rc4.Cipher }

func (r *rc4Stream) Apply(b []byte) { r.c.XORKeyStream(b, b) }

func (r *rc4Stream) Clone() Cipher { c := *r; return &c }

func (r *rc4Stream) Skip(n int64) bool {
	if n > maxSkip {
		return false
	}
	var rest [1024]byte
	for n > 0 {
		part := rest[:min(n, int64(len(rest)))]
		r.c.XORKeyStream(part, part)
		n -= int64(len(part))
	}
	return true
}

// counted is a keystream that can be positioned.
type counted struct {
	seek func(at int64) (cipher.Stream, bool)
	c    cipher.Stream // nil: not used yet at this position
	at   int64         // bytes so far
}

func (c *counted) Apply(b []byte) {
	if c.at += int64(len(b)); c.at > maxCounted {
		return // no connection has as many bytes
	}
	if c.c == nil {
		c.c, _ = c.seek(c.at - int64(len(b)))
	}
	if c.c != nil {
		c.c.XORKeyStream(b, b)
	}
}

// maxCounted is the number of bytes after which ChaCha20 has no more keystream.
const maxCounted = 1<<38 - 1<<16

func (c *counted) Clone() Cipher { return &counted{seek: c.seek, at: c.at} }

func (c *counted) Skip(n int64) bool {
	c.c = nil
	c.at += n
	return c.at <= maxCounted
}

// cfb8 is cipher feedback of 8 bits: each byte is combined with the first byte of the encrypted last 16 bytes of the encrypted stream.
// Source: NIST SP 800-38A, 6.3.
type cfb8 struct {
	block   cipher.Block
	encrypt bool
	window  [16 * aes.BlockSize]byte // the last 16 bytes are at at; it is moved once in many bytes
	at      int
	out     [aes.BlockSize]byte
}

func (c *cfb8) Apply(b []byte) {
	at := c.at
	for i, x := range b {
		if at == len(c.window)-aes.BlockSize {
			copy(c.window[:], c.window[at:])
			at = 0
		}
		c.block.Encrypt(c.out[:], c.window[at:at+aes.BlockSize])
		b[i] = x ^ c.out[0]
		if c.encrypt {
			x = b[i]
		}
		c.window[at+aes.BlockSize] = x
		at++
	}
	c.at = at
}

func (c *cfb8) Clone() Cipher { d := *c; d.encrypt = true; return &d }

func (c *cfb8) Skip(n int64) bool { return n == 0 }
