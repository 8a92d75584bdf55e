package stream

import (
	"bytes"
	"fmt"
	"math/bits"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
)

// wsSearch is the search for the next WebSocket frame, after missing bytes or in a capture that begins inside a connection: for headers that
// lead from one to the next. Evidence is measured as in a search for messages.
type wsSearch struct {
	why    string // what began it; "" once it was said
	buf    []byte
	parts  []transport.Segment // of buf
	looked int                 // bytes at the last attempt
}

// Bits that a header shows. 13 of 256 first bytes are possible, and most frames of a connection have the same one.
const (
	wsHeadBits  = 5
	wsUsualBits = 9
)

// maxParts bounds the segments that a search keeps: each costs more than a hostile one has bytes.
const maxParts = 4 << 10

// wsLose begins a search. What has arrived of a frame is reported.
func (t *Transport) wsLose(w *way, why string) {
	s := w.ws
	if len(s.head) > 0 {
		f := t.begin(w, transport.Problem, s.offset, s.arrived)
		f.Bytes, f.From, f.Note = s.head, s.from, "the start of "+s.part()+", "+sizeText(len(s.head))+": the rest is missing in the capture"
		t.emit(f)
	}
	*s = webSocket{search: &wsSearch{why: why}, data: s.data, key: s.key, next: s.next}
}

// part returns what the gathered bytes are.
func (s *webSocket) part() string {
	switch {
	case !s.upgraded:
		return "an HTTP header"
	case s.left > 0:
		return "the payload of a WebSocket frame"
	}
	return "a WebSocket header"
}

// wsLook takes bytes in a search. From the frame on that is found they are read.
func (t *Transport) wsLook(w *way, seg *transport.Segment) {
	s := w.ws
	h := s.search
	part := *seg
	part.Bytes = bytes.Clone(seg.Bytes)
	h.buf, h.parts = append(h.buf, part.Bytes...), append(h.parts, part)
	s.next += int64(len(part.Bytes))
	if full := len(h.parts) > maxParts; !full && len(h.buf) < h.looked+h.looked/4+1 {
		return // too few new bytes since the last attempt
	}
	t.wsTry(w, false)
	if s.search == h && (len(h.buf) > maxSearch || len(h.parts) > maxParts) {
		t.wsUnread(w, len(h.buf)/2, "no WebSocket frame was found in them")
		h.looked = len(h.buf)
	}
}

// wsTry tries to end a search. last reports that no more bytes follow: then what is left is reported.
func (t *Transport) wsTry(w *way, last bool) {
	s := w.ws
	h := s.search
	h.looked = len(h.buf)
	at, frames := t.wsFind(w, last)
	switch {
	case at >= 0:
		place := "resumed"
		if p := h.packetAt(at); p > 0 {
			place = fmt.Sprintf("resumed at packet %d", p)
		}
		t.wsUnread(w, at, transport.Join(place, fmt.Sprintf("%d WebSocket frames in a row", frames)))
	case last:
		t.wsUnread(w, len(h.buf), "no WebSocket frame was found in them")
		return
	default:
		return
	}
	*s = webSocket{upgraded: true, final: true, data: s.data, key: s.key, next: s.next - int64(len(h.buf))}
	w.lost = true
	if l := t.legs[w.index]; t.searchable(w) && t.defined(l, w.index) && l.sides[w.index].opaque == "" {
		t.lose(w, "", w.next(), aligned)
	}
	for i := range h.parts {
		t.webSocket(w, &h.parts[i])
	}
}

// packetAt returns the packet with a byte of buf.
func (h *wsSearch) packetAt(at int) uint32 {
	for i := range h.parts {
		n := len(h.parts[i].Bytes)
		if at < n {
			return h.parts[i].Packet
		}
		at -= n
	}
	return 0
}

// wsFind returns the place where frames certainly start, or -1, and the number of frames in a row.
func (t *Transport) wsFind(w *way, last bool) (at, frames int) {
	h := w.ws.search
	most := t.legs[w.index].state(w.index).Frame[w.index].Max
	starts, next := 0, 0 // the part with the place, and where the one behind it starts
	for at = range h.buf {
		packet := at == next // at the start of a packet
		if packet {
			next += len(h.parts[starts].Bytes)
			starts++
		}
		n, frames, whole := w.ws.chain(h.buf[at:], w.index == 0, most, packet)
		least := certain + bits.Len(uint(len(h.buf)))
		if packet {
			least -= atPacket
		}
		if last && whole {
			n += bits.Len(uint(len(h.buf) - at)) // by chance, frames rarely end where the bytes end
		}
		if n >= least {
			return at, frames
		}
	}
	return -1, 0
}

