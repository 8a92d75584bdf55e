package packet

import (
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Ready is a connection whose frames are stored complete in the file, so that it needs no transport.
type Ready struct {
	a *Assembler
	c *conn
}

// Ready adds a connection whose frames are stored complete in the file. It returns nil above Options.Conns.
func (a *Assembler) Ready(c transport.Conn) *Ready {
	if len(a.conns) >= a.opts.Conns {
		a.sum.OverLimit++
		return nil
	}
	c.ID, c.Stream = len(a.conns), a.stream(c.Proto)
	r := &Ready{a, &conn{Conn: c, named: true, serverB: true, made: true, over: true}}
	a.conns = append(a.conns, r.c)
	return r
}

// Count counts a packet with size bytes of payload.
func (r *Ready) Count(dir schema.Dir, size int) {
	side := 0
	if dir == schema.ToClient {
		side = 1
	}
	r.c.packets++
	r.c.bytes[side] += int64(size)
}

// Emit emits a frame of the connection.
func (r *Ready) Emit(f *transport.Frame, marks transport.Marks) { r.a.give(r.c, f, marks) }

// Malformed counts n malformed packets.
func (a *Assembler) Malformed(n uint32) { a.sum.Malformed += n }

// NotPackets counts records of the file that are numbered like packets and are none.
func (a *Assembler) NotPackets(n uint32) { a.sum.NotPackets += n }

// Full reports whether Options.Limit was reached.
func (a *Assembler) Full() bool { return a.sum.More }
