package bustest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Names of what a Network makes, numbered from 1.
const (
	inside    = "wbin"           // the network between hosts
	outside   = "wbout"          // the one by which the test reaches them
	namespace = "wirebench-test" // of a host

	clientPort = "4222" // of NATS on a host
)

// Tester is the address of the test for all hosts of a network.
const Tester = "10.78.0.254"

// Network is a network of hosts on this machine. Each host is a network namespace with two links: one to the other hosts, which can be cut, and one to
// the test.
type Network struct {
	t     testing.TB
	hosts int
}

// NetworkLacks returns what a Network lacks on this machine, nil if there can be one.
func NetworkLacks() error {
	if os.Getuid() != 0 {
		return errors.New("network namespaces need root")
	}
	_, err := exec.LookPath("ip")
	return err
}

// NewNetwork makes a network that lasts until the test ends, in the network namespace of the process: one of its own, since other programs would notice
// the links. It needs Linux, root and the program ip. A machine has one at a time: what an earlier one has left is removed.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	n := &Network{t: t}
	n.remove()
	t.Cleanup(n.remove)
	if err := ip(
		"link set lo up", "link add "+inside+" type bridge", "link set "+inside+" up",
		"link add "+outside+" type bridge", "addr add "+Tester+"/24 dev "+outside, "link set "+outside+" up",
	); err != nil {
		t.Fatal(err)
	}
	return n
}

// ip runs commands of the program ip.
func ip(commands ...string) error {
	cmd := exec.Command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip: %w: %s", err, out)
	}
	return nil
}

// remove removes the namespaces of hosts. The links go with that of the process.
func (n *Network) remove() {
	names, _ := filepath.Glob("/run/netns/" + namespace + "*")
	for _, name := range names {
		_ = ip("netns del " + filepath.Base(name))
	}
}

// Host is a host of a Network. Nil is this machine, on loopback.
type Host struct {
	Inside  string // address for other hosts
	Outside string // address for the test
	n       int
}

// Host adds a host.
func (n *Network) Host() *Host {
	n.t.Helper()
	n.hosts++
	h := &Host{Inside: fmt.Sprintf("10.77.0.%d", n.hosts), Outside: fmt.Sprintf("10.78.0.%d", n.hosts), n: n.hosts}
	name := fmt.Sprintf("%s%d", namespace, h.n)
	commands := []string{"netns add " + name}
	for link, addr := range map[string]string{inside: h.Inside, outside: h.Outside} {
		commands = append(commands, fmt.Sprintf("link add %s%d type veth peer name %s netns %s", link, h.n, link, name), fmt.Sprintf("link set %s%d master %s up", link, h.n, link))
		if err := ip(commands...); err != nil {
			n.t.Fatal(err)
		}
		commands = nil
		for _, command := range []string{"addr add " + addr + "/24 dev " + link, "link set " + link + " up", "link set lo up"} {
			if out, err := exec.Command("ip", append([]string{"-n", name}, strings.Fields(command)...)...).CombinedOutput(); err != nil {
				n.t.Fatalf("ip %s: %v: %s", command, err, out)
			}
		}
	}
	return h
}

// Put lets a command that has not been started run on the host.
func (h *Host) Put(cmd *exec.Cmd) error {
	if h == nil {
		return nil
	}
	path, err := exec.LookPath("ip")
	if err != nil {
		return err
	}
	cmd.Args = append([]string{path, "netns", "exec", fmt.Sprintf("%s%d", namespace, h.n), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = path
	return nil
}

// Cut cuts the host from the others, or mends that. Packets are lost; no connection is told.
func (h *Host) Cut(is bool) error {
	state := "up"
	if is {
		state = "down"
	}
	return ip(fmt.Sprintf("link set %s%d %s", inside, h.n, state))
}

// CutFrom cuts the host from some others alone, or mends that.
func (h *Host) CutFrom(others []*Host, is bool) error {
	do := "del"
	if is {
		do = "add"
	}
	for _, o := range others {
		if o == h {
			continue
		}
		name := fmt.Sprintf("%s%d", namespace, h.n)
		if out, err := exec.Command("ip", "-n", name, "route", do, "blackhole", o.Inside+"/32").CombinedOutput(); err != nil {
			return fmt.Errorf("ip route: %w: %s", err, out)
		}
	}
	return nil
}
