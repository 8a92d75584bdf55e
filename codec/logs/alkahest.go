package logs

import (
	"bytes"
	"compress/flate"
	"encoding/binary"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The packet log of Alkahest, all little-endian: "TPPL", u32 version (1), u8 region, u32 client version, u32 count of servers, each i32
// id, string, bool v6, address, u16 port, address of the proxy, u16 port; u8 compression, and then the entries: i64 milliseconds since
// 1970, i32 server, u8 direction, u16 code, u16 length, payload. A string is UTF-16 up to a zero. A compression other than 0 means that the
// entries are a bare deflate stream. The payload has no header: the reader adds it.
//
// Source: the project tera-alkahest/alkahest, files PacketLogWriter.cs, PacketLogReader.cs, PacketLogEntry.cs, GameBinaryWriter.cs and
// Direction.cs.

const (
	alkahestToServer = 0
	alkahestToClient = 1
)

const (
	alkahestVersion    = 1
	alkahestEntry      = 8 + 4 + 1 + 2 + 2
	maxAlkahestServers = 4096
	maxAlkahestName    = 4096 // bytes
)

var alkahestMagic = []byte("TPPL")

func sniffAlkahest(head []byte, _ bool) bool { return bytes.HasPrefix(head, alkahestMagic) }

// readAlkahest reads the form "alkahest".
func readAlkahest(l *reading) {
	compression, ok := alkahestHead(l)
	if !ok {
		return
	}
	if compression != 0 {
		l.unpack(flate.NewReader(l.in))
	}
	var buf []byte
	for !l.ended() {
		b := l.in.Peek(alkahestEntry)
		if len(b) < alkahestEntry {
			l.torn("an entry needs %d bytes, but only %d are left", alkahestEntry, len(b))
			return
		}
		size := int(binary.LittleEndian.Uint16(b[15:]))
		if b = l.in.Peek(alkahestEntry + size); len(b) < alkahestEntry+size {
			l.torn("an entry has %d bytes, but only %d are left", alkahestEntry+size, len(b))
			return
		}
		at := scan.UnixMilli(int64(binary.LittleEndian.Uint64(b)))
		var dir schema.Dir
		switch b[12] {
		case alkahestToServer:
			dir = schema.ToServer
		case alkahestToClient:
			dir = schema.ToClient
		default:
			l.torn("an entry has an unknown direction, %d", b[12])
			return
		}
		l.on(int64(int32(binary.LittleEndian.Uint32(b[8:]))), transport.Conn{})
		l.record()
		code := binary.LittleEndian.Uint16(b[13:])
		message, ok := teraMessage(buf, code, b[alkahestEntry:])
		if !ok {
			if !l.problem(dir, at, message, transport.Unknown, "the payload of message %d has %d bytes, too many for a message with its header", code, size) {
				return
			}
		} else {
			buf = message
			if !l.give(transport.Frame{Dir: dir, At: at, Bytes: message}, transport.Unknown) {
				return
			}
		}
		l.in.Skip(int64(alkahestEntry + size))
	}
}

// alkahestHead reads the header before the entries.
func alkahestHead(l *reading) (compression byte, ok bool) {
	take := func(n int) []byte {
		b := l.in.Peek(n)
		if len(b) < n {
			l.torn("the header of the log is truncated")
			return nil
		}
		l.in.Skip(int64(n))
		return b // stays valid: skip does not move peeked bytes
	}
	b := take(4 + 4 + 1 + 4 + 4)
	if b == nil {
		return 0, false
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v != alkahestVersion {
		l.torn("unknown version %d of the format", v)
		return 0, false
	}
	n := binary.LittleEndian.Uint32(b[13:])
	if n > maxAlkahestServers {
		l.torn("the log has too many servers: %d", n)
		return 0, false
	}
	clear(l.conns)
	for range n {
		if b = take(4); b == nil {
			return 0, false
		}
		id := int64(int32(binary.LittleEndian.Uint32(b)))
		name := l.in.Peek(maxAlkahestName)
		end := 0
		for end+2 <= len(name) && name[end]|name[end+1] != 0 {
			end += 2
		}
		if end+2 > len(name) {
			l.torn("the name of a server has no end")
			return 0, false
		}
		l.in.Skip(int64(end + 2))
		if b = take(1); b == nil {
			return 0, false
		}
		width := 4
		if b[0] != 0 {
			width = 16
		}
		if b = take(2 * (width + 2)); b == nil {
			return 0, false
		}
		l.on(id, transport.Conn{Server: addrPort(b[:width], binary.LittleEndian.Uint16(b[width:]))})
	}
	if b = take(1); b == nil {
		return 0, false
	}
	return b[0], true
}
