package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// CaptureFile is an open capture. Its bytes are in the folder, or come from the place of captures as they are read.
type CaptureFile interface {
	io.ReadSeekCloser
	io.ReaderAt
	State() (size int64, written time.Time, err error) // of now: the file may grow
}

// Open opens the file of a capture. The errors of reading one whose bytes are only in the place of captures are ErrAway.
func (c *Captures) Open(id string) (CaptureFile, error) {
	root, err := c.dir.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	x, err := c.about(root, id)
	if err != nil {
		return nil, err
	}
	if !x.Away {
		f, err := root.Open(id + captureEnding)
		if err == nil {
			return &hereFile{File: f, closed: c.holds(id)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, failure("open capture", id, err)
		} // it has gone to the place just now
	}
	r, err := c.remoteOf(root, id)
	switch {
	case err != nil:
		return nil, err
	case r == nil || !r.Whole || r.Removed:
		return nil, fs.ErrNotExist
	case c.place == nil:
		return nil, fmt.Errorf("%w: its bytes are %s in %s, and the server was started without --captures", ErrAway, r.Object, r.Place)
	}
	return c.place.file(r), nil
}

// holds says that a capture is open, until the result is called.
func (c *Captures) holds(id string) (closed func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held, c.used = map[string]int{}, map[string]time.Time{}
	}
	c.held[id]++
	c.used[id] = time.Now()
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held[id]--; c.held[id] == 0 {
			delete(c.held, id)
		}
	})
}

// hereFile is a file in the folder.
type hereFile struct {
	*os.File
	closed func()
}

func (f *hereFile) Close() error {
	f.closed()
	return f.File.Close()
}

// State implements CaptureFile.
func (f *hereFile) State() (int64, time.Time, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

// awayFile is a capture in the place, which is read block by block.
type awayFile struct {
	*io.SectionReader
	r  *remote
	of *placed

	mu   sync.Mutex // held while a block is read
	at   int64      // of the last one; -1: none
	last []byte
}

// file opens a capture. Nothing is asked of the place until it is read.
func (p *Place) file(r *remote) *awayFile {
	f := &awayFile{r: r, of: &placed{in: p, name: r.Object, size: r.Size}, at: -1}
	f.SectionReader = io.NewSectionReader(readerAt(f.read), 0, r.Size)
	return f
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

func (f *awayFile) read(p []byte, off int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) {
		if off >= f.r.Size {
			return n, io.EOF
		}
		at := off - off%placeBlock
		if at != f.at {
			data, err := f.of.read(at, int(min(placeBlock, f.r.Size-at)), f.r.Sums.of(at/placeBlock))
			if err != nil {
				return n, err
			}
			f.at, f.last = at, data
		}
		k := copy(p[n:], f.last[off-at:])
		n, off = n+k, off+int64(k)
	}
	return n, nil
}

// State implements CaptureFile.
func (f *awayFile) State() (int64, time.Time, error) { return f.r.Size, f.r.Written, nil }

// Close implements io.Closer.
func (f *awayFile) Close() error { return f.of.close() }
