package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirebench/server/wsconn"
)

// served starts a server in another process, and returns its address.
func served(t *testing.T, said *log, args ...string) (at string, cmd *exec.Cmd) {
	t.Helper()
	cmd = child(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, args...)...)
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`Wirebench is at https?://(\S+)`)
	until(t, "the server is there", func() bool { return address.MatchString(said.String()) })
	return address.FindStringSubmatch(said.String())[1], cmd
}

// The shutdown does not wait for clients: neither for a stream, nor for the rest of a body, nor for pages that are suspended and do not say
// goodbye. Nothing of that was acknowledged, so that the shutdown is complete.
func TestShutdownWaitsForNobody(t *testing.T) {
	said := &log{}
	at, cmd := served(t, said)
	answered := make(chan string, 2)
	half := func(head string) {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, head); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			text, _ := io.ReadAll(c)
			answered <- string(text)
		}()
	}
	half("POST /api/v1/tera/decode HTTP/1.1\r\nHost: " + at + "\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n\"0400\"\n\r\n")
	half("POST /api/v1/tera/decode HTTP/1.1\r\nHost: " + at + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"hex\":")
	for range 3 {
		c, err := wsconn.Dial(t.Context(), "ws://"+at+"/ws/tera/page", http.Header{"Origin": {"http://" + at}}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Drop()
		for _, open := range []string{`{"id":1,"open":"page"}`, `{"id":2,"open":"pushed"}`} {
			if err := c.Write(context.Background(), []byte(open)); err != nil {
				t.Fatal(err)
			}
		}
	} // nobody reads from them
	time.Sleep(300 * time.Millisecond) // until the server waits for all of them
	begun := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	status := ended(t, cmd)
	took := time.Since(begun)
	t.Logf("the shutdown took %v", took)
	if !status.Exited() || status.ExitStatus() != exitOK || strings.Contains(said.String(), "incomplete") {
		t.Errorf("it ended with %v: %s", status, said)
	}
	if took > shutdownTime-500*time.Millisecond {
		t.Errorf("the shutdown took %v", took)
	}
	for range 2 {
		if text := <-answered; !strings.Contains(text, "shutting down") {
			t.Errorf("a client is not told: %q", text)
		}
	}
}

// SIGHUP reads the TLS certificate again, and does not end the server.
func TestHangup(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	serial := func(at string) int64 {
		c, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	one, oneKey := newPair(t, 1)
	putFile(t, cert, one)
	putFile(t, key, oneKey)
	said := &log{}
	at, cmd := served(t, said, "--tls-cert", cert, "--tls-key", key)
	if n := serial(at); n != 1 {
		t.Errorf("certificate %d", n)
	}
	two, twoKey := newPair(t, 2)
	putFile(t, cert, two)
	putFile(t, key, twoKey)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(t, "the certificate is read again", func() bool { return strings.Contains(said.String(), "read again") })
	if n := serial(at); n != 2 {
		t.Errorf("certificate %d after SIGHUP", n)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if status := ended(t, cmd); !status.Exited() || status.ExitStatus() != exitOK {
		t.Errorf("it ended with %v: %s", status, said)
	}
}
