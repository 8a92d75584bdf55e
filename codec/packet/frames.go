package packet

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wirebench/codec/tls"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of an Assembler.
const (
	MaxConns     = 1 << 16  // connections and sessions
	maxHeldInAll = 64 << 20 // bytes of out-of-order segments, in all connections

	maxLinksNamed = 8 // link types in a summary
)

// Options control how a capture is read.
type Options struct {
	Ports  []uint16                                 // of servers
	New    func(transport.Conn) transport.Transport // makes the transport of a connection; nil, or a nil result: no frames of the connection
	Limit  int                                      // maximum number of frames; 0 = no limit
	Conns  int                                      // maximum number of connections; 0 = MaxConns
	Packet func(*Packet)                            // is called with every packet of the file before its frames are emitted; may be nil

	// Connections that are TLS are decrypted before their transport, with these secrets and those in the file (AddTLS). ClearTLS receives
	// all decrypted ranges; it may be nil.
	TLS      *tls.Secrets
	ClearTLS func(transport.Conn, transport.Clear)
	NoTLS    bool // transports get TLS as it is

	Events bool // also emit frames of kind transport.Packet, for events of TCP connections

	// Recordings can hold their frames, as shown live, beside the packets. Recorded reports whether to read those instead of the packets;
	// cut identifies the rules by which they were cut. nil: frames are made of the packets.
	Recorded func(cut string) bool

	// For files that are not captures.
	Dir schema.Dir                                              // of messages whose direction the file does not tell
	Day time.Time                                               // midnight before the first message of a log that has only times of day, see LogDay
	Key func(dir schema.Dir, message []byte) (schema.Key, bool) // reads the code of a message that needs no transport; may be nil
}

// Summary describes the contents of a capture.
type Summary struct {
	Format  string // as Reader.Format
	Packets uint32
	Frames  uint32
	Conns   []ConnSummary // in the order of Conn.ID
	Torn    *Torn         // where the file stops being readable; nil if it is complete
	More    bool          // Options.Limit was reached

	// Packets without frames.
	UnknownLink uint32     // of a link type that is not read
	Links       []LinkType // the first of these types
	NotPackets  uint32     // records that are not packets: events of programs, log lines
	NotIP       uint32
	NotCarrier  uint32 // IP, but neither TCP nor UDP
	Malformed   uint32 // invalid headers
	Fragments   uint32 // packets with missing or invalid fragments
	Unserved    uint32 // of connections without a transport
	Stray       uint32 // of TCP, with bytes that belong to no stream
	OverLimit   uint32 // of connections above Options.Conns

	Merged bool // a log has more than MaxConns connections: frames of the others are listed with one of these

	Cut uint32 // packets whose payload was truncated by the capture
}

// WithoutFrames returns the reason why a capture that was read to its end has no frames of a protocol.
func (s *Summary) WithoutFrames(protocol string) string {
	if s.Packets == 0 {
		return "the capture has no packets"
	}
	packets := "packets"
	if s.Packets == 1 {
		packets = "packet"
	}
	note := fmt.Sprintf("read as %s, there are no frames in %d %s", protocol, s.Packets, packets)
	if left := s.LeftOut(); len(left) > 0 {
		note += "; skipped: " + strings.Join(left, ", ")
	}
	return note
}

// LeftOut describes the packets without frames, one phrase for each reason. Packets above the limit of connections are reported by
// Incomplete.
func (s *Summary) LeftOut() []string {
	var out []string
	for _, x := range []struct {
		n    uint32
		what string
	}{
		{s.Unserved, "of connections of other protocols"},
		{s.NotIP, "without IP"},
		{s.NotCarrier, "with neither TCP nor UDP"},
		{s.UnknownLink, s.linksText()},
		{s.Malformed, "with malformed headers"},
		{s.Fragments, "in incomplete IP fragments"},
		{s.NotPackets, "that are records of programs, not of a network"},
	} {
		switch {
		case x.n == 1:
			out = append(out, "1 packet "+x.what)
		case x.n > 1:
			out = append(out, fmt.Sprintf("%d packets %s", x.n, x.what))
		}
	}
	return out
}

