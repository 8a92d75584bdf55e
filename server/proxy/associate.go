package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"wirebench/server/supervise"
)

// Bounds of an association, beside those of Limits.
const (
	maxPlaces      = 256              // destinations that are remembered with their verdict
	maxFinding     = 16               // names being resolved at once
	maxUnsent      = 64               // datagrams that wait for the address of a name
	maxUnsentBytes = 64 << 10         //
	maxBindings    = 256              // ports of Config.RelayPorts that are tried
	refusedTime    = 10 * time.Second // until a refused destination is judged again
	failedTime     = time.Second      // until a destination without a place or a route is tried again
)

// association is a UDP association of a SOCKS5 client (RFC 1928): a socket for datagrams of this client alone, which lives as long as the
// control connection. Each destination is a connection of the session, as a client of a UDP listener is.
type association struct {
	s       *Session
	control net.Conn
	socket  *net.UDPConn
	at      netip.AddrPort // of the socket

	ctx  context.Context // for resolving names
	stop context.CancelFunc

	flows   *peers     // by server
	opening sync.Mutex // held while a flow is looked up and opened

	// Owned by the goroutine that relays the datagrams of the client. The address is fixed before the first place is made.
	from   netip.AddrPort // of the datagrams; the port is 0 until it is known
	to     netip.AddrPort // from, as the socket reports it
	places map[socksHeader]*place

	finders supervise.Group

	mu      sync.Mutex
	active  time.Time // of the last datagram of the client
	used    bool      // there was one
	finding int       // number of finders
}

// place is a destination of an association, with the verdict about it. The lock of the association guards it.
type place struct {
	used    time.Time // of the last datagram; owned by the relaying goroutine
	finding bool      // its name is being resolved, or datagrams that waited for that are being sent
	waiting []datagram
	bytes   int // of waiting
	target  target
	refused bool      // by the list, or the name has no address
	until   time.Time // datagrams are dropped until then
}

// associate serves a SOCKS5 client of a session of UDP until its control connection ends.
func (s *Session) associate(client netip.AddrPort, control net.Conn) {
	defer control.Close()
	defer closeWith(s.ctx, control)()
	_ = control.SetDeadline(time.Now().Add(s.limits.Dial))
	asked, err := socksRequest(control, s.password, socksAssociate)
	if err != nil {
		s.refuse(err.Error())
		return
	}
	a, err := s.newAssociation(client, control, asked)
	if err != nil {
		s.refuse(err.Error()) // before the client notices it
		_ = socksAnswer(control, socksFailed, netip.AddrPort{})
		return
	}
	a.run()
}

// newAssociation opens the socket of an association. asked is the address of the request.
func (s *Session) newAssociation(client netip.AddrPort, control net.Conn, asked string) (*association, error) {
	a := &association{
		s: s, control: control, from: netip.AddrPortFrom(client.Addr(), 0), flows: newPeers(s), places: map[socksHeader]*place{},
		active: time.Now(),
	}
	// A port beside another address is that before a translation of addresses, or, by mistake, that of a server.
	if x, err := netip.ParseAddrPort(asked); err == nil && (x.Addr().IsUnspecified() || x.Addr().Unmap() == client.Addr().WithZone("")) {
		a.from = netip.AddrPortFrom(client.Addr(), x.Port())
	}
	var err error
	if a.socket, err = s.bind(addrOf(control.LocalAddr()).Addr()); err != nil {
		return nil, fmt.Errorf("no socket for a SOCKS5 association: %w", reason(err))
	}
	a.at = addrOf(a.socket.LocalAddr())
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.limits.Associations; len(s.associations) >= n {
		_ = a.socket.Close()
		return nil, fmt.Errorf("the limit of %d SOCKS5 associations is reached", n)
	}
	a.ctx, a.stop = context.WithCancel(s.ctx)
	s.associations[a] = struct{}{}
	return a, nil
}

