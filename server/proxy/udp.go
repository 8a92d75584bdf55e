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
	"wirebench/server/supervise"
)

const (
	maxDatagram    = 64<<10 - 1 // bytes
	amplification  = 3          // bytes sent to an address per byte received from it, until it has proved that it receives
	maxUpstreamBad = 100        // consecutive errors of an upstream socket
)

// peer is a UDP connection: a client address and a server, with its own socket to the server.
type peer struct {
	conn   *conn
	target target
	up     net.Conn
	back   back
	op     *operated // nil if the session only observes

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

// back is the way back to a client.
type back struct {
	socket *net.UDPConn
	to     netip.AddrPort // as the socket reports it, for example as an IPv6 address that embeds an IPv4 one
	header []byte         // precedes each datagram
}

// peers holds the connections of a socket, each by its client for a listener and by its server for an association.
type peers struct {
	s      *Session
	relays supervise.Group // of the answers

	mu  sync.Mutex
	all map[netip.AddrPort]*peer
}

func newPeers(s *Session) *peers { return &peers{s: s, all: map[netip.AddrPort]*peer{}} }

// find returns a connection, whose turn it locks; nil if there is none.
func (p *peers) find(key netip.AddrPort) *peer {
	p.mu.Lock()
	x := p.all[key]
	p.mu.Unlock()
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

// add adds a connection, whose turn it locks, and relays the answers of its server until it ends.
func (p *peers) add(key netip.AddrPort, x *peer) {
	p.mu.Lock()
	p.all[key] = x
	p.mu.Unlock()
	p.relays.Go("connection", nil, func() {
		defer p.s.dismiss(x.conn.Client)
		defer p.s.finish(x.conn)
		defer p.remove(key, x)
		err := supervise.Do("connection", func() error {
			if x.op != nil {
				p.s.operateUDP(x)
			} else {
				p.s.answer(x)
			}
			return nil
		})
		if err != nil {
			p.s.faulted(x.conn, err)
		}
	})
	x.turn.Lock()
}

// remove removes a connection that has ended.
func (p *peers) remove(key netip.AddrPort, x *peer) {
	p.mu.Lock()
	delete(p.all, key)
	p.mu.Unlock()
	x.turn.Lock()
	x.gone = true
	x.turn.Unlock()
}

// abort ends all connections, but does not wait for them.
func (p *peers) abort(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.all {
		p.s.because(x.conn, why)
		x.conn.abort(why)
	}
}

func (p *peers) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

// receive calls f for each datagram of a socket of clients until it is closed.
func (s *Session) receive(socket *net.UDPConn, f func(datagram)) {
	in := newIntake()
	var reader supervise.Group
	defer reader.Wait()
	defer socket.Close() // after a fault of f
	reader.Go("listener", s.Fail, func() {
		defer in.close()
		buf := make([]byte, maxDatagram)
		for {
			n, from, err := socket.ReadFromUDPAddrPort(buf)
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
		if s.ctx.Err() == nil { // else the session is ending
			f(d)
		}
	})
}

// relayUDP processes the datagrams of clients.
func (s *Session) relayUDP(p *pair) {
	all := newPeers(s)
	defer all.relays.Wait()
	s.receive(p.udp, func(d datagram) {
		client := plainAddr(d.from)
		x := all.find(client)
		if x == nil {
			if x = s.newPeer(client, p.target, back{socket: p.udp, to: d.from}); x == nil {
				return
			}
			all.add(client, x)
		}
		s.turn(x, d.at, d.data)
	})
}

// turn processes a datagram of a client, whose turn is locked, and unlocks it. A fault ends the connection of this client alone.
func (s *Session) turn(x *peer, now time.Time, data []byte) {
	defer x.turn.Unlock()
	if x.gone { // it ended before its first datagram
		return
	}
	err := supervise.Do("connection", func() error {
		s.ask(x, now, data)
		return nil
	})
	if err != nil {
		s.faulted(x.conn, err)
	}
}

// ask processes a datagram of a client. The caller holds turn.
func (s *Session) ask(x *peer, now time.Time, data []byte) {
	x.asked(len(data))
	x.conn.count(schema.ToServer, len(data), now)
	if x.op != nil {
		x.op.datagram(schema.ToServer, now, data)
		return
	}
	s.queue.put(x.conn, schema.ToServer, now, data, nil)
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
func (s *Session) toClient(b back, data []byte) {
	if len(b.header) > 0 {
		chunk := chunks.Get().(*[]byte)
		defer chunks.Put(chunk)
		if len(b.header)+len(data) > len(*chunk) { // more than a datagram holds
			s.unsent.Add(1)
			return
		}
		data = append(append((*chunk)[:0], b.header...), data...)
	}
	_, err := b.socket.WriteToUDPAddrPort(data, b.to)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		_, err = b.socket.WriteToUDPAddrPort(data, b.to)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		s.unsent.Add(1)
	}
}

// newPeer connects a client address to a server; it returns nil if that is refused or impossible.
func (s *Session) newPeer(client netip.AddrPort, t target, b back) *peer {
	if why := s.admit(client, nil); why != "" {
		s.refuse(why)
		return nil
	}
	ctx, stop := context.WithTimeout(s.ctx, s.limits.Dial)
	defer stop()
	up, server, err := s.proxy.dial(ctx, "udp", t)
	if err != nil {
		s.fail(t, err)
		s.dismiss(client)
		return nil
	}
	x := &peer{target: t, up: up, back: b, proved: client.Addr().IsLoopback() && !s.limits.ProveLoopback}
	cut, abort := s.aborter(func() {
		s.tellDrops(s.drops.leave(up))
		_ = up.Close()
	})
	c, ok := s.begin(client, server, transport.UDP, abort)
	if !ok {
		_ = up.Close()
		s.dismiss(client)
		return nil
	}
	x.conn = c
	s.drops.watch(up, c)
	if s.rewriter != nil {
		x.op = s.newOperated(c, cut)
		x.op.carry = &datagrams{s, x}
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
func (s *Session) answers(x *peer, f func(datagram)) {
	in := newIntake()
	var reader supervise.Group
	defer reader.Wait()
	defer x.up.Close() // after a fault of f
	reader.Go("connection", func(err error) { s.faulted(x.conn, err) }, func() {
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
			s.events.add(Failure, "upstream %s: %v", x.target.text, reason(err))
			if bad++; bad >= maxUpstreamBad {
				s.because(x.conn, "the upstream cannot be reached")
				return
			}
		}
	})
	in.each(f)
}

// answer relays the datagrams of the upstream to a client, until its socket is closed.
func (s *Session) answer(x *peer) {
	defer x.up.Close()
	defer func() { s.tellDrops(s.drops.leave(x.up)) }()
	s.answers(x, func(d datagram) {
		if !x.may(len(d.data)) {
			s.withhold()
			return
		}
		x.conn.count(schema.ToClient, len(d.data), d.at)
		s.queue.put(x.conn, schema.ToClient, d.at, d.data, nil)
		s.toClient(x.back, d.data)
		s.queue.signal()
	})
}
