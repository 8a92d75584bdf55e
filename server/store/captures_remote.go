package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"time"
)

// remoteEnding is of the file that says where a capture is in the place of captures.
const remoteEnding = ".remote"

// Bounds of a remote.
const (
	maxIndexes = 4 // indexes of a capture, for different definitions or settings
	maxRemote  = MaxFileBytes

	maxDirectory = 64 << 20 // bytes of the directory of an index
)

// remote is what the place of captures has of a capture. It names each object before it is stored, and until it is removed, so that nothing is in
// the place that is not named here, whenever the program is killed.
type remote struct {
	Place   string    `json:"place"`            // for people; another one may have the object, which is checked
	Object  string    `json:"object"`           // with the bytes of the capture
	Whole   bool      `json:"whole,omitempty"`  // it is stored
	Size    int64     `json:"size,omitempty"`   // bytes
	Sums    sums      `json:"sums,omitempty"`   // of each placeBlock bytes, the last of which may be fewer
	Written time.Time `json:"written,omitzero"` // when the last byte of the capture was written
	Stored  time.Time `json:"stored,omitzero"`

	Indexes []Index `json:"indexes,omitempty"` // the newest first

	Old     []string `json:"old,omitempty"`     // objects to be removed
	Removed bool     `json:"removed,omitempty"` // the capture is deleted: all objects are to be removed, and then this
}

// sums are some Sums, one behind the other.
type sums []byte

func (s sums) of(block int64) (out Sum) {
	copy(out[:], s[block*int64(len(out)):])
	return out
}

// Index is an object in the place with the frames of a capture, by a reading.
type Index struct {
	Reading string `json:"reading"`         // a hash of what the frames depend on
	Object  string `json:"object"`          //
	Whole   bool   `json:"whole,omitempty"` // it is stored
	Size    int64  `json:"size,omitempty"`  // bytes
	Head    int64  `json:"head,omitempty"`  // offset of its directory, which is at its end
	Sum     []byte `json:"sum,omitempty"`   // of the directory
}

// invalid returns why a remote cannot be used, "" if it can.
func (r *remote) invalid() string {
	switch {
	case r.Object == "":
		return "it names no object"
	case r.Whole && (r.Size < 0 || r.Size > MaxCaptureBytes || int64(len(r.Sums)) != (r.Size+placeBlock-1)/placeBlock*int64(len(Sum{}))):
		return "its sums are not those of its size"
	}
	for _, x := range r.Indexes {
		if x.Object == "" || x.Whole && (x.Head < 0 || x.Head >= x.Size || x.Size-x.Head > maxDirectory || len(x.Sum) != len(Sum{})) {
			return "it has an invalid index"
		}
	}
	return ""
}

// names returns the names of all objects.
func (r *remote) names() []string {
	out := append([]string{r.Object}, r.Old...)
	for _, x := range r.Indexes {
		out = append(out, x.Object)
	}
	return out
}

// is reports whether the place has the capture as its file is here.
func (r *remote) is(info fs.FileInfo) bool {
	return r != nil && r.Whole && !r.Removed && r.Size == info.Size() && r.Written.Equal(info.ModTime())
}

// same reports whether a file has the bytes of the capture.
func (r *remote) same(file io.ReaderAt) bool {
	block := make([]byte, placeBlock)
	for at := int64(0); at < r.Size; at += placeBlock {
		block := block[:min(placeBlock, r.Size-at)]
		if _, err := file.ReadAt(block, at); err != nil && !errors.Is(err, io.EOF) || SumOf(block) != r.Sums.of(at/placeBlock) {
			return false
		}
	}
	return true
}

// clone returns a copy that may be changed.
func (r *remote) clone() *remote {
	out := *r
	out.Indexes, out.Old = slices.Clone(r.Indexes), slices.Clone(r.Old)
	return &out
}

// readRemote reads a remote, nil if there is none. The error says why it cannot be used.
func readRemote(root *os.Root, id string) (*remote, error) {
	text, err := readUpTo(root, id+remoteEnding, maxRemote)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := &remote{}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err == nil && r.invalid() != "" {
		err = errors.New(r.invalid())
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// remoteIDs returns the captures in a folder of which the place may have something.
func remoteIDs(root *os.Root) (ids []string) {
	entries, _ := fs.ReadDir(root.FS(), ".") // the next look finds more
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), remoteEnding); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// remotesIn yields the remotes in a folder, nil for one that is damaged.
func remotesIn(root *os.Root) iter.Seq2[string, *remote] {
	return func(yield func(string, *remote) bool) {
		for _, id := range remoteIDs(root) {
			r, err := readRemote(root, id)
			if err == nil && r == nil {
				continue // removed meanwhile
			}
			if !yield(id, r) {
				return
			}
		}
	}
}

// knownRemote is a remote as it was read.
type knownRemote struct {
	size int64
	at   time.Time
	r    *remote
}

// remoteOf returns what the place has of a capture, nil if nothing. The result must not be changed. A damaged description is an ErrAway, and is
// said in the log.
func (c *Captures) remoteOf(root *os.Root, id string) (*remote, error) {
	info, err := root.Lstat(id + remoteEnding)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	known, ok := c.remotes[id]
	c.mu.Unlock()
	if ok && known.size == info.Size() && known.at.Equal(info.ModTime()) {
		return known.r, nil
	}
	r, err := readRemote(root, id)
	if err != nil {
		c.dir.damaged(id+remoteEnding, why(err))
		return nil, fmt.Errorf("%w: %s is damaged: %s", ErrAway, id+remoteEnding, why(err))
	}
	c.dir.whole(id + remoteEnding)
	if r != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.remotes == nil {
			c.remotes = map[string]knownRemote{}
		}
		c.remotes[id] = knownRemote{info.Size(), info.ModTime(), r}
	}
	return r, nil
}

// saveRemote writes a remote. The caller holds the lock of the folder.
func (c *Captures) saveRemote(id string, r *remote) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	c.mu.Lock()
	delete(c.remotes, id) // two changes may come in one tick of the clock of files
	c.mu.Unlock()
	_, err = c.dir.write(id+remoteEnding, append(text, '\n'), nil)
	return err
}

// awayIn returns the ids of captures that are in the place and not in a folder with these files.
func awayIn(entries []fs.DirEntry) (ids []string) {
	here := map[string]bool{}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), captureEnding); ok {
			here[id] = true
		}
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), remoteEnding); ok && !here[id] && e.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	return ids
}

// whereabouts says where the bytes of a capture are.
type whereabouts struct {
	size    int64
	written time.Time
	away    bool // only in the place
}

// where returns where a capture is; the error is fs.ErrNotExist if it is nowhere.
func (c *Captures) where(root *os.Root, id string) (whereabouts, error) {
	r, err := c.remoteOf(root, id)
	if r != nil && r.Removed {
		return whereabouts{}, fs.ErrNotExist
	}
	info, err2 := root.Lstat(id + captureEnding)
	switch {
	case err2 == nil && info.Mode().IsRegular():
		return whereabouts{info.Size(), info.ModTime(), false}, nil
	case err2 == nil || !errors.Is(err2, fs.ErrNotExist):
		return whereabouts{}, fs.ErrNotExist
	case err != nil: // damaged: it is listed, and says so when it is opened
		return whereabouts{away: true}, nil
	case r != nil && r.Whole:
		return whereabouts{r.Size, r.Written, true}, nil
	}
	return whereabouts{}, fs.ErrNotExist
}
