package pcap

import (
	"net/netip"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// maxMadeFrame bounds the bytes of a frame in made-up packets.
const maxMadeFrame = 64 << 20

// madeFrames reads the frames of a section whose packets are made up (CaptureTold.Made): the comment of a frame's first packet holds its
// properties, and the payloads its bytes. The bytes are already in order, reassembled and deciphered. Memory is bounded by the bytes of one
// frame and by Options.Conns connections.
type madeFrames struct {
	a     *packet.Assembler
	conns map[uint32]*packet.Ready
	told  *FrameTold // of the current frame
	conn  *packet.Ready
	at    time.Time
	dir   schema.Dir
	data  []byte
	from  []transport.Source
}

// packet takes the next packet of the section.
func (m *madeFrames) packet(p *packet.Packet) {
	m.a.Pass(p)
	told, _ := FramesTold(p)
	if len(told) > 0 && told[0].Made {
		m.end()
		t := &told[0]
		if t.Len < 0 || t.Len > maxMadeFrame {
			m.a.Malformed(1)
			return
		}
		if m.conn = m.connOf(t); m.conn == nil {
			return
		}
		m.told, m.at, m.dir, m.data, m.from = t, p.At, schema.ToServer, m.data[:0], m.from[:0]
		if p.Flow == packet.Outbound {
			m.dir = schema.ToClient
		}
	}
	if m.told == nil {
		return // a handshake
	}
	off, size, ok := p.Payload()
	if !ok {
		m.a.Malformed(1)
		return
	}
	n := max(0, min(size, m.told.Len-len(m.data)))
	if n > 0 {
		m.data = append(m.data, p.Data[off:off+n]...)
		m.from = append(m.from, transport.Source{Packet: p.N, Len: uint32(n)})
	}
	m.conn.Count(m.dir, n)
	if len(m.data) == m.told.Len {
		m.end()
	}
}

// end emits the current frame, as a problem if it is incomplete.
func (m *madeFrames) end() {
	t := m.told
	if t == nil {
		return
	}
	m.told = nil
	f := transport.Frame{
		Kind: transport.KindOf(t.Kind), Dir: m.dir, At: m.at, Name: t.Name, Bytes: m.data, From: m.from, Via: t.Via, Offset: t.Offset, Length: t.Length,
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
		f.Kind, f.HasKey, f.Note = transport.Problem, false, transport.Join(f.Note, "the file lacks some of its bytes")
	}
	m.conn.Emit(&f, transport.MarksOf(t.Flags))
}

// connOf returns the connection of a frame; nil above the limit of connections. The first frame of a connection describes it.
func (m *madeFrames) connOf(t *FrameTold) *packet.Ready {
	if c := m.conns[t.Conn]; c != nil && t.Proto == "" {
		return c
	}
	c := transport.Conn{Proto: transport.UDP, Session: max(t.Session, 0)}
	if t.Proto == transport.TCP.String() {
		c.Proto = transport.TCP
	}
	c.Client, _ = netip.ParseAddrPort(t.Client)
	c.Server, _ = netip.ParseAddrPort(t.Server)
	ready := m.a.Ready(c)
	if ready == nil {
		return nil
	}
	if m.conns == nil {
		m.conns = map[uint32]*packet.Ready{}
	}
	m.conns[t.Conn] = ready
	return ready
}

// section reads the comments of a section.
func (r *Reader) section(rest []byte) {
	r.made = false
	for o := (options{r: r, rest: rest}); o.next(); {
		if o.code != optionComment && o.code != optionTold {
			continue
		}
		if t, ok := sectionTold(text(o.value)); ok {
			r.made = r.made || t.Made
		}
	}
}

// MadeSection reports whether the last packet is in a section of made-up packets: one or more for each deciphered frame.
func (r *Reader) MadeSection() bool { return r.made }
