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

// Recording is a session to look at: both directions of it, with some messages that are wrong on purpose.
type Recording struct {
	Name  string          // for a list
	Data  []byte          // pcapng
	Notes json.RawMessage // what is noted of it and of its frames, as those who keep captures write it
}

// Recorded is the recording of one dialect, and whether there is one.
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
