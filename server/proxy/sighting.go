package proxy

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/live"
)

// sighting is a frame on its way from a rewriter to the log and the recording, with its outcome.
type sighting struct {
	transport.Frame
	flags live.Flags
	sent  *transport.Frame // its replacement

	since time.Time // start of waiting in its queue
	gone  bool      // it has been sent
	went  []byte    // bytes sent; nil if none were, or the requested ones
	told  bool      // a note has the time it waited
	who   string    // user who injected it
}

// sight copies a frame.
func sight(f *transport.Frame) *sighting {
	x := &sighting{Frame: *f}
	x.Bytes, x.From, x.Via = slices.Clone(f.Bytes), slices.Clone(f.From), slices.Clone(f.Via)
	return x
}

// remark appends to the note.
func (x *sighting) remark(text string) { x.Note = both(x.Note, text) }

func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

const sightingCost = 400 // bytes charged per frame in addition to its own

func (x *sighting) cost() int {
	n := sightingCost + len(x.Bytes) + len(x.Note) + 12*len(x.From)
	if x.sent != nil {
		n += sightingCost + len(x.sent.Bytes)
	}
	return n
}

const (
	maxComment  = 8 << 10 // bytes per packet
	commentHex  = 1 << 10 // bytes of a message in a comment
	keptPieces  = 4096    // pieces whose packets are known; messages are assembled from fewer
	sightedText = "wirebench: "
)

// pieceMap maps recent pieces to packets.
type pieceMap struct {
	first uint32 // number of the piece of packets[0]
	all   []uint32
}

func (m *pieceMap) set(piece, packet uint32) {
	if len(m.all) == 0 {
		m.first = piece
	}
	if piece < m.first {
		return
	}
	if at := int(piece - m.first); at > 2*keptPieces {
		m.first, m.all = piece, m.all[:0]
	} else if len(m.all) >= 2*keptPieces {
		gone := len(m.all) - keptPieces
		m.all = m.all[:copy(m.all, m.all[gone:])]
		m.first += uint32(gone)
	}
	for int(piece-m.first) >= len(m.all) {
		m.all = append(m.all, 0)
	}
	m.all[piece-m.first] = packet
}

// packets replaces pieces by packets of the recording. A piece not recorded unchanged has none.
func (m *pieceMap) packets(from []transport.Source) []transport.Source {
	for i := range from {
		at := int64(from[i].Packet) - int64(m.first)
		if at < 0 || at >= int64(len(m.all)) || m.all[at] == 0 {
			return nil
		}
		from[i].Packet = m.all[at]
	}
	return from
}

// sighted adds a frame, and its replacement, to the log, once its outcome is known.
func (s *Session) sighted(o *observed, x *sighting) {
	x.From = o.pieces.packets(x.From)
	n := s.log.Len() + 1 // numbers start from 1
	switch {
	case x.sent != nil:
		x.remark(fmt.Sprintf("sent as frame %d", n+1))
		x.sent.Note = both(fmt.Sprintf("was frame %d", n), x.sent.Note)
		s.rec.note(o, x.Dir, fmt.Sprintf("%sframe %d was changed; it came as %s, and is sent as %s", sightedText, n, shortHex(x.Bytes, commentHex), shortHex(x.sent.Bytes, commentHex)))
		s.flagged(o, &x.Frame, x.flags)
		s.flagged(o, x.sent, live.Modified)
		return
	case x.flags&live.Dropped != 0:
		s.rec.note(o, x.Dir, fmt.Sprintf("%sframe %d is not sent; %s; it came as %s", sightedText, n, x.Note, shortHex(x.Bytes, commentHex)))
	case x.flags&live.Injected != 0:
		s.rec.note(o, x.Dir, fmt.Sprintf("%sframe %d; %s: %s", sightedText, n, x.Note, shortHex(x.Bytes, commentHex)))
	}
	s.flagged(o, &x.Frame, x.flags)
}

func shortHex(data []byte, most int) string {
	if len(data) <= most {
		return hex.EncodeToString(data)
	}
	return fmt.Sprintf("%s... (%d bytes)", hex.EncodeToString(data[:most]), len(data))
}
