package logs

import (
	"bytes"
	"encoding/binary"
	"time"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// TeraConnectionLog is the log of Shinra, CasualMeter and DamageMeter: blocks of u8 type, u16 size and a payload, all little-endian. The
// size counts itself and the payload, but not the type, so it equals the length of the message on the wire: size and payload (code and
// data) together are the message.
//
// Old programs appended two stray bytes to each message. Their logs are recognised by the first message, whose payload is 30 bytes instead
// of 28.
//
// Assumptions, as the format is not documented: times are relative to the epoch of the format, not to the previous time; "client" and
// "server" are the sender of the message; a start after a message starts another connection; the region is ignored.
const (
	connectionMagic     = 1
	connectionStart     = 2
	connectionTimestamp = 3
	connectionClient    = 4
	connectionServer    = 5

	connectionOldFirst = 30 // bytes of payload
	connectionStray    = 2
)

var (
	connectionHead = []byte("\x01\x13\x00TeraConnectionLog")
	// connectionEpoch is 2015-01-01 UTC, in milliseconds since 1970.
	connectionEpoch = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
)

func sniffConnectionLog(head []byte, _ bool) bool { return bytes.HasPrefix(head, connectionHead) }

// readConnectionLog reads the form "tera-connection-log".
func readConnectionLog(l *reading) {
	var at time.Time
	var buf []byte
	first, old, session := true, false, 0
	spoken := false // a message followed the last start
	for !l.ended() {
		b := l.in.Peek(3)
		if len(b) < 3 {
			l.torn("a block needs 3 bytes, but only %d are left", len(b))
			return
		}
		kind, size := b[0], int(binary.LittleEndian.Uint16(b[1:]))
		if size < 2 {
			l.torn("a block has a size of %d, which does not count its own 2 bytes", size)
			return
		}
		if b = l.in.Peek(1 + size); len(b) < 1+size {
			l.torn("a block has %d bytes, but only %d are left", 1+size, len(b))
			return
		}
		payload := b[3:]
		switch kind {
		case connectionStart:
			if spoken {
				session++
				l.on(int64(session), transport.Conn{Session: session})
			}
			spoken = false
		case connectionTimestamp:
			at = connectionTime(payload)
		case connectionClient, connectionServer:
			dir := schema.ToServer
			if kind == connectionServer {
				dir = schema.ToClient
			}
			if first {
				old = len(payload) == connectionOldFirst
			}
			first, spoken = false, true
			l.record()
			message, off := b[1:], l.in.Offset()+1
			if old {
				message, off = withoutStray(buf, payload), transport.Unknown
				buf = message
			}
			if len(message) < 4 {
				if !l.problem(dir, at, message, off, "a message of %d bytes has no code", len(message)) {
					return
				}
			} else if !l.give(transport.Frame{Dir: dir, At: at, Bytes: message}, off) {
				return
			}
		}
		l.in.Skip(int64(1 + size))
	}
}

// withoutStray returns a message of an old log as it was on the wire.
func withoutStray(buf, payload []byte) []byte {
	payload = payload[:max(0, len(payload)-connectionStray)]
	size := 2 + len(payload)
	return append(append(buf[:0], byte(size), byte(size>>8)), payload...)
}

// connectionTime decodes a number of variable length.
func connectionTime(b []byte) time.Time {
	ms := uint64(0)
	for i, c := range b {
		if i >= 8 {
			if c != 0 {
				return time.Time{}
			}
			continue
		}
		ms |= uint64(c) << (8 * i)
	}
	if ms > 1<<60 {
		return time.Time{}
	}
	return scan.UnixMilli(connectionEpoch + int64(ms))
}
