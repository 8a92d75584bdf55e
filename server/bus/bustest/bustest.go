// Package bustest runs NATS servers for tests: as processes of their own, which can be killed.
package bustest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// variable makes a test program a NATS server: its values are a folder, an address and the bytes that JetStream may store; and in a cluster its name, the
// address of its routes and those of all.
const variable = "WIREBENCH_TEST_NATS"

// Main runs a NATS server if the program was started as one by Start. TestMain calls it first.
func Main() {
	words := strings.Fields(os.Getenv(variable))
	if len(words) < 3 {
		return
	}
	host, port := hostPort(words[1])
	most, _ := strconv.ParseInt(words[2], 10, 64)
	o := &server.Options{
		ServerName: "test", Host: host, Port: port, JetStream: true, StoreDir: words[0], JetStreamMaxStore: most, JetStreamMaxMemory: 64 << 20,
		SyncAlways: true, NoSigs: true, NoLog: true,
	}
	if len(words) > 5 {
		clustered(o, words[3], words[4], words[5:])
	}
	s, err := server.NewServer(o)
	if err == nil {
		s.Start()
		if !s.ReadyForConnections(30 * time.Second) {
			err = fmt.Errorf("not ready")
		}
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(s.ClientURL())
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the test ends, whatever becomes of it
	os.Exit(0)
}

// Server is a NATS server with JetStream, which stores on disk whatever it acknowledges.
type Server struct {
	URL string

	t       testing.TB
	dir     string
	most    int64
	addr    string
	cluster string // words of variable
	host    *Host

	mu  sync.Mutex
	cmd *exec.Cmd
}

// Start starts a server whose streams may have a gigabyte, until the test ends.
func Start(t testing.TB) *Server { return StartWith(t, 1<<30) }

// StartWith starts a server whose streams may have a number of bytes.
func StartWith(t testing.TB, most int64) *Server {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), most: most, addr: freeAddr(t)} // its address stays when it starts again
	t.Cleanup(s.Kill)
	s.Again()
	return s
}

// hostPort splits an address.
func hostPort(addr string) (string, int) {
	host, port, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(port)
	return host, n
}

// freeAddr returns an address that is free now.
func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Again starts the server again with what it has stored.
func (s *Server) Again() {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %s", variable, s.dir, s.addr, s.most, s.cluster))
	if err := s.host.Put(cmd); err != nil {
		s.t.Fatal(err)
	}
	if _, err = cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "nats://") {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		s.t.Fatalf("the NATS server does not start: %s%v", line, err)
	}
	if s.URL = strings.TrimSpace(line); s.host != nil {
		s.URL = "nats://" + s.host.Outside + ":" + clientPort
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd = cmd
}

// Inside returns the address for other hosts.
func (s *Server) Inside() string {
	if s.host == nil {
		return s.URL
	}
	return "nats://" + s.host.Inside + ":" + clientPort
}

// Host returns the host of the server.
func (s *Server) Host() *Host { return s.host }

// Kill kills the server as kill -9 does.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Pid returns the number of the process, 0 if it was killed.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}
