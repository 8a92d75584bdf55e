package store

import (
	"cmp"
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
	"sync"
	"time"
	"unicode/utf8"

	"wirebench/server/settings"
)

// Bounds of captures.
const (
	MaxCaptureBytes = 16 << 30 // of one capture
	MaxCaptures     = 1000
	MaxCaptureName  = 200      // bytes
	MaxCaptureText  = 64 << 10 // bytes of Notes.Text
	MaxMarks        = 1 << 16  // frames
	MaxNotes        = 10_000   // frames
	MaxNote         = 4096     // bytes of the note of one frame
	MaxMarkers      = 1000
	MaxMarkerText   = 400     // bytes
	MaxDismissed    = 100     // the oldest are forgotten
	maxAboutBytes   = 6 << 20 // bytes of the description file of one capture
)

const (
	captureEnding = ".capture" // the uploaded file, unchanged, in any format
	aboutEnding   = ".json"    // its description: name, notes, framing, keys, settings
)

// Captures is a folder of unchanged capture files, each with a JSON file beside it that holds its description and notes. It is safe for
// concurrent use.
type Captures struct {
	dir   *Dir   // the folder; it also writes the description files
	place *Place // where complete captures go; nil: they stay

	mu         sync.Mutex
	watchers   map[chan struct{}]string // channels of Changed, by capture
	places     map[string]*packetPlaces
	quota      *Quota          // nil: none
	recordings map[string]bool // of captures that Record has started, by id: whether they go on, until their descriptions say that they ended
	running    map[string]*Recording
	remotes    map[string]knownRemote
	held       map[string]int       // files that are open, by capture
	used       map[string]time.Time // when captures were last opened
}

// Capture is a stored capture, without its bytes.
type Capture struct {
	ID    string    `json:"id"`
	Name  string    `json:"name" doc:"of the file that was uploaded"`
	Size  int64     `json:"size" doc:"bytes"`
	Added time.Time `json:"added"`
	Notes Notes     `json:"notes"`

	Framing string `json:"framing,omitempty" doc:"the file is raw bytes that are cut so: whole, fixed:40, prefixed:2le+self+keep, delimited:0d0a, envelope ..."`
	Keyed   bool   `json:"keyed,omitempty" doc:"keys from elsewhere are kept with it"`
	Keys    string `json:"-"` // in the syntax of protocols.ParseKeys; never sent to clients

	Packets bool `json:"packets,omitempty" doc:"events of its packets are rows of kind packet, and have numbers: FIN, RST, retransmissions, losses"`

	Keep    bool      `json:"keep,omitempty" doc:"it is never removed for its age or for room"`
	Written time.Time `json:"-"` // when its last byte was written

	Dismissed []string `json:"dismissed,omitempty" doc:"ids of proposals that were dismissed"`

	Settings settings.Settings `json:"settings,omitzero" ts:"Record<string, unknown>" doc:"settings that override those of the project"`

	Listener *Listener `json:"listener,omitempty" doc:"the listener that recorded it, which can be started again"`

	Collected *Collected `json:"collected,omitempty" doc:"the collector that records it on another host"`

	Away bool `json:"away,omitempty" doc:"its bytes are only in the place of captures, from which they are read (serve --captures)"`

	Unfinished bool  `json:"unfinished,omitempty" doc:"it is being recorded, or the program ended without closing the recording"`
	Unrecorded int64 `json:"unrecorded,omitempty" doc:"number of packets of the recorded session that are in none of its captures"`
	recording  bool  // it is being recorded
}

// Listener is how a listener was started whose traffic is in a capture.
type Listener struct {
	Name        string          `json:"name,omitempty"`
	Listen      string          `json:"listen" doc:"IP:port or :port"`
	Upstream    string          `json:"upstream" doc:"host:port"`
	Ports       int             `json:"ports,omitempty"`
	Operate     bool            `json:"operate,omitempty" doc:"messages could be held, changed and injected"`
	Rules       json.RawMessage `json:"rules,omitempty" ts:"unknown[]" doc:"its rules for messages"`
	Idle        string          `json:"idle,omitempty" doc:"time after which an idle connection ended, if it was set"`
	PerAddress  int             `json:"per_address,omitempty" doc:"concurrent connections of one address, if it was set"`
	Connections int             `json:"connections,omitempty" doc:"concurrent connections in all, if it was set"`
	Language    int             `json:"language,omitempty" doc:"version of the filter language of its rules; none: 1"`
}

// stored is the JSON form of a capture in its description file.
type stored struct {
	Capture
	Keys string `json:"keys,omitempty"`
}

// OpenCaptures opens the folder, creates it if it does not exist, and removes files left by a crash.
func OpenCaptures(root string, options ...Option) (*Captures, error) {
	d, err := Open(root, append(slices.Clone(options), func(d *Dir) { d.swept = removeAbout })...)
	if err != nil {
		return nil, err
	}
	c := &Captures{dir: d, places: map[string]*packetPlaces{}}
	return c, c.departed()
}

