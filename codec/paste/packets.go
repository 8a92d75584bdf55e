package paste

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
)

// Packets in a text. Packets exported by Wireshark become the payloads of their connections, in order; as a file, such a text is read as a
// capture. A dump, an array or a column may also hold complete packets, which only their bytes show.

// isExport recognises packets by the form of an exported text. Exports without a payload are left to other forms.
func isExport(t *pasted) bool {
	return pcap.SniffExport([]byte(t.s[:min(len(t.s), pcap.ExportHead)])) != ""
}

// passing is a transport that emits segments as frames.
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

// readPackets reads the form "packets".
func readPackets(t *pasted) (*builder, *Error) {
	r, err := pcap.NewReader(strings.NewReader(t.s))
	if err != nil || !r.Exported() {
		return nil, errWhole("not a Wireshark or tshark export of packets with their bytes (-T json -x, -T pdml, -V -x ...)")
	}
	b := &builder{form: formPackets}
	off := 0
	var fail *Error
	connOf := map[int]int{} // by Conn.ID: those without a payload are omitted
	a := packet.NewAssembler(packet.Options{NoTLS: true, New: func(c transport.Conn) transport.Transport {
		b.stream = true
		connOf[c.ID] = len(b.conns)
		c.ID = len(b.conns)
		b.conns = append(b.conns, c)
		return passing{}
	}}, func(f *transport.Frame) {
		switch {
		case fail != nil:
		case f.Kind == transport.Problem:
			b.note(off, "bytes of %s are missing here", f.Conn.Name())
		default:
			start := len(b.out)
			b.out = append(b.out, f.Bytes...)
			m := Message{Dir: f.Dir, Conn: connOf[f.Conn.ID], Number: int(f.From[0].Packet)}
			if !f.At.IsZero() {
				m.Time = scan.Stamp{Kind: scan.Absolute, At: f.At}
			}
			fail = b.add(m, start, off)
		}
	})
	for fail == nil {
		p, err := r.Next()
		if err != nil {
			if torn, ok := err.(*packet.Torn); ok {
				b.note(len(t.s), "the rest of the text cannot be read: %s", torn.Why)
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
		b.why += fmt.Sprintf(", of %d connections: read as a file, they are separate connections of a capture", n)
	}
	return b, nil
}

// maxLookedAt is the number of messages that are checked for packets.
const maxLookedAt = 1000

// LookForPackets sets Packets and Link if the messages are complete packets: at least one has a valid IP header of TCP or UDP, including
// its checksum, and nearly all others fit its link type.
func (p *Paste) LookForPackets() {
	if p.Stream || p.has(decoded) {
		return
	}
	looked := p.Messages[:min(len(p.Messages), maxLookedAt)]
	first := slices.IndexFunc(looked, func(m Message) bool { _, ok := packet.LinkOf(m.Bytes); return ok })
	if first < 0 {
		return
	}
	link, _ := packet.LinkOf(looked[first].Bytes)
	right, strange := 0, 0
	for i, m := range looked {
		if ip, _ := packet.Network(link, m.Bytes); packet.RightIP(ip) {
			right++
		} else if !packet.OtherPacket(link, m.Bytes) && (right < 2 || i < len(p.Messages)-1) { // the last one may be truncated
			strange++
		}
	}
	if strange*8 > right { // a few strange packets among many valid ones are accepted
		return
	}
	p.Packets, p.Link = true, link
	name := map[packet.LinkType]string{packet.LinkEthernet: "Ethernet", packet.LinkRaw: "IP", packet.LinkNull: "a loopback interface"}[link]
	p.Why += "; the bytes are complete packets of " + cmp.Or(name, "Linux's cooked mode") + "; a file of them is read as a capture"
}

// ReadPackets emits the frames of a text whose messages are packets.
func ReadPackets(p *Paste, opts packet.Options, emit func(*transport.Frame)) packet.Summary {
	a := packet.NewAssembler(opts, emit)
	for i := range p.Messages {
		m := &p.Messages[i]
		a.Packet(&packet.Packet{N: uint32(i + 1), At: m.Time.Moment(time.Time{}), Link: p.Link, Data: m.Bytes, Orig: uint32(len(m.Bytes)), Pos: -1})
		if a.Full() {
			break
		}
	}
	a.Flush()
	sum := a.Summary()
	sum.Format = "packets in " + p.Form
	return sum
}
