package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Collected is how a capture belongs to a recording that a collector makes on another host. The capture has Head bytes of its own, and then
// the bytes of the recording from From on.
type Collected struct {
	By   string `json:"by" doc:"name of the collector"`
	From int64  `json:"from,omitempty" doc:"offset in the recording of its first byte from there; what is before was lost, unless an earlier capture has it"`
	Head int64  `json:"head,omitempty" doc:"bytes at its start that are not of the recording"`
	Told int    `json:"told,omitempty" doc:"changes of its description by the collector so far"`
	Lost int64  `json:"lost,omitempty" doc:"bytes of the recording before From that no capture has"`
}

// idTime is the form of the time at the start of the id of a capture.
const idTime = "20060102-150405-"

// NewCaptureID returns a unique id that sorts by time.
func NewCaptureID(now time.Time) string { return newCaptureID(now) }

// IsCaptureID reports whether an id has the form of those of NewCaptureID.
func IsCaptureID(id string) bool {
	if temporaryOf(id) == "" || len(id) != len(idTime)+temporaryDigits {
		return false
	}
	_, err := time.Parse(idTime, id[:len(idTime)])
	return err == nil
}

// Collect stores the first bytes of a capture that a collector records, with its id, name, settings, keys, listener and the members of its origin.
// It is completely on disk when Collect returns nil, and Append adds the rest. The error is fs.ErrExist if a capture has the id.
func (c *Captures) Collect(x Capture, now time.Time, data []byte) (Capture, error) {
	if !IsCaptureID(x.ID) {
		return Capture{}, fmt.Errorf("%q is not an id of a capture", shown(x.ID))
	}
	if _, err := c.Get(x.ID); err == nil {
		return Capture{}, fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Capture{}, err
	}
	if err := c.renew(x.ID); err != nil {
		return Capture{}, failure("store capture", x.ID, err)
	}
	x = Capture{ID: x.ID, Name: cutName(x.Name), Added: now.UTC(), Settings: x.Settings, Keys: x.Keys, Listener: x.Listener, Collected: x.Collected, Unfinished: true}
	out, err := c.add(x, bytes.NewReader(data))
	if err != nil {
		return out, failure("store capture", x.ID, err)
	}
	c.Grows(x.ID, true)
	c.changed(x.ID)
	return out, nil
}

// Grows says whether the collector of a capture goes on with it, as far as is known. What ends unfinished otherwise lacks its end.
func (c *Captures) Grows(id string, goes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !goes {
		delete(c.recordings, id)
		return
	}
	if c.recordings == nil {
		c.recordings = map[string]bool{}
	}
	c.recordings[id] = true
}