// temporaryOf returns the name that the file of a capture has before it is stored and while it is deleted, "" for an id that was not made
// here. While there is a file of this name and none of the capture, the description belongs to nothing.
func temporaryOf(id string) string {
	if i := len(id) - temporaryDigits; i > 0 && id[i-1] == '-' {
		if name := temporaryStart + id[i:] + temporaryEnd; isTemporary(name) {
			return name
		}
	}
	return ""
}

// removeAbout removes the description of a capture that a crash has left with a temporary file.
func removeAbout(d *Dir, root *os.Root, temporary string) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), aboutEnding)
		if !ok || temporaryOf(id) != temporary {
			continue
		}
		if _, err := root.Lstat(id + captureEnding); errors.Is(err, fs.ErrNotExist) {
			_ = d.discard(root, e.Name())
		}
	}
}

// Add stores a file, completely and synced to disk, or not at all. now is the time of the upload.
func (c *Captures) Add(name string, now time.Time, r io.Reader) (Capture, error) {
	return c.AddFramed(name, "", now, r)
}

// AddFramed is Add for raw bytes; framing says how they are split into messages.
func (c *Captures) AddFramed(name, framing string, now time.Time, r io.Reader) (Capture, error) {
	x, err := c.add(Capture{ID: newCaptureID(now), Name: cutName(name), Added: now.UTC(), Framing: framing}, r)
	return x, failure("store capture", shown(name), err)
}

// add stores a file and its description.
func (c *Captures) add(out Capture, r io.Reader) (_ Capture, err error) {
	root, err := c.dir.root()
	if err != nil {
		return Capture{}, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return Capture{}, err
	}
	have := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), captureEnding) {
			have++
		}
	}
	if have += len(awayIn(entries)); have >= MaxCaptures {
		return Capture{}, tooMany(MaxCaptures, "captures")
	}
	temp := temporaryOf(out.ID)
	if err := c.dir.step("create"); err != nil {
		return Capture{}, err
	}
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
	if out.Size, err = c.within(f, r); err != nil {
		return Capture{}, err
	}
	if out.Size > MaxCaptureBytes {
		return Capture{}, fmt.Errorf("%w: a capture has at most %d bytes", ErrTooLarge, int64(MaxCaptureBytes))
	}
	if err := errors.Join(c.dir.step("sync"), f.Sync(), f.Close()); err != nil {
		return Capture{}, err
	}
	if err := c.write(out); err != nil { // first: a capture without a description would have no name
		return Capture{}, err
	}
	if err = c.dir.keep(root, temp, temp); err == nil {
		err = c.dir.step("rename")
	}
	if err == nil {
		err = c.dir.commit(func() error { return root.Rename(temp, out.ID+captureEnding) }, Change{Kind: Moved, Name: temp, To: out.ID + captureEnding})
	}
	if err != nil {
		_ = c.dir.discard(root, out.ID+aboutEnding)
		return Capture{}, err
	}
	return out, c.dir.syncDir(root)
}

// cutName shortens a name for a list.
func cutName(name string) string {
	name = strings.ToValidUTF8(name, "\ufffd")
	if len(name) <= MaxCaptureName {
		return name
	}
	end := MaxCaptureName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// newCaptureID returns a unique id that sorts by time.
func newCaptureID(now time.Time) string {
	var random [temporaryDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails
	return now.UTC().Format(idTime) + hex.EncodeToString(random[:])
}

func (c *Captures) write(x Capture) error {
	text, err := aboutText(x, nil)
	if err != nil {
		return err
	}
	_, err = c.dir.Write(x.ID+aboutEnding, text, nil)
	return err
}

// aboutText returns the text of a description file. Members of old that this version of the program does not know are kept.
func aboutText(x Capture, old []byte) ([]byte, error) {
	x.Keyed, x.Away, x.Notes.Marked, x.Notes.Frames = x.Keys != "", false, nil, nil // Marked and Frames are computed from Noted
	text, err := MergeJSON(stored{x, x.Keys}, old)
	if err == nil && len(text) >= maxAboutBytes {
		err = fmt.Errorf("%w: the notes of a capture take at most %d bytes", ErrTooLarge, maxAboutBytes)
	}
	return append(text, '\n'), err
}

// List returns the captures, the newest first.
func (c *Captures) List() ([]Capture, error) {
	root, err := c.dir.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, c.dir.unreadable("list captures", err)
	}
	var out []Capture
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), captureEnding)
		switch {
		case !ok:
		case !e.Type().IsRegular():
			c.dir.damaged(e.Name(), notRegular)
		default:
			if x, err := c.about(root, id); err == nil {
				out = append(out, x)
			}
		}
	}
	for _, id := range awayIn(entries) {
		if x, err := c.about(root, id); err == nil {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b Capture) int { return cmp.Or(b.Added.Compare(a.Added), strings.Compare(b.ID, a.ID)) })
	return out, nil
}

