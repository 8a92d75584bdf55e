package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrMoved reports that a capture has changed, or was deleted, while it was stored in the place.
var ErrMoved = errors.New("the capture has changed meanwhile")

// In makes the complete captures of the folder go to a place. It is called before they are used.
func (c *Captures) In(p *Place) { c.place = p }

// Due reports whether a capture is here and not in the place as it is here.
func (c *Captures) Due(id string) bool {
	root, err := c.dir.root()
	if err != nil || c.place == nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(id + captureEnding)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	r, err := c.remoteOf(root, id)
	return err == nil && !r.is(info) && (r == nil || !r.Removed)
}

// objectName returns a name for an object of a capture that no other one has, below that of the project when it was stored.
func (c *Captures) objectName(id, ending string) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	if !IsCaptureID(id) {       // of a file that another program has put there
		id = newCaptureID(time.Now())
	}
	return filepath.Base(filepath.Dir(c.dir.path)) + "/" + id + "-" + hex.EncodeToString(random[:]) + ending
}

// changeRemote changes what the place has of a capture; change gets nil if that is nothing. If it returns nil, nothing is written.
func (c *Captures) changeRemote(id string, change func(root *os.Root, r *remote) (*remote, error)) error {
	c.dir.mu.Lock()
	defer c.dir.mu.Unlock()
	root, err := c.dir.root()
	if err != nil {
		return err
	}
	defer root.Close()
	r, err := c.remoteOf(root, id)
	if err != nil {
		return err
	}
	if r != nil {
		r = r.clone()
	}
	if r, err = change(root, r); err != nil || r == nil {
		return err
	}
	return failure("note", id, c.saveRemote(id, r))
}

