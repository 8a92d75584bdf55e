package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Place is where a frame begins in its capture: what stays when frames are numbered anew, since they are cut otherwise. The zero Place says
// that nobody knows.
type Place struct {
	Packet uint32 // number of the packet of its first byte, from 1; what has no packets is one
	Off    uint32 // of that byte in the packet's payload
	Nth    uint32 // how many frames before it begin there, too
}

// Nowhere is the place of a frame that has none in its capture, such as one that a proxy has made: its number is all that there is.
var Nowhere = Place{Nth: 1}

// Known reports whether it is a place.
func (p Place) Known() bool { return p.Packet > 0 }

// Compare orders places as they are in the capture.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Packet, q.Packet), cmp.Compare(p.Off, q.Off), cmp.Compare(p.Nth, q.Nth))
}

// MarshalText writes PACKET+OFF, or PACKET+OFF/NTH.
func (p Place) MarshalText() ([]byte, error) {
	out := strconv.AppendUint(nil, uint64(p.Packet), 10)
	out = strconv.AppendUint(append(out, '+'), uint64(p.Off), 10)
	if p.Nth > 0 {
		out = strconv.AppendUint(append(out, '/'), uint64(p.Nth), 10)
	}
	return out, nil
}

// UnmarshalText reads what MarshalText writes.
func (p *Place) UnmarshalText(text []byte) error {
	packet, rest, ok := strings.Cut(string(text), "+")
	off, nth, has := strings.Cut(rest, "/")
	var n [3]uint64
	for i, s := range []string{packet, off, nth} {
		if i == 2 && !has {
			break
		}
		v, err := strconv.ParseUint(s, 10, 32)
		if ok = ok && err == nil; ok {
			n[i] = v
		}
	}
	if !ok {
		return fmt.Errorf("%q is no place of a frame", text)
	}
	*p = Place{uint32(n[0]), uint32(n[1]), uint32(n[2])}
	return nil
}

// Pin is what people say of one frame. Several may have come to one number: then each keeps what is its own, and goes back to its frame when
// that has a number of its own again.
type Pin struct {
	N     uint64 `json:"n"`
	Place Place  `json:"at,omitzero"`
	Mark  bool   `json:"mark,omitempty"`
	Note  string `json:"note,omitempty"`
}

// Pins are the marks and notes of frames by their numbers, rising. Where Marked and Frames say something else than Places these are right,
// and of a number that Places know the place is kept.
func (n *Notes) Pins() []Pin {
	byN := make(map[uint64][]Pin, len(n.Places))
	for _, p := range n.Places {
		byN[p.N] = append(byN[p.N], p)
	}
	marked := make(map[uint64]bool, len(n.Marked))
	all := make([]uint64, 0, len(n.Marked)+len(n.Frames))
	for _, at := range n.Marked {
		marked[at] = true
		all = append(all, at)
	}
	for at, text := range n.Frames {
		if text != "" {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	out := make([]Pin, 0, len(all))
	for _, at := range slices.Compact(all) {
		pins := byN[at]
		if mark, note := joined(pins); len(pins) > 1 && mark == marked[at] && note == n.Frames[at] {
			out = append(out, pins...)
			continue
		}
		p := Pin{N: at, Mark: marked[at], Note: n.Frames[at]}
		if len(pins) > 0 {
			p.Place = pins[0].Place
		}
		out = append(out, p)
	}
	return out
}

// SetPins puts marks and notes of frames in the place of those that there are. Texts of one number are joined by line breaks; what says
// nothing is left out.
func (n *Notes) SetPins(pins []Pin) {
	pins = slices.DeleteFunc(slices.Clone(pins), func(p Pin) bool { return !p.Mark && p.Note == "" })
	slices.SortStableFunc(pins, func(a, b Pin) int { return cmp.Or(cmp.Compare(a.N, b.N), a.Place.Compare(b.Place)) })
	n.Marked, n.Frames, n.Places = nil, nil, nil
	for len(pins) > 0 {
		end := 1
		for end < len(pins) && pins[end].N == pins[0].N {
			end++
		}
		of := pins[:end]
		pins = pins[end:]
		mark, note := joined(of)
		if mark {
			n.Marked = append(n.Marked, of[0].N)
		}
		if note != "" {
			if n.Frames == nil {
				n.Frames = map[uint64]string{}
			}
			n.Frames[of[0].N] = note
		}
		if len(of) > 1 || of[0].Place != (Place{}) {
			n.Places = append(n.Places, of...)
		}
	}
}

// joined is what pins of one number say together.
func joined(pins []Pin) (mark bool, note string) {
	var texts []string
	seen := map[string]bool{"": true}
	for _, p := range pins {
		mark = mark || p.Mark
		if !seen[p.Note] {
			seen[p.Note] = true
			texts = append(texts, p.Note)
		}
	}
	return mark, strings.Join(texts, "\n")
}

// storedPlaces are places as the file beside a capture has them. What marks and notes of a number say stands there already, unless several
// have come to it.
type storedPlaces struct {
	Places  []Pin            `json:"places,omitempty"`
	Markers map[string]Place `json:"markerPlaces,omitempty"` // by the time of the marker
}

func placesOf(n *Notes) (out storedPlaces) {
	for i, p := range n.Places {
		alone := (i == 0 || n.Places[i-1].N != p.N) && (i+1 == len(n.Places) || n.Places[i+1].N != p.N)
		if alone {
			p.Mark, p.Note = false, ""
		}
		out.Places = append(out.Places, p)
	}
	for _, m := range n.Markers {
		if m.Place != (Place{}) {
			if out.Markers == nil {
				out.Markers = map[string]Place{}
			}
			out.Markers[m.At.Format(time.RFC3339Nano)] = m.Place
		}
	}
	return out
}

// put is the opposite of placesOf.
func (s storedPlaces) put(n *Notes) {
	n.Places = s.Places
	for i, m := range n.Markers {
		n.Markers[i].Place = s.Markers[m.At.Format(time.RFC3339Nano)]
	}
}
