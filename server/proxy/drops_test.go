package proxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
)

// Each datagram of a burst, in either direction, arrives or is counted as lost.
func TestBurst(t *testing.T) {
	leaks(t)
	const size = 500
	for _, test := range []struct {
		name     string
		operable bool
		on       bool
	}{{"observed", false, false}, {"operable", true, false}, {"operated", true, true}} {
		for _, up := range []bool{false, true} {
			for _, n := range []int{3000, 60_000} {
				if n > 3000 && testing.Short() {
					continue
				}
				t.Run(fmt.Sprint(test.name, " up ", up, " ", n), func(t *testing.T) {
					server := listenUDP(t)
					cfg := Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", server.LocalAddr().String()}}, Transport: newRaw}
					if test.operable {
						cfg.Rewriter = func(transport.Conn) transport.Rewriter { return subspace.NewRewriter(subspace.Options{}) }
					}
					s := start(t, newProxy(t), cfg)
					if test.on {
						if err := s.Operate(true, "ann"); err != nil {
							t.Fatal(err)
						}
					}
					client := dialUDP(t, s.State().Pairs[0].Listen)
					_ = client.SetReadBuffer(socketBuffer)
					if _, err := client.Write([]byte{9}); err != nil {
						t.Fatal(err)
					}
					_, from, err := server.ReadFromUDPAddrPort(make([]byte, 10))
					if err != nil {
						t.Fatal(err)
					}
					s.drops.mu.Lock()
					_, want, known, _ := dropped(server)
					for socket := range s.drops.sockets {
						if _, room, _, _ := dropped(socket.(syscall.Conn)); known && room != want {
							t.Errorf("a socket buffer has %d bytes, and could have %d", room, want)
						}
					}
					s.drops.mu.Unlock()
					reader, write := client, func(b []byte) { _, _ = server.WriteToUDPAddrPort(b, from) }
					if up {
						reader, write = server, func(b []byte) { _, _ = client.Write(b) }
					}
					var got atomic.Int64
					done := make(chan struct{})
					quit := make(chan struct{})
					go func() {
						defer close(done)
						buf := make([]byte, 1<<16)
						for {
							_ = reader.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
							if _, err := reader.Read(buf); err == nil {
								got.Add(1)
							} else if !errors.Is(err, os.ErrDeadlineExceeded) {
								return
							}
							select {
							case <-quit:
								return
							default:
							}
						}
					}()
					data := make([]byte, size)
					data[0] = 0x99
					for range n {
						write(data)
					}
					var x State
					var own uint32
					for range 200 { // losses are reported within a second
						x = s.State()
						own, _, _, _ = dropped(reader)
						if got.Load()+x.Dropped+x.Unsent+int64(own) == int64(n) {
							break
						}
						time.Sleep(50 * time.Millisecond)
					}
					close(quit)
					<-done
					t.Logf("of %d: %d arrive, %d dropped before the proxy, %d not sent, %d dropped behind it", n, got.Load(), x.Dropped, x.Unsent, own)
					if x.Blind {
						t.Skip("the system does not report drops")
					}
					if all := got.Load() + x.Dropped + x.Unsent + int64(own); all != int64(n) {
						t.Errorf("%d of %d are accounted for: %+v", all, n, x)
					}
					if x.Dropped > 0 {
						eventually(t, "drops are reported", func() bool { return hasEvent(s, "datagrams were dropped") })
					}
					stop(t, s)
				})
			}
		}
	}
}

func listenUDP(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadBuffer(socketBuffer)
	t.Cleanup(func() { c.Close() })
	return c
}
