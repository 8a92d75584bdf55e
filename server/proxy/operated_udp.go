package proxy

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"wirebench/defs/schema"
)

// datagram gives a datagram to the connection. One without bytes is no matter of a protocol's, and passes.
func (o *operated) datagram(dir schema.Dir, at time.Time, data []byte) {
	o.give(arrival{dir: dir, at: at, bytes: bytes.Clone(data)})
}

// datagrams are the sockets of a client address of UDP.
type datagrams struct {
	s    *Session
	pair *pair
	peer *peer
	to   netip.AddrPort
}

func (x *datagrams) deliver(dir schema.Dir, data []byte, _ bool) {
	if dir == schema.ToServer {
		_, _ = x.peer.up.Write(data) // an upstream that is down shows where it would answer
		return
	}
	if !x.peer.may(len(data)) {
		x.s.withhold()
		return
	}
	_, _ = x.pair.udp.WriteToUDPAddrPort(data, x.to)
}

func (x *datagrams) pending(schema.Dir) int { return 0 }
func (x *datagrams) took(schema.Dir)        {}
func (x *datagrams) resume(*operated)       {}

// operateUDP relays for a client address through its rewriter until it has ended.
func (s *Session) operateUDP(p *pair, x *peer, to netip.AddrPort) {
	defer s.proxy.left(x.up, -1)
	o := x.op
	o.carry = &datagrams{s, p, x, to}
	defer x.up.Close()
	var reader sync.WaitGroup
	reader.Go(func() {
		buf := make([]byte, maxDatagram)
		bad := 0
		for {
			n, err := x.up.Read(buf)
			if err == nil {
				bad = 0
				now := time.Now()
				x.conn.count(schema.ToClient, n, now)
				o.datagram(schema.ToClient, now, buf[:n])
				continue
			}
			if errors.Is(err, net.ErrClosed) {
				return
			}
			s.events.add(Failure, "upstream %s: %v", p.target.text, err)
			if bad++; bad >= maxUpstreamBad {
				s.because(x.conn, "the upstream cannot be reached")
				x.conn.abort("upstream")
				return
			}
		}
	})
	o.run(nil, nil)
	_ = x.up.Close()
	reader.Wait()
}
