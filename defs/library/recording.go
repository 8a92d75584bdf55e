package library

import (
	"encoding/json"
	"io/fs"
)

// The files of a recorded session.
const (
	recordingFile = "demo.pcapng"
	notesFile     = "demo.json"
)

// Recording is a recorded session with both directions of the traffic and some intentionally broken messages.
type Recording struct {
	Name  string          // for a list
	Data  []byte          // pcapng
	Notes json.RawMessage // notes on the recording and its frames, in the format of the capture store
}

// Recorded returns the recording of a dialect, and whether there is one.
func Recorded(name string) (Recording, bool) {
	fsys, ok := Dialect(name)
	if !ok {
		return Recording{}, false
	}
	data, err := fs.ReadFile(fsys, recordingFile)
	if err != nil {
		return Recording{}, false
	}
	r := Recording{Name: "sample: a session of the demo game", Data: data}
	r.Notes, err = fs.ReadFile(fsys, notesFile)
	return r, err == nil
}
