package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirebench/codec/transport"
)

// Notes are the notes on a capture and its frames.
type Notes struct {
	Marked []uint64          `json:"marked,omitempty" doc:"numbers of marked frames, derived from noted"`
	Frames map[uint64]string `json:"frames,omitempty" doc:"notes by frame number, derived from noted"`
	Text   string            `json:"text,omitempty" doc:"note of the capture itself"`

	Noted   []Noted  `json:"noted,omitempty" doc:"marks and notes of frames"`
	Markers []Marker `json:"markers,omitempty" doc:"markers, in their order"`
}

// Noted is the mark and the note of a frame.
type Noted struct {
	ID   transport.FrameID `json:"id,omitzero" doc:"identity of the frame, PACKET:OFFSET:NTH; missing until the frame has been read"`
	N    uint64            `json:"n,omitempty" doc:"number of the frame when the capture was last read; missing if it had no such frame"`
	Mark bool              `json:"mark,omitempty"`
	Note string            `json:"note,omitempty"`
}

// ByNumber returns marks and notes of frames known only by their numbers. They get identities when their capture is read.
func ByNumber(marked []uint64, notes map[uint64]string) (out []Noted) {
	for _, n := range marked {
		out = append(out, Noted{N: n, Mark: true})
	}
	for n, text := range notes {
		out = append(out, Noted{N: n, Note: text})
	}
	return out
}

// Marker marks a moment of a capture and describes what happens then.
type Marker struct {
	ID    transport.FrameID `json:"id,omitzero" doc:"identity of the first frame after it, PACKET:OFFSET:NTH; missing until that frame has been read"`
	N     uint64            `json:"n" doc:"number of the first frame after it when the capture was last read; the frame may not exist yet"`
	At    time.Time         `json:"at" doc:"when it was set"`
	Text  string            `json:"text"`
	Value string            `json:"value,omitempty" doc:"a value visible at that moment: a number or a text"`
}

// FrameName refers to a frame in a request, by its identity or by its number. The zero value is an unknown frame.
type FrameName struct {
	ID       transport.FrameID
	N        uint64
	ByNumber bool // the request names the frame by number
}

// FrameNote is a note for a frame.
type FrameNote struct {
	FrameName
	Text string
}

// Note changes marks and notes of frames. An empty text removes a note. A frame named by number stands for all marks and notes whose frames
// have this number now.
func (n *Notes) Note(mark, unmark []FrameName, texts []FrameNote) {
	byID, byN := map[transport.FrameID][]int{}, map[uint64][]int{}
	index := func(i int) {
		x := n.Noted[i]
		byID[x.ID] = append(byID[x.ID], i)
		byN[x.N] = append(byN[x.N], i)
	}
	n.Noted = slices.Clone(n.Noted)
	for i := range n.Noted {
		index(i)
	}
	of := func(f FrameName) (out []int) {
		if f.ID != (transport.FrameID{}) {
			out = slices.Clone(byID[f.ID])
		}
		for _, i := range byN[f.N] {
			if f.N > 0 && (f.ByNumber || n.Noted[i].ID == transport.FrameID{}) && !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
		return out
	}
	first := func(f FrameName) *Noted {
		at := of(f)
		if len(at) == 0 {
			n.Noted = append(n.Noted, Noted{ID: f.ID, N: f.N})
			at = []int{len(n.Noted) - 1}
			index(at[0])
		}
		return &n.Noted[at[0]]
	}
	for _, f := range mark {
		if !slices.ContainsFunc(of(f), func(i int) bool { return n.Noted[i].Mark }) {
			first(f).Mark = true
		}
	}
	for _, f := range unmark {
		for _, i := range of(f) {
			n.Noted[i].Mark = false
		}
	}
	for _, f := range texts {
		for _, i := range of(f.FrameName) {
			n.Noted[i].Note = ""
		}
		if f.Text != "" {
			first(f.FrameName).Note = f.Text
		}
	}
}

// Show sorts Noted, drops its empty elements, and sets Marked and Frames. Notes of frames with the same number are joined by line breaks.
func (n *Notes) Show() {
	n.Noted = slices.DeleteFunc(slices.Clone(n.Noted), func(x Noted) bool { return !x.Mark && x.Note == "" })
	slices.SortStableFunc(n.Noted, func(a, b Noted) int { return cmp.Or(cmp.Compare(a.N, b.N), a.ID.Compare(b.ID)) })
	for i := len(n.Noted) - 1; i > 0; i-- { // two elements for one frame become one if no note is lost
		a, b := &n.Noted[i-1], n.Noted[i]
		if a.ID == b.ID && a.N == b.N && (a.Note == "" || b.Note == "" || a.Note == b.Note) {
			a.Mark, a.Note = a.Mark || b.Mark, cmp.Or(a.Note, b.Note)
			n.Noted = slices.Delete(n.Noted, i, i+1)
		}
	}
	if len(n.Noted) == 0 {
		n.Noted = nil
	}
	slices.SortStableFunc(n.Markers, func(a, b Marker) int { return cmp.Compare(a.N, b.N) })
	n.Marked, n.Frames = nil, nil
	for _, x := range n.Noted {
		if x.N == 0 {
			continue // no frame of the current reading
		}
		if last := len(n.Marked) - 1; x.Mark && (last < 0 || n.Marked[last] != x.N) {
			n.Marked = append(n.Marked, x.N)
		}
		if x.Note == "" {
			continue
		}
		if n.Frames == nil {
			n.Frames = map[uint64]string{}
		}
		if text := n.Frames[x.N]; text == "" {
			n.Frames[x.N] = x.Note
		} else if !slices.Contains(strings.Split(text, "\n"), x.Note) {
			n.Frames[x.N] = text + "\n" + x.Note
		}
	}
}

// Same reports whether two sets of notes of frames are equal.
func (n Notes) Same(as Notes) bool {
	return slices.Equal(n.Noted, as.Noted) && slices.Equal(n.Markers, as.Markers)
}

// tidy calls Show and reports a bound that the notes exceed.
func (n *Notes) tidy() error {
	n.Show()
	marked, noted := 0, 0
	for _, x := range n.Noted {
		if x.Mark {
			marked++
		}
		if x.Note != "" {
			noted++
		}
		if len(x.Note) > MaxNote {
			return fmt.Errorf("%w: the note of frame %d has %d bytes, at most %d are allowed", ErrTooLarge, x.N, len(x.Note), MaxNote)
		}
	}
	switch {
	case marked > MaxMarks:
		return fmt.Errorf("%w: a capture has at most %d marked frames", ErrTooLarge, MaxMarks)
	case noted > MaxNotes:
		return fmt.Errorf("%w: a capture has notes on at most %d frames", ErrTooLarge, MaxNotes)
	case len(n.Markers) > MaxMarkers:
		return fmt.Errorf("%w: a capture has at most %d markers", ErrTooLarge, MaxMarkers)
	case slices.ContainsFunc(n.Markers, func(m Marker) bool { return len(m.Text)+len(m.Value) > MaxMarkerText }):
		return fmt.Errorf("%w: a marker has at most %d bytes of text", ErrTooLarge, MaxMarkerText)
	case len(n.Text) > MaxCaptureText:
		return fmt.Errorf("%w: the note of a capture has at most %d bytes", ErrTooLarge, MaxCaptureText)
	}
	return nil
}