// linksText names the link types that are not read.
func (s *Summary) linksText() string {
	names := make([]string, len(s.Links))
	for i, l := range s.Links {
		names[i] = l.String()
	}
	if len(s.Links) == maxLinksNamed {
		names = append(names, "…")
	}
	return "of a link type that is not read: " + strings.Join(names, ", ")
}

// Incomplete returns the reasons why frames of the file are missing: it is cut off, or has more connections than are read, or TCP data of no
// stream; "" if none are.
func (s *Summary) Incomplete() string {
	var why []string
	if s.Torn != nil {
		why = append(why, "the file is cut off: "+s.Torn.Error())
	}
	if s.OverLimit > 0 {
		why = append(why, fmt.Sprintf("only the first %d connections are read; %d packets of the others are left out", len(s.Conns), s.OverLimit))
	}
	if s.Stray > 0 {
		packets := "packets have"
		if s.Stray == 1 {
			packets = "packet has"
		}
		why = append(why, fmt.Sprintf("%d %s TCP data that belong to no stream: far from it by their sequence numbers, before its first or after its last byte, or in a reset", s.Stray, packets))
	}
	if s.Merged {
		why = append(why, fmt.Sprintf("only the first %d connections are distinguished; frames of the others are listed under one of these", MaxConns))
	}
	return strings.Join(why, "; ")
}

// ConnSummary says how much a connection carried.
type ConnSummary struct {
	transport.Conn
	Packets  uint32
	ToServer int64 // bytes of payload as captured, retransmissions included
	ToClient int64
	Served   bool // it has a transport
}

// Assembler makes frames of packets: it finds their connections, reassembles streams and feeds the transports. Its memory is bounded for
// any input. It must be used by one goroutine at a time.
type Assembler struct {
	opts    Options
	emit    func(*transport.Frame)
	order   order
	byKey   map[flowKey]*conn
	streams map[transport.Proto]int // connections so far
	conns   []*conn
	last    *conn // of the previous packet
	frags   fragments
	split   splits
	pool    pool
	tls     *tls.Layer
	ids     transport.Identifier
	at      time.Time
	sum     Summary

	packet ipPacket // current packet
	gram   datagram
}

// NewAssembler returns an Assembler that passes its frames to emit.
func NewAssembler(opts Options, emit func(*transport.Frame)) *Assembler {
	if opts.Conns <= 0 {
		opts.Conns = MaxConns
	}
	a := &Assembler{opts: opts, emit: emit, byKey: map[flowKey]*conn{}, pool: pool{limit: maxHeldInAll}, tls: tls.NewLayer(opts.TLS)}
	a.order.emit = a.number
	return a
}

// AddTLS adds the secrets of a key log that the capture has. Packets before it are not decrypted by them.
func (a *Assembler) AddTLS(log []byte) { a.tls.AddLog(log) }

// Pass counts a packet that yields no frames of its own.
func (a *Assembler) Pass(p *Packet) {
	a.sum.Packets++
	if a.opts.Packet != nil {
		a.opts.Packet(p)
	}
}

