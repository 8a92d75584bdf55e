package logs

import (
	"encoding/binary"
	"net/netip"
	"time"

	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The capture of MapleShark and MapleShark2, all little-endian: u16 version, a header, and packets up to the end of the file.
//
//	below 0x2000    the version is the build of the game; u16 local port
//	0x2012          u16 locale, u16 build, u16 local port
//	0x2014          two ends, u16 locale, u16 build
//	0x2015, 0x2020  two ends, u8 locale, u16 build
//	from 0x2021 on  two ends, u8 locale, u16 build, string patch
//	from 0x2030 on  two ends, u8 locale, u32 build (MapleShark2)
//
// An end is a string, "address:port" or an address, and u16 port. The first port is the client's, and the second the server's; the string
// before each can be that of the other one. A string is UTF-8 after its length, 7 bits per byte. A packet:
//
//	i64 time, .NET ticks (100 ns since the year 1)
//	u16 size, from version 0x2027 on i32
//	u16 opcode
//	u8 outbound, from version 0x2020 on; before, it is bit 15 of the size
//	the bytes, without the opcode
//	u32, u32 IVs, in versions 0x2025 to 0x202f
//
// A frame's bytes are those of the file, without the opcode, as definitions describe the bytes after it. The opcode is the code of the
// frame's key; Options.Key is not used, as it would read a code from the bytes. The IVs are ignored. Times have no zone: they are read as
// UTC.
//
// Sources: the projects diamondo25/MapleShark, file SessionForm.cs, and kOchirasu/MapleShark2, files FileLoader.cs and SessionForm.cs.
const (
	sharkNumbered = 0x2000 // versions of the format start here
	sharkOutbound = 0x2020 // the direction has its own byte
	sharkPatch    = 0x2021
	sharkIVs      = 0x2025
	sharkLong     = 0x2027 // the size has four bytes
	sharkSecond   = 0x2030 // of MapleShark2
	sharkLast     = 0x20ff // larger numbers are not versions

	maxSharkRun = 8 // packets that are checked
	sharkRun    = 2 // minimum number of consecutive packets
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
		if version >= sharkIVs && version < sharkSecond {
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
	p.ticks = int64(binary.LittleEndian.Uint64(b))
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

// sharkHead reads the header of a version at the start of b: the ends of the connection, as far as it has them, and its size.
func sharkHead(version uint16, b []byte) (c transport.Conn, size int, ok bool) {
	at := 2
	switch {
	case version < sharkNumbered:
		return c, at + 2, true
	case version == 0x2012:
		return c, at + 6, true
	}
	var texts [2]string
	var ports [2]uint16
	for i := range texts {
		if texts[i], at, ok = sharkString(b, at); !ok || at+2 > len(b) {
			return c, 0, false
		}
		ports[i] = binary.LittleEndian.Uint16(b[at:])
		at += 2
	}
	for _, text := range texts {
		end, err := netip.ParseAddrPort(text)
		if err != nil {
			continue
		}
		if end.Port() == ports[0] {
			c.Client = end
		} else {
			c.Server = end
		}
	}
	for i, end := range []*netip.AddrPort{&c.Client, &c.Server} {
		if addr, err := netip.ParseAddr(texts[i]); err == nil {
			*end = netip.AddrPortFrom(addr, ports[i])
		}
	}
	switch {
	case version == 0x2014:
		return c, at + 4, true
	case version >= sharkSecond:
		return c, at + 5, true
	case version >= sharkPatch:
		_, at, ok = sharkString(b, at+3)
		return c, at, ok
	}
	return c, at + 3, true
}

// sharkString reads a string at a place of b.
func sharkString(b []byte, at int) (text string, after int, ok bool) {
	size := 0
	for shift := 0; at < len(b) && shift < 28; shift += 7 {
		c := b[at]
		at++
		if size |= int(c&0x7f) << shift; c < 0x80 {
			return string(b[at:min(at+size, len(b))]), at + size, at+size <= len(b)
		}
	}
	return "", 0, false
}

// start finds the first packet of a file, and the ends of its connection.
func (s sharkLayout) start(version uint16, head []byte, all bool) (c transport.Conn, at int, ok bool) {
	c, at, ok = sharkHead(version, head)
	return c, at, ok && at < len(head) && s.fits(head[at:], all)
}

func sniffShark(head []byte, all bool) bool {
	if len(head) < 2 {
		return false
	}
	version := binary.LittleEndian.Uint16(head)
	s, ok := sharkLayoutOf(version)
	if ok {
		_, _, ok = s.start(version, head, all)
	}
	return ok
}

// readShark reads the form "mapleshark".
func readShark(l *reading) {
	b := l.in.Peek(Head)
	version := binary.LittleEndian.Uint16(b)
	s, _ := sharkLayoutOf(version)
	c, at, ok := s.start(version, b, len(b) < Head)
	if !ok {
		l.torn("no packet follows the header")
		return
	}
	clear(l.conns)
	l.on(0, c)
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
