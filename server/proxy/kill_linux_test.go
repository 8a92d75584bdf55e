package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const killVariable = "WIREBENCH_CHILD_OF_PROXY"

// TestMain can run the test program as a proxy to be killed, which prints its address.
func TestMain(m *testing.M) {
	if os.Getenv(killVariable) == "" {
		os.Exit(m.Run())
	}
	u, err := NewUpstreams(DefaultUpstreams, nil)
	if err == nil {
		var s *Session
		s, err = New(Options{Upstreams: u}).Start(context.Background(), Config{
			Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", os.Args[1]}}, Transport: newRaw, Record: &Record{Create: folder(os.Args[2])},
		})
		if err == nil {
			fmt.Println(s.State().Pairs[0].Listen)
			_, _ = io.Copy(io.Discard, os.Stdin) // until the parent has gone
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// After kill -9 the file can be read up to the data on disk: all complete pieces, and data older than 0.1 s (flushTime).
func TestKilled(t *testing.T) {
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, addr, dir)
	cmd.Env = append(os.Environ(), killVariable+"=1")
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const quiet, busy = 10_000, 3 << 20
	echo := func(n int) {
		go func() { _, _ = io.Copy(c, &pattern{state: 1, left: n}) }()
		if _, err := io.CopyN(io.Discard, c, int64(n)); err != nil {
			t.Error(err)
		}
	}
	echo(quiet)
	var name string
	eventually(t, "it is on the disk", func() bool {
		all, _ := filepath.Glob(filepath.Join(dir, "*.pcapng"))
		if len(all) == 0 {
			return false
		}
		name = all[0]
		info, err := os.Stat(name)
		return err == nil && info.Size() > 2*quiet
	})
	echo(busy)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, data)
	n := 0
	for _, s := range got.streams {
		n += len(s)
	}
	if got.lost != 0 || len(got.sum.Conns) != 1 || n < 2*quiet {
		t.Errorf("%d bytes, %d lost, %+v", n, got.lost, got.sum)
	}
	t.Logf("%d of %d bytes are in the file", n, 2*(quiet+busy))
}
