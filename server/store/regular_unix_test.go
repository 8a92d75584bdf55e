//go:build unix

package store

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A fifo in the place of a file does not hang the start: the error names it.
func TestStartWithAFifo(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, formatFile), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := OpenData(dir, nil)
	if err == nil {
		d.Close()
	}
	if err == nil || !strings.Contains(err.Error(), formatFile) || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("%v", err)
	}
}
