package store

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Bounds of captures.
const (
	MaxCaptureBytes = 2 << 30 // of one
	MaxCaptures     = 1000
)

const (
	captureEnding = ".capture" // the file as it came, whatever its format
	aboutEnding   = ".json"    // what people say of it
)

// Captures is a folder of capture files as they came, each with a file beside it that says what people have noted. It may be used by
// all goroutines.
type Captures struct {
	dir *Dir // whose rules hold for the files beside the captures, and whose folder it is
}

// Capture is a stored capture, without its bytes.
type Capture struct {
	ID    string    `json:"id"`
	Name  string    `json:"name" doc:"of the file that was uploaded"`
	Size  int64     `json:"size" doc:"bytes"`
	Added time.Time `json:"added"`
	Notes Notes     `json:"notes"`
}

// Notes are what people say of a capture and of its frames, by their number.
type Notes struct {
	Marked []uint64          `json:"marked,omitempty" doc:"numbers of frames"`
	Frames map[uint64]string `json:"frames,omitempty" doc:"notes of frames"`
	Text   string            `json:"text,omitempty" doc:"of the capture"`
}

// OpenCaptures makes the folder if it is not there, and removes what a crash has left.
func OpenCaptures(root string, options ...Option) (*Captures, error) {
	d, err := Open(root, options...)
	if err != nil {
		return nil, err
	}
	return &Captures{d}, nil
}

// Add stores a file. It is there whole, on the disk, or not at all. now is when it came.
func (c *Captures) Add(name string, now time.Time, r io.Reader) (_ Capture, err error) {
	defer func() { err = failure("store capture", shown(name), err) }()
	all, err := c.List()
	if err != nil {
		return Capture{}, err
	}
	if len(all) >= MaxCaptures {
		return Capture{}, tooMany(MaxCaptures, "captures")
	}
	root, err := c.dir.root()
	if err != nil {
		return Capture{}, err
	}
	defer root.Close()
	out := Capture{ID: newCaptureID(now), Name: name, Added: now.UTC()}
	temp := temporaryStart + out.ID[len(out.ID)-temporaryDigits:] + temporaryEnd
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return Capture{}, err
	}
	defer func() {
		if err != nil {
			f.Close()
			_ = root.Remove(temp)
		}
	}()
	if out.Size, err = io.Copy(f, io.LimitReader(r, MaxCaptureBytes+1)); err != nil {
		return Capture{}, err
	}
	if out.Size > MaxCaptureBytes {
		return Capture{}, fmt.Errorf("%w: a capture has at most %d bytes", ErrTooLarge, int64(MaxCaptureBytes))
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return Capture{}, err
	}
	if err := c.write(out); err != nil { // first: a capture without it would have no name
		return Capture{}, err
	}
	if err := root.Rename(temp, out.ID+captureEnding); err != nil {
		_ = root.Remove(out.ID + aboutEnding)
		return Capture{}, err
	}
	return out, syncDir(root)
}

// newCaptureID is a name that sorts by time and that nobody else has.
func newCaptureID(now time.Time) string {
	var random [temporaryDigits / 2]byte
	_, _ = rand.Read(random[:]) // it does not fail
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(random[:])
}

func (c *Captures) write(x Capture) error {
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	_, err = c.dir.Write(x.ID+aboutEnding, append(text, '\n'), nil)
	return err
}

// List are the captures, the newest first.
func (c *Captures) List() ([]Capture, error) {
	root, err := c.dir.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, failure("list captures", c.dir.path, err)
	}
	var out []Capture
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), captureEnding); ok && e.Type().IsRegular() {
			if x, err := c.about(root, id); err == nil {
				out = append(out, x)
			}
		}
	}
	slices.SortFunc(out, func(a, b Capture) int { return strings.Compare(b.ID, a.ID) })
	return out, nil
}

// about reads what is known of a capture; what is missing is told by the file itself.
func (c *Captures) about(root *os.Root, id string) (Capture, error) {
	if strings.ContainsAny(id, `/\`) || CheckName(id+aboutEnding) != nil {
		return Capture{}, fs.ErrNotExist
	}
	info, err := root.Lstat(id + captureEnding)
	if err != nil || !info.Mode().IsRegular() {
		return Capture{}, fs.ErrNotExist
	}
	x := Capture{Name: id, Added: info.ModTime()}
	if text, err := readFile(root, id+aboutEnding); err == nil {
		_ = json.Unmarshal(text, &x) // a file of somebody else's says less
	}
	x.ID, x.Size = id, info.Size()
	return x, nil
}

// Get is one capture; the error is fs.ErrNotExist if there is none of that id.
func (c *Captures) Get(id string) (Capture, error) {
	root, err := c.dir.root()
	if err != nil {
		return Capture{}, err
	}
	defer root.Close()
	return c.about(root, id)
}

// Open opens the file of a capture as it came.
func (c *Captures) Open(id string) (io.ReadCloser, error) {
	root, err := c.dir.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := c.about(root, id); err != nil {
		return nil, err
	}
	f, err := root.Open(id + captureEnding)
	return f, failure("open capture", id, err)
}

// Note changes what people say of a capture.
func (c *Captures) Note(id string, change func(*Notes)) (Capture, error) {
	c.dir.mu.Lock()
	defer c.dir.mu.Unlock()
	x, err := c.Get(id)
	if err != nil {
		return x, err
	}
	change(&x.Notes)
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return x, err
	}
	_, err = c.dir.write(id+aboutEnding, append(text, '\n'), nil)
	return x, failure("note", id, err)
}

// Remove deletes a capture and what is said of it.
func (c *Captures) Remove(id string) error {
	root, err := c.dir.root()
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := c.about(root, id); err != nil {
		return err
	}
	if err := root.Remove(id + captureEnding); err != nil {
		return failure("delete capture", id, err)
	}
	_ = root.Remove(id + aboutEnding)
	return syncDir(root)
}
