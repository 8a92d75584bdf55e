package tls

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
)

// Versions of TLS on the wire.
const (
	version12 = 0x0303
	version13 = 0x0304
)

// cipherKind is a kind of record protection.
type cipherKind uint8

const (
	aesGCM cipherKind = iota
	chaCha20
	aesCBC
)

// suite is what protects records under a cipher suite; the key exchange does not matter here.
type suite struct {
	kind    cipherKind
	keySize int
	hash    func() hash.Hash // of the key derivation
	mac     func() hash.Hash // of aesCBC
}

var (
	gcm128   = &suite{kind: aesGCM, keySize: 16, hash: sha256.New}
	gcm256   = &suite{kind: aesGCM, keySize: 32, hash: sha512.New384}
	chacha   = &suite{kind: chaCha20, keySize: 32, hash: sha256.New}
	cbc128   = &suite{kind: aesCBC, keySize: 16, hash: sha256.New, mac: sha1.New}
	cbc256   = &suite{kind: aesCBC, keySize: 32, hash: sha256.New, mac: sha1.New}
	cbc128s2 = &suite{kind: aesCBC, keySize: 16, hash: sha256.New, mac: sha256.New}
	cbc256s2 = &suite{kind: aesCBC, keySize: 32, hash: sha256.New, mac: sha256.New}
	cbc256s3 = &suite{kind: aesCBC, keySize: 32, hash: sha512.New384, mac: sha512.New384}
)

// suites13 are the cipher suites of TLS 1.3 (RFC 8446, B.4), by number.
var suites13 = map[uint16]*suite{0x1301: gcm128, 0x1302: gcm256, 0x1303: chacha}

// suites12 are those of TLS 1.2, by number (IANA, TLS Cipher Suites): for each protection those of RSA, DHE and ECDHE with RSA, DSS and
// ECDSA, then static and anonymous Diffie-Hellman, then preshared keys.
var suites12 = numbered(map[*suite][]uint16{
	gcm128:   {0x009c, 0x009e, 0x00a0, 0x00a2, 0xc02b, 0xc02f, 0x00a4, 0x00a6, 0xc02d, 0xc031, 0x00a8, 0x00aa, 0x00ac, 0xd001},
	gcm256:   {0x009d, 0x009f, 0x00a1, 0x00a3, 0xc02c, 0xc030, 0x00a5, 0x00a7, 0xc02e, 0xc032, 0x00a9, 0x00ab, 0x00ad, 0xd002},
	chacha:   {0xcca8, 0xcca9, 0xccaa, 0xccab, 0xccac, 0xccad, 0xccae},
	cbc128:   {0x002f, 0x0032, 0x0033, 0xc009, 0xc013, 0x0030, 0x0031, 0x0034, 0xc004, 0xc00e, 0xc018, 0x008c, 0x0090, 0x0094, 0xc035},
	cbc256:   {0x0035, 0x0038, 0x0039, 0xc00a, 0xc014, 0x0036, 0x0037, 0x003a, 0xc005, 0xc00f, 0xc019, 0x008d, 0x0091, 0x0095, 0xc036},
	cbc128s2: {0x003c, 0x0040, 0x0067, 0xc023, 0xc027, 0x003e, 0x003f, 0x006c, 0xc025, 0xc029, 0x00ae, 0x00b2, 0x00b6, 0xc037},
	cbc256s2: {0x003d, 0x006a, 0x006b, 0x0068, 0x0069, 0x006d},
	cbc256s3: {0xc024, 0xc028, 0xc026, 0xc02a, 0x00af, 0x00b3, 0x00b7, 0xc038},
})

func numbered(by map[*suite][]uint16) map[uint16]*suite {
	out := map[uint16]*suite{}
	for s, numbers := range by {
		for _, n := range numbers {
			out[n] = s
		}
	}
	return out
}
