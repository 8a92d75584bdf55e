package store

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Recording is the file of a growing capture. Every Write appends; Truncate and Sync are as in os.File.
type Recording interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// Record starts a growing capture with a name, keys, settings and listener. It exists at once, and data written to it survives a crash of the program.
func (c *Captures) Record(like Capture, now time.Time) (_ Capture, _ Recording, err error) {
	defer func() { err = failure("record", shown(like.Name), err) }()
	all, err := c.List()
	if err != nil {
		return Capture{}, nil, err
	}
	if len(all) >= MaxCaptures {
		return Capture{}, nil, tooMany(MaxCaptures, "captures")
	}
	root, err := c.dir.root()
	if err != nil {
		return Capture{}, nil, err
	}
	defer root.Close()
	x := Capture{ID: newCaptureID(now), Name: cutName(like.Name), Added: now.UTC(), Keys: like.Keys, Settings: like.Settings, Listener: like.Listener}
	if err := c.write(x); err != nil {
		return Capture{}, nil, err
	}
	f, err := root.OpenFile(x.ID+captureEnding, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if err != nil {
		_ = root.Remove(x.ID + aboutEnding)
		return Capture{}, nil, err
	}
	if err := syncDir(root); err != nil {
		f.Close()
		return Capture{}, nil, fmt.Errorf("the folder: %w", err)
	}
	return x, f, nil
}
