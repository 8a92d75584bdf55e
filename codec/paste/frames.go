package paste

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Options control how a text becomes frames.
type Options struct {
	transport.WholeOptions
	Ports   []uint16                                 // of servers: a peer 0 with one of them is the server
	Proto   transport.Proto                          // transport protocol of the bytes; TCP if 0
	New     func(transport.Conn) transport.Transport // as in Options
	Through bool                                     // complete messages go through the transport too: they are as on the wire
}

// Read emits the contents of a text as frames. Segments of streams (Paste.Stream) go through a transport, like those of a capture. The
// messages of a log are complete and become frames without one, and so do segments if there is no transport. The sources of a frame
// (Frame.From) number the messages of the text as packets, from 1: Paste.Messages[Packet-1] has their name and marks. The marks of a
// complete message are in its Note, else the words around it, and in Frame.Marks; its name in a log is Frame.Name.
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
			f := transport.Frame{Dir: dir, At: at, Bytes: m.Bytes, From: w.From[:], Offset: transport.Unknown, Note: cmp.Or(m.Marks.String(), m.Note)}
			if p.has(names) && len(m.Name) <= transport.MaxName {
				f.Name = m.Name
			}
			more = w.Give(f)
		} else {
			w.Opts.Key = nil // the transport has set it
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

// pastedConn is the state of a connection of a text.
type pastedConn struct {
	transport.Conn
	swapped bool                // the client in the text is the server
	t       transport.Transport // nil: each message is a frame
	started [3]bool
}

// conns returns the connections of a text, at least one.
func (o *Options) conns(p *Paste) []pastedConn {
	ends := p.Conns
	if len(ends) == 0 {
		ends = []transport.Conn{peersOf(p)}
	}
	conns := make([]pastedConn, len(ends))
	for i, e := range ends {
		c := &conns[i]
		c.Conn = transport.Conn{ID: i, Stream: i, Proto: cmp.Or(e.Proto, o.Proto, transport.TCP), Client: e.Client, Server: e.Server}
		if slices.Contains(o.Ports, c.Client.Port()) && !slices.Contains(o.Ports, c.Server.Port()) {
			c.Client, c.Server, c.swapped = c.Server, c.Client, true
		}
		if (p.Stream || o.Through) && o.New != nil {
			c.t = o.New(c.Conn)
		}
	}
	return conns
}

// peersOf returns the ends named in the text: peer 0 is read as the client.
func peersOf(p *Paste) (c transport.Conn) {
	if len(p.Peers) != 2 {
		return c
	}
	client, errClient := netip.ParseAddrPort(p.Peers[0])
	server, errServer := netip.ParseAddrPort(p.Peers[1])
	if errClient == nil && errServer == nil {
		c.Client, c.Server = client, server
	}
	return c
}

// LogDay returns midnight (UTC) of the day in the name of a proxy log, which has its start in milliseconds since 1970:
// "tera-proxy-1700006390000.log".
func LogDay(name string) (time.Time, bool) {
	stem := strings.TrimSuffix(name[strings.LastIndexAny(name, `/\`)+1:], ".log")
	ms, err := strconv.ParseInt(stem[strings.LastIndexByte(stem, '-')+1:], 10, 64)
	if err != nil || ms < 1e12 || ms > 1e14 {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC().Truncate(24 * time.Hour), true
}
