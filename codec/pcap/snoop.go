package pcap

import (
	"encoding/binary"
	"time"

	"wirebench/codec/packet"
)

// snoop, of Solaris (RFC 1761): a header of 16 bytes, then records of a 24-byte header, the packet, and padding. All numbers are big-endian.
const (
	snoopMagic  = "snoop\x00\x00\x00"
	snoopHeader = 16
	snoopRecord = 24
)

func (r *Reader) snoopHead() error {
	head := r.in.Peek(snoopHeader)
	if len(head) < snoopHeader {
		r.failed = r.torn("the file ends inside its header: %d of %d bytes are present", len(head), snoopHeader)
		return nil
	}
	r.big = true
	if version := r.u32(head[8:]); version != 2 {
		r.failed = r.torn("the version %d of snoop is not read", version)
		return nil
	}
	link := packet.LinkUnknown
	switch r.u32(head[12:]) { // data link types of RFC 1761, and of Solaris
	case 0, 4:
		link = packet.LinkEthernet
	case 8: // FDDI
		link = 10
	case 2:
		link = 6 // Token Ring
	}
	r.ifaces = []Interface{{Link: link}}
	r.in.Skip(snoopHeader)
	return nil
}

func (r *Reader) nextSnoop() error {
	head := r.in.Peek(snoopRecord)
	switch {
	case len(head) == 0:
		return r.end()
	case len(head) < snoopRecord:
		return r.torn("the file ends inside the header of a packet: %d of %d bytes are present", len(head), snoopRecord)
	}
	orig, size, record := r.u32(head), r.u32(head[4:]), r.u32(head[8:])
	if size > MaxPacket || record > MaxPacket || record < snoopRecord+size {
		return r.torn("a packet of %d bytes in a record of %d bytes is invalid", size, record)
	}
	whole := r.in.Peek(int(record))
	if len(whole) < snoopRecord+int(size) {
		return r.torn("the file ends inside a packet: %d of %d bytes are present", len(whole)-snoopRecord, size)
	}
	end := snoopRecord + int(size)
	r.packet = packet.Packet{
		N: r.packet.N + 1, At: time.Unix(int64(r.u32(head[16:])), int64(min(r.u32(head[20:]), 1e6-1))*1000).UTC(), Link: r.ifaces[0].Link,
		Data: whole[snoopRecord:end:end], Orig: orig, Pos: r.in.Offset() + snoopRecord,
	}
	r.in.SkipSeen(len(whole))
	return nil
}

// Network Monitor of Microsoft: a header, then packets, then tables of statistics, comments and where the packets are. Packets are read in the
// order of the file, without the table. All numbers are little-endian.
//
//	version 1: 8 bytes of header: milliseconds since the start, size on the wire (2), size in the file (2)
//	version 2: 16 bytes: microseconds (8), sizes (4 each); behind the packet 2 bytes of network from 2.1 on, 4 more of process from 2.2 on,
//	           9 more of time from 2.3 on
const (
	netmonMagic1 = "RTSS"
	netmonMagic2 = "GMBU"
	netmonHeader = 72
	netmonStart  = 0x80 // where the first packet is

	maxNetmonYear = 2200 // in a header
)

// netmon is the state of reading a file of Network Monitor.
type netmon struct {
	start    time.Time
	second   bool // version 2
	trailer  int  // bytes behind a packet
	sections [][2]int64
}

func isNetmon(head []byte) bool {
	if len(head) < 6 {
		return false
	}
	switch string(head[:4]) {
	case netmonMagic1:
		return head[5] == 1
	case netmonMagic2:
		return head[5] == 2
	}
	return false
}

// netmonLink returns the link type of a number of Network Monitor. From 0xe000 on it is that of pcap.
func netmonLink(n uint16) packet.LinkType {
	switch {
	case n == 1:
		return packet.LinkEthernet
	case n == 2:
		return 6 // Token Ring
	case n == 3:
		return 10 // FDDI
	case n == 7, n == 8: // tunnels, mobile broadband
		return packet.LinkRaw
	case n >= 0xe000 && n < 0xf000:
		return packet.LinkType(n - 0xe000)
	}
	return packet.LinkUnknown
}

func (r *Reader) netmonHead() error {
	head := r.in.Peek(netmonHeader)
	if len(head) < netmonHeader {
		r.failed = r.torn("the file ends inside its header: %d of %d bytes are present", len(head), netmonHeader)
		return nil
	}
	n := &r.netmon
	n.second = head[5] == 2
	if n.second {
		n.trailer = []int{0, 2, 6, 15}[min(head[4], 3)]
	}
	r.ifaces = []Interface{{Link: netmonLink(r.u16(head[6:]))}}
	at := func(i int) int { return int(binary.LittleEndian.Uint16(head[8+2*i:])) } // year, month, day of the week, day, hour, minute, second, millisecond
	if year := at(0); year >= 1970 && year <= maxNetmonYear {                      // else the times are unknown
		n.start = time.Date(year, time.Month(min(at(1), 12)), min(at(3), 31), min(at(4), 23), min(at(5), 59), min(at(6), 59), min(at(7), 999)*1e6, time.UTC)
	}
	for i := 24; i+8 <= netmonHeader; i += 8 { // offset and size of the tables; the first is that of packets
		from, size := int64(r.u32(head[i:])), int64(r.u32(head[i+4:]))
		if from >= netmonStart && size > 0 {
			n.sections = append(n.sections, [2]int64{from, from + size})
		}
	}
	if skipped := r.in.Skip(netmonStart); skipped < netmonStart {
		r.failed = r.torn("the file ends inside its header: %d of %d bytes are present", skipped, netmonStart)
	}
	return nil
}

func (r *Reader) nextNetmon() error {
	n := &r.netmon
	for moved := true; moved; {
		moved = false
		for _, s := range n.sections {
			if here := r.in.Offset(); here >= s[0] && here < s[1] {
				moved = r.in.Skip(s[1]-here) == s[1]-here
			}
		}
	}
	record := 8
	if n.second {
		record = 16
	}
	head := r.in.Peek(record)
	switch {
	case len(head) == 0:
		return r.end()
	case len(head) < record:
		return r.torn("the file ends inside the header of a packet: %d of %d bytes are present", len(head), record)
	}
	var since time.Duration
	var orig, size uint32
	if n.second {
		since, orig, size = time.Duration(min(r.u64(head), 1<<52))*time.Microsecond, r.u32(head[8:]), r.u32(head[12:])
	} else {
		since, orig, size = time.Duration(r.u32(head))*time.Millisecond, uint32(r.u16(head[4:])), uint32(r.u16(head[6:]))
	}
	if size > MaxPacket || orig < size && orig > 0 {
		return r.torn("a packet size of %d bytes of %d is invalid", size, orig)
	}
	end := record + int(size)
	whole := r.in.Peek(end + n.trailer)
	if len(whole) < end+n.trailer {
		return r.torn("the file ends inside a packet: %d of %d bytes are present", max(len(whole)-record, 0), size)
	}
	link := r.ifaces[0].Link
	if n.trailer > 0 {
		link = netmonLink(r.u16(whole[end:]))
	}
	var moment time.Time
	if !n.start.IsZero() && since < 100*365*24*time.Hour {
		moment = n.start.Add(since)
	}
	r.packet = packet.Packet{
		N: r.packet.N + 1, At: moment, Link: link, Data: whole[record:end:end], Orig: orig, Pos: r.in.Offset() + int64(record),
	}
	r.in.SkipSeen(len(whole))
	return nil
}
