package proxy

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// conn is a connection that is being relayed.
type conn struct {
	transport.Conn
	started time.Time
	abort   func(why string) // ends it at once
	active  atomic.Int64     // nanoseconds since 1970: the last byte
	bytes   [2]atomic.Int64  // relayed to the server and to the client
	lost    atomic.Int64     // bytes that were not observed
	dropped atomic.Int64     // datagrams of the server's

	mode atomic.Pointer[mode] // of a connection that goes through a rewriter

	// Of the queue, under its lock.
	unseen  bool     // it is not observed, or not any more
	pending [2]int64 // bytes lost since the last observation

	// Of the session, under its lock.
	why string // it ended
}

func (c *conn) count(dir schema.Dir, n int, at time.Time) {
	c.active.Store(at.UnixNano())
	c.bytes[dir-schema.ToServer].Add(int64(n))
}

// ConnState is the state of a connection, as pages show it.
type ConnState struct {
	ID       int       `json:"id"`
	Name     string    `json:"name" doc:"client-server, each address:port"`
	Session  int       `json:"session,omitempty" doc:"the number of the session that uses the addresses again"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Why      string    `json:"why,omitempty" doc:"it ended"`
	ToServer int64     `json:"to_server" doc:"bytes"`
	ToClient int64     `json:"to_client" doc:"bytes"`
	Lost     int64     `json:"lost,omitempty" doc:"bytes that were relayed but not observed"`
	Dropped  int64     `json:"dropped,omitempty" doc:"datagrams of the server's that came faster than they were taken"`
	Mode     string    `json:"mode,omitempty" enum:"observing,wanted,operating,impossible" doc:"where the session can be operated"`
	ModeWhy  string    `json:"mode_why,omitempty" doc:"what it waits for, or why it is impossible"`
}

// mode is how a connection is handled, and why.
type mode struct{ mode, why string }

func (c *conn) state() ConnState {
	x := ConnState{
		ID: c.ID, Name: c.Name(), Session: c.Session, Started: c.started, Why: c.why,
		ToServer: c.bytes[0].Load(), ToClient: c.bytes[1].Load(), Lost: c.lost.Load(), Dropped: c.dropped.Load(),
	}
	if m := c.mode.Load(); m != nil {
		x.Mode, x.ModeWhy = m.mode, m.why
	}
	return x
}

const (
	maxEndedConns = 100     // that are still listed
	maxReused     = 1 << 16 // addresses whose sessions are numbered
)

type ends struct{ client, server netip.AddrPort }

// sourceOf is what the limit for one source counts: of IPv6 everyone has a network.
func sourceOf(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr
	}
	p, _ := addr.Prefix(64)
	return p.Addr()
}

// admit takes a client on, or says why not.
func (s *Session) admit(client netip.AddrPort) (why string) {
	if s.proxy.ours(client) {
		return "the proxy connects to itself"
	}
	source := sourceOf(client.Addr())
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return "the session ends"
	case s.admitted >= s.limits.Conns:
		return "there are " + itoa(s.limits.Conns) + " connections"
	case s.sources[source] >= s.limits.PerSource:
		return "there are " + itoa(s.limits.PerSource) + " connections from " + source.String()
	}
	s.admitted++
	s.sources[source]++
	return ""
}

// dismiss undoes admit.
func (s *Session) dismiss(client netip.AddrPort) {
	source := sourceOf(client.Addr())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted--
	if s.sources[source]--; s.sources[source] == 0 {
		delete(s.sources, source)
	}
	if s.admitted == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// begin registers a connection and shows it to the observer. It is false if the session has been cut off meanwhile.
func (s *Session) begin(client, server netip.AddrPort, proto transport.Proto, abort func(why string)) (*conn, bool) {
	c := &conn{started: time.Now(), abort: abort}
	c.active.Store(c.started.UnixNano())
	c.Conn = transport.Conn{Proto: proto, Client: client, Server: server}
	s.mu.Lock()
	if s.cut {
		s.mu.Unlock()
		return nil, false
	}
	c.ID = s.total
	s.total++
	if len(s.reused) >= maxReused {
		clear(s.reused)
	}
	key := ends{client, server}
	if n, ok := s.reused[key]; ok {
		c.Session = n + 1
	}
	s.reused[key] = c.Session
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	s.queue.open(c)
	s.queue.signal()
	s.touch()
	return c, true
}

// finish takes a connection off the list of those that are open.
func (s *Session) finish(c *conn) {
	now := time.Now()
	s.queue.end(c, closed, schema.Both, now)
	s.queue.signal()
	s.mu.Lock()
	delete(s.conns, c)
	s.bytes[0] += c.bytes[0].Load()
	s.bytes[1] += c.bytes[1].Load()
	x := c.state()
	x.Ended = now
	if len(s.ended) >= maxEndedConns {
		s.ended = slices.Delete(s.ended, 0, 1)
	}
	s.ended = append(s.ended, x)
	s.mu.Unlock()
	s.touch()
}

// because notes why a connection ends; the first reason counts.
func (s *Session) because(c *conn, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.why == "" {
		c.why = why
	}
}

// expire ends what was idle for too long.
func (s *Session) expire() {
	every := min(max(s.limits.Idle/4, 10*time.Millisecond), 30*time.Second) // at most
	timer := time.NewTimer(s.limits.Idle)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.quiet:
			return
		}
		now := time.Now()
		oldest := now.UnixNano() // of those that stay, and of one that comes now
		before := now.Add(-s.limits.Idle).UnixNano()
		var old []*conn
		s.mu.Lock()
		for c := range s.conns {
			if at := c.active.Load(); at < before {
				old = append(old, c)
			} else {
				oldest = min(oldest, at)
			}
		}
		s.mu.Unlock()
		timer.Reset(max(time.Duration(oldest-before), every))
		for _, c := range old {
			s.because(c, "idle")
			if c.Proto == transport.TCP {
				s.events.add(Info, "%s was idle for %s", c.Name(), s.limits.Idle)
			}
			c.abort("idle")
		}
	}
}