// Packet takes the next packet. It does not retain the packet's data.
func (a *Assembler) Packet(p *Packet) {
	a.Pass(p)
	if !p.At.IsZero() {
		a.at = p.At
	}
	b, known := Network(p.Link, p.Data)
	switch {
	case b != nil:
	case known:
		a.sum.NotIP++
		return
	default:
		a.unknownLink(p.Link)
		return
	}
	ip := &a.packet
	whole := 0 // capacity of a reassembled payload
	for depth := 0; b != nil && depth <= maxTunnels; depth++ {
		if !parseIP(b, ip) {
			a.sum.Malformed++
			return
		}
		if ip.frag {
			if whole > 0 { // a fragment in fragments: its bytes are gone with the next one
				a.sum.Fragments++
				return
			}
			if !a.frags.add(ip, p.N, p.At) {
				return
			}
			whole = cap(ip.data)
			if ip.v6 && !ip.extensions() {
				a.sum.Malformed++
				return
			}
		}
		b = ip.tunnelled()
	}
	d := &a.gram
	if !d.parse(ip) {
		if ip.proto == ProtoTCP || ip.proto == ProtoUDP {
			a.sum.Malformed++
		} else {
			a.sum.NotCarrier++
		}
		return
	}
	if len(d.data) < d.size {
		a.sum.Cut++
	}
	c := a.conn(d)
	if c == nil {
		a.sum.OverLimit++
		return
	}
	c.count(d, 1)
	c.start(d)
	if c.made && c.transport == nil && !c.over {
		a.sum.Unserved++
		return
	}
	if whole > 0 { // all these slices end where the packet's capacity does, so that capacities give offsets
		a.split.add(p.N, uint32(whole-cap(d.data)), a.frags.parts)
	}
	if c.tcp == nil {
		if len(d.data) == 0 && d.size > 0 {
			return // counted as cut
		}
		a.segment(c, d.fromB, transport.Segment{At: p.At, Packet: p.N, Bytes: d.data, Lost: int64(max(d.size-len(d.data), 0))})
	} else if c.tcp.feed(d, p.N, p.At); c.tcp.closed {
		a.finish(c, p.At)
	}
	a.order.watch(c.newest(), place{p.At, p.N})
	if c.made && c.transport == nil && !c.over {
		a.sum.Unserved++
	}
}

// unknownLink counts a packet of a link type that is not read.
func (a *Assembler) unknownLink(link LinkType) {
	a.sum.UnknownLink++
	if len(a.sum.Links) < maxLinksNamed && !slices.Contains(a.sum.Links, link) {
		a.sum.Links = append(a.sum.Links, link)
	}
}

// conn finds the connection of d, or adds it. It is nil above the limit of connections.
func (a *Assembler) conn(d *datagram) *conn {
	c := a.last
	if c == nil || c.key != d.key {
		c = a.byKey[d.key]
	}
	if c != nil && (c.tcp == nil || !c.tcp.isNew(d)) {
		a.last = c
		return c
	}
	if len(a.conns) >= a.opts.Conns {
		return nil
	}
	next := &conn{key: d.key, firstB: d.fromB, Conn: transport.Conn{ID: len(a.conns), Proto: transport.UDP}}
	if d.tcp {
		next.Proto = transport.TCP
		next.tcp = &stream{pool: &a.pool, out: func(fromB bool, seg transport.Segment) { a.segment(next, fromB, seg) }}
		next.tcp.b.fromB = true
		next.tcp.event = a.eventsOf(next)
	}
	next.Stream = a.stream(next.Proto)
	if c != nil {
		a.end(c, a.at)
		a.order.watch(c, place{})
		next.Session = c.Session + 1
	}
	next.emit = func(f *transport.Frame) { a.frame(next, f) }
	a.conns = append(a.conns, next)
	a.byKey[d.key] = next
	a.last = next
	return next
}

// stream returns the number of the next connection of a transport protocol.
func (a *Assembler) stream(p transport.Proto) int {
	if a.streams == nil {
		a.streams = map[transport.Proto]int{}
	}
	a.streams[p]++
	return a.streams[p] - 1
}

// segment passes a segment to the transport of its connection. The transport is made with the first segment, so that the server can be
// identified by the packets before it.
func (a *Assembler) segment(c *conn, fromB bool, seg transport.Segment) {
	if !c.made {
		c.made = true
		c.name(a.opts.Ports)
		if a.opts.New != nil {
			c.transport = a.opts.New(c.Conn)
		}
		if c.transport != nil && c.Proto == transport.TCP && !a.opts.NoTLS {
			c.transport = a.tls.Wrap(c.transport, a.clearTLS(c))
		}
		a.earlyEvents(c)
	}
	if c.transport == nil {
		return
	}
	seg.Dir = c.dir(fromB)
	if c.Proto == transport.UDP && len(seg.Bytes) == 0 {
		c.emit(transport.Blank(seg))
		return
	}
	c.transport.Feed(seg, c.emit)
}

