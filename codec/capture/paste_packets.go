package capture

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirebench/codec/transport"
)

// Packets in a text. Those that Wireshark exported become what their connections carried, in order; as a file, such a text is read as a
// capture. A dump, an array or a column may hold whole packets too, which only their bytes tell.

// tryPackets tells packets by the form of an exported text. Without a payload in them, what the text is is left to other forms.
func tryPackets(t *pasted) (*builder, *PasteError) {
	if exportOf([]byte(t.s[:min(len(t.s), exportHead)])) == nil {
		return nil, nil
	}
	b, e := readPackets(t)
	if e != nil {
		return nil, e.as(likely)
	}
	return b, nil
}

// passing gives the pieces of a connection as they come.
type passing struct{}

func (passing) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	f := transport.Frame{Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes, From: []transport.Source{{Packet: seg.Packet}}}
	if len(seg.Bytes) == 0 {
		if seg.Lost == 0 {
			return
		}
		f.Kind, f.Length = transport.Problem, seg.Lost
	}
	emit(&f)
}

func (passing) Flush(time.Time, func(*transport.Frame)) {}

// readPackets is the reader of the form "packets".
func readPackets(t *pasted) (*builder, *PasteError) {
	r, err := NewReader(strings.NewReader(t.s))
	if err != nil || r.export == nil {
		return nil, errWhole("this is no text in which Wireshark or tshark wrote packets with their bytes (-T json -x, -T pdml, -V -x ...)")
	}
	b := &builder{form: "packets"}
	off := 0
	var fail *PasteError
	connOf := map[int]int{} // by Conn.ID: those without a payload are left out
	a := NewAssembler(Options{New: func(c Conn) transport.Transport {
		b.stream = true
		connOf[c.ID] = len(b.conns)
		c.ID = len(b.conns)
		b.conns = append(b.conns, c)
		return passing{}
	}}, func(f Frame) {
		switch {
		case fail != nil:
		case f.Kind == transport.Problem:
			b.note(off, "bytes of %s are missing here", f.Conn.Name())
		default:
			start := len(b.out)
			if fail = b.room(uint64(len(f.Bytes)), off); fail != nil {
				return
			}
			b.out = append(b.out, f.Bytes...)
			m := Message{Dir: f.Dir, Conn: connOf[f.Conn.ID], Number: int(f.From[0].Packet)}
			if !f.At.IsZero() {
				m.Time = Stamp{Kind: Absolute, At: f.At}
			}
			fail = b.add(m, start, off)
		}
	})
	for fail == nil {
		p, err := r.Next()
		if err != nil {
			if torn, ok := err.(*Torn); ok {
				b.note(len(t.s), "the text cannot be read on: %s", torn.Why)
			}
			break
		}
		off = int(min(p.Pos, int64(len(t.s))))
		a.Packet(p)
	}
	a.Flush()
	if fail != nil {
		return nil, fail
	}
	sum := a.Summary()
	if len(b.msgs) == 0 {
		return nil, errWhole("the text holds %d packets, and no payload of TCP or UDP in them", sum.Packets)
	}
	if len(b.conns) == 1 {
		b.peers = []string{b.conns[0].Client.String(), b.conns[0].Server.String()}
		b.conns = nil
	}
	b.why = fmt.Sprintf("%d packets as %s shows them, with their bytes; these are what TCP and UDP carried", sum.Packets, r.Format())
	if n := len(sum.Conns); n > 1 {
		b.why += fmt.Sprintf(", of %d connections: as a file it is read as a capture, which keeps them apart", n)
	}
	return b, nil
}

// maxLookedAt is how many messages must be packets so that all are taken for packets.
const maxLookedAt = 1000

// lookForPackets tells whether the messages are whole packets: those of a first one in which an IP header of TCP or UDP is right, up to its
// checksum, and of others that have the same link type.
func (p *Paste) lookForPackets() {
	if p.Stream || len(p.Messages) == 0 || p.Form == "packets" || p.Form == "tera-log" {
		return
	}
	looked := p.Messages[:min(len(p.Messages), maxLookedAt)]
	first := slices.IndexFunc(looked, func(m Message) bool { _, ok := linkOf(m.Bytes); return ok })
	if first < 0 {
		return
	}
	link, _ := linkOf(looked[first].Bytes)
	right, strange := 0, 0
	for i, m := range looked {
		if rightIP(network(link, m.Bytes)) {
			right++
		} else if !otherPacket(link, m.Bytes) && (right < 2 || i < len(p.Messages)-1) { // the text may break off in the last one
			strange++
		}
	}
	if strange*8 > right { // so many checksums are not right by chance
		return
	}
	p.Packets, p.Link = true, link
	name := map[LinkType]string{LinkEthernet: "Ethernet", LinkRaw: "IP", LinkNull: "a loopback interface"}[p.Link]
	if name == "" {
		name = "Linux's cooked mode"
	}
	p.Why += "; the bytes are whole packets of " + name + ": as a file, they are read as a capture"
}

// otherPacket reports whether b can stand among packets of a link type although it is none of TCP or UDP: another protocol, or a part of a
// packet that came in fragments.
func otherPacket(link LinkType, b []byte) bool {
	var ip ipPacket
	if n := network(link, b); n != nil {
		return parseIP(n, &ip) && len(ip.data) == ip.size
	}
	kinds := []uint16{0x0806, 0x88cc, etherIPv4, etherIPv6, etherVLAN, etherQinQ}
	switch {
	case link == LinkEthernet && len(b) >= 14:
		kind := binary.BigEndian.Uint16(b[12:])
		return slices.Contains(kinds, kind) || kind <= 1500 && int(kind) <= len(b)-14 // IEEE 802.3: its length
	case link == LinkSLL && len(b) >= 16:
		return b[0] == 0 && b[1] <= 4 && slices.Contains(kinds, binary.BigEndian.Uint16(b[14:]))
	case link == LinkSLL2 && len(b) >= 20:
		return b[2] == 0 && b[3] == 0 && b[10] <= 4 && slices.Contains(kinds, binary.BigEndian.Uint16(b))
	}
	return false
}

// readPastedPackets reads the packets of a text as those of a capture.
func readPastedPackets(p *Paste, opts Options, emit func(Frame)) Summary {
	a := NewAssembler(opts, emit)
	var of WholeOptions
	for i := range p.Messages {
		m := &p.Messages[i]
		a.Packet(&Packet{N: uint32(i + 1), At: of.moment(m.Time), Link: p.Link, Data: m.Bytes, Orig: uint32(len(m.Bytes)), Pos: -1})
		if a.sum.More {
			break
		}
	}
	a.Flush()
	sum := a.Summary()
	sum.Format = "packets in " + p.Form
	return sum
}
