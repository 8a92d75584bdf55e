package captures

import (
	"wirebench/codec/capture"
	"wirebench/server/store"
)

// TakeTold adds the metadata that an export by Wirebench contains to a newly stored capture: name, text, marks, notes and markers. Any
// other file, or one whose metadata is unreadable, stays unchanged.
func TakeTold(captures *store.Captures, x store.Capture) store.Capture {
	if x.Framing != "" {
		return x
	}
	file, err := captures.Open(x.ID)
	if err != nil {
		return x
	}
	defer file.Close()
	told, ok, err := capture.ReadTold(file)
	if err != nil || !ok {
		return x
	}
	next, err := captures.Edit(x.ID, func(x *store.Capture) error {
		if told.Name != "" {
			x.Name = told.Name
		}
		if len(told.Text) <= store.MaxCaptureText {
			x.Notes.Text = told.Text
		}
		marks, notes := 0, 0
		for _, f := range told.Frames { // their identities are found when the capture is read
			n := store.Noted{N: f.N, Mark: f.Mark && marks < store.MaxMarks}
			if f.Note != "" && len(f.Note) <= store.MaxNote && notes < store.MaxNotes {
				n.Note = f.Note
				notes++
			}
			if n.Mark {
				marks++
			}
			x.Notes.Noted = append(x.Notes.Noted, n)
		}
		for _, m := range told.Markers {
			if len(x.Notes.Markers) < store.MaxMarkers && len(m.Text)+len(m.Value) <= store.MaxMarkerText {
				x.Notes.Markers = append(x.Notes.Markers, store.Marker{N: m.N, At: m.At, Text: m.Text, Value: m.Value})
			}
		}
		return nil
	})
	if err != nil {
		return x
	}
	return next
}
