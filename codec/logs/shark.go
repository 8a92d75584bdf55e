package logs

import (
	"encoding/binary"
	"net/netip"
	"time"

	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The capture of MapleShark, all little-endian: u16 version, a head, and packets up to the end of the file:
//
//	i64 time, ticks of .NET (100 ns since the year 1)
//	u16 size, from version 0x2027 on i32
//	u16 opcode
//	u8 outbound, from version 0x2020 on; before, it is bit 15 of the size
//	the bytes, without the opcode
//	u32, u32 IVs, in versions 0x2025 to 0x202F
//
// A version below 0x2000 is the build of the game, of files older than the numbering.
//
// A frame's bytes are those of the file, without the opcode: definitions are of what follows it. The opcode is the code of the frame's key;
// Options.Key is not asked, as it would read a code from the bytes. The IVs are not kept.
//
// What is not told and decided here: the time has no zone and is taken as UTC; outbound is from the client. The head differs between
// versions: packets start at the first place behind the version from which several follow each other with times that fit (or one, which ends
// the file). From version 0x2014 on, the head is taken to start with the local and the remote address, each a string and a port; if it does
// not, the addresses are not known.
const (
	sharkNumbered = 0x2000 // versions from here on are numbers of the format
	sharkStrings  = 0x2014 // the head has addresses
	sharkOutbound = 0x2020 // the direction is a byte of its own
	sharkIVs      = 0x2025
	sharkLong     = 0x2027 // the size has four bytes
	sharkNoIVs    = 0x2030
	sharkLast     = 0x20ff // what is above is no version

	maxSharkHead = 1024 // bytes behind the version
	maxSharkRun  = 8    // packets that are looked at
	sharkRun     = 2    // so many must follow each other
)

// Ticks between which times are believed: the years 2000 to 2100.
const (
	ticksPerSecond = 10_000_000
	ticksTo1970    = 62_135_596_800 * ticksPerSecond
	firstTicks     = ticksTo1970 + 946_684_800*ticksPerSecond
	lastTicks      = ticksTo1970 + 4_102_444_800*ticksPerSecond
	ticksADay      = 86_400 * ticksPerSecond
)

// sharkLayout is how packets of a version are written.
type sharkLayout struct {
	long, flag bool
	tail       int // bytes behind the packet's own
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

// head is how many bytes stand before those of a packet.
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

// sharkPacket is the head of a packet.
type sharkPacket struct {
	ticks    int64
	size     int
	opcode   uint16
	outbound bool
}

// packet reads the head of a packet. ok is false if none starts so.
func (s sharkLayout) packet(b []byte) (p sharkPacket, ok bool) {
	if len(b) < s.head() {
		return p, false
	}
	p.ticks = int64(binary.LittleEndian.Uint64(b) &^ (3 << 62)) // the two bits say what zone the time is of
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

// fits reports whether packets start at b. With all, b goes to the end of the file.
func (s sharkLayout) fits(b []byte, all bool) bool {
	var before int64
	for n := range maxSharkRun {
		p, ok := s.packet(b)
		if !ok || n > 0 && (p.ticks-before > ticksADay || before-p.ticks > ticksADay) {
			return n >= sharkRun // what follows need not be whole, nor a packet
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

// start finds the first packet behind the version.
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

// readShark is the reader of the form "mapleshark".
func readShark(l *reading) {
	b := l.in.Peek(Head)
	version := binary.LittleEndian.Uint16(b)
	s, _ := sharkLayoutOf(version)
	at, ok := s.start(b, len(b) < Head)
	if !ok {
		l.torn("there is no packet in the first %d bytes", maxSharkHead)
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
			l.torn("a packet needs %d bytes, and %d are left", head, len(b))
			return
		}
		p, ok := s.packet(b)
		if !ok {
			l.torn("no packet starts here")
			return
		}
		if b = l.in.Peek(head + p.size); len(b) < head+p.size {
			l.torn("a packet has %d bytes, and %d are left", p.size, len(b)-head)
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
			l.torn("%d bytes behind a packet are missing", int64(s.tail)-left)
			return
		}
	}
}

func ticksTime(ticks int64) time.Time {
	return time.Unix((ticks-ticksTo1970)/ticksPerSecond, ticks%ticksPerSecond*100).UTC()
}

// sharkEnds reads the addresses of a head, if that is what it starts with.
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
