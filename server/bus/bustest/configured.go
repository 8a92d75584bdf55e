package bustest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// tlsBlock is the part of a configuration that names files of certificates.
var tlsBlock = regexp.MustCompile(`(?s)\ntls \{.*?\n\}`)

// Configured starts a server with a configuration, but on loopback, without TLS, and with a folder of the test. It returns its address.
func Configured(t testing.TB, text string) string {
	t.Helper()
	o := Options(t, tlsBlock.ReplaceAllString(text, ""))
	o.Host, o.Port, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", -1, t.TempDir(), true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	return s.Addr().String()
}

// Options returns what a configuration says.
func Options(t testing.TB, text string) *server.Options {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
