package logs

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Packets of World of Warcraft (.pkt), all little-endian: "PKT", u16 version, a header, and packets up to the
// end of the file.
//
//	2.1   head: u16 build, 40 bytes of session key
//	2.2   head: u8 sniffer, u16 build, 4 bytes of locale, 20 of key, 64 of realm
//	      packet: u8 direction (0xff: from the server), u32 time, u32 ticks, u32 size, opcode (u16 from the server, else u32), the rest of size
//	3.0   head: u8 sniffer, u32 build, locale[4], key[40], u32 n, n bytes (of sniffer 10: u32 start time, u32 start ticks)
//	      packet: u32 direction ("SMSG", "CMSG", "S_BN", "C_BN"), u32 time, u32 ticks, u32 m, u32 size, m bytes, u32 opcode, the rest of size
//	3.1   head: u8 sniffer, u32 build, locale[4], key[40], u32 start time, u32 start ticks, u32 n, n bytes (of sniffer 'S' from its version
//	      1.7 on: 0xff, u16 version, u64 start as a FILETIME)
//	      packet: as in 3.0, with the connection number instead of the time; of sniffer 'T' the m bytes start with the client's address
//	      (16 bytes, an IPv4 address in the first 4) and u32 port
//
// A frame's bytes are those of the file, without the opcode, which is the code of the frame's key; as for MapleShark, Options.Key is not
// used. Times are the start plus the ticks (milliseconds); if there is no start, it is the first packet.
//
// An unknown direction ends the reading, as the start of the next packet is unknown.
//
// Sources: the projects TrinityCore/WowPacketParser, file BinaryPacketReader.cs, and TrinityCore/TrinityCore, file PacketLog.cpp, which
// writes version 3.1 as sniffer 'T'.

const (
	wow21 = 0x201
	wow22 = 0x202
	wow30 = 0x300
	wow31 = 0x301

	maxWowExtra = 1 << 20 // bytes added by a sniffer
)

// wowHeads are the sizes of headers after the version, without the bytes added by sniffers.
var wowHeads = map[uint16]int{wow21: 2 + 40, wow22: 1 + 2 + 4 + 20 + 64, wow30: 1 + 4 + 4 + 40 + 4, wow31: 1 + 4 + 4 + 40 + 4 + 4 + 4}

func sniffWow(head []byte, all bool) bool {
	if len(head) < 5 || !bytes.HasPrefix(head, []byte("PKT")) {
		return false
	}
	size, ok := wowHeads[binary.LittleEndian.Uint16(head[3:])]
	return ok && (all || len(head) >= 5+size)
}

// wowReading is the state of reading a file of packets.
type wowReading struct {
	*reading
	version uint16
	sniffer byte
	clients map[netip.AddrPort]int64 // of sniffer 'T', with the numbers of their connections
	start   time.Time
	ticks   uint32
	begun   bool // start and ticks are known
}

// readWow reads the form "wow-pkt".
func readWow(l *reading) {
	w := wowReading{reading: l}
	if !w.head() {
		return
	}
	l.out.Opts.Key = nil // see above
	for !l.ended() {
		if w.version < wow30 && !w.old() || w.version >= wow30 && !w.packet() {
			return
		}
	}
}

func (w *wowReading) head() bool {
	b := w.in.Peek(5)
	w.version = binary.LittleEndian.Uint16(b[3:])
	size := 5 + wowHeads[w.version]
	if b = w.in.Peek(size); len(b) < size {
		w.torn("the header has %d bytes, but only %d are present", size, len(b))
		return false
	}
	w.sniffer = b[5]
	extra := uint32(0)
	if w.version >= wow30 {
		extra = binary.LittleEndian.Uint32(b[size-4:])
	}
	if extra > maxWowExtra {
		w.torn("the header has an invalid number of sniffer bytes: %d", extra)
		return false
	}
	if w.version == wow31 {
		w.begin(binary.LittleEndian.Uint32(b[size-12:]), binary.LittleEndian.Uint32(b[size-8:]))
	}
	w.in.Skip(int64(size))
	if b = w.in.Peek(int(extra)); len(b) < int(extra) {
		w.torn("the header has %d sniffer bytes, but only %d are left", extra, len(b))
		return false
	}
	switch {
	case w.version == wow30 && w.sniffer == 10 && len(b) >= 8:
		w.begin(binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]))
	case w.version == wow31 && w.sniffer == 'S' && len(b) >= 11 && b[0] == 0xff && binary.LittleEndian.Uint16(b[1:]) >= 0x107:
		w.start = fileTime(binary.LittleEndian.Uint64(b[3:]))
	}
	w.in.Skip(int64(extra))
	return true
}

