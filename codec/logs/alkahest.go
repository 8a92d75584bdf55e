package logs

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The packet log of Alkahest, all little-endian: "TPPL", u32 version (1), u8 region, u32 client version, u32 count of servers, each i32
// id, string, bool v6, address, u16 port, address, u16 port; u8 compression, and then the compressed entries: i64 milliseconds since
// 1970, i32 server, u8 direction, u16 code, u16 length, payload. The payload has no header: the reader adds it.
//
// Assumptions, as the format is not documented: a string has its length in UTF-8 bytes before it, 7 bits per byte, as .NET programs write
// it; the first address of a server is its own (the second is that of the proxy); the length is that of the payload; the wrapper of the
// deflate stream (none, zlib or gzip) is detected from its first bytes; and the numbers of the directions:
const (
	alkahestToServer = 0
	alkahestToClient = 1
)

const (
	alkahestVersion    = 1
	alkahestPlain      = 0
	alkahestDeflate    = 6
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
	switch compression {
	case alkahestPlain:
	case alkahestDeflate:
		l.unpack(inflated(l.in))
	default:
		l.torn("unknown compression %d", compression)
		return
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
		name := l.in.Peek(maxAlkahestName + 5)
		size, used, ok := netString(name)
		if !ok || size > maxAlkahestName || used+size > len(name) {
			l.torn("the name of a server is invalid")
			return 0, false
		}
		l.in.Skip(int64(used + size))
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

// netString reads the length of a .NET string: 7 bits per byte, the lowest first. used is the number of its bytes.
func netString(b []byte) (size, used int, ok bool) {
	for used < min(len(b), 4) {
		c := b[used]
		size |= int(c&0x7f) << (7 * used)
		used++
		if c < 0x80 {
			return size, used, true
		}
	}
	return 0, 0, false
}

// inflated decompresses a deflate stream, bare or in a wrapper. The checksum of zlib is not verified.
func inflated(in *scan.Input) io.Reader {
	b := in.Peek(2)
	switch {
	case scan.Packed(b) == "gz":
		if z, err := scan.Unpack("gz", in); err == nil {
			return z
		}
	case len(b) == 2 && b[0]&0xf == 8 && b[1]&0x20 == 0 && (int(b[0])<<8|int(b[1]))%31 == 0:
		// In a bare stream this would be a stored block with nonzero padding, which no program writes.
		in.Skip(2)
	}
	return flate.NewReader(in)
}
