package proxy

import (
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// conn is a connection being relayed.
type conn struct {
	transport.Conn
	started time.Time
	abort   func(why string) // ends it immediately
	active  atomic.Int64     // time of the last byte, nanoseconds since 1970
	proved  atomic.Bool      // UDP: the client has answered a datagram of the server, so its address is not made up
	bytes   [2]atomic.Int64  // relayed to the server and to the client
	lost    atomic.Int64     // bytes that were not observed
	dropped atomic.Int64     // datagrams of the server that were dropped

	mode atomic.Pointer[mode] // for a connection with a rewriter

	// Guarded by the lock of the queue.
	unseen  bool     // not observed, or no longer
	pending [2]int64 // bytes lost since the last observation

	// Guarded by the lock of the session.
	why string // reason of the end
}

func (c *conn) count(dir schema.Dir, n int, at time.Time) {
	c.active.Store(at.UnixNano())
	c.bytes[dir-schema.ToServer].Add(int64(n))
}

// ConnState is the state of a connection, for display.
type ConnState struct {
	ID       int       `json:"id"`
	Name     string    `json:"name" doc:"client-server, each address:port"`
	Session  int       `json:"session,omitempty" doc:"number among successive connections of the same addresses"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Why      string    `json:"why,omitempty" doc:"reason of the end"`
	ToServer int64     `json:"to_server" doc:"bytes"`
	ToClient int64     `json:"to_client" doc:"bytes"`
	Lost     int64     `json:"lost,omitempty" doc:"bytes that were relayed but not observed"`
	Dropped  int64     `json:"dropped,omitempty" doc:"datagrams of the server that were dropped because they arrived too fast"`
	Mode     string    `json:"mode,omitempty" enum:"observing,wanted,operating,impossible" doc:"for a session that can be operated"`
	ModeWhy  string    `json:"mode_why,omitempty" doc:"the event it waits for, or the reason why it is impossible"`
}

// mode is the mode of a rewriter with its reason.
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

// sourceOf returns the unit of the limit per source: the address, or the /64 network for IPv6.
func sourceOf(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr
	}
	p, _ := addr.Prefix(64)
	return p.Addr()
}

// admit counts a new client, or returns the reason why it is refused. down is its connection, nil for datagrams.
func (s *Session) admit(client netip.AddrPort, down net.Conn) (why string) {
	if s.proxy.ours(client, down) {
		return "the proxy connects to itself"
	}
	source := sourceOf(client.Addr())
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return "the session is ending"
	case s.admitted >= s.limits.Conns:
		s.makeRoom()
		return "the limit of " + itoa(s.limits.Conns) + " connections is reached"
	case s.sources[source] >= s.limits.PerSource:
		return "the limit of " + itoa(s.limits.PerSource) + " connections from " + source.String() + " is reached"
	}
	s.admitted++
	s.sources[source]++
	return ""
}

// makeRoom ends the connection that has been idle for longest, if that is longer than Spare: those who only hold places must not keep others
// out. The client that found no place does not get it, but the next one does. The caller holds the lock.
func (s *Session) makeRoom() {
	var idlest *conn
	for c := range s.conns {
		if idlest == nil || c.active.Load() < idlest.active.Load() {
			idlest = c
		}
	}
	if idlest == nil || idlest.why != "" {
		return
	}
	idle := time.Since(time.Unix(0, idlest.active.Load()))
	if idle < s.limits.Spare {
		return
	}
	idlest.why = "idle, and no place was left for others"
	s.relay.Go("connection", nil, func() {
		s.events.add(Warning, "%s was idle for %s, and made room: all %d places were in use", idlest.Name(), idle.Round(time.Second), s.limits.Conns)
		idlest.abort("idle")
	})
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

// begin registers a connection and announces it to the observer. It returns false if the session has been cut off meanwhile.
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

// finish removes a connection from the open ones.
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

// because records the reason why a connection ends; only the first one counts.
func (s *Session) because(c *conn, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.why == "" {
		c.why = why
	}
}

// expire ends connections that have been idle for too long.
func (s *Session) expire() {
	unproved := min(s.limits.Idle, s.limits.Unproved)
	every := min(max(unproved/4, 10*time.Millisecond), 30*time.Second) // upper bound
	timer := time.NewTimer(unproved)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.quiet:
			return
		}
		now := time.Now()
		next := unproved // until the first of the remaining connections, or a new one, has been idle for too long
		var old []*conn
		s.mu.Lock()
		for c := range s.conns {
			limit := s.limits.Idle
			if c.Proto == transport.UDP && !c.proved.Load() {
				limit = unproved
			}
			if left := limit - now.Sub(time.Unix(0, c.active.Load())); left < 0 {
				old = append(old, c)
			} else {
				next = min(next, left)
			}
		}
		s.mu.Unlock()
		timer.Reset(max(next, every))
		for _, c := range old {
			s.because(c, "idle")
			if c.Proto == transport.TCP {
				s.events.add(Info, "%s was idle for %s", c.Name(), s.limits.Idle)
			}
			c.abort("idle")
		}
	}
}
