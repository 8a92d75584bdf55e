package tls

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"encoding/binary"
	"hash"

	"golang.org/x/crypto/chacha20poly1305"
)

// Sizes of records, in bytes.
const (
	recordHead = 5
	maxBody    = 1<<14 + 2048 // of a protected record of TLS 1.2; those of TLS 1.3 are shorter
	tagSize    = 16           // of all supported AEADs
	nonceSize  = 12           // likewise
	explicit   = 8            // of a nonce of AES-GCM in a record of TLS 1.2
)

// protection decrypts the records of one direction under one set of keys.
type protection struct {
	tls13    bool
	aead     cipher.AEAD // nil for aesCBC
	explicit bool        // a part of the nonce is in the record
	iv       [nonceSize]byte

	block     cipher.Block
	mac       hash.Hash
	macSize   int
	macBehind bool // encrypt-then-MAC

	nonce [nonceSize]byte
	more  [13]byte // additional data
}

// open decrypts a record, header included, with a sequence number, into dst, which has space for maxBody bytes. at is the offset in rec of the
// ciphertext of the first byte of plain. ok is false if the record is not authentic.
func (p *protection) open(dst []byte, seq uint64, rec []byte) (plain []byte, at int, ok bool) {
	body := rec[recordHead:]
	if p.aead == nil {
		return p.openCBC(dst, seq, rec)
	}
	at = recordHead
	p.nonce = p.iv
	if p.explicit {
		if len(body) < explicit {
			return nil, 0, false
		}
		copy(p.nonce[nonceSize-explicit:], body)
		at, body = at+explicit, body[explicit:]
	} else {
		tail := p.nonce[nonceSize-8:]
		binary.BigEndian.PutUint64(tail, binary.BigEndian.Uint64(tail)^seq)
	}
	if len(body) < tagSize {
		return nil, 0, false
	}
	more := rec[:recordHead]
	if !p.tls13 {
		more = p.additional(seq, rec, len(body)-tagSize)
	}
	plain, err := p.aead.Open(dst[:0], p.nonce[:], body, more)
	return plain, at, err == nil
}

// additional returns the sequence number and header of a record of TLS 1.2 with the length size, which its authentication covers.
func (p *protection) additional(seq uint64, rec []byte, size int) []byte {
	binary.BigEndian.PutUint64(p.more[:], seq)
	copy(p.more[8:], rec[:3])
	binary.BigEndian.PutUint16(p.more[11:], uint16(size))
	return p.more[:]
}

// openCBC is open for aesCBC: an initialization vector, then blocks of content, MAC and padding; with encrypt-then-MAC the MAC follows the
// blocks.
func (p *protection) openCBC(dst []byte, seq uint64, rec []byte) (plain []byte, at int, ok bool) {
	body := rec[recordHead:]
	if p.macBehind {
		n := len(body) - p.macSize
		if n < 0 || !p.authentic(seq, rec, body[:n], body[n:]) {
			return nil, 0, false
		}
		body = body[:n]
	}
	if len(body) < 2*aes.BlockSize || len(body)%aes.BlockSize != 0 {
		return nil, 0, false
	}
	iv, body := body[:aes.BlockSize], body[aes.BlockSize:]
	plain = dst[:len(body)]
	cipher.NewCBCDecrypter(p.block, iv).CryptBlocks(plain, body)
	pad := plain[len(plain)-1]
	n := len(plain) - int(pad) - 1
	if !p.macBehind {
		n -= p.macSize
	}
	if n < 0 {
		return nil, 0, false
	}
	for _, b := range plain[len(plain)-int(pad)-1:] {
		if b != pad {
			return nil, 0, false
		}
	}
	if !p.macBehind && !p.authentic(seq, rec, plain[:n], plain[n:n+p.macSize]) {
		return nil, 0, false
	}
	return plain[:n], recordHead + aes.BlockSize, true
}

func (p *protection) authentic(seq uint64, rec, data, mac []byte) bool {
	p.mac.Reset()
	p.mac.Write(p.additional(seq, rec, len(data)))
	p.mac.Write(data)
	return hmac.Equal(p.mac.Sum(nil), mac)
}

// overhead returns how many bytes a record has besides its plaintext, header included; ok is false if that depends on the record.
func (p *protection) overhead() (n int, ok bool) {
	if p.aead == nil || p.tls13 {
		return 0, false
	}
	n = recordHead + tagSize
	if p.explicit {
		n += explicit
	}
	return n, true
}

// setAEAD sets the cipher of a key.
func (p *protection) setAEAD(kind cipherKind, key []byte) {
	if kind == chaCha20 {
		p.aead, _ = chacha20poly1305.New(key) // the size of the key is that of the suite, here and below
		return
	}
	block, _ := aes.NewCipher(key)
	p.aead, _ = cipher.NewGCM(block)
}

// protect12 derives the protection of TLS 1.2 (RFC 5246, section 6.3) for the data of the client or of the server.
func protect12(s *suite, master []byte, client, server random, ofClient, macBehind bool) *protection {
	macSize, ivSize := 0, nonceSize
	switch s.kind {
	case aesCBC:
		macSize, ivSize = s.mac().Size(), 0 // each record has its own
	case aesGCM:
		ivSize = nonceSize - explicit
	}
	seed := append(append([]byte("key expansion"), server[:]...), client[:]...)
	keys := expand12(s.hash, master, seed, 2*(macSize+s.keySize+ivSize))
	take := func(n int) []byte { // there are two of each kind: of the client, then of the server
		both := keys[:2*n]
		keys = keys[2*n:]
		if ofClient {
			return both[:n]
		}
		return both[n:]
	}
	macKey, key := take(macSize), take(s.keySize)
	p := &protection{explicit: s.kind == aesGCM}
	copy(p.iv[:], take(ivSize))
	if s.kind != aesCBC {
		p.setAEAD(s.kind, key)
		return p
	}
	p.block, _ = aes.NewCipher(key)
	p.mac, p.macSize, p.macBehind = hmac.New(s.mac, macKey), macSize, macBehind
	return p
}

// expand12 is the pseudorandom function of TLS 1.2 (RFC 5246, section 5); seed includes the label.
func expand12(h func() hash.Hash, secret, seed []byte, size int) []byte {
	mac := hmac.New(h, secret)
	sum := func(parts ...[]byte) []byte {
		mac.Reset()
		for _, p := range parts {
			mac.Write(p)
		}
		return mac.Sum(nil)
	}
	var out []byte
	for a := sum(seed); len(out) < size; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:size]
}

// protect13 derives the protection of TLS 1.3 from a traffic secret (RFC 8446, section 7.3).
func protect13(s *suite, secret []byte) *protection {
	p := &protection{tls13: true}
	p.setAEAD(s.kind, expand13(s, secret, "key", s.keySize))
	copy(p.iv[:], expand13(s, secret, "iv", nonceSize))
	return p
}

// expand13 is HKDF-Expand-Label with an empty context (RFC 8446, section 7.1).
func expand13(s *suite, secret []byte, label string, size int) []byte {
	info := append([]byte{byte(size >> 8), byte(size), byte(len("tls13 ") + len(label))}, "tls13 "+label...)
	out, err := hkdf.Expand(s.hash, secret, string(append(info, 0)), size)
	if err != nil { // only for sizes above 255 hashes
		return make([]byte, size)
	}
	return out
}
