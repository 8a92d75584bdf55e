package pcap

import (
	"encoding/binary"
	"time"

	"wirebench/codec/packet"
)

// The classic format: a header of 24 bytes, then records of a 16-byte header and the packet (draft-ietf-opsawg-pcap). The byte order is
// that of the writing machine, which the magic number shows.
const (
	pcapMicro        = 0xa1b2c3d4
	pcapNano         = 0xa1b23c4d
	pcapMicroSwapped = 0xd4c3b2a1
	pcapNanoSwapped  = 0x4d3cb2a1

	// Of a patched tcpdump, whose packet headers also have an interface and a protocol.
	pcapPatched        = 0xa1b2cd34
	pcapPatchedSwapped = 0x34cdb2a1
)

// Programs have written the magic number of pcap before packets with longer headers: 4 more bytes by Nokia, 8 by Red Hat 6.1 and by the
// patched tcpdump, 12 by that of SuSE 6.3. The headers of the first packets show which.
var pcapHeads, pcapPatchedHeads = []int{pcapRecord, 24, 20, 28}, []int{24, 28, pcapRecord, 20}

func isPcap(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	switch binary.BigEndian.Uint32(head) {
	case pcapMicro, pcapNano, pcapMicroSwapped, pcapNanoSwapped, pcapPatched, pcapPatchedSwapped:
		return true
	}
	return false
}

func (r *Reader) pcapHead() error {
	head := r.in.Peek(pcapHeader)
	r.big = head[0] == 0xa1
	magic := r.u32(head)
	r.nanos, r.patched = magic == pcapNano, magic == pcapPatched
	if len(head) < pcapHeader {
		r.failed = r.torn("the file ends inside its header: %d of %d bytes are present", len(head), pcapHeader)
		return nil
	}
	r.ifaces = []Interface{{
		SnapLen: r.u32(head[16:]),
		Link:    packet.LinkType(r.u32(head[20:]) & 0xffff), // the upper bits give the length of a frame check sequence
	}}
	r.in.Skip(pcapHeader)
	return nil
}

// headSize finds the size of the headers of packets: the usual one, unless a header among the first packets cannot be right with it, and
// more of them can be with another. It looks only at buffered bytes: waiting for more would delay the first packet of a pipe.
func (r *Reader) headSize() int {
	heads := pcapHeads
	if r.patched {
		heads = pcapPatchedHeads
	}
	r.in.Peek(pcapRecord)
	best, most := heads[0], 0
	for i, size := range heads {
		right, wrong := r.rightHeads(r.in.Buffered(), size, i > 0)
		if i == 0 && !wrong {
			return size
		}
		if right > most {
			best, most = size, right
		}
	}
	return best
}

// rightHeads counts the packets at the start of b, up to 3, whose headers can be right, and reports whether the next one cannot. strict asks
// for what some writers of the usual headers neglect: a packet is not larger than on the wire, and within years of the first one.
func (r *Reader) rightHeads(b []byte, head int, strict bool) (right int, wrong bool) {
	const years = 10 * 365 * 24 * 60 * 60
	first := int64(-1)
	for right < 3 && len(b) >= head {
		sec, frac, size, orig := int64(r.u32(b)), r.u32(b[4:]), r.u32(b[8:]), r.u32(b[12:])
		if first < 0 {
			first = sec
		}
		if frac >= 1e9 || !r.nanos && frac >= 1e6 || size > MaxPacket || orig > MaxPacket || size > max(orig, 1<<16) ||
			strict && (size > orig || max(sec-first, first-sec) > years) {
			return right, true
		}
		right++
		b = b[min(head+int(size), len(b)):]
	}
	return right, false
}

func (r *Reader) nextPcap() error {
	if r.head == 0 {
		r.head = r.headSize()
	}
	head := r.in.Peek(r.head)
	switch {
	case len(head) == 0:
		return r.end()
	case len(head) < r.head:
		return r.torn("the file ends inside the header of a packet: %d of %d bytes are present", len(head), r.head)
	}
	sec, frac, size, orig := r.u32(head), r.u32(head[4:]), r.u32(head[8:]), r.u32(head[12:])
	if size > MaxPacket {
		return r.torn("a packet size of %d bytes is invalid", size)
	}
	whole := r.in.Peek(r.head + int(size))
	if len(whole) < r.head+int(size) {
		return r.torn("the file ends inside a packet: %d of %d bytes are present", len(whole)-r.head, size)
	}
	if !r.nanos {
		frac = min(frac, 1e6-1) * 1000
	}
	r.packet = packet.Packet{
		N: r.packet.N + 1, At: time.Unix(int64(sec), int64(min(frac, 1e9-1))).UTC(), Link: r.ifaces[0].Link,
		Data: whole[r.head:], Orig: orig, Pos: r.in.Offset() + int64(r.head),
	}
	// Peeked bytes stay valid until the next peek.
	r.in.SkipSeen(r.head + int(size))
	return nil
}