// bind opens a UDP socket at an address of this machine.
func (s *Session) bind(at netip.Addr) (c *net.UDPConn, err error) {
	network := "udp6"
	if at.Is4() {
		network = "udp4"
	}
	first, last := int(s.relayPorts[0]), int(s.relayPorts[1])
	for port := last; port >= max(first, last-maxBindings+1); port-- { // pages propose the first ports for listeners
		if c, err = net.ListenUDP(network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, uint16(port)))); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// run relays until the control connection ends.
func (a *association) run() {
	s := a.s
	s.drops.watch(a.socket, nil)
	s.touch()
	var relay supervise.Group
	relay.Go("association", func(err error) {
		s.events.add(Failure, "%v", err)
		_ = a.control.Close()
	}, func() { s.receive(a.socket, a.take) })
	why := "the client ended its association"
	if err := socksAnswer(a.control, 0, a.at); err == nil {
		_ = a.control.SetDeadline(time.Time{})
		why = a.wait()
	}
	if s.ctx.Err() != nil {
		why = "the session ended"
	}
	a.stop()
	s.tellDrops(s.drops.leave(a.socket))
	_ = a.socket.Close()
	relay.Wait()
	a.finders.Wait()
	a.flows.abort(why)
	a.flows.relays.Wait()
	s.mu.Lock()
	delete(s.associations, a)
	s.mu.Unlock()
	s.touch()
	if !a.used {
		s.events.add(Info, "a SOCKS5 association ended without a datagram: can its client reach the UDP ports of %s?", a.at.Addr())
	}
}

// wait waits for the end, and returns its reason.
func (a *association) wait() (why string) {
	buf := make([]byte, 512) // data on the connection has no meaning
	limit := a.s.limits.Associated
	for {
		a.mu.Lock()
		left := limit - time.Since(a.active)
		a.mu.Unlock()
		if a.flows.len() > 0 {
			left = limit
		}
		if left <= 0 {
			a.s.events.add(Info, "a SOCKS5 association was idle for %s", limit)
			return "idle"
		}
		_ = a.control.SetReadDeadline(time.Now().Add(left))
		if _, err := a.control.Read(buf); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return "the client ended its association"
		}
	}
}

// stray counts and reports a dropped datagram.
func (s *Session) stray(why string) {
	s.strays.Add(1)
	s.events.add(Warning, "a datagram to a SOCKS5 association is dropped: %s", why)
}

// take processes a datagram that has arrived.
func (a *association) take(d datagram) {
	from := plainAddr(d.from)
	h, data, ok := parseSocksHeader(d.data)
	switch {
	case a.ctx.Err() != nil:
		return
	case from.Addr() != a.from.Addr():
		a.s.stray("not from the address of its client")
		return
	case a.from.Port() != 0 && from.Port() != a.from.Port():
		a.s.stray("not from the port of its client")
		return
	case a.s.proxy.ours(from, nil):
		a.s.stray("from the proxy itself")
		return
	case !ok:
		a.s.stray("no valid SOCKS5 header")
		return
	case h.fragment != 0:
		a.s.stray("fragments are not supported")
		return
	}
	if !a.to.IsValid() {
		a.from, a.to = from, d.from
	}
	a.mu.Lock()
	a.active, a.used = d.at, true
	a.mu.Unlock()
	x := a.placeOf(h, d.at)
	if x == nil {
		return
	}
	a.mu.Lock()
	finding, later := x.finding, d.at.Before(x.until)
	room := len(x.waiting) < maxUnsent && x.bytes+len(data) <= maxUnsentBytes
	if finding && room {
		x.waiting = append(x.waiting, datagram{at: d.at, data: bytes.Clone(data)})
		x.bytes += len(data)
	}
	a.mu.Unlock()
	switch {
	case finding && !room:
		a.s.stray("too many wait for a name to be resolved")
	case finding:
	case later:
		a.s.strays.Add(1) // reported when it was judged
	default:
		a.send(x, d.at, data)
	}
}