// clearTLS returns the receiver of the decrypted ranges of a connection, nil if there is none.
func (a *Assembler) clearTLS(c *conn) func(transport.Clear) {
	if a.opts.ClearTLS == nil {
		return nil
	}
	return func(x transport.Clear) { a.opts.ClearTLS(c.Conn, x) }
}

func (a *Assembler) frame(c *conn, f *transport.Frame) {
	c = c.newest()
	if f.Begins {
		c = a.succeed(c)
	}
	f.From = a.split.sources(f.From)
	a.give(c, f, 0)
}

// give takes a frame of a connection.
func (a *Assembler) give(c *conn, f *transport.Frame, marks transport.Marks) {
	f.Conn, f.Marks = &c.Conn, marks
	a.order.give(c, c.place(f), f)
}

// number numbers a frame and emits it, unless the limit is reached.
func (a *Assembler) number(f *transport.Frame) {
	if a.opts.Limit > 0 && int64(a.sum.Frames) >= int64(a.opts.Limit) || a.sum.Frames == math.MaxUint32 {
		a.sum.More = true
		return
	}
	a.sum.Frames++
	f.N = a.sum.Frames
	a.ids.Identify(f.Conn.ID, f)
	a.emit(f)
}

// succeed starts another session of the two ends of c with the current packet. It takes over the transport, which has detected it. Above
// the limit of connections c continues.
func (a *Assembler) succeed(c *conn) *conn {
	if len(a.conns) >= a.opts.Conns || c.transport == nil {
		return c
	}
	next := &conn{key: c.key, Conn: c.Conn, named: c.named, serverB: c.serverB, firstB: c.firstB, starter: c.starter, transport: c.transport, made: true}
	next.ID, next.Session = len(a.conns), c.Session+1
	next.emit = func(f *transport.Frame) { a.frame(next, f) }
	c.next, c.transport, c.over = next, nil, true
	if next.wait, next.slow, c.wait = c.wait, c.slow, nil; next.wait != nil {
		next.wait.conn = next
	}
	if c.key == a.gram.key && a.last == c {
		c.count(&a.gram, -1)
		next.count(&a.gram, 1)
	}
	a.conns = append(a.conns, next)
	a.byKey[next.key] = next
	a.last = next
	return next
}

// end flushes a connection at the end of the capture.
func (a *Assembler) end(c *conn, at time.Time) {
	if c.tcp != nil {
		c.tcp.flush(at)
	}
	a.earlyEvents(c)
	a.finish(c, at)
}

// finish flushes the transport of a connection and releases it.
func (a *Assembler) finish(c *conn, at time.Time) {
	if c.transport != nil {
		c.transport.Flush(at, c.emit)
		c.transport, c.over = nil, true
	}
}

// Flush marks the end of the capture: incomplete data are emitted as problems, connection by connection.
func (a *Assembler) Flush() {
	a.gram = datagram{}
	a.order.all = true
	for i := 0; i < len(a.conns); i++ { // ending one may add another
		a.end(a.conns[i], a.at)
	}
	a.order.waits, a.order.all = nil, false
	a.order.release()
	a.sum.Fragments += uint32(a.frags.lost + len(a.frags.order))
	a.frags, a.split = fragments{}, splits{}
}

// Summary describes the packets so far. It is complete after Flush.
func (a *Assembler) Summary() Summary {
	sum := a.sum
	sum.Stray = a.pool.strays
	sum.Conns = make([]ConnSummary, len(a.conns))
	for i, c := range a.conns {
		c.name(a.opts.Ports)
		s := ConnSummary{Conn: c.Conn, Packets: c.packets, ToServer: c.bytes[0], ToClient: c.bytes[1], Served: c.transport != nil || c.over}
		if !c.serverB {
			s.ToServer, s.ToClient = s.ToClient, s.ToServer
		}
		sum.Conns[i] = s
	}
	return sum
}
