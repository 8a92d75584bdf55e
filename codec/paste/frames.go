package paste

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Options say how a text becomes frames.
type Options struct {
	transport.WholeOptions
	Ports   []uint16                                 // of servers: a peer 0 with one of them is the server
	Proto   transport.Proto                          // what carried the bytes; TCP if 0
	New     func(transport.Conn) transport.Transport // as in Options
	Through bool                                     // whole messages go through the transport too: they are as they were on the wire
}

// Read emits what a text holds as frames. Pieces of streams (Paste.Stream) go through a transport, as those of a capture do; the
// messages of a log are whole and become frames as they are, and so do pieces if there is no transport. What a frame is made of
// (Frame.From) counts the messages of the text as packets, from 1: Paste.Messages[Packet-1] has the name and the marks that the text
// gives. The marks of a whole message are its Note, and Frame.Marks; its name in a log is Frame.Name.
func Read(p *Paste, opts Options, emit func(*transport.Frame)) {
	conns := opts.conns(p)
	w := transport.Whole{Opts: opts.WholeOptions, Emit: emit}
	more, key := true, opts.Key
	give := func(f *transport.Frame) { more = more && w.Give(*f) }
	var at time.Time
	for i := range p.Messages {
		m := &p.Messages[i]
		c := &conns[min(m.Conn, len(conns)-1)]
		w.Conn, w.Opts.Key = &c.Conn, key
		dir := m.Dir
		if c.swapped && dir != schema.Both {
			dir = schema.ToServer + schema.ToClient - dir
		}
		if dir == schema.Both {
			dir = opts.Dir
		}
		at = m.Time.Moment(opts.Day)
		if c.t == nil {
			w.From[0] = transport.Source{Packet: uint32(i + 1), Len: uint32(len(m.Bytes))}
			w.Marks = m.Marks
			f := transport.Frame{Dir: dir, At: at, Bytes: m.Bytes, From: w.From[:], Offset: transport.Unknown, Note: m.Marks.String()}
			if p.has(names) && len(m.Name) <= transport.MaxName {
				f.Name = m.Name
			}
			more = w.Give(f)
		} else {
			w.Opts.Key = nil // the transport knows
			if dir == schema.Both {
				dir = schema.ToServer // a stream has a direction
			}
			start := c.Proto == transport.TCP && !c.started[dir]
			c.started[dir] = true
			c.t.Feed(transport.Segment{Dir: dir, At: at, Packet: uint32(i + 1), Bytes: m.Bytes, Start: start}, give)
		}
		if !more {
			return
		}
	}
	w.Opts.Key = nil
	for i := range conns {
		if c := &conns[i]; c.t != nil {
			w.Conn = &c.Conn
			c.t.Flush(at, give)
		}
	}
}

// pastedConn is a connection of a text as it is being read.
type pastedConn struct {
	transport.Conn
	swapped bool                // the client that the text names is the server
	t       transport.Transport // nil: messages are frames as they are
	started [3]bool
}

// conns are the connections of a text, at least one.
func (o *Options) conns(p *Paste) []pastedConn {
	conns := make([]pastedConn, max(1, len(p.Conns)))
	for i := range conns {
		c := &conns[i]
		if len(p.Conns) == 0 {
			c.Conn, c.swapped = o.conn(p)
		} else {
			ends := p.Conns[i]
			if c.Conn = (transport.Conn{ID: i, Proto: o.proto(), Client: ends.Client, Server: ends.Server}); ends.Proto != 0 {
				c.Proto = ends.Proto
			}
			if slices.Contains(o.Ports, c.Client.Port()) && !slices.Contains(o.Ports, c.Server.Port()) {
				c.Client, c.Server, c.swapped = c.Server, c.Client, true
			}
		}
		if (p.Stream || o.Through) && o.New != nil {
			c.t = o.New(c.Conn)
		}
	}
	return conns
}

func (o *Options) proto() transport.Proto {
	if o.Proto == 0 {
		return transport.TCP
	}
	return o.Proto
}

// conn is the connection that the text names. swapped says that peer 0, which a Paste takes for the client, is the server.
func (o *Options) conn(p *Paste) (c transport.Conn, swapped bool) {
	c.Proto = o.proto()
	if len(p.Peers) != 2 {
		return c, false
	}
	a, errA := netip.ParseAddrPort(p.Peers[0])
	b, errB := netip.ParseAddrPort(p.Peers[1])
	if errA != nil || errB != nil {
		return c, false
	}
	if slices.Contains(o.Ports, a.Port()) && !slices.Contains(o.Ports, b.Port()) {
		c.Client, c.Server = b, a
		return c, true
	}
	c.Client, c.Server = a, b
	return c, false
}

// LogDay is midnight (UTC) of the day that the name of a proxy's log tells, which has the milliseconds since 1970 at which it was started:
// "tera-proxy-1700006390000.log".
func LogDay(name string) (time.Time, bool) {
	stem := strings.TrimSuffix(name[strings.LastIndexAny(name, `/\`)+1:], ".log")
	ms, err := strconv.ParseInt(stem[strings.LastIndexByte(stem, '-')+1:], 10, 64)
	if err != nil || ms < 1e12 || ms > 1e14 {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC().Truncate(24 * time.Hour), true
}
