package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Recording is the file of a growing capture. Every Write appends.
type Recording struct {
	in   *Captures
	id   string
	f    *os.File
	size atomic.Int64 // of what was written as a whole
	once sync.Once
}

// Write appends to the capture.
func (r *Recording) Write(data []byte) (int, error) {
	if err := r.in.dir.step("write"); err != nil {
		return 0, err
	}
	n := 0
	err := r.commit(func() (err error) {
		n, err = r.f.Write(data)
		return err
	}, Change{Kind: Spliced, Name: r.id + captureEnding, At: r.size.Load(), Data: data})
	if err == nil {
		r.size.Add(int64(n))
	}
	return n, err
}

// Truncate is as in os.File.
func (r *Recording) Truncate(size int64) error {
	r.size.Store(min(size, r.size.Load()))
	return r.commit(func() error { return r.f.Truncate(size) }, Change{Kind: Spliced, Name: r.id + captureEnding, At: size})
}

// commit makes a change of the file, which is of the folder unless it was deleted.
func (r *Recording) commit(do func() error, c Change) error {
	if r.in.dir.journal == nil {
		return do()
	}
	r.in.dir.mu.Lock() // so that it is not deleted meanwhile
	defer r.in.dir.mu.Unlock()
	if r.Gone() {
		return do()
	}
	return r.in.dir.commit(do, c)
}

// Recorded returns the bytes of a capture that is being recorded which will stay; ok is false if it is not being recorded.
func (c *Captures) Recorded(id string) (size int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.running[id]
	if r == nil {
		return 0, false
	}
	return r.size.Load(), true
}

// Sync is as in os.File.
func (r *Recording) Sync() error { return r.f.Sync() }

// Gone reports whether the file was deleted or replaced by another.
func (r *Recording) Gone() bool {
	now, err := os.Lstat(r.in.Path(r.id))
	was, err2 := r.f.Stat()
	return errors.Is(err, fs.ErrNotExist) || err == nil && err2 == nil && !os.SameFile(now, was)
}

// Close ends the recording. Later calls do nothing.
func (r *Recording) Close() (err error) {
	r.once.Do(func() {
		err = errors.Join(r.in.dir.step("close"), r.f.Close())
		r.in.recorded(r.id, false)
		_, err2 := r.in.Edit(r.id, func(*Capture) error { return nil }) // on a full disk, the next change of the description says it
		if err2 == nil || errors.Is(err2, fs.ErrNotExist) {
			r.in.recorded(r.id, true)
		} else if err == nil {
			err = err2
		}
	})
	return err
}

// Discard closes and deletes the capture.
func (r *Recording) Discard() {
	r.once.Do(func() {
		r.f.Close()
		r.in.recorded(r.id, true)
		_ = r.in.Remove(r.id) // a remaining empty capture does no harm
	})
}

// recorded reports that a recording has ended, and whether its description says so.
func (c *Captures) recorded(id string, said bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, id)
	if c.recordings[id] = false; said {
		delete(c.recordings, id)
	}
}

// Room returns an error if the disk has no room for more of a recording, as the function Room does, or the quota is used up.
func (c *Captures) Room(resume bool) error {
	if err := Room(c.dir.path, resume); err != nil {
		return err
	}
	least := int64(recordedPiece)
	if resume {
		least *= 16
	}
	if left, err := c.quota.left(c, least); err != nil {
		return err
	} else if left < least {
		used, most := c.Used()
		return &QuotaError{"this project", used, most}
	}
	c.quota.took(c, recordedPiece)
	return nil
}

// recordedPiece is about what a recording writes between two calls of Room.
const recordedPiece = 96 << 10

// Lacks returns what a capture that was recorded here lacks of the traffic, "" if nothing.
func (x *Capture) Lacks() string {
	var all []string
	if x.Collected != nil && x.Collected.Lost > 0 {
		all = append(all, fmt.Sprintf("%d bytes of the recording of collector %s before it were lost on the way", x.Collected.Lost, x.Collected.By))
	}
	switch {
	case !x.Unfinished || x.recording:
	case x.Collected != nil:
		all = append(all, fmt.Sprintf("the end of this recording has not come from collector %s", x.Collected.By))
	default:
		all = append(all, "the program ended without closing this recording: what came in its last 0.1 s may be missing")
	}
	if x.Unrecorded == 1 {
		all = append(all, "1 packet of this session was not recorded")
	} else if x.Unrecorded > 1 {
		all = append(all, fmt.Sprintf("%d packets of this session were not recorded", x.Unrecorded))
	}
	return strings.Join(all, "; ")
}

// begin makes the file of a recording and its description, both or, after a crash, neither.
func (c *Captures) begin(root *os.Root, x Capture) (*os.File, error) {
	temp := temporaryOf(x.ID)
	err := c.dir.step("create")
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = c.write(x)
	}
	if err == nil {
		err = c.dir.step("rename")
	}
	if err == nil {
		err = c.dir.commit(func() error { return root.Rename(temp, x.ID+captureEnding) }, Change{Kind: Spliced, Name: x.ID + captureEnding})
	}
	if err != nil {
		return nil, err
	}
	return root.OpenFile(x.ID+captureEnding, os.O_WRONLY|os.O_APPEND, 0)
}

// Record starts a growing capture with a name, keys, settings and listener. It exists at once, and data written to it survives a crash of the program.
func (c *Captures) Record(like Capture, now time.Time) (_ Capture, _ *Recording, err error) {
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
	x := Capture{ID: newCaptureID(now), Name: cutName(like.Name), Added: now.UTC(), Keys: like.Keys, Settings: like.Settings, Listener: like.Listener, Unfinished: true, recording: true}
	f, err := c.begin(root, x)
	if err != nil {
		_ = c.dir.discard(root, x.ID+aboutEnding)
		_ = root.Remove(temporaryOf(x.ID))
		return Capture{}, nil, err
	}
	if err := c.dir.syncDir(root); err != nil {
		f.Close()
		return Capture{}, nil, fmt.Errorf("the folder: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recordings == nil {
		c.recordings, c.running = map[string]bool{}, map[string]*Recording{}
	}
	c.recordings[x.ID] = true
	c.running[x.ID] = &Recording{in: c, id: x.ID, f: f}
	return x, c.running[x.ID], nil
}
