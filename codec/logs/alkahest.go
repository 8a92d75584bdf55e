package logs

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"io"

	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The packet log of Alkahest, all little-endian: "TPPL", u32 version (1), u8 region, u32 client version, u32 count of servers, each i32
// id, string, bool v6, address, u16 port, address, u16 port; u8 compression, and then, packed by it, entries: i64 milliseconds since
// 1970, i32 server, u8 direction, u16 code, u16 length, payload. The payload has no header: it is made anew.
//
// What is not told and decided here: a string has its length in UTF-8 bytes before it, 7 bits a byte, as programs of .NET write it; the
// first address of a server is its own (the second is that of the proxy); the length is that of the payload; the wrapper of the deflate stream is
// told by its first bytes (none, zlib or gzip); and the numbers of the directions:
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

// readAlkahest is the reader of the form "alkahest".
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
		l.torn("compression %d is not known", compression)
		return
	}
	var buf []byte
	for !l.ended() {
		b := l.in.Peek(alkahestEntry)
		if len(b) < alkahestEntry {
			l.torn("an entry needs %d bytes, and %d are left", alkahestEntry, len(b))
			return
		}
		size := int(binary.LittleEndian.Uint16(b[15:]))
		if b = l.in.Peek(alkahestEntry + size); len(b) < alkahestEntry+size {
			l.torn("an entry has %d bytes, and %d are left", alkahestEntry+size, len(b))
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
			l.torn("an entry has the direction %d", b[12])
			return
		}
		l.on(int64(int32(binary.LittleEndian.Uint32(b[8:]))), transport.Conn{})
		l.record()
		code := binary.LittleEndian.Uint16(b[13:])
		message, ok := teraMessage(buf, code, b[alkahestEntry:])
		if !ok {
			if !l.problem(dir, at, message, transport.Unknown, "the payload of message %d has %d bytes: with its header it is longer than a message can be", code, size) {
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

// alkahestHead reads what stands before the entries.
func alkahestHead(l *reading) (compression byte, ok bool) {
	take := func(n int) []byte {
		b := l.in.Peek(n)
		if len(b) < n {
			l.torn("the head of the log breaks off")
			return nil
		}
		l.in.Skip(int64(n))
		return b // stays: skip moves nothing that was looked at
	}
	b := take(4 + 4 + 1 + 4 + 4)
	if b == nil {
		return 0, false
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v != alkahestVersion {
		l.torn("version %d of the format is not known", v)
		return 0, false
	}
	n := binary.LittleEndian.Uint32(b[13:])
	if n > maxAlkahestServers {
		l.torn("%d servers are more than a log can have", n)
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
			l.torn("the name of a server cannot be read")
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

// netString reads the length of a string as .NET writes it: 7 bits a byte, the lowest first. used is how many bytes it takes.
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

// inflated unpacks a deflate stream, bare or in a wrapper. The checksum of zlib is not looked at.
func inflated(in *scan.Input) io.Reader {
	b := in.Peek(2)
	switch {
	case pcap.SniffCapture(b) == "gzip":
		if z, err := gzip.NewReader(in); err == nil {
			return z
		}
	case len(b) == 2 && b[0]&0xf == 8 && b[1]&0x20 == 0 && (int(b[0])<<8|int(b[1]))%31 == 0:
		// Bare, this would be a stored block whose padding is not zero: no program writes that.
		in.Skip(2)
	}
	return flate.NewReader(in)
}
