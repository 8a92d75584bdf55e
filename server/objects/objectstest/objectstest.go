// Package objectstest runs an S3 service for tests.
package objectstest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"wirebench/defs/tooltest"
)

// Gateway runs an S3 service with a bucket "kept", and returns its address.
func Gateway(t *testing.T) string {
	t.Helper()
	program := tooltest.Path(t, "versitygw")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := ln.Addr().String()
	ln.Close()
	dir := t.TempDir()
	for _, name := range []string{"data/kept", "meta"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "somebody")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a long secret")
	t.Setenv("AWS_SESSION_TOKEN", "")
	cmd := exec.Command(program, "--port", at, "--access", "somebody", "--secret", "a long secret", "--quiet", "posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "data"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			return "http://" + at
		}
		if time.Now().After(end) {
			t.Fatal("the service does not answer: " + out.String())
		}
	}
}
