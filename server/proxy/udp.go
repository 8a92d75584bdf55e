package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

const (
	maxDatagram    = 64<<10 - 1 // bytes
	amplification  = 3          // bytes sent to an address per byte received from it, until it has proved that it receives
	maxUpstreamBad = 100        // consecutive errors of an upstream socket
)

// peer is a UDP client address, with its own socket to the upstream.
type peer struct {
	conn *conn
	up   net.Conn
	op   *operated // nil if the session only observes

	turn sync.Mutex // held while a datagram of the client is processed
	gone bool       // guarded by turn: the connection has ended, and later datagrams belong to a new one

	mu      sync.Mutex
	proved  bool // it receives the datagrams sent to it
	allowed int  // bytes that may be sent to it before
	answers int  // number of datagrams sent to it
}

// asked counts a datagram of the client.
func (p *peer) asked(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answers > 0 {
		p.proved = true
		p.conn.proved.Store(true)
	}
	p.allowed += amplification * n
}

// may reports whether a datagram may be sent to the client.
func (p *peer) may(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.proved {
		if n > p.allowed {
			return false
		}
		p.allowed -= n
	}
	p.answers++
	return true
}

// relayUDP processes the datagrams of clients.
func (s *Session) relayUDP(p *pair) {
	var mu sync.Mutex
	peers := map[netip.AddrPort]*peer{}
	var answers sync.WaitGroup
	defer answers.Wait()
	known := func(client netip.AddrPort) *peer { // locks turn; nil if the client is unknown
		mu.Lock()
		x := peers[client]
		mu.Unlock()
		if x == nil {
			return nil
		}
		x.turn.Lock()
		if x.gone {
			x.turn.Unlock()
			return nil
		}
		return x
	}
	in := newIntake()
	var reader sync.WaitGroup
	defer reader.Wait()
	reader.Go(func() {
		defer in.close()
		buf := make([]byte, maxDatagram)
		for {
			n, from, err := p.udp.ReadFromUDPAddrPort(buf)
			if err == nil {
				if !in.put(from, time.Now(), buf[:n]) {
					s.drops.add(nil)
				}
				continue
			}
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select { // some systems report here that a client has left
			case <-time.After(time.Millisecond):
			case <-s.ctx.Done():
				return
			}
		}
	})
	in.each(func(d datagram) {
		if s.ctx.Err() != nil { // the session is ending
			return
		}
		from := d.from
		client := plainAddr(from)
		x := known(client)
		if x == nil {
			if x = s.newPeer(p, client, from); x == nil {
				return
			}
			mu.Lock()
			peers[client] = x
			mu.Unlock()
			answers.Go(func() {
				if x.op != nil {
					s.operateUDP(p, x)
				} else {
					s.answer(p, x, from)
				}
				mu.Lock()
				delete(peers, client)
				mu.Unlock()
				x.turn.Lock()
				x.gone = true
				x.turn.Unlock()
				s.finish(x.conn)
				s.dismiss(client)
			})
			x.turn.Lock()
		}
		if !x.gone { // false if it ended before its first datagram
			s.ask(x, d.at, d.data)
		}
		x.turn.Unlock()
	})
}

// ask processes a datagram of a client. The caller holds turn.
func (s *Session) ask(x *peer, now time.Time, data []byte) {
	x.asked(len(data))
	x.conn.count(schema.ToServer, len(data), now)
	if x.op != nil {
		x.op.datagram(schema.ToServer, now, data)
		return
	}
	if len(data) > 0 {
		s.queue.put(x.conn, schema.ToServer, now, data, nil)
	}
	s.toServer(x.up, data)
	s.queue.signal()
}

// toServer sends a datagram to an upstream. An upstream that is down is detected when its answer is read; but the error may also be that of
// an earlier datagram, and then this one was not sent.
func (s *Session) toServer(up net.Conn, data []byte) {
	_, err := up.Write(data)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		_, err = up.Write(data)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		s.unsent.Add(1)
	}
}

// toClient sends a datagram to a client.
func (s *Session) toClient(p *pair, data []byte, to netip.AddrPort) {
	_, err := p.udp.WriteToUDPAddrPort(data, to)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		_, err = p.udp.WriteToUDPAddrPort(data, to)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		s.unsent.Add(1)
	}
}

// newPeer adds a client address; it returns nil if the address is refused.
func (s *Session) newPeer(p *pair, client, from netip.AddrPort) *peer {
	if why := s.admit(client); why != "" {
		s.refuse(why)
		return nil
	}
	ctx, stop := context.WithTimeout(s.ctx, s.limits.Dial)
	defer stop()
	up, server, err := s.proxy.dial(ctx, "udp", p.target)
	if err != nil {
		s.fail(p.target, err)
		s.dismiss(client)
		return nil
	}
	x := &peer{up: up, proved: client.Addr().IsLoopback() && !s.limits.ProveLoopback}
	cut, abort := s.aborter(func() {
		s.tellDrops(s.drops.leave(up))
		_ = up.Close()
	})
	c, ok := s.begin(client, server, transport.UDP, abort)
	if !ok {
		s.proxy.left(up, -1)
		_ = up.Close()
		s.dismiss(client)
		return nil
	}
	x.conn = c
	s.drops.watch(up, c)
	if s.rewriter != nil {
		x.op = s.newOperated(c, cut)
		x.op.carry = &datagrams{s, p, x, from}
	}
	return x
}

// withhold counts and reports a datagram withheld from its client.
func (s *Session) withhold() {
	s.mu.Lock()
	s.withheld++
	s.mu.Unlock()
	s.events.add(Warning, "answers are withheld: they are too large for addresses that have not proved that they receive")
}

// answers calls f for each datagram of the upstream, until its socket is closed or fails too often.
func (s *Session) answers(p *pair, x *peer, f func(datagram)) {
	in := newIntake()
	var reader sync.WaitGroup
	defer reader.Wait()
	reader.Go(func() {
		defer in.close()
		buf := make([]byte, maxDatagram)
		bad := 0
		for {
			n, err := x.up.Read(buf)
			if err == nil {
				bad = 0
				if !in.put(netip.AddrPort{}, time.Now(), buf[:n]) {
					s.drops.add(x.conn)
				}
				continue
			}
			if errors.Is(err, net.ErrClosed) {
				return
			}
			s.events.add(Failure, "upstream %s: %v", p.target.text, reason(err))
			if bad++; bad >= maxUpstreamBad {
				s.because(x.conn, "the upstream cannot be reached")
				return
			}
		}
	})
	in.each(f)
}

// answer relays the datagrams of the upstream to a client, until its socket is closed.
func (s *Session) answer(p *pair, x *peer, to netip.AddrPort) {
	defer s.proxy.left(x.up, -1)
	defer x.up.Close()
	defer func() { s.tellDrops(s.drops.leave(x.up)) }()
	s.answers(p, x, func(d datagram) {
		if !x.may(len(d.data)) {
			s.withhold()
			return
		}
		x.conn.count(schema.ToClient, len(d.data), d.at)
		if len(d.data) > 0 {
			s.queue.put(x.conn, schema.ToClient, d.at, d.data, nil)
		}
		s.toClient(p, d.data, to)
		s.queue.signal()
	})
}
