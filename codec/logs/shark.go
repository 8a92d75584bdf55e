package logs

import (
	"encoding/binary"
	"net/netip"
	"time"

	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The capture of MapleShark, all little-endian: u16 version, a header, and packets up to the end of the file:
//
//	i64 time, .NET ticks (100 ns since the year 1)
//	u16 size, from version 0x2027 on i32
//	u16 opcode
//	u8 outbound, from version 0x2020 on; before, it is bit 15 of the size
//	the bytes, without the opcode
//	u32, u32 IVs, in versions 0x2025 to 0x202F
//
// A version below 0x2000 is the build of the game, in files older than the version numbers.
//
// A frame's bytes are those of the file, without the opcode, as definitions describe the bytes after it. The opcode is the code of the
// frame's key; Options.Key is not used, as it would read a code from the bytes. The IVs are ignored.
//
// Assumptions, as the format is not documented: times are UTC, as they have no zone; outbound is from the client. The header differs
// between versions: packets start at the first offset after the version from which several follow each other with consistent times (or one,
// at the end of the file). From version 0x2014 on, the header is assumed to start with the local and the remote address, each a string and
// a port; otherwise the addresses are unknown.
const (
	sharkNumbered = 0x2000 // versions of the format start here
	sharkStrings  = 0x2014 // the header has addresses
	sharkOutbound = 0x2020 // the direction has its own byte
	sharkIVs      = 0x2025
	sharkLong     = 0x2027 // the size has four bytes
	sharkNoIVs    = 0x2030
	sharkLast     = 0x20ff // larger numbers are not versions

	maxSharkHead = 1024 // bytes after the version
	maxSharkRun  = 8    // packets that are checked
	sharkRun     = 2    // minimum number of consecutive packets
)

// Range of plausible ticks: the years 2000 to 2100.
const (
	ticksPerSecond = 10_000_000
	ticksTo1970    = 62_135_596_800 * ticksPerSecond
	firstTicks     = ticksTo1970 + 946_684_800*ticksPerSecond
	lastTicks      = ticksTo1970 + 4_102_444_800*ticksPerSecond
	ticksADay      = 86_400 * ticksPerSecond
)

// sharkLayout is the layout of packets in a version.
type sharkLayout struct {
	long, flag bool
	tail       int // bytes after the packet's data
}

func sharkLayoutOf(version uint16) (s sharkLayout, known bool) {
	switch {
	case version < sharkNumbered:
	case version == 0x2012, version == 0x2014, version == 0x2015:
	case version >= sharkOutbound && version <= sharkLast:
		s.flag, s.long = true, version >= sharkLong
		if version >= sharkIVs && version < sharkNoIVs {
			s.tail = 8
		}
	default:
		return s, false
	}
	return s, true
}

// head returns the size of a packet header.
func (s sharkLayout) head() int {
	n := 8 + 2 + 2
	if s.long {
		n += 2
	}
	if s.flag {
		n++
	}
	return n
}

// sharkPacket is a parsed packet header.
type sharkPacket struct {
	ticks    int64
	size     int
	opcode   uint16
	outbound bool
}

// packet parses a packet header. ok is false if it is invalid.
func (s sharkLayout) packet(b []byte) (p sharkPacket, ok bool) {
	if len(b) < s.head() {
		return p, false
	}
	p.ticks = int64(binary.LittleEndian.Uint64(b) &^ (3 << 62)) // two bits give the time zone
	b = b[8:]
	ok = p.ticks >= firstTicks && p.ticks < lastTicks
	if s.long {
		size := int32(binary.LittleEndian.Uint32(b))
		p.size = int(size)
		ok = ok && size >= 0 && size <= pcap.MaxPacket
		b = b[4:]
	} else {
		p.size = int(binary.LittleEndian.Uint16(b))
		if !s.flag {
			p.outbound = p.size&0x8000 != 0
			p.size &= 0x7fff
		}
		b = b[2:]
	}
	p.opcode = binary.LittleEndian.Uint16(b)
	if s.flag {
		p.outbound = b[2] == 1
		ok = ok && b[2] <= 1
	}
	return p, ok
}

// fits reports whether packets start at b. all is set if b extends to the end of the file.
func (s sharkLayout) fits(b []byte, all bool) bool {
	var before int64
	for n := range maxSharkRun {
		p, ok := s.packet(b)
		if !ok || n > 0 && (p.ticks-before > ticksADay || before-p.ticks > ticksADay) {
			return n >= sharkRun // the rest may be truncated, or something else
		}
		before = p.ticks
		next := s.head() + p.size + s.tail
		if next >= len(b) {
			return n+1 >= sharkRun || all && next == len(b)
		}
		b = b[next:]
	}
	return true
}

// start finds the first packet after the version.
func (s sharkLayout) start(head []byte, all bool) (at int, ok bool) {
	for at = 2; at <= 2+maxSharkHead && at+s.head() <= len(head); at++ {
		if s.fits(head[at:], all) {
			return at, true
		}
	}
	return 0, false
}

func sniffShark(head []byte, all bool) bool {
	if len(head) < 2 {
		return false
	}
	s, ok := sharkLayoutOf(binary.LittleEndian.Uint16(head))
	if ok {
		_, ok = s.start(head, all)
	}
	return ok
}

// readShark reads the form "mapleshark".
func readShark(l *reading) {
	b := l.in.Peek(Head)
	version := binary.LittleEndian.Uint16(b)
	s, _ := sharkLayoutOf(version)
	at, ok := s.start(b, len(b) < Head)
	if !ok {
		l.torn("no packet found in the first %d bytes", maxSharkHead)
		return
	}
	if version >= sharkStrings {
		clear(l.conns)
		l.on(0, sharkEnds(b[2:at]))
	}
	l.in.Skip(int64(at))
	l.out.Opts.Key = nil // see above
	for !l.ended() {
		head := s.head()
		b := l.in.Peek(head)
		if len(b) < head {
			l.torn("a packet needs %d bytes, but only %d are left", head, len(b))
			return
		}
		p, ok := s.packet(b)
		if !ok {
			l.torn("invalid packet header")
			return
		}
		if b = l.in.Peek(head + p.size); len(b) < head+p.size {
			l.torn("a packet has %d bytes, but only %d are left", p.size, len(b)-head)
			return
		}
		l.record()
		dir := schema.ToClient
		if p.outbound {
			dir = schema.ToServer
		}
		f := transport.Frame{
			Dir: dir, At: ticksTime(p.ticks), Bytes: b[head:],
			Key: schema.Key{Dir: dir, Code: uint32(p.opcode)}, HasKey: true,
		}
		if !l.give(f, l.in.Offset()+int64(head)) {
			return
		}
		l.in.Skip(int64(head + p.size))
		if left := l.in.Skip(int64(s.tail)); left < int64(s.tail) {
			l.torn("%d bytes after a packet are missing", int64(s.tail)-left)
			return
		}
	}
}

func ticksTime(ticks int64) time.Time {
	return time.Unix((ticks-ticksTo1970)/ticksPerSecond, ticks%ticksPerSecond*100).UTC()
}

// sharkEnds reads the addresses at the start of a header, if it has them.
func sharkEnds(b []byte) (c transport.Conn) {
	var ends [2]netip.AddrPort
	for i := range ends {
		size, used, ok := netString(b)
		if !ok || used+size+2 > len(b) {
			return transport.Conn{}
		}
		addr, err := netip.ParseAddr(string(b[used : used+size]))
		if err != nil {
			return transport.Conn{}
		}
		b = b[used+size:]
		ends[i] = netip.AddrPortFrom(addr, binary.LittleEndian.Uint16(b))
		b = b[2:]
	}
	return transport.Conn{Client: ends[0], Server: ends[1]}
}
