package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http/httptest"
	"testing"
	"time"
)

// The connection to an upstream with TLS is encrypted, with a certificate that is verified; clients, the log and the recording have plain bytes.
func TestTLS(t *testing.T) {
	leaks(t)
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS() // of 127.0.0.1 and example.com
	roots := x509.NewCertPool()
	roots.AddCert(certificate.Certificate())
	config := certificate.TLS.Clone()
	certificate.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: config.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	for _, trusted := range []bool{true, false} {
		p := newProxy(t)
		if trusted {
			p.opts.Roots = roots
		} else {
			p.opts.Roots = x509.NewCertPool()
		}
		s := start(t, p, Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", TLS + l.Addr().String()}}})
		c := dial(t, s)
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = c.Write([]byte("hello"))
		back := make([]byte, 5)
		_, err := io.ReadFull(c, back)
		if trusted && (err != nil || string(back) != "hello") || !trusted && err == nil {
			t.Errorf("trusted %v: %q %v", trusted, back, err)
		}
		if trusted {
			_ = c.CloseWrite()
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Error(err)
			}
		}
		c.Close()
		if !trusted {
			eventually(t, "the reason", func() bool { return hasEvent(s, "certificate") })
		}
		stop(t, s)
		if x := s.State(); trusted && (x.ToServer != 5 || x.ToClient != 5) {
			t.Errorf("%+v", x)
		}
	}
	p := newProxy(t)
	if s, err := p.Start(t.Context(), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", "tls:127.0.0.1:9"}}}); err == nil {
		stop(t, s)
		t.Error("TLS for UDP")
	}
	if _, err := p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", "tls:10.0.0.1:9"}}}); err == nil {
		t.Error("an upstream that is not on the list")
	}
	pairs, err := Consecutive("127.0.0.1:10", "tls:10.0.0.1:20", 2)
	if err != nil || pairs[1].Upstream != "tls:10.0.0.1:21" {
		t.Error(pairs, err)
	}
}