// Deposit stores a capture that is here in the place. The capture is to be complete: if it changes meanwhile, it is due again.
func (c *Captures) Deposit(ctx context.Context, id string) error {
	file, err := c.Open(id)
	if err != nil {
		return err
	}
	defer file.Close()
	size, written, err := file.State()
	if err != nil {
		return err
	}
	same, err := c.sameAs(id, size, file) // before the lock: it may take long
	if err != nil {
		return err
	}
	name := ""
	err = c.changeRemote(id, func(root *os.Root, r *remote) (*remote, error) {
		info, err := root.Lstat(id + captureEnding)
		switch {
		case err != nil:
			return nil, err
		case r != nil && r.Removed || r.is(info):
			return nil, nil
		case r == nil:
			r = &remote{}
		case r.Whole && r.Object == same: // a copy of the folder, whose files have other times
			return nil, root.Chtimes(id+captureEnding, r.Written, r.Written)
		case r.Whole: // it has grown since
			r = &remote{Old: r.names()}
		default: // the program ended while it was stored: the same name again
			name = r.Object
			return nil, nil
		}
		name = c.objectName(id, captureEnding)
		r.Place, r.Object = c.place.String(), name
		return r, nil
	})
	if err != nil || name == "" {
		return err
	}
	var of sums
	stored, err := c.place.put(ctx, name, func(w io.Writer) error {
		block := make([]byte, placeBlock)
		for {
			n, err := io.ReadFull(file, block)
			if n > 0 {
				sum := SumOf(block[:n])
				of = append(of, sum[:]...)
				if _, err := w.Write(block[:n]); err != nil {
					return err
				}
			}
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				return nil
			case err != nil:
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	err = c.changeRemote(id, func(root *os.Root, r *remote) (*remote, error) {
		info, err := root.Lstat(id + captureEnding)
		if errors.Is(err, fs.ErrNotExist) { // deleted, which Tidy completes
			return nil, ErrMoved
		}
		if err != nil {
			return nil, err
		}
		if r == nil || r.Removed || r.Object != name || stored != size || info.Size() != size || !info.ModTime().Equal(written) {
			return nil, ErrMoved
		}
		r.Whole, r.Size, r.Sums, r.Written, r.Stored = true, size, of, written.UTC(), time.Now().UTC()
		return r, nil
	})
	if err == nil {
		c.changed(id)
	}
	return err
}

// sameAs returns the object in the place that has the bytes of a file, "" if there is none.
func (c *Captures) sameAs(id string, size int64, file io.ReaderAt) (object string, err error) {
	root, err := c.dir.root()
	if err != nil {
		return "", err
	}
	defer root.Close()
	r, err := c.remoteOf(root, id)
	if err != nil || r == nil || !r.Whole || r.Size != size || !r.same(file) {
		return "", err
	}
	return r.Object, nil
}

// depart says that a capture is deleted, if the place has something of it, and removes its files here. deleted is false if it has nothing: then
// nothing was done. The caller holds the lock of the folder.
func (c *Captures) depart(root *os.Root, id string) (deleted bool, err error) {
	r, err := c.remoteOf(root, id)
	if r == nil || err != nil {
		return false, err
	}
	r = r.clone()
	r.Removed = true
	if err := c.saveRemote(id, r); err != nil {
		return false, err
	}
	err = c.drop(root, id) // what stays is removed at the next start
	c.place.wake()
	return true, errors.Join(err, c.dir.syncDir(root))
}

// drop removes the files of a capture that is deleted.
func (c *Captures) drop(root *os.Root, id string) error {
	for _, name := range []string{id + captureEnding, id + aboutEnding} {
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := c.dir.commit(func() error { return root.Remove(name) }, Change{Kind: Removed, Name: name}); err != nil {
			return err
		}
	}
	return nil
}

// renew lets a capture have the id of one that was deleted, whose objects are still to be removed.
func (c *Captures) renew(id string) error {
	return c.changeRemote(id, func(_ *os.Root, r *remote) (*remote, error) {
		if r == nil || !r.Removed {
			return nil, nil
		}
		return &remote{Place: r.Place, Object: c.objectName(id, captureEnding), Old: r.names()}, nil
	})
}

// departed removes the files of captures whose deletion a crash has interrupted.
func (c *Captures) departed() error {
	root, err := c.dir.root()
	if err != nil {
		return err
	}
	defer root.Close()
	for id, r := range remotesIn(root) {
		if r != nil && r.Removed {
			err = errors.Join(err, c.drop(root, id))
		}
	}
	return err
}

// Tidy removes objects from the place that are not needed any more.
func (c *Captures) Tidy(ctx context.Context) error {
	if c.place == nil {
		return nil
	}
	root, err := c.dir.root()
	if err != nil {
		return err
	}
	defer root.Close()
	for id, r := range remotesIn(root) {
		if r == nil {
			continue // said when it is listed
		}
		_, err := root.Lstat(id + captureEnding)
		lost := errors.Is(err, fs.ErrNotExist) && !r.Whole // while it was stored, the file was deleted
		names := r.Old
		if r.Removed || lost {
			names = r.names()
		}
		if len(names) == 0 {
			continue
		}
		for _, name := range names {
			if err := c.place.remove(ctx, name); err != nil {
				return err
			}
		}
		if r.Removed || lost {
			c.dir.mu.Lock()
			err = c.dir.remove(id+remoteEnding, nil)
			c.dir.mu.Unlock()
		} else {
			err = c.changeRemote(id, func(_ *os.Root, r *remote) (*remote, error) {
				if r == nil {
					return nil, nil
				}
				r.Old = slices.DeleteFunc(r.Old, func(name string) bool { return slices.Contains(names, name) })
				return r, nil
			})
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Cached is a capture that is in the place and here.
type Cached struct {
	ID   string
	Size int64
	Used time.Time // when it was last opened, or written
}

// Cached returns the captures that may be evicted: those in the place, and not open.
func (c *Captures) Cached() (out []Cached, err error) {
	root, err := c.dir.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), captureEnding)
		if !ok {
			continue
		}
		info, err := e.Info()
		r, err2 := c.remoteOf(root, id)
		if err != nil || err2 != nil || !r.is(info) {
			continue
		}
		x := Cached{ID: id, Size: info.Size(), Used: info.ModTime()}
		c.mu.Lock()
		if at := c.used[id]; at.After(x.Used) {
			x.Used = at
		}
		c.mu.Unlock()
		out = append(out, x)
	}
	return out, nil
}

// Evict removes the file of a capture that is in the place. evicted is false for one that is open, or is not in the place as it is here. Before
// that it looks whether the object is there.
func (c *Captures) Evict(ctx context.Context, id string) (evicted bool, err error) {
	root, err := c.dir.root()
	if err != nil {
		return false, err
	}
	defer root.Close()
	seen, err := c.remoteOf(root, id)
	if err != nil || seen == nil || !seen.Whole {
		return false, err
	}
	object := &placed{in: c.place, name: seen.Object, size: seen.Size}
	if _, err := object.opened(); err != nil {
		return false, fmt.Errorf("%w: %s in %s: %w", ErrAway, seen.Object, c.place, c.place.failed(gone(err)))
	}
	if err := object.close(); err != nil {
		return false, err
	}
	c.dir.mu.Lock()
	defer c.dir.mu.Unlock()
	r, err := c.remoteOf(root, id)
	info, err2 := root.Lstat(id + captureEnding)
	if err != nil || err2 != nil || !r.is(info) || r.Object != seen.Object || ctx.Err() != nil {
		return false, err
	}
	c.mu.Lock()
	held := c.held[id] > 0 || c.running[id] != nil
	c.mu.Unlock()
	if held {
		return false, nil
	}
	if err := c.dir.step("remove"); err != nil {
		return false, err
	}
	err = c.dir.commit(func() error { return root.Remove(id + captureEnding) }, Change{Kind: Removed, Name: id + captureEnding})
	if err != nil {
		return false, failure("evict", id, err)
	}
	c.changed(id)
	return true, c.dir.syncDir(root)
}

// bring gets the file of a capture that is only in the place, for a change of its bytes.
func (c *Captures) bring(id string) error {
	x, err := c.Get(id)
	if err != nil || !x.Away {
		return nil //nolint:nilerr // the caller looks itself
	}
	file, err := c.Open(id)
	if err != nil {
		return err
	}
	defer file.Close()
	root, err := c.dir.root()
	if err != nil {
		return err
	}
	defer root.Close()
	var random [temporaryDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails
	temp := temporaryStart + hex.EncodeToString(random[:]) + temporaryEnd
	if err := c.dir.step("create"); err != nil {
		return err
	}
	to, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, file)
	err = errors.Join(err, c.dir.step("sync"), to.Sync(), to.Close())
	if err == nil {
		err = root.Chtimes(temp, x.Written, x.Written)
	}
	if err == nil {
		c.dir.mu.Lock()
		defer c.dir.mu.Unlock()
		if at, now := c.where(root, id); now != nil || !at.away {
			err = now // deleted, or brought by another
		} else if err = errors.Join(c.dir.keep(root, temp, temp), c.dir.step("rename")); err == nil {
			err = c.dir.commit(func() error { return root.Rename(temp, id+captureEnding) }, Change{Kind: Moved, Name: temp, To: id + captureEnding})
			if err == nil {
				return c.dir.syncDir(root)
			}
		}
	}
	_ = root.Remove(temp)
	return failure("get capture", id, err)
}

// IndexOf returns the index of a capture for a reading; ok is false if there is none.
func (c *Captures) IndexOf(id, reading string) (x Index, ok bool) {
	root, err := c.dir.root()
	if err != nil || c.place == nil {
		return x, false
	}
	defer root.Close()
	r, err := c.remoteOf(root, id)
	if err != nil || r == nil || !r.Whole || r.Removed {
		return x, false
	}
	for _, x := range r.Indexes {
		if x.Whole && x.Reading == reading {
			return x, true
		}
	}
	return x, false
}

// IndexFile is an open index.
type IndexFile struct {
	of *placed
	x  Index
}

// OpenIndex opens an index. Nothing is asked of the place until it is read.
func (c *Captures) OpenIndex(x Index) *IndexFile {
	return &IndexFile{&placed{in: c.place, name: x.Object, size: x.Size}, x}
}

// Directory reads the directory. Its error is an ErrAway, as is that of Read.
func (f *IndexFile) Directory() ([]byte, error) {
	return f.of.read(f.x.Head, int(f.x.Size-f.x.Head), Sum(f.x.Sum))
}

// Read reads n bytes from off on, which have a sum.
func (f *IndexFile) Read(off int64, n int, sum Sum) ([]byte, error) { return f.of.read(off, n, sum) }

// Indexable reports whether an index of a capture of some size and time may be stored for a reading: the place has that capture, and no such
// index. waits says that the capture is not in the place yet.
func (c *Captures) Indexable(id, reading string, size int64, written time.Time) (may, waits bool) {
	root, err := c.dir.root()
	if err != nil || c.place == nil {
		return false, false
	}
	defer root.Close()
	at, err := c.where(root, id)
	if err != nil || at.size != size || !at.written.Equal(written) {
		return false, false
	}
	r, err := c.remoteOf(root, id)
	switch {
	case err != nil:
		return false, false
	case r == nil || !r.Whole:
		return false, true
	case r.Size != size || !r.Written.Equal(written):
		return false, true
	}
	return !slices.ContainsFunc(r.Indexes, func(x Index) bool { return x.Whole && x.Reading == reading }), false
}

// AddIndex stores an index of a capture for a reading. write writes it, and returns the offset of its directory and the sum of that.
func (c *Captures) AddIndex(ctx context.Context, id, reading string, write func(io.Writer) (head int64, sum Sum, err error)) error {
	name, of := "", ""
	err := c.changeRemote(id, func(_ *os.Root, r *remote) (*remote, error) {
		if r == nil || !r.Whole || r.Removed {
			return nil, nil
		}
		of = r.Object
		if i := slices.IndexFunc(r.Indexes, func(x Index) bool { return x.Reading == reading }); i >= 0 {
			if !r.Indexes[i].Whole { // the program ended while it was stored
				name = r.Indexes[i].Object
			}
			return nil, nil
		}
		name = c.objectName(id, ".index")
		r.Indexes = slices.Insert(r.Indexes, 0, Index{Reading: reading, Object: name})
		for len(r.Indexes) > maxIndexes {
			last := len(r.Indexes) - 1
			r.Old = append(r.Old, r.Indexes[last].Object)
			r.Indexes = r.Indexes[:last]
		}
		return r, nil
	})
	if err != nil || name == "" {
		return err
	}
	var head int64
	var sum Sum
	size, err := c.place.put(ctx, name, func(w io.Writer) (err error) {
		head, sum, err = write(w)
		return err
	})
	if err != nil {
		return err
	}
	defer c.place.wake() // there may be old ones
	return c.changeRemote(id, func(_ *os.Root, r *remote) (*remote, error) {
		if r == nil || r.Removed || r.Object != of {
			return nil, ErrMoved
		}
		for i := range r.Indexes {
			if x := &r.Indexes[i]; x.Object == name {
				x.Whole, x.Size, x.Head, x.Sum = true, size, head, sum[:]
				return r, nil
			}
		}
		return nil, ErrMoved
	})
}

// DropIndex removes an index that cannot be used.
func (c *Captures) DropIndex(id, object string) error {
	defer c.place.wake()
	return c.changeRemote(id, func(_ *os.Root, r *remote) (*remote, error) {
		if r == nil {
			return nil, nil
		}
		i := slices.IndexFunc(r.Indexes, func(x Index) bool { return x.Object == object })
		if i < 0 {
			return nil, nil
		}
		r.Indexes = slices.Delete(r.Indexes, i, i+1)
		r.Old = append(r.Old, object)
		return r, nil
	})
}

// Stored returns the bytes of the captures of the folder that are in the place, and the number of those that are only there.
func (c *Captures) Stored() (bytes int64, away int) {
	root, err := c.dir.root()
	if err != nil {
		return 0, 0
	}
	defer root.Close()
	for _, id := range remoteIDs(root) {
		if r, err := c.remoteOf(root, id); err == nil && r != nil && r.Whole && !r.Removed {
			bytes += r.Size
		}
		if at, err := c.where(root, id); err == nil && at.away {
			away++
		}
	}
	return bytes, away
}
