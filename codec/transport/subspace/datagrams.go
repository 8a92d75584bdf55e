package subspace

import (
	"bytes"
	"encoding/binary"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Requests and answers of the info port. Source: spec of the core protocol, section 8.
const (
	pingSize      = 4 // u32 time
	pongSize      = 8 // u32 players, u32 time
	pongTimeAt    = 4
	askSize       = 8 // u32 time, u32 request
	askBitsAt     = 4
	askAll        = 3 // 1: players in all, 2: arenas
	summaryHeader = 8 // u32 time, u32 content
)

// An announcement of a zone. Source: section 9.
const (
	announceVersionAt = 10
	announceVersion   = 134
	announceNameAt    = 14
	announceNameSize  = 32
	announceTextAt    = 94
	announceMaxSize   = announceTextAt + 386
)

// Packets between zones: 00 01, password, FF, type, time. Source: section 9.
const (
	peerMark   = 0xFF
	peerTypeAt = 7
	peerHeader = 12
)

// named emits a datagram outside the core protocol.
func (t *Transport) named(w *way, data []byte, group, name, note string) {
	f := t.start(transport.Control, w, data, t.source(t.off, len(data)), note)
	f.Key, f.Name = schema.Key{Dir: w.dir, Group: group}, name
	t.emit(f)
}

// infoPort reads a request for the number of players, or its answer. The request before an answer determines its format.
func (t *Transport) infoPort(w *way, data []byte) {
	const group = "info"
	if w.dir == schema.ToServer {
		t.asked = append(t.asked[:0], data[:min(askSize, len(data))]...)
		switch {
		case len(data) == pingSize:
			t.named(w, data, group, "ping", "")
		case len(data) == askSize:
			t.named(w, data, group, "summary_request", "")
		case len(data) > askSize:
			t.named(w, data, group, "summary_request", "servers read 8 bytes of it")
		default:
			t.problem(w, data, t.off, "a request of a size that servers do not answer")
		}
		return
	}
	summary := len(data) > pongSize
	if len(data) == pongSize && len(t.asked) == askSize {
		summary = bytes.Equal(data[:4], t.asked[:4])
	}
	switch {
	case len(data) < pongSize:
		t.problem(w, data, t.off, "too short for an answer")
	case summary:
		t.named(w, data, group, "summary", "")
	default:
		t.named(w, data, group, "pong", "")
	}
}

// announcement reads a zone's announcement to a directory.
func (t *Transport) announcement(w *way, data []byte) {
	note := ""
	if len(data) > announceMaxSize {
		note = "longer than directories read"
	}
	if w.dir != schema.ToServer || len(data) <= announceTextAt {
		t.problem(w, data, t.off, "not an announcement: announcements have at least 95 bytes, and no answer")
		return
	}
	t.named(w, data, "directory", "zone_announcement", note)
}

// isAnnouncement reports whether data is an announcement: its version is 134, and its texts are texts.
func isAnnouncement(data []byte) bool {
	if len(data) <= announceTextAt || len(data) > announceMaxSize || binary.LittleEndian.Uint32(data[announceVersionAt:]) != announceVersion {
		return false
	}
	name, rest, _ := bytes.Cut(data[announceNameAt:announceNameAt+announceNameSize], []byte{0})
	text := data[announceTextAt:]
	return isText(name) && len(name) > 0 && len(bytes.Trim(rest, "\x00")) == 0 && bytes.IndexByte(text, 0) == len(text)-1
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == 0x7F {
			return false
		}
	}
	return true
}

// peerNotes are the notes on packets between zones, by type from 1.
var peerNotes = [...]string{
	"between zones: players", "between zones: chat", "between zones: a message of an operator", "between zones: the number of players",
}

// peer reads a packet between zones.
func (t *Transport) peer(w *way, data []byte) {
	note := "between zones, of an undocumented type"
	if i := int(data[peerTypeAt]) - 1; i >= 0 && i < len(peerNotes) {
		note = peerNotes[i]
	}
	t.named(w, data, "peer", "", note)
}