// placeOf returns a destination, which it judges if it is new; nil if there is no room for it.
func (a *association) placeOf(h socksHeader, now time.Time) *place {
	x := a.places[h]
	if x == nil {
		if len(a.places) >= maxPlaces && !a.forget() {
			a.s.stray("too many names are being resolved")
			return nil
		}
		x = &place{}
	} else {
		x.used = now
		a.mu.Lock()
		again := x.refused && !x.finding && !now.Before(x.until)
		a.mu.Unlock()
		if !again {
			return x
		}
	}
	x.used = now
	if h.addr.IsValid() {
		a.judge(x, h)
		a.places[h] = x
		return x
	}
	a.mu.Lock()
	room := a.finding < maxFinding
	if room {
		a.finding++
		x.finding, x.refused = true, false
	}
	a.mu.Unlock()
	if !room {
		a.s.stray("too many names are being resolved")
		return nil
	}
	a.places[h] = x
	a.finders.Go("association", func(error) { _ = a.control.Close() }, func() {
		a.judge(x, h)
		a.sendWaiting(x)
	})
	return x
}

// forget forgets the destination whose last datagram is oldest, and reports whether there was one.
func (a *association) forget() bool {
	var oldest socksHeader
	var found *place
	a.mu.Lock()
	for h, x := range a.places {
		if !x.finding && (found == nil || x.used.Before(found.used)) {
			oldest, found = h, x
		}
	}
	a.mu.Unlock()
	delete(a.places, oldest)
	return found != nil
}

// judge asks the list of upstreams about a destination.
func (a *association) judge(x *place, h socksHeader) {
	ctx, stop := context.WithTimeout(a.ctx, a.s.limits.Dial)
	defer stop()
	listening := a.s.proxy.listening("udp")
	t, err := a.s.proxy.opts.Upstreams.find(ctx, h.String(), func(at netip.AddrPort) error { return a.s.proxy.check(at, listening) })
	a.mu.Lock()
	x.target, x.refused, x.until = t, err != nil, time.Time{}
	if err != nil {
		x.until = time.Now().Add(refusedTime)
	}
	a.mu.Unlock()
	if err != nil && a.ctx.Err() == nil {
		a.s.failChosen(t, err)
	}
}

// sendWaiting sends the datagrams that waited for the address of a name, in their order.
func (a *association) sendWaiting(x *place) {
	for {
		a.mu.Lock()
		list, refused := x.waiting, x.refused
		if x.waiting, x.bytes = nil, 0; len(list) == 0 {
			x.finding = false
			a.finding--
		}
		a.mu.Unlock()
		switch {
		case len(list) == 0:
			return
		case refused:
			a.s.strays.Add(int64(len(list)))
			continue
		}
		for _, d := range list {
			a.send(x, d.at, d.data)
		}
	}
}

// send sends a datagram to a destination.
func (a *association) send(x *place, at time.Time, data []byte) {
	a.mu.Lock()
	t := x.target
	a.mu.Unlock()
	flow := a.flow(t)
	if flow == nil {
		a.s.strays.Add(1)
		a.mu.Lock()
		x.until = time.Now().Add(failedTime)
		a.mu.Unlock()
		return
	}
	a.s.turn(flow, at, data)
}

// flow returns the connection to a target, whose turn it locks; nil if there is none and none can be made. A name and its address have the
// same.
func (a *association) flow(t target) *peer {
	a.opening.Lock()
	defer a.opening.Unlock()
	for _, addr := range t.addrs {
		if x := a.flows.find(addr); x != nil {
			return x
		}
	}
	if n := a.s.limits.Destinations; a.flows.len() >= n {
		a.s.refuse(fmt.Sprintf("the limit of %d destinations of a SOCKS5 association is reached", n))
		return nil
	}
	x := a.s.newPeer(a.from, t, back{socket: a.socket, to: a.to})
	if x == nil {
		return nil
	}
	x.back.header = appendSocksHeader(nil, x.conn.Server)
	x.proved = true // the address has made the control connection
	a.flows.add(x.conn.Server, x)
	return x
}
