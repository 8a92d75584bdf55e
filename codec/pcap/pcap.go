package pcap

import (
	"time"

	"wirebench/codec/packet"
)

// The classic form: a header of 24 bytes, then records of a header of 16 bytes and the packet (draft-ietf-opsawg-pcap). The magic number
// is written in the order of the machine that wrote it.
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
		r.failed = r.torn("the file ends in its header: %d of %d bytes are there", len(head), pcapHeader)
		return nil
	}
	r.ifaces = []Interface{{
		SnapLen: r.u32(head[16:]),
		Link:    packet.LinkType(r.u32(head[20:]) & 0xffff), // the bits above tell of checksums behind the packets
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
		return r.torn("the file ends in the header of a packet: %d of %d bytes are there", len(head), pcapRecord)
	}
	sec, frac, size, orig := r.u32(head), r.u32(head[4:]), r.u32(head[8:]), r.u32(head[12:])
	if size > MaxPacket {
		return r.torn("a packet of %d bytes cannot be right", size)
	}
	whole := r.in.Peek(pcapRecord + int(size))
	if len(whole) < pcapRecord+int(size) {
		return r.torn("the file ends in a packet: %d of %d bytes are there", len(whole)-pcapRecord, size)
	}
	if !r.nanos {
		frac = min(frac, 1e6-1) * 1000
	}
	r.packet = packet.Packet{
		N: r.packet.N + 1, At: time.Unix(int64(sec), int64(min(frac, 1e9-1))).UTC(), Link: r.ifaces[0].Link,
		Data: whole[pcapRecord:], Orig: orig, Pos: r.in.Offset() + pcapRecord,
	}
	// What was looked at stays where it is until the next look.
	r.in.SkipSeen(pcapRecord + int(size))
	return nil
}
