package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/supervise"
)

// socketBuffer is the requested receive buffer of a UDP socket, in bytes.
const socketBuffer = 4 << 20

func (s *Session) acceptTCP(p *pair) {
	for {
		c, err := p.tcp.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // temporary: too many open files, or a client that has left
			s.events.add(Warning, "accept: %v", err)
			select {
			case <-time.After(acceptPause):
				continue
			case <-s.ctx.Done():
				return
			}
		}
		client := addrOf(c.RemoteAddr())
		if why := s.admit(client, c); why != "" {
			s.refuse(why)
			reset(c)
			continue
		}
		s.relay.Go("connection", func(err error) {
			s.events.add(Failure, "%s: %v", client, err)
			reset(c)
		}, func() {
			defer s.dismiss(client)
			if s.network == "udp" {
				s.associate(client, c)
			} else {
				s.serveTCP(p, client, c)
			}
		})
	}
}

// reset closes a connection such that the other side sees a reset instead of an orderly end.
func reset(c net.Conn) {
	if l, ok := c.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = c.Close()
}

func (s *Session) serveTCP(p *pair, client netip.AddrPort, down net.Conn) {
	defer down.Close()
	ctx, stop := context.WithTimeout(s.ctx, s.limits.Dial)
	to, answer := p.target, func(net.Conn, error) error { return nil }
	if p.chosen != "" {
		var err error
		if to, answer, err = s.chosen(ctx, p, down); err != nil {
			stop()
			s.failChosen(to, err)
			_ = down.Close() // orderly: a client of SOCKS5 gets the answer
			return
		}
	}
	up, server, err := s.proxy.dial(ctx, "tcp", to)
	stop()
	if err == nil {
		if err = answer(up, nil); err != nil {
			up.Close()
		}
	} else {
		_ = answer(nil, err)
	}
	if err != nil {
		s.fail(to, err) // before the client notices it
		if p.chosen == Socks5 {
			_ = down.Close()
			return
		}
		reset(down)
		return
	}
	defer up.Close()
	if s.proxy.ours(client, down) { // our end of the connection to the upstream is known only now
		s.refuse("the proxy connects to itself")
		reset(down)
		reset(up)
		return
	}
	cut, abort := s.aborter(func() { reset(down); reset(up) })
	c, ok := s.begin(client, server, transport.TCP, abort)
	if !ok {
		reset(down)
		reset(up)
		return
	}
	if s.rewriter != nil {
		s.operateTCP(c, cut, down, up)
		s.finish(c)
		return
	}
	var pumps supervise.Group
	ended := func(err error) { s.faulted(c, err) }
	pumps.Go("connection", ended, func() { s.pump(c, schema.ToServer, down, up) })
	pumps.Go("connection", ended, func() { s.pump(c, schema.ToClient, up, down) })
	pumps.Wait()
	s.because(c, "closed")
	s.finish(c)
}

// Switching between small and large buffers.
const slackReads = 64 // consecutive reads that a small buffer could hold

// pump relays one direction of a connection until it ends. An orderly end is relayed as such, any other as a reset.
func (s *Session) pump(c *conn, dir schema.Dir, src, dst net.Conn) {
	sender := "the client"
	receiver := "the server"
	if dir == schema.ToClient {
		sender, receiver = receiver, sender
	}
	buf := &buffer{data: make([]byte, smallBuffer)}
	buf.refs.Store(1)
	slack := 0
	for {
		n, err := src.Read(buf.data)
		if n > 0 {
			now := time.Now()
			c.count(dir, n, now)
			kept := s.queue.put(c, dir, now, buf.data[:n], buf)
			_, failed := dst.Write(buf.data[:n])
			s.queue.signal()
			if failed != nil {
				s.because(c, receiver+" has closed the connection")
				reset(src)
				reset(dst)
				buf.release()
				return
			}
			switch {
			case kept:
				buf.release()
				buf = newLarge()
			case len(buf.data) == smallBuffer && n == smallBuffer:
				buf = newLarge()
			}
			if slack++; n > smallBuffer {
				slack = 0
			} else if slack > slackReads && len(buf.data) == largeBuffer {
				buf.release()
				buf = &buffer{data: make([]byte, smallBuffer)}
				buf.refs.Store(1)
				slack = 0
			}
		}
		if err == nil {
			continue
		}
		buf.release()
		if !errors.Is(err, io.EOF) {
			if !errors.Is(err, net.ErrClosed) { // closed by us
				s.because(c, sender+" has reset the connection")
			}
			reset(src)
			reset(dst)
			return
		}
		s.queue.end(c, ended, dir, time.Now())
		if half, ok := dst.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		s.queue.signal()
		return
	}
}
