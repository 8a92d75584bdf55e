package store

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"wirebench/codec/transport"
)

// Format 1 stored marks and notes by the numbers of their frames and, where known, the places where these frames begin. A mark or note with
// only a number keeps it, and gets the identity of its frame when the capture is read next.

// format1 holds the members of a description file that change from format 1 to 2.
type format1 struct {
	Notes struct {
		Marked  []uint64          `json:"marked"`
		Frames  map[uint64]string `json:"frames"`
		Noted   []Noted           `json:"noted"` // from format 2
		Markers []map[string]json.RawMessage
	} `json:"notes"`
	Places []struct {
		Noted
		At string `json:"at"`
	} `json:"places"`
	Markers map[string]string `json:"markerPlaces"` // by the time of the marker
}

// identifyNotes upgrades one description file from format 1 to 2.
func identifyNotes(members map[string]json.RawMessage) bool {
	text, err := json.Marshal(members)
	var old format1
	if err != nil || json.Unmarshal(text, &old) != nil || len(members["notes"]) == 0 {
		return false
	}
	byN := map[uint64][]Noted{}
	for _, p := range old.Places {
		p.ID = placeID(p.At)
		byN[p.N] = append(byN[p.N], p.Noted)
	}
	marked := map[uint64]bool{}
	for _, n := range old.Notes.Marked {
		marked[n] = true
	}
	all := slices.Concat(old.Notes.Marked, slices.Collect(maps.Keys(old.Notes.Frames)))
	slices.Sort(all)
	noted := old.Notes.Noted
	for _, n := range slices.Compact(all) {
		at, note := byN[n], old.Notes.Frames[n]
		if mark, text := joined1(at); len(at) > 1 && mark == marked[n] && text == note {
			noted = append(noted, at...) // several frames had the same number
			continue
		}
		x := Noted{N: n, Mark: marked[n], Note: note}
		if len(at) > 0 {
			x.ID = at[0].ID
		}
		noted = append(noted, x)
	}
	for _, m := range old.Notes.Markers {
		var at time.Time
		if json.Unmarshal(m["at"], &at) != nil {
			continue
		}
		if id := placeID(old.Markers[at.Format(time.RFC3339Nano)]); id.Shown() {
			m["id"], _ = json.Marshal(id) // never fails
		}
	}
	var notes map[string]json.RawMessage
	if json.Unmarshal(members["notes"], &notes) != nil || notes == nil {
		return false
	}
	changed := len(old.Places)+len(old.Markers) > 0
	for _, name := range []string{"marked", "frames"} {
		_, is := notes[name]
		changed = changed || is
		delete(notes, name)
	}
	if !changed {
		return false
	}
	put := func(to map[string]json.RawMessage, name string, v any, some bool) {
		if some {
			to[name], err = json.Marshal(v)
		}
	}
	put(notes, "noted", noted, len(noted) > 0)
	put(notes, "markers", old.Notes.Markers, len(old.Notes.Markers) > 0)
	put(members, "notes", notes, true)
	delete(members, "places")
	delete(members, "markerPlaces")
	return err == nil
}

// placeID returns the identity of the frame at a place of format 1, PACKET+OFFSET or PACKET+OFFSET/NTH; zero if the place names no packet.
func placeID(place string) transport.FrameID {
	packet, rest, _ := strings.Cut(place, "+")
	off, nth, _ := strings.Cut(rest, "/")
	id, err := transport.ParseFrameID(packet + ":" + off + ":" + cmp.Or(nth, "0"))
	if err != nil || !id.Shown() {
		return transport.FrameID{}
	}
	return id
}

// joined1 returns the mark and note that format 1 showed for several frames with one number.
func joined1(of []Noted) (mark bool, note string) {
	var texts []string
	for _, x := range of {
		mark = mark || x.Mark
		if x.Note != "" && !slices.Contains(texts, x.Note) {
			texts = append(texts, x.Note)
		}
	}
	return mark, strings.Join(texts, "\n")
}
