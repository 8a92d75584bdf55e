package pcap

import (
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
)

func (r *Reader) pcapHead() error {
	head := r.in.Peek(pcapHeader)
	r.big = head[0] == 0xa1
	magic := r.u32(head)
	r.nanos = magic == pcapNano
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

func (r *Reader) nextPcap() error {
	head := r.in.Peek(pcapRecord)
	switch {
	case len(head) == 0:
		return r.end()
	case len(head) < pcapRecord:
		return r.torn("the file ends inside the header of a packet: %d of %d bytes are present", len(head), pcapRecord)
	}
	sec, frac, size, orig := r.u32(head), r.u32(head[4:]), r.u32(head[8:]), r.u32(head[12:])
	if size > MaxPacket {
		return r.torn("a packet size of %d bytes is invalid", size)
	}
	whole := r.in.Peek(pcapRecord + int(size))
	if len(whole) < pcapRecord+int(size) {
		return r.torn("the file ends inside a packet: %d of %d bytes are present", len(whole)-pcapRecord, size)
	}
	if !r.nanos {
		frac = min(frac, 1e6-1) * 1000
	}
	r.packet = packet.Packet{
		N: r.packet.N + 1, At: time.Unix(int64(sec), int64(min(frac, 1e9-1))).UTC(), Link: r.ifaces[0].Link,
		Data: whole[pcapRecord:], Orig: orig, Pos: r.in.Offset() + pcapRecord,
	}
	// Peeked bytes stay valid until the next peek.
	r.in.SkipSeen(pcapRecord + int(size))
	return nil
}
