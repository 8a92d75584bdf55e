package capture

import (
	"math"
	"net/netip"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// maxMadeFrame bounds the bytes of a frame in made-up packets.
const maxMadeFrame = 64 << 20

// madeFrames reads the frames of a section whose packets are made up (CaptureTold.Made): the comment of the first packet of a frame says all
// that there is to know, and the payloads are its bytes. Nothing is put in order, joined or deciphered: that was done before. What is kept is
// the bytes of one frame, and at most Options.Conns connections.
type madeFrames struct {
	conns map[uint32]*conn
	told  *FrameTold // of the frame that has begun
	conn  *conn
	at    time.Time
	dir   schema.Dir
	data  []byte
	from  []transport.Source
}

// made takes the next packet of such a section.
func (a *Assembler) made(p *Packet) {
	a.sum.Packets++
	if a.opts.Packet != nil {
		a.opts.Packet(p)
	}
	m := &a.frames
	told, _ := FramesTold(p.Comment)
	if len(told) > 0 && told[0].Made {
		a.endMade()
		t := &told[0]
		if t.Len < 0 || t.Len > maxMadeFrame {
			a.sum.Malformed++
			return
		}
		if m.conn = a.madeConn(t); m.conn == nil {
			a.sum.OverLimit++
			return
		}
		m.told, m.at, m.dir, m.data, m.from = t, p.At, schema.ToServer, m.data[:0], m.from[:0]
		if p.Flow == Outbound {
			m.dir = schema.ToClient
		}
	}
	if m.told == nil {
		return // a handshake
	}
	off, size, ok := p.Payload()
	if !ok {
		a.sum.Malformed++
		return
	}
	n := min(size, m.told.Len-len(m.data))
	if n > 0 {
		m.data = append(m.data, p.Data[off:off+n]...)
		m.from = append(m.from, transport.Source{Packet: p.N, Len: uint32(n)})
		side := 0
		if m.dir == schema.ToClient {
			side = 1
		}
		m.conn.bytes[side] += int64(n)
	}
	m.conn.packets++
	if len(m.data) == m.told.Len {
		a.endMade()
	}
}

// endMade emits the frame that has begun. One that is not whole is a problem.
func (a *Assembler) endMade() {
	m := &a.frames
	t := m.told
	if t == nil {
		return
	}
	m.told = nil
	if a.opts.Limit > 0 && int64(a.sum.Frames) >= int64(a.opts.Limit) || a.sum.Frames == math.MaxUint32 {
		a.sum.More = true
		return
	}
	f := transport.Frame{
		Kind: kindOf(t.Kind), Dir: m.dir, At: m.at, Name: t.Name, Bytes: m.data, From: m.from, Via: t.Via, Offset: t.Offset, Length: t.Length,
		Resumed: t.Resumed, Note: t.Says,
	}
	f.Key.Group = t.Group
	if t.Both {
		f.Dir = schema.Both
	}
	if f.Key.Dir = f.Dir; t.Code != nil {
		f.Key.Code, f.HasKey = *t.Code, true
	}
	if t.Untimed {
		f.At = time.Time{}
	}
	if len(m.data) < t.Len {
		f.Kind, f.HasKey, f.Note = transport.Problem, false, join(f.Note, "not all of its bytes are in the file")
	}
	a.sum.Frames++
	a.emit(Frame{N: a.sum.Frames, Conn: &m.conn.Conn, Frame: &f, Marks: marksOf(t.Flags)})
}

// madeConn is the connection of a frame; nil if there are too many. The first frame of it says what it is.
func (a *Assembler) madeConn(t *FrameTold) *conn {
	m := &a.frames
	if c := m.conns[t.Conn]; c != nil && t.Proto == "" {
		return c
	}
	if len(a.conns) >= a.opts.Conns {
		return nil
	}
	c := &conn{Conn: Conn{ID: len(a.conns), Proto: UDP, Session: max(t.Session, 0)}, named: true, serverB: true, made: true, over: true}
	if t.Proto == TCP.String() {
		c.Proto = TCP
	}
	c.Client, _ = netip.ParseAddrPort(t.Client)
	c.Server, _ = netip.ParseAddrPort(t.Server)
	if m.conns == nil {
		m.conns = map[uint32]*conn{}
	}
	m.conns[t.Conn] = c
	a.conns = append(a.conns, c)
	return c
}

// kindOf is a kind by its name; what has none is a message.
func kindOf(name string) transport.Kind {
	for k := transport.Control; k <= transport.Problem; k++ {
		if k.String() == name {
			return k
		}
	}
	return transport.Message
}

// section takes what the comments of a section tell.
func (r *Reader) section(rest []byte) {
	r.made = false
	for o := (options{r: r, rest: rest}); o.next(); {
		if o.code != optionComment {
			continue
		}
		if t, ok := captureTold(text(o.value)); ok {
			r.made = r.made || t.Made
		}
	}
}

// MadeSection reports whether the last packet is of a section whose packets are made up: one or more for each frame, as it was deciphered.
func (r *Reader) MadeSection() bool { return r.made }
