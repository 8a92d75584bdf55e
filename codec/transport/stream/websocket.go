package stream

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
)

// webSocket reads the WebSocket frames of a direction: the HTTP request or response, then headers and payloads. Source: RFC 6455, 5.2.
type webSocket struct {
	upgraded bool
	broken   bool   // the frames cannot be read
	data     byte   // opcode of the last message
	key      string // of the handshake
	head     []byte // the HTTP header, or that of a frame, as far as it has arrived; then the payload of a control frame
	from     []transport.Source
	offset   int64 // of the bytes in head, in the TCP stream
	next     int64 // offset in the TCP stream
	left     uint64
	opcode   byte
	final    bool // no part of a message follows
	mask     [4]byte
	masked   bool
	at       int // index into mask
}

// Limits of the parts of a WebSocket connection that are not messages, in bytes.
const (
	maxHTTP    = 64 << 10
	maxControl = 125
)

// Opcodes of control frames.
const (
	wsClose = 8

	wsPong = 10
)

// webSocket takes bytes of a WebSocket connection.
func (t *Transport) webSocket(w *way, seg *transport.Segment) {
	s := w.ws
	for rest := *seg; len(rest.Bytes) > 0; {
		n := 0
		switch {
		case s.broken:
			n = len(rest.Bytes)
			w.unread += int64(n)
			t.verbatim(w, rest.Bytes)
		case !s.upgraded:
			n = t.upgrade(w, &rest)
		case s.left == 0:
			n = t.wsHeader(w, &rest)
		default:
			n = t.wsPayload(w, &rest)
		}
		s.next += int64(n)
		rest.Bytes, rest.Off = rest.Bytes[n:], rest.Off+uint32(n)
	}
}

// gather appends n bytes of a segment to the header being read.
func (s *webSocket) gather(seg *transport.Segment, n int) {
	if len(s.head) == 0 {
		s.offset, s.from = s.next, s.from[:0]
	}
	s.head = append(s.head, seg.Bytes[:n]...)
	if seg.Packet != 0 && n > 0 {
		if k := len(s.from) - 1; k >= 0 && s.from[k].Packet == seg.Packet && s.from[k].Off+s.from[k].Len == seg.Off {
			s.from[k].Len += uint32(n)
			return
		}
		s.from = append(s.from, transport.Source{Packet: seg.Packet, Off: seg.Off, Len: uint32(n)})
	}
}

// control emits the gathered bytes.
func (t *Transport) control(w *way, seg *transport.Segment, via, note string) {
	s := w.ws
	f := t.begin(w, transport.Control, s.offset, seg.At)
	f.Bytes, f.From, f.Note = s.head, s.from, note
	t.via[0] = via
	f.Via = t.via[:1]
	t.emit(f)
	s.head = s.head[:0]
}

// wsFail reports that the rest of a direction cannot be read.
func (t *Transport) wsFail(w *way, seg *transport.Segment, why string) {
	s := w.ws
	w.dead = why
	f := t.begin(w, transport.Problem, s.offset, seg.At)
	f.Bytes, f.From, f.Note = s.head[:min(len(s.head), maxShown)], s.from, why+"; the rest of the direction is not read"
	t.emit(f)
	t.verbatim(w, s.head)
	s.head, s.broken = nil, true
}

// verbatim passes bytes of the connection to the rewriter, if there is one.
func (t *Transport) verbatim(w *way, b []byte) {
	if t.take != nil && len(b) > 0 {
		inner := t.unit.inner[:0]
		t.unit = unit{w: w, wire: b, verbatim: true, inner: inner}
		t.take(&t.unit)
	}
}

// upgrade reads the HTTP header.
func (t *Transport) upgrade(w *way, seg *transport.Segment) int {
	s := w.ws
	had := len(s.head)
	from := max(had-3, 0)
	n := min(len(seg.Bytes), maxHTTP+4-had)
	s.gather(seg, n)
	i := bytes.Index(s.head[from:], []byte("\r\n\r\n"))
	switch start := s.head[:min(len(s.head), 4)]; {
	case !bytes.HasPrefix([]byte("GET "), start) && !bytes.HasPrefix([]byte("HTTP"), start):
		t.wsFail(w, seg, "the connection does not start with HTTP")
		return n
	case i < 0 && len(s.head) > maxHTTP:
		t.wsFail(w, seg, "the HTTP header is too long")
		return n
	case i < 0:
		return n
	}
	end := from + i + 4
	s.head = s.head[:end]
	if k := len(s.from) - 1; k >= 0 {
		s.from[k].Len -= uint32(had + n - end)
	}
	s.upgraded, s.final = true, true
	s.key = headerValue(s.head, "sec-websocket-key")
	t.verbatim(w, s.head)
	t.control(w, seg, "handshake", "")
	return end - had
}