// about reads the description of a capture. Missing members are filled in from the file itself.
func (c *Captures) about(root *os.Root, id string) (Capture, error) {
	if strings.ContainsAny(id, `/\`) || CheckName(id+aboutEnding) != nil {
		return Capture{}, fs.ErrNotExist
	}
	at, err := c.where(root, id)
	if err != nil {
		return Capture{}, err
	}
	x := Capture{Name: id, Added: at.written}
	text, err := readUpTo(root, id+aboutEnding, maxAboutBytes)
	if err == nil {
		said := stored{Capture: x}
		err = JSON(&said)(text) // unreadable members count as missing
		x, x.Keys = said.Capture, said.Keys
		x.Notes.Show()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.dir.damaged(id+aboutEnding, why(err))
	} else {
		c.dir.whole(id + aboutEnding)
	}
	x.ID, x.Size, x.Keyed, x.Written, x.Away = id, at.size, x.Keys != "", at.written, at.away
	if x.Unfinished {
		c.mu.Lock()
		goes, known := c.recordings[id]
		c.mu.Unlock()
		x.Unfinished, x.recording = goes || !known, goes
	}
	return x, nil
}

// Get returns a capture. The error is fs.ErrNotExist if no capture has the id.
func (c *Captures) Get(id string) (Capture, error) {
	root, err := c.dir.root()
	if err != nil {
		return Capture{}, err
	}
	defer root.Close()
	return c.about(root, id)
}

// Path returns the path of a capture's file, for display.
func (c *Captures) Path(id string) string { return c.dir.Path(id + captureEnding) }

// Note changes the notes of a capture.
func (c *Captures) Note(id string, change func(*Notes)) (Capture, error) {
	return c.Edit(id, func(x *Capture) error {
		change(&x.Notes)
		return nil
	})
}

// Edit changes the description of a capture: its name, notes, framing, keys and settings. An error of change is returned, and nothing is written
// then. A description above the bounds is ErrTooLarge. When Edit returns nil, the change is on disk.
func (c *Captures) Edit(id string, change func(*Capture) error) (Capture, error) {
	c.dir.mu.Lock()
	defer c.dir.mu.Unlock()
	root, err := c.dir.root()
	if err != nil {
		return Capture{}, err
	}
	defer root.Close()
	x, err := c.about(root, id)
	if err != nil {
		return x, err
	}
	size, added := x.Size, x.Added
	if err := change(&x); err != nil {
		return Capture{}, err
	}
	x.ID, x.Size, x.Added, x.Name = id, size, added, cutName(x.Name)
	if err := x.Notes.tidy(); err != nil {
		return Capture{}, failure("note", id, err)
	}
	x.Keyed = x.Keys != ""
	old, err := readUpTo(root, id+aboutEnding, maxAboutBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Capture{}, failure("note", id, err)
	}
	text, err := aboutText(x, old)
	if err != nil {
		return Capture{}, failure("note", id, err)
	}
	rev, err := c.dir.write(id+aboutEnding, text, nil)
	if rev != "" {
		c.changed(id)
	}
	return x, failure("note", id, err)
}

// Changed returns a channel that receives a value after a capture or its description has changed or been deleted; several changes may be
// reported as one. stop ends the subscription. Changes by other programs are not reported. An empty id covers all captures.
func (c *Captures) Changed(id string) (changed <-chan struct{}, stop func()) {
	w := make(chan struct{}, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchers == nil {
		c.watchers = map[chan struct{}]string{}
	}
	c.watchers[w] = id
	return w, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watchers, w)
	}
}

func (c *Captures) changed(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w, watched := range c.watchers {
		if watched != id && watched != "" {
			continue
		}
		select {
		case w <- struct{}{}:
		default: // a notification is pending already
		}
	}
}

// Remove deletes a capture and its description.
func (c *Captures) Remove(id string) error {
	return c.RemoveIf(id, func(Capture) error { return nil })
}

// RemoveIf is Remove if refuse returns nil for the capture as it is at that moment; otherwise its error is returned.
func (c *Captures) RemoveIf(id string, refuse func(Capture) error) error {
	c.dir.mu.Lock() // so that no later change of the description recreates it
	defer c.dir.mu.Unlock()
	root, err := c.dir.root()
	if err != nil {
		return err
	}
	defer root.Close()
	x, err := c.about(root, id)
	if err == nil {
		err = refuse(x)
	}
	if err != nil {
		return err
	}
	if deleted, err := c.depart(root, id); deleted || err != nil {
		if deleted {
			c.forget(id)
			c.changed(id)
		}
		return failure("delete capture", id, err)
	}
	gone := id + captureEnding
	if err = c.dir.step("remove"); err == nil {
		err = c.dir.commit(func() (err error) {
			if temp := temporaryOf(id); temp != "" { // first: what a crash leaves then is removed at the next start
				err, gone = root.Rename(gone, temp), temp
			} else {
				err = root.Remove(gone)
			}
			return err
		}, Change{Kind: Removed, Name: id + captureEnding}, Change{Kind: Removed, Name: id + aboutEnding})
	}
	if err != nil {
		return failure("delete capture", id, err)
	}
	err = c.dir.syncDir(root)
	_ = root.Remove(id + aboutEnding)
	if err == nil {
		err = c.dir.step("remove")
	}
	_ = root.Remove(gone)
	c.forget(id)
	c.changed(id)
	return errors.Join(err, c.dir.syncDir(root))
}
