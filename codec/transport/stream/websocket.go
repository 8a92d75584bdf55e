package stream

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

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
	at       int       // index into mask
	arrived  time.Time // of the last byte in head
	told     int64     // what is in head was reported up to here
	search   *wsSearch // the next frame is searched
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
		case s.search != nil:
			t.wsLook(w, &rest)
			return
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
	s.head, s.arrived = append(s.head, seg.Bytes[:n]...), seg.At
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
	switch {
	case !startsHTTP(s.head):
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

// wsHead is the header of a WebSocket frame.
type wsHead struct {
	opcode byte
	final  bool
	packed bool // compressed by an extension
	other  bool // a bit of another extension
	masked bool
	long   int // bytes of a longer length
	length uint64
	size   int // bytes of the header
}

// parseHead parses a header. If b has less than size bytes, at least so many are needed.
func parseHead(b []byte) (h wsHead) {
	if h.size = 2; len(b) < h.size {
		return h
	}
	h.opcode, h.final, h.packed, h.other = b[0]&0xf, b[0]&0x80 != 0, b[0]&0x40 != 0, b[0]&0x30 != 0
	h.masked, h.length = b[1]&0x80 != 0, uint64(b[1]&0x7f)
	switch h.length {
	case 126:
		h.long = 2
	case 127:
		h.long = 8
	}
	if h.size += h.long; h.masked {
		h.size += 4
	}
	if len(b) >= h.size && h.long > 0 {
		h.length = 0
		for _, c := range b[2 : 2+h.long] {
			h.length = h.length<<8 | uint64(c)
		}
	}
	return h
}

// fault returns why a header cannot be one, or "".
func (h *wsHead) fault(most int) string {
	switch {
	case h.packed:
		return "the message is compressed by an extension of the WebSocket protocol, which is not supported"
	case h.opcode > 2 && h.opcode < wsClose || h.opcode > wsPong || h.opcode >= wsClose && h.length > maxControl:
		return fmt.Sprintf("a WebSocket frame of opcode %d with %d bytes", h.opcode, h.length)
	case h.length > uint64(most)+1<<16:
		return fmt.Sprintf("a WebSocket frame of %d bytes: the limit is %d", h.length, most)
	}
	return ""
}

// wsHeader reads the header of a frame.
func (t *Transport) wsHeader(w *way, seg *transport.Segment) int {
	s := w.ws
	n := 0
	h := parseHead(s.head)
	for len(s.head) < h.size && n < len(seg.Bytes) {
		part := *seg
		part.Bytes, part.Off = seg.Bytes[n:], seg.Off+uint32(n)
		more := min(h.size-len(s.head), len(part.Bytes))
		s.gather(&part, more)
		n += more
		h = parseHead(s.head)
	}
	if len(s.head) < h.size {
		return n
	}
	if s.masked, s.at = h.masked, 0; s.masked {
		copy(s.mask[:], s.head[h.size-4:])
	}
	if why := h.fault(t.legs[w.index].state(w.index).Frame[w.index].Max); why != "" {
		t.wsFail(w, seg, why)
		return n
	}
	if s.opcode, s.left = h.opcode, h.length; h.opcode < wsClose {
		s.final = h.final
	}
	if h.opcode == 1 || h.opcode == 2 {
		s.data = h.opcode
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
