package access

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

const (
	minPassword = 10
	maxPassword = 200
)

// Work of hashing a password with argon2id (RFC 9106): 19 MiB and two passes, the least that OWASP recommends. hashing bounds how many run
// at once, as each takes memory.
const (
	hashMemory  = 19 << 10 // KiB
	hashPasses  = 2
	hashThreads = 1
	hashBytes   = 32
)

var hashing = make(chan struct{}, 4)

// hashPassword returns the hash of a password, with its parameters and salt.
func hashPassword(password string) (string, error) {
	if n := utf8.RuneCountInString(password); n < minPassword || n > maxPassword || len(password) > 4*maxPassword {
		return "", ErrPassword
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	sum := argon(password, salt)
	e := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashPasses, hashThreads, e.EncodeToString(salt), e.EncodeToString(sum)), nil
}

func argon(password string, salt []byte) []byte {
	hashing <- struct{}{}
	defer func() { <-hashing }()
	return argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, hashThreads, hashBytes)
}

// checkPassword reports whether a hash is that of the password. Without a hash it does the same work and returns false.
func checkPassword(hash, password string) bool {
	if len(password) > 4*maxPassword {
		password = ""
	}
	parts := strings.Split(hash, "$")
	var salt, want []byte
	if len(parts) == 6 {
		salt, _ = base64.RawStdEncoding.DecodeString(parts[4])
		want, _ = base64.RawStdEncoding.DecodeString(parts[5])
	}
	got := argon(password, append(salt, make([]byte, max(0, 16-len(salt)))...))
	return len(want) == hashBytes && subtle.ConstantTimeCompare(got, want) == 1
}
