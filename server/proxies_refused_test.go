package server

import (
	"net"
	"strings"
	"testing"

	"wirebench/server/relay"
	"wirebench/server/servertest"
)

// The reason why listening failed is given once, in words; also by the listener of a replay.
func TestListenProblem(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	defer s.Close()
	_, err = s.relays.Start(t.Context(), s.Projects.Find("one"), relay.Config{Listen: l.Addr().String(), Upstream: "127.0.0.1:9"})
	if want := "listen to " + l.Addr().String() + ": address already in use; another listener or program has this port"; err == nil || err.Error() != want {
		t.Errorf("%v, not %s", err, want)
	}
	if all, err := s.Projects.Find("one").Captures.List(); err != nil || len(all) > 0 {
		t.Errorf("%v %v", all, err)
	}
	_, err = s.relays.Start(t.Context(), s.Projects.Find("one"), relay.Config{Listen: "192.0.2.1:0", Upstream: "127.0.0.1:9"})
	if err == nil || strings.Count(err.Error(), "192.0.2.1") != 1 || !strings.Contains(err.Error(), "no such address") {
		t.Error(err)
	}
}