// chain returns the bits that the frames at the start of b show, their number, and whether the last one ends where b does. A place just before a
// frame can lead to it by chance: unless it is the start of a packet, the first frames must have the same first byte.
func (s *webSocket) chain(b []byte, masked bool, most int, packet bool) (n, frames int, whole bool) {
	first := b[0]
	usual := byte(0)
	if s.data > 0 {
		usual = 0x80 | s.data
	}
	for frames < maxRow && len(b) > 0 {
		h := parseHead(b)
		if len(b) < h.size {
			return n, frames, false
		}
		if !h.fits(masked, most) || frames == 0 && h.opcode == 0 || frames == 1 && !packet && b[0] != first || h.packed && first&0x40 == 0 {
			return 0, 0, false
		}
		if n += wsHeadBits; b[0] == usual {
			n += wsUsualBits - wsHeadBits
		}
		if n += max(8*h.long-bits.Len64(h.length), 0); h.opcode < wsClose {
			usual = b[0]
		}
		if uint64(len(b)-h.size) < h.length {
			return n, frames, false
		}
		b = b[h.size+int(h.length):]
		frames++
	}
	return n, frames, len(b) == 0
}

// fits reports whether a header may be one of a direction. Compressed messages may, which reading then refuses.
func (h *wsHead) fits(masked bool, most int) bool {
	switch {
	case h.other, h.masked != masked, h.length < 126 && h.long > 0, h.length < 1<<16 && h.long > 2, h.length > uint64(most)+1<<16:
		return false
	case h.opcode >= wsClose:
		return h.opcode <= wsPong && h.final && !h.packed && h.length <= maxControl
	}
	return h.opcode <= 2 && (h.opcode > 0 || !h.packed)
}

// wsUnread reports the first n bytes of a search, in one row.
func (t *Transport) wsUnread(w *way, n int, note string) {
	s := w.ws
	h := s.search
	if n == 0 {
		return
	}
	f := t.begin(w, transport.Problem, s.next-int64(len(h.buf)), h.parts[0].At)
	f.Bytes, t.from = h.buf[:n], t.from[:0]
	for left := n; left > 0; {
		p := &h.parts[0]
		k := min(left, len(p.Bytes))
		if p.Packet != 0 {
			t.from = append(t.from, transport.Source{Packet: p.Packet, Off: p.Off, Len: uint32(k)})
		}
		f.At = p.At
		if p.Bytes, p.Off = p.Bytes[k:], p.Off+uint32(k); len(p.Bytes) == 0 {
			h.parts = h.parts[1:]
		}
		left -= k
	}
	f.From, f.Resumed = t.from, w.lost
	if f.Note = transport.Join(sizeText(n)+" not read", note); h.why != "" {
		f.Note, h.why = transport.Join(h.why, f.Note), ""
	}
	t.emit(f)
	h.buf = h.buf[n:]
	w.lost = true
}

// wsSettle ends a search when no more bytes follow.
func (t *Transport) wsSettle(w *way) {
	if w.ws != nil && w.ws.search != nil {
		t.wsTry(w, true)
	}
}

// wsUnfinished reports the incomplete header or control frame with which a WebSocket connection stops.
func (t *Transport) wsUnfinished(w *way) {
	s := w.ws
	if s == nil || w.ended || s.broken || len(s.head) == 0 || s.next <= s.told {
		return
	}
	f := t.begin(w, transport.Problem, s.offset, s.arrived)
	f.Bytes, f.From, f.Note = s.head, s.from, "the stream ends inside "+s.part()+", after "+sizeText(len(s.head))
	s.told = s.next
	t.emit(f)
}

// startsHTTP reports whether bytes may be the start of a handshake.
func startsHTTP(b []byte) bool {
	b = b[:min(len(b), 4)]
	return bytes.HasPrefix([]byte("GET "), b) || bytes.HasPrefix([]byte("HTTP"), b)
}

// wsGap passes missing bytes of a WebSocket connection, and reports whether they are as many bytes of the payload of a message, which goes on
// behind them.
func (t *Transport) wsGap(w *way, lost int64) bool {
	s := w.ws
	kind := t.legs[w.index].state(w.index).Frame[w.index].Kind
	if inside := s.search == nil && s.left > 0 && s.opcode < wsClose && lost > 0 && uint64(lost) < s.left; inside && (s.final || kind != envelope.Datagram) {
		s.left -= uint64(lost)
		s.at += int(lost & 3)
		s.next += lost
		return true
	}
	t.wsLose(w, "after missing bytes")
	s.next += max(lost, 0)
	return false
}
