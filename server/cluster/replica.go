package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"wirebench/server/store"
)

// markFile says how much of the log the folder has.
const markFile = store.MarkFile

// mark is the content of markFile.
type mark struct {
	Log int64  `json:"log"` // when the log was made, nanoseconds since 1970; 0: the folder is being filled
	Seq uint64 `json:"seq"` // of the last message whose changes, and those of all before it, are in the folder
}

// replica is the folder of a node. All its changes are of the log; the folder may have changes behind the mark.
type replica struct {
	dir  string
	root *os.Root

	saving sync.Mutex // held while the mark is written

	mu      sync.Mutex
	mark    mark
	seen    uint64         // the last message that is being made
	open    map[uint64]int // changes that are being made, by the number of the first message that has them
	touched []touch        // files that may not be synced
}

type touch struct {
	seq  uint64
	name string
}

// openReplica opens the folder of a node. An empty one has the zero mark. One that has something else than a copy is an error.
func openReplica(dir string) (*replica, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	r := &replica{dir: dir, root: root, open: map[uint64]int{}}
	text, err := root.ReadFile(markFile)
	switch {
	case err == nil:
		if err = json.Unmarshal(text, &r.mark); err != nil { // written as a whole: another program's
			err = fmt.Errorf("%s: %w", markFile, err)
		}
	case errors.Is(err, fs.ErrNotExist):
		err = r.empty()
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	r.seen = r.mark.Seq
	return r, nil
}

// empty returns an error if the folder has something that a cluster does not.
func (r *replica) empty() error {
	entries, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !store.OwnFile(e.Name()) && e.Name() != "lost+found" {
			return fmt.Errorf("folder %s has data of its own: give an empty folder, and move the data into the cluster with \"wirebench migrate\"", r.dir)
		}
	}
	return nil
}

func (r *replica) close() { r.root.Close() }

// at returns the number of the last message whose changes are in the folder, as far as is known to be on the disk.
func (r *replica) at() mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mark
}

// begin says that changes are being made, which messages first to last have.
func (r *replica) begin(first, last uint64, changes int, names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = last
	if changes > 0 {
		r.open[first] += changes
	}
	for _, name := range names {
		r.touched = append(r.touched, touch{last, name})
	}
}

// end says that one of the changes of begin has been made.
func (r *replica) end(first uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[first]--; r.open[first] <= 0 {
		delete(r.open, first)
	}
}

// make makes changes that messages first to last have.
func (r *replica) make(first, last uint64, changes []store.Change) error {
	names := namesOf(changes)
	r.begin(first, last, 1, names)
	apart := slices.ContainsFunc(changes, func(c store.Change) bool { return c.Apart() })
	if apart { // alone, by the writer
		if err := r.save(); err != nil {
			return err
		}
	}
	for i := range changes {
		if err := changes[i].Make(r.root); err != nil {
			return fmt.Errorf("a change of the log cannot be made in the folder: %s: %w", changes[i].Name, err)
		}
	}
	r.end(first)
	if apart {
		return r.save()
	}
	return nil
}

func namesOf(changes []store.Change) (out []string) {
	for i := range changes {
		if name := changes[i].Name; changes[i].Kind == store.Moved {
			out = append(out, name, changes[i].To)
		} else if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// save syncs what has been made, and writes the mark.
func (r *replica) save() error {
	r.saving.Lock()
	defer r.saving.Unlock()
	r.mu.Lock()
	next := r.mark
	next.Seq = r.seen
	for first := range r.open {
		next.Seq = min(next.Seq, first-1)
	}
	if next == r.mark {
		r.mu.Unlock()
		return nil
	}
	names, dirs := map[string]bool{}, map[string]bool{".": true}
	left := []touch{}
	for _, t := range r.touched {
		if t.seq > next.Seq {
			left = append(left, t)
			continue
		}
		names[t.name] = true
		dirs[path.Dir(t.name)] = true
	}
	r.touched = left
	r.mu.Unlock()
	for name := range names {
		if err := r.sync(name); err != nil {
			return err
		}
	}
	for dir := range dirs {
		if err := r.sync(dir); err != nil {
			return err
		}
	}
	if err := r.write(next); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mark = next
	return nil
}

// sync syncs a file or folder, if there is one.
func (r *replica) sync(name string) error {
	f, err := r.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil // it is gone, or something is in the place of a folder of it
	}
	defer f.Close()
	return store.SyncFile(f)
}

// write writes a mark.
func (r *replica) write(m mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	temp := markFile + ".new"
	f, err := r.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := r.root.Rename(temp, markFile); err != nil {
		return err
	}
	return r.sync(".")
}

// reset writes and remembers a mark that does not follow from what was made.
func (r *replica) reset(m mark) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	if err := r.write(m); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mark, r.seen, r.touched = m, m.Seq, nil
	clear(r.open)
	return nil
}

// clear removes all that is of the cluster. A crash leaves a folder that is to be filled.
func (r *replica) clear() error {
	if err := r.reset(mark{}); err != nil {
		return err
	}
	entries, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != markFile && !store.OwnFile(e.Name()) && e.Name() != "lost+found" {
			if err := r.root.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// assembly puts the parts of texts together.
type assembly struct {
	text  []byte
	next  head   // what follows; parts 0: nothing is begun
	first uint64 // message
}

// take takes a message. ok is false while parts are missing. A text whose parts end before the last is dropped: its writer led no more.
func (a *assembly) take(seq uint64, data []byte) (text []byte, first uint64, ok bool, err error) {
	h, rest, err := cutHead(data)
	if err != nil {
		return nil, 0, false, err
	}
	if h.part == 0 {
		a.text, a.first = a.text[:0], seq
	} else if h != a.next {
		return nil, 0, false, errWire
	}
	if len(a.text)+len(rest) > mostText {
		return nil, 0, false, errWire
	}
	if h.parts == 1 {
		a.next = head{}
		return rest, seq, true, nil
	}
	a.text = append(a.text, rest...)
	if h.part+1 < h.parts {
		a.next = head{h.epoch, h.part + 1, h.parts}
		return nil, 0, false, nil
	}
	a.next = head{}
	return bytes.Clone(a.text), a.first, true, nil
}

const saveEvery = time.Second // after which what was made is on the disk of a node
