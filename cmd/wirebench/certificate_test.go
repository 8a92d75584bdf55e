package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newPair returns a certificate with a serial number, and its key, as PEM.
func newPair(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, of, of, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// putFile puts a file in the place of another, as certificate tools do.
func putFile(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

// A replaced certificate is served; of one that cannot be used the log says why, and the old one stays. A half of a pair is served when the
// other half is there.
func TestReplacedCertificate(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	one, oneKey := newPair(t, 1)
	putFile(t, cert, one)
	putFile(t, key, oneKey)
	var log bytes.Buffer
	c, err := openCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	two, twoKey := newPair(t, 2)
	three, threeKey := newPair(t, 3)
	four, fourKey := newPair(t, 4)
	for _, step := range []struct {
		name string
		do   func()
		want int64
		log  string
	}{
		{"nothing", func() {}, 1, ""},
		{"the certificate alone", func() { putFile(t, cert, two) }, 1, "the old one is still served"},
		{"nothing since", func() {}, 1, ""},
		{"its key", func() { putFile(t, key, twoKey) }, 2, "read again"},
		{"damaged", func() { putFile(t, cert, two[:len(two)/2]) }, 2, "the old one is still served"},
		{"empty", func() { putFile(t, cert, nil) }, 2, "the old one is still served"},
		{"missing", func() { _ = os.Remove(cert) }, 2, ""},
		{"a folder", func() { _ = os.Mkdir(cert, 0o700) }, 2, "not a file"},
		{"another pair", func() {
			_ = os.Remove(cert)
			putFile(t, cert, three)
			putFile(t, key, threeKey)
		}, 3, "read again"},
		{"at a signal", func() {
			putFile(t, cert, four)
			putFile(t, key, fourKey)
			c.reload()
		}, 4, "read again"},
	} {
		log.Reset()
		step.do()
		c.looked = time.Time{}
		got, err := c.get(nil)
		if err != nil || got.Leaf.SerialNumber.Int64() != step.want {
			t.Fatalf("%s: %v, %v", step.name, got.Leaf.SerialNumber, err)
		}
		if step.log == "" && log.Len() > 0 || !strings.Contains(log.String(), step.log) {
			t.Errorf("%s: the log says %q", step.name, log.String())
		}
	}
	if _, err := openCertificate(cert, filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("no error without a key")
	}
}