// wsHeader reads the header of a frame.
func (t *Transport) wsHeader(w *way, seg *transport.Segment) int {
	s := w.ws
	had := len(s.head)
	size := 2
	n := 0
	for {
		if len(s.head) >= 2 {
			size = 2
			switch s.head[1] & 0x7f {
			case 126:
				size += 2
			case 127:
				size += 8
			}
			if s.head[1]&0x80 != 0 {
				size += 4
			}
		}
		more := min(size-len(s.head), len(seg.Bytes)-n)
		if more <= 0 {
			break
		}
		part := *seg
		part.Bytes, part.Off = seg.Bytes[n:], seg.Off+uint32(n)
		s.gather(&part, more)
		n += more
	}
	if len(s.head) < size {
		return len(s.head) - had
	}
	h := s.head
	opcode := h[0] & 0xf
	s.left = uint64(h[1] & 0x7f)
	h = h[2:]
	switch s.left {
	case 126:
		s.left, h = uint64(h[0])<<8|uint64(h[1]), h[2:]
	case 127:
		s.left = 0
		for _, c := range h[:8] {
			s.left = s.left<<8 | uint64(c)
		}
		h = h[8:]
	}
	if s.masked, s.at = len(h) == 4, 0; s.masked {
		copy(s.mask[:], h)
	}
	l := t.legs[w.index]
	most := l.state(w.index).Frame[w.index].Max
	switch {
	case s.head[0]&0x40 != 0:
		t.wsFail(w, seg, "the message is compressed by an extension of the WebSocket protocol, which is not supported")
		return n
	case opcode > 2 && opcode < 8 || opcode > wsPong || opcode >= 8 && s.left > maxControl:
		t.wsFail(w, seg, fmt.Sprintf("a WebSocket frame of opcode %d with %d bytes", opcode, s.left))
		return n
	case s.left > uint64(most)+1<<16:
		t.wsFail(w, seg, fmt.Sprintf("a WebSocket frame of %d bytes: the limit is %d", s.left, most))
		return n
	}
	if s.opcode = opcode; opcode < wsClose {
		s.final = s.head[0]&0x80 != 0
	}
	if opcode == 1 || opcode == 2 {
		s.data = opcode
	}
	s.head = s.head[:0]
	if s.left == 0 {
		t.wsEnd(w, seg)
	}
	return n
}

// wsPayload reads a part of a payload.
func (t *Transport) wsPayload(w *way, seg *transport.Segment) int {
	s := w.ws
	n := int(min(s.left, uint64(len(seg.Bytes))))
	part := *seg
	part.Bytes = seg.Bytes[:n]
	var to []byte
	if s.opcode >= 8 {
		s.gather(&part, n)
		to = s.head[len(s.head)-n:]
	} else {
		w.add(&part)
		to = w.buf[len(w.buf)-n:]
	}
	if s.masked {
		for i := range to {
			to[i] ^= s.mask[s.at&3]
			s.at++
		}
	}
	if s.left -= uint64(n); s.left == 0 {
		t.wsEnd(w, &part)
	} else if s.opcode < 8 {
		t.read(w, false)
	}
	return n
}

// wsEnd ends a frame.
func (t *Transport) wsEnd(w *way, seg *transport.Segment) {
	s := w.ws
	if s.opcode >= 8 {
		if t.take != nil {
			t.verbatim(w, appendFrame(nil, s.opcode, s.head, w.index == 0, uint32(s.next)))
		}
		// Without a payload, the place is that of the header.
		t.control(w, seg, [...]string{"close", "ping", "pong"}[s.opcode-wsClose], "")
		return
	}
	l := t.legs[w.index]
	whole := l.state(w.index).Frame[w.index].Kind == envelope.Datagram
	t.read(w, whole && s.final)
}

// between reports whether a direction is between two WebSocket messages.
func (w *way) between() bool {
	s := w.ws
	return s.upgraded && !s.broken && s.left == 0 && len(s.head) == 0 && s.final && !w.begins()
}

// appendFrame appends a WebSocket frame. Clients mask payloads with a key, which only has to differ.
func appendFrame(dst []byte, opcode byte, payload []byte, mask bool, key uint32) []byte {
	dst = append(dst, 0x80|opcode)
	bit := byte(0)
	if mask {
		bit = 0x80
	}
	switch n := len(payload); {
	case n < 126:
		dst = append(dst, bit|byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, bit|126), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, bit|127), uint64(n))
	}
	if !mask {
		return append(dst, payload...)
	}
	key = key*2654435761 + 0x9e3779b9
	dst = binary.BigEndian.AppendUint32(dst, key)
	for i, c := range payload {
		dst = append(dst, c^byte(key>>(24-8*(i&3))))
	}
	return dst
}

// headerValue returns the value of a field of an HTTP header.
func headerValue(head []byte, name string) string {
	for line := range bytes.Lines(head) {
		if field, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(bytes.TrimSpace(field)), name) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// accept returns the answer to the key of a handshake. Source: RFC 6455, 4.2.2.
func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// The handshake of endpoints. The server does not check more of it.
const (
	wsKey     = "d2lyZWJlbmNoIGNsaWVudA=="
	wsRequest = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + wsKey + "\r\nSec-WebSocket-Version: 13\r\n\r\n"
	wsAnswer  = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
)
