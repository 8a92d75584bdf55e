package proxy

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirebench/defs/tooltest"
)

const redirectChild = "WIREBENCH_REDIRECT_CHILD"

// TestToolRedirect redirects connections by netfilter, in a network of its own, which needs root and iptables: the listener connects to
// where the client wanted to go, if that is allowed.
func TestToolRedirect(t *testing.T) {
	if os.Getenv(redirectChild) != "" {
		redirected(t)
		return
	}
	if os.Getuid() != 0 {
		tooltest.Skip(t, "a network of its own needs root")
	}
	for _, tool := range []string{"ip", "iptables"} {
		tooltest.Path(t, tool)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestToolRedirect$", "-test.v")
	cmd.Env = append(os.Environ(), redirectChild+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(err.Error(), "operation not permitted") {
		tooltest.Skip(t, "no network of its own: ", err)
	}
	if err != nil || strings.Contains(string(out), "--- SKIP") {
		if strings.Contains(string(out), "--- SKIP") {
			tooltest.Skip(t, "no network of its own: ", string(out))
		}
		t.Fatalf("%v\n%s", err, out)
	}
}

func redirected(t *testing.T) {
	run := func(command string) {
		t.Helper()
		words := strings.Fields(command)
		if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no network of its own: %s: %v %s", command, err, out)
		}
	}
	run("ip link set lo up")
	run("ip addr add 10.9.8.7/32 dev lo")
	run("ip -6 addr add fd09::7/128 dev lo")
	for _, host := range []string{"10.9.8.7", "fd09::7"} {
		t.Run(host, func(t *testing.T) {
			tool := "iptables"
			if strings.Contains(host, ":") {
				tool = "ip6tables"
			}
			l, err := net.Listen("tcp", net.JoinHostPort(host, "7801"))
			if err != nil {
				t.Skip("the port of the game is taken: ", err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					fmt.Fprintf(c, "%s\n", c.LocalAddr())
					c.Close()
				}
			}()
			up, err := NewUpstreams([]string{net.JoinHostPort(host, "7801")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := New(Options{Upstreams: up})
			// The proxy's own connections are told apart by their source, here 127.0.0.2 or the address itself.
			from := "10.9.8.6"
			if tool == "ip6tables" {
				from = "fd09::6"
			}
			bits := map[string]string{"iptables": "/32", "ip6tables": "/128"}[tool]
			run("ip addr add " + from + bits + " dev lo")
			listen := "127.0.0.1:0"
			if tool == "ip6tables" {
				listen = "[::1]:0"
			}
			s, err := p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{listen, Redirect}}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Stop(t.Context()) }()
			for _, port := range []string{"7801", "7802"} {
				run(fmt.Sprintf("%s -t nat -A OUTPUT -p tcp -s %s --dport %s -j REDIRECT --to-ports %d", tool, from, port, s.pairs[0].listen.Port()))
			}
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
			c, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(host, "7801"))
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(c).ReadString('\n')
			c.Close()
			if want := netip.MustParseAddrPort(net.JoinHostPort(host, "7801")).String(); err != nil || strings.TrimSpace(line) != want {
				t.Fatalf("%q %v, want %s", line, err, want)
			}
			if s.State().Total != 1 {
				t.Errorf("%+v", s.State())
			}
			// Another port is not on the list.
			c, err = dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(host, "7802"))
			if err == nil {
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				if _, err := bufio.NewReader(c).ReadString('\n'); err == nil {
					t.Error("a destination that is not allowed was reached")
				}
				c.Close()
			}
			eventually(t, "the refusal", func() bool { return hasEvent(s, "not on the list") })
		})
	}
}