func (w *wowReading) begin(seconds, ticks uint32) {
	w.start, w.ticks, w.begun = time.Unix(int64(seconds), 0).UTC(), ticks, true
}

// fileTime converts a Windows time: 100 ns since the year 1601.
func fileTime(ticks uint64) time.Time {
	const to1970 = 11_644_473_600 * ticksPerSecond
	if ticks < to1970 || ticks > to1970+scan.LastSecond*ticksPerSecond {
		return time.Time{}
	}
	ticks -= to1970
	return time.Unix(int64(ticks/ticksPerSecond), int64(ticks%ticksPerSecond)*100).UTC()
}

// at returns the time of a packet; seconds is its own time, 0 if it has none.
func (w *wowReading) at(seconds, ticks uint32) time.Time {
	if !w.begun {
		w.begin(seconds, ticks)
	}
	if w.start.IsZero() {
		return time.Time{}
	}
	return w.start.Add(time.Duration(ticks-w.ticks) * time.Millisecond) // ticks wrap after 49 days
}

// old reads a packet of versions 2.1 and 2.2.
func (w *wowReading) old() bool {
	const head = 1 + 4 + 4 + 4
	b := w.in.Peek(head)
	if len(b) < head {
		w.torn("a packet needs %d bytes, but only %d are left", head, len(b))
		return false
	}
	dir, code := schema.ToServer, 4
	if b[0] == 0xff {
		dir, code = schema.ToClient, 2
	}
	return w.body(dir, w.at(binary.LittleEndian.Uint32(b[1:]), binary.LittleEndian.Uint32(b[5:])), head, code, binary.LittleEndian.Uint32(b[9:]), "")
}

// packet reads a packet of versions 3.0 and 3.1.
func (w *wowReading) packet() bool {
	const head = 5 * 4
	b := w.in.Peek(head)
	if len(b) < head {
		w.torn("a packet needs %d bytes, but only %d are left", head, len(b))
		return false
	}
	dir, note := schema.ToClient, ""
	switch string(b[:4]) {
	case "SMSG":
	case "CMSG":
		dir = schema.ToServer
	case "S_BN":
		note = "of Battle.net"
	case "C_BN":
		dir, note = schema.ToServer, "of Battle.net"
	default:
		w.torn("invalid packet header")
		return false
	}
	second, ticks := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	extra, size := binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	if extra > maxWowExtra {
		w.torn("a packet has an invalid number of sniffer bytes: %d", extra)
		return false
	}
	var at time.Time
	if w.version == wow31 {
		w.connection(int64(second), w.in.Peek(head + int(extra))[head:])
		at = w.at(0, ticks)
	} else {
		at = w.at(second, ticks)
	}
	return w.body(dir, at, head+int(extra), 4, size, note)
}

// connection sets the connection of a packet of version 3.1. TrinityCore gives those of all clients the same numbers, and adds the client.
func (w *wowReading) connection(number int64, extra []byte) {
	c := transport.Conn{Session: len(w.conns)}
	if w.sniffer == 'T' && len(extra) >= 20 {
		address, port := extra[:16], binary.LittleEndian.Uint32(extra[16:])
		if bytes.Count(address[4:], []byte{0}) == 12 {
			address = address[:4]
		}
		c.Client, c.Session = addrPort(address, uint16(port)), int(min(number, 1<<16))
		if w.clients == nil {
			w.clients = map[netip.AddrPort]int64{}
		}
		id, known := w.clients[c.Client]
		if !known && len(w.clients) < packet.MaxConns {
			id = int64(len(w.clients)+1) << 32
			w.clients[c.Client] = id
		}
		number += id
	}
	w.on(number, c)
}

// body emits a packet whose header is followed by size bytes, which start with the opcode.
func (w *wowReading) body(dir schema.Dir, at time.Time, head, code int, size uint32, note string) bool {
	if size > pcap.MaxPacket || int(size) < code {
		w.torn("a packet size of %d bytes is invalid", size)
		return false
	}
	b := w.in.Peek(head + int(size))
	if len(b) < head+int(size) {
		w.torn("a packet has %d bytes, but only %d are left", size, max(0, len(b)-head))
		return false
	}
	b = b[head:]
	opcode := uint32(binary.LittleEndian.Uint16(b))
	if code == 4 {
		opcode = binary.LittleEndian.Uint32(b)
	}
	w.record()
	f := transport.Frame{Dir: dir, At: at, Bytes: b[code:], Key: schema.Key{Dir: dir, Code: opcode}, HasKey: true, Note: note}
	if !w.give(f, w.in.Offset()+int64(head+code)) {
		return false
	}
	w.in.Skip(int64(head) + int64(size))
	return true
}
